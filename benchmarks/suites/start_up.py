"""What a new process waits for; asv runs timeraw benchmarks in a process of their own."""


class Imports:
    def timeraw_import(self):
        return "import bayesregret"

    def timeraw_numba(self):
        return "import bayesregret, numba"
