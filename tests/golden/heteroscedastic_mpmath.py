"""Golden values for heteroscedastic Gaussian arms, from the definitions alone.

Run as `python tests/golden/heteroscedastic_mpmath.py` (some minutes): it writes `heteroscedastic.json` beside itself,
after every problem. Nothing here comes from `bayesregret`. Each value is computed twice, with panels of different
lengths and rules of different degrees, and kept only if the two agree to 1e-11. Notation as in bounds_mpmath.py.

Every quantity is the sum over arms of E W(M), M the best other arm: W(m) is the regret that the form charges to the arm
when the best other one is at m. Integrals over the arm's mean, or its posterior mean, are computed as written.
"""

import json
import pathlib
from itertools import pairwise

from bounds_mpmath import between, geometric, nodes, normal_density, normal_distribution, psi, refined, upper_tail
from mpmath import mp, mpf

mp.dps = 18
REACH = 9
SCHEMES = ((10, mpf("0.5")), (13, mpf("0.6")))  # degree, and the longest panel in widths of the narrowest prior there
WORST = mpf(10) ** -11

PROBLEMS = {
    "two arms": {"prior_mean": [0.2, 0.0], "prior_width": [0.5, 1.5], "reward_noise": [1.0, 0.4]},
    "equal priors, other noise": {"prior_mean": [0.0, 0.0], "prior_width": 1.0, "reward_noise": [0.5, 2.0]},
    "three arms": {"prior_mean": [0.5, 0.0, -0.25], "prior_width": [0.5, 1.0, 1.0], "reward_noise": [2.0, 1.0, 1.0]},
}
HORIZON, DELTA, EPSILON = 3, 0.1, 0.3


class Arms:
    def __init__(self, spec, scheme):
        self.mean = [mpf(repr(mu)) for mu in spec["prior_mean"]]
        self.width, self.noise = (self.each(spec[name]) for name in ("prior_width", "reward_noise"))
        self.degree, self.longest = scheme
        self.log_delta = -mp.log(mpf(repr(DELTA)))
        self.z = mp.sqrt(2 * self.log_delta)

    def each(self, value):
        return [mpf(repr(v)) for v in (value if isinstance(value, list) else [value] * len(self.mean))]

    def others(self, a):
        return [j for j in range(len(self.mean)) if j != a]

    def density_of_best(self, arms, m):
        total = mpf(0)
        for j in arms:
            term = normal_density((m - self.mean[j]) / self.width[j]) / self.width[j]
            for i in arms:
                if i != j:
                    term *= normal_distribution((m - self.mean[i]) / self.width[i])
            total += term
        return total

    def levels(self, arms, kinks):
        """Nodes for levels: panels of the narrowest prior's length where it is, longer ones elsewhere."""
        ends = [self.mean[j] + side * REACH * self.width[j] for j in range(len(self.mean)) for side in (-1, 1)]
        start = max(self.mean[j] - REACH * self.width[j] for j in arms)
        stop = max(self.mean[j] + REACH * self.width[j] for j in arms)
        breaks = []
        for left, right in pairwise(between([*ends, *kinks], start, stop)):
            here = [w for mu, w in zip(self.mean, self.width, strict=True) if abs((left + right) / 2 - mu) < REACH * w]
            breaks += refined([left, right], self.longest * min(here, default=right - left))
        return nodes(sorted(set(breaks)), self.degree)

    def expected(self, charge, kinks=lambda a: []):
        """The sum over arms of E W(M)."""
        total = mpf(0)
        for a in range(len(self.mean)):
            others = self.others(a)
            for m, w in self.levels(others, kinks(a)):
                total += w * self.density_of_best(others, m) * charge(a, m)
        return total

    def over_gaps(self, a, m, function, low, high, finest=mp.inf):
        """The integral of function(x) over the arm's gaps x = m - theta from low to high, smooth within `finest`."""
        mu, w = self.mean[a], self.width[a]
        start, end = max(low, m - mu - REACH * w), min(high, m - mu + REACH * w)
        if not end > start:
            return mpf(0)
        breaks = geometric(start, end, 2) if start > 0 else []
        points = nodes(refined(between(breaks, start, end), 2 * self.longest * min(w, finest)), self.degree)
        return mp.fsum(weight * function(x) * normal_density((m - x - mu) / w) / w for x, weight in points)

    def strength(self, a):
        return (self.noise[a] / self.width[a]) ** 2

    def pulled(self, a):
        A = 8 * self.noise[a] ** 2 * self.log_delta
        return lambda x: A / x + (1 - self.strength(a)) * x

    def farthest(self, a):
        return 2 * self.z * self.width[a]


def expected_max_gap(arms):
    every = list(range(len(arms.mean)))
    best = mp.fsum(w * m * arms.density_of_best(every, m) for m, w in arms.levels(every, []))
    arms.mean = [-mu for mu in arms.mean]
    return best + mp.fsum(w * m * arms.density_of_best(every, m) for m, w in arms.levels(every, []))


def floor_leading(arms):
    def charge(a, m):
        ends = [mp.sqrt(8 * arms.noise[a] ** 2 * arms.log_delta / (k + arms.strength(a))) for k in range(HORIZON)]
        return mp.fsum(arms.over_gaps(a, m, lambda x: x, mpf(0), end) for end in ends)

    return arms.expected(charge)


def epsilon_leading(arms):
    return arms.expected(lambda a, m: arms.over_gaps(a, m, arms.pulled(a), mpf(repr(EPSILON)), arms.farthest(a)))


def index_leading(arms):
    def charge(a, m):
        """Over the posterior means from which the index reaches m."""
        mu, w = arms.mean[a], arms.width[a]
        total = w * psi((m - mu) / w) if m <= mu + arms.z * w else mpf(0)
        for k in range(1, HORIZON):
            v = 1 / (1 / w**2 + k / arms.noise[a] ** 2)
            deviation, spread = mp.sqrt(v), mp.sqrt(w**2 - v)
            start = max(m - arms.z * deviation, mu - REACH * spread)
            if start < mu + REACH * spread:
                points = nodes(refined([start, mu + REACH * spread], 2 * arms.longest * spread), arms.degree)
                total += mp.fsum(
                    weight * deviation * psi((m - at) / deviation) * normal_density((at - mu) / spread) / spread
                    for at, weight in points
                )
        return total

    return arms.expected(charge, lambda a: [arms.mean[a] + arms.z * arms.width[a]])


def prior_dependent_certified(arms):
    e1, e2 = mpf(1) / HORIZON, 1 / mp.sqrt(mp.log(HORIZON))

    def end(a):
        return min(e2, max(e1, arms.farthest(a)))

    def charge(a, m):
        mu, w, u = arms.mean[a], arms.width[a], end(a)
        A = 8 * arms.noise[a] ** 2 * arms.log_delta
        inner = A * mp.log(u / e1) + (1 - arms.strength(a)) * (u * u - e1 * e1) / 2
        nearest = min(u, max(e1, m - mu))
        below = inner * normal_density((m - nearest - mu) / w) / w
        return below + arms.over_gaps(a, m, arms.pulled(a), e2, arms.farthest(a))

    return 1 + arms.expected(charge, lambda a: [arms.mean[a] + e1, arms.mean[a] + end(a)])


def ucb1_certified_leading(arms):
    def charge(a, m):
        def pulls(x):
            return x * (1 + mp.fsum(upper_tail(mp.sqrt(k) * x / arms.noise[a] - arms.z) for k in range(1, HORIZON)))

        return arms.over_gaps(a, m, pulls, mpf(0), mpf(1000), finest=arms.noise[a])

    return arms.expected(charge)


QUANTITIES = {
    "expected_max_gap": expected_max_gap,
    "floor_leading": floor_leading,
    "epsilon_leading": epsilon_leading,
    "index_leading": index_leading,
    "prior_dependent_certified": prior_dependent_certified,
    "ucb1_certified_leading": ucb1_certified_leading,
}


def main():
    entries = []
    for name, spec in PROBLEMS.items():
        for quantity, compute in QUANTITIES.items():
            one, two = (compute(Arms(spec, scheme)) for scheme in SCHEMES)
            print(name, quantity, mp.nstr(one, 20), mp.nstr(two / one - 1, 3), flush=True)
            if abs(one - two) > WORST * abs(one):
                raise SystemExit("the two rules do not agree")
            entries.append(
                {
                    "name": name,
                    "quantity": quantity,
                    "problem": {"model": "gaussian", **spec},
                    "horizon": HORIZON,
                    "delta": DELTA,
                    "epsilon": EPSILON if quantity == "epsilon_leading" else None,
                    "value": mp.nstr(two, 15),
                }
            )
        path = pathlib.Path(__file__).parent / "heteroscedastic.json"
        path.write_text(json.dumps(entries, indent=1) + "\n")


if __name__ == "__main__":
    main()
