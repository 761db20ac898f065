"""The floor of every simulation: drawing its noise."""

from baselines import draw_normals


class Normals:
    params = (1, 2)
    param_names = ("threads",)

    def setup(self, threads):
        draw_normals(runs=10, draws=10, threads=threads)

    def time_draw(self, threads):
        draw_normals(runs=10_000, draws=1_000, threads=threads)
