"""Golden values of exact Gaussian regret, directly from the policy's decisions, without prevailing charges.

Run as `python tests/golden/exact_direct.py` (minutes, one process): it writes `exact.json` beside itself. Nothing here
comes from `bayesregret`. A state is each arm's number of pulls and true posterior mean; the arm with the highest index
is pulled, and its posterior mean moves by a normal step. The expected future is an integral over that step.

Two arms: the expected future is a smooth function of both means for either arm to be pulled now, and jumps where their
indices meet. It is stored on Gauss-Legendre panels, from the last round back to the first; the integral over a step is
split where the indices meet. Doubles, about 14 digits.

Few rounds: nested integrals with mpmath at 25 digits, any number of arms, split at the indices of all other arms.

Every value is computed twice, with different panels and rules, and kept only if the two agree to 1e-12. Where both
methods apply, they are compared on each run.
"""

import json
import pathlib
import time
from itertools import pairwise
from typing import NamedTuple

import numpy as np
from legendre import gauss_legendre
from mpmath import mp, mpf
from scipy.special import ndtr

mp.dps = 25
HERE = pathlib.Path(__file__).parent
WORST = 1e-12
FEW = 4  # rounds that nested integrals can do
REACH = 9.0  # standard deviations at which a normal distribution is cut off


class Arm(NamedTuple):
    """An arm's prior and reward noise, and the policy's belief: a prior pseudo-count, mean and noise."""

    mean: object
    width: object
    noise: object
    believed_pulls: object
    believed_mean: object
    believed_noise: object

    @property
    def strength(self):
        return (self.noise / self.width) ** 2

    def variance(self, k):
        """Variance of the true posterior after k pulls."""
        return self.noise**2 / (self.strength + k)

    def step(self, k):
        """Standard deviation of the next change of the posterior mean."""
        return (self.variance(k) - self.variance(k + 1)) ** 0.5

    def spread(self, k):
        """Standard deviation of the posterior mean after k pulls."""
        return self.width * (k / (k + self.strength)) ** 0.5

    def index(self, k, log_delta):
        """(slope, constant): the index is slope times the true posterior mean plus constant."""
        if k + self.believed_pulls == 0:
            return 0, mp.inf
        pulls = self.believed_pulls + k
        width = (2 * log_delta / pulls) ** 0.5 * self.believed_noise
        rest = self.believed_pulls * self.believed_mean - self.strength * self.mean
        return (self.strength + k) / pulls, rest / pulls + width


def make_arms(problem, policy, number):
    """Arms of a problem with a policy; `number` converts JSON numbers to mpf or float."""
    width, noise = number(problem["prior_width"]), number(problem["reward_noise"])
    arms = []
    for i, mean in enumerate(problem["prior_mean"]):
        belief = policy.get("prior", problem)
        believed_noise = number(belief["reward_noise"])
        pulls = (believed_noise / number(belief["prior_width"])) ** 2
        if policy["name"] == "ucb1":
            pulls = number(0.0)
        arms.append(Arm(number(mean), width, noise, pulls, number(belief["prior_mean"][i]), believed_noise))
    return arms


# --- two arms, many rounds -----------------------------------------------------------------------------------------


class Grid(NamedTuple):
    edges: np.ndarray
    nodes: np.ndarray  # one panel after another
    weights: np.ndarray


class TwoArms:
    """Expected regret, pulls of the first arm and probability of the best arm, for each future round, by state."""

    def __init__(self, arms, horizon, log_delta, degree, length):
        self.arms, self.horizon, self.log_delta = arms, horizon, log_delta
        self.degree, self.length = degree, length
        self.rule = np.polynomial.legendre.leggauss(degree)
        x, w = self.rule
        self.barycentric = np.sqrt((1.0 - x * x) * w) * (-1.0) ** np.arange(degree)
        self.grids = [[self.grid(a, k) for k in range(horizon)] for a in (0, 1)]

    def grid(self, a, k):
        """Nodes of the posterior mean after k pulls, on panels of `length` times the smallest smoothing scale."""
        arm, other = self.arms[a], self.arms[1 - a]
        if k == 0:
            return Grid(np.array([arm.mean]), np.array([arm.mean]), np.ones(1))
        scale = min(arm.step(k - 1), arm.step(k))
        for j in range(self.horizon - k):
            slope = other.index(j + 1, self.log_delta)[0] / arm.index(k, self.log_delta)[0]
            scale = min(scale, other.step(j) * slope)
        half = REACH * arm.spread(k)
        edges = arm.mean + np.linspace(-half, half, 1 + int(np.ceil(2 * half / (self.length * scale))))
        x, w = self.rule
        middle, radius = 0.5 * (edges[1:] + edges[:-1]), 0.5 * np.diff(edges)
        return Grid(edges, (middle[:, None] + radius[:, None] * x).ravel(), (radius[:, None] * w).ravel())

    def indices(self, a, k):
        """Indices at the nodes."""
        slope, constant = self.arms[a].index(k, self.log_delta)
        if constant == mp.inf:
            return np.full(1, np.inf)
        return float(slope) * self.grids[a][k].nodes + float(constant)

    def solve(self):
        """(rounds, 3): regret, pulls of the first arm and probability of the best arm in each round."""
        later = {}
        for t in range(self.horizon - 1, -1, -1):
            now = {}
            for k in range(t + 1):
                counts = (k, t - k)
                now[counts] = [self.pull(a, counts, later) for a in (0, 1)]
            later = now
        first = 0 if self.indices(0, 0)[0] >= self.indices(1, 0)[0] else 1  # the lowest arm if they tie
        return later[0, 0][first][0, 0].reshape(self.horizon, 3)

    def pull(self, a, counts, later):
        """Expected future if arm a is pulled now: (nodes, nodes, channels), three channels per round."""
        k = counts[a]
        mean = [self.grids[i][counts[i]].nodes for i in (0, 1)]
        spread = np.sqrt(sum(self.arms[i].variance(counts[i]) for i in (0, 1)))
        ahead = (mean[a][:, None] - mean[1 - a][None, :]) / spread  # own arm first
        density = np.exp(-0.5 * ahead * ahead) / np.sqrt(2 * np.pi)
        # Regret: the mean of (other arm - own arm)^+.
        payoff = np.stack(
            [spread * (density - ahead * ndtr(-ahead)), np.full(ahead.shape, 1.0 - a), ndtr(ahead)], axis=2
        )
        if later:
            after = tuple(counts[i] + (i == a) for i in (0, 1))
            values = [np.swapaxes(v, 0, a) for v in later[after]]  # own arm's nodes first
            payoff = np.concatenate([payoff, self.future(a, k, after, values)], axis=2)
        return np.swapaxes(payoff, 0, a)

    def future(self, a, k, after, values):
        """Integral over the step of arm a after its k-th pull; arm a is pulled again where its index is higher."""
        arm, b = self.arms[a], 1 - a
        start, end = self.grids[a][k], self.grids[a][after[a]]
        stays, leaves = values[a], values[b]
        slope, constant = arm.index(after[a], self.log_delta)
        # Where arm a's index is that of the other arm; nowhere if that one was never pulled and has no prior.
        meets = (self.indices(b, after[b]) - float(constant)) / float(slope)
        kernel = self.density(end.nodes, start.nodes, arm.step(k)) * end.weights
        out = np.empty((len(start.nodes), len(meets), stays.shape[2]))
        edges = end.edges
        for j, meet in enumerate(meets.tolist()):
            panel = int(np.searchsorted(edges, meet, side="right")) - 1
            column = np.where((end.nodes > meet)[:, None], stays[:, j], leaves[:, j])
            inside = slice(panel * self.degree, (panel + 1) * self.degree)
            if 0 <= panel < len(edges) - 1:
                column[inside] = 0.0
            total = kernel @ column
            if 0 <= panel < len(edges) - 1:
                for low, high, side in ((edges[panel], meet, leaves), (meet, edges[panel + 1], stays)):
                    x, w = self.rule
                    points = 0.5 * (low + high) + 0.5 * (high - low) * x
                    weights = 0.5 * (high - low) * w * self.density(points, start.nodes, arm.step(k))
                    total += weights @ (self.interpolation(points, end.nodes[inside]) @ side[inside, j])
            out[:, j] = total
        return out

    def density(self, points, centres, deviation):
        off = (points[None, :] - centres[:, None]) / deviation
        return np.exp(-0.5 * off * off) / (np.sqrt(2 * np.pi) * deviation)

    def interpolation(self, points, nodes):
        off = points[:, None] - nodes[None, :]
        hit = off == 0.0
        ratios = self.barycentric / np.where(hit, 1.0, off)
        return np.where(hit.any(axis=1)[:, None], hit, ratios / ratios.sum(axis=1)[:, None])


def by_grid(problem, policy, horizon, delta, scheme):
    arms = make_arms(problem, policy, float)
    found = TwoArms(arms, horizon, -np.log(delta), *scheme).solve()
    first = found[:, 1].sum()
    return {
        "regret": np.cumsum(found[:, 0]).tolist(),
        "pulls": [first, horizon - first],
        "best_chance": found[:, 2].tolist(),
    }


# --- few rounds ----------------------------------------------------------------------------------------------------


def normal_density(u):
    return mp.exp(-u * u / 2) / mp.sqrt(2 * mp.pi)


class Nested:
    """Expected posterior means of the arms pulled, round by round, and pulls of each arm, by nested integrals."""

    def __init__(self, arms, log_delta, degree, length):
        self.arms, self.log_delta = arms, log_delta
        self.degree, self.length = degree, length

    def index(self, a, k, mean):
        slope, constant = self.arms[a].index(k, self.log_delta)
        return constant if constant == mp.inf else slope * mean + constant

    def play(self, counts, means, rounds):
        """[mean reward of this round, of the next, ...] and then the pulls of each arm."""
        indices = [self.index(a, counts[a], means[a]) for a in range(len(self.arms))]
        a = max(range(len(self.arms)), key=lambda arm: (indices[arm], -arm))
        pulls = [mpf(int(arm == a)) for arm in range(len(self.arms))]
        if rounds == 1:
            return [means[a]], pulls
        others = [indices[b] for b in range(len(self.arms)) if b != a]
        slope, constant = self.arms[a].index(counts[a] + 1, self.log_delta)
        meets = sorted((u - constant) / slope for u in others if u != mp.inf)
        counts = tuple(k + (arm == a) for arm, k in enumerate(counts))
        step = mp.sqrt(self.arms[a].variance(counts[a] - 1) - self.arms[a].variance(counts[a]))
        if rounds == 2:
            future, future_pulls = self.last(a, means, indices, meets, step)
        else:
            future, future_pulls = self.integral(a, counts, means, meets, step, rounds - 1)
        return [means[a], *future], [x + y for x, y in zip(pulls, future_pulls, strict=True)]

    def last(self, a, means, indices, meets, step):
        """Last round in closed form: arm a again if its index stays highest, otherwise the best of the others."""
        others = [b for b in range(len(self.arms)) if b != a]
        if not others:
            return [means[a]], [mpf(1)]
        b = max(others, key=lambda arm: (indices[arm], -arm))
        if indices[b] == mp.inf:
            return [means[b]], [mpf(int(arm == b)) for arm in range(len(self.arms))]
        c = (meets[-1] - means[a]) / step
        stays = mp.erfc(c / mp.sqrt(2)) / 2
        mean = means[a] * stays + step * normal_density(c) + means[b] * (1 - stays)
        pulls = [stays if arm == a else (1 - stays if arm == b else mpf(0)) for arm in range(len(self.arms))]
        return [mean], pulls

    def integral(self, a, counts, means, meets, step, rounds):
        reach = mpf(REACH) + 1
        low, high = means[a] - reach * step, means[a] + reach * step
        breaks = [low, *(m for m in meets if low < m < high), high]
        longest = self.length * min(step, 2 * self.arms[a].step(counts[a]))  # what comes next may be sharper
        total = None
        for start, end in pairwise(breaks):
            pieces = int(mp.ceil((end - start) / longest))
            for i in range(pieces):
                left, size = start + (end - start) * i / pieces, (end - start) / pieces
                for x, w in gauss_legendre(self.degree):
                    mean = left + size * x
                    weight = size * w * normal_density((mean - means[a]) / step) / step
                    after = tuple(mean if arm == a else m for arm, m in enumerate(means))
                    rewards, pulls = self.play(counts, after, rounds)
                    found = [weight * value for value in (*rewards, *pulls)]
                    total = found if total is None else [t + f for t, f in zip(total, found, strict=True)]
        return total[:rounds], total[rounds:]


def expected_best(arms, degree):
    """E max = int m d(product of distribution functions), measured from the highest mean."""
    top, width = max(arm.mean for arm in arms), arms[0].width
    total, panels = mpf(0), 40
    for i in range(panels):
        left, size = top + width * (-10 + mpf(22) * i / panels), width * 22 / panels
        for x, w in gauss_legendre(degree):
            m = left + size * x
            below = [mp.erfc(-(m - arm.mean) / (width * mp.sqrt(2))) / 2 for arm in arms]
            for j, arm in enumerate(arms):
                rest = mp.fprod(below[i] for i in range(len(arms)) if i != j)
                total += size * w * (m - top) * normal_density((m - arm.mean) / width) / width * rest
    return top + total


def nested(problem, policy, horizon, delta, scheme):
    arms = make_arms(problem, policy, lambda x: mpf(repr(x)))
    degree, length = scheme
    walk = Nested(arms, -mp.log(mpf(repr(delta))), degree, length)
    rewards, pulls = walk.play((0,) * len(arms), tuple(arm.mean for arm in arms), horizon)
    best, regret = expected_best(arms, degree + 4), []
    for reward in rewards:
        regret.append((regret[-1] if regret else 0) + best - reward)
    return {"regret": regret, "pulls": pulls, "best_chance": None}


# --- cases ---------------------------------------------------------------------------------------------------------


def gaussian(means, width=1.0, noise=1.0):
    return {"model": "gaussian", "prior_mean": means, "prior_width": width, "reward_noise": noise}


BAYES, UCB1 = {"name": "bayes-ucb"}, {"name": "ucb1"}


def wrong(means, width=1.0, noise=1.0):
    return {"name": "bayes-ucb", "prior": gaussian(means, width, noise)}


# Name, problem, policy, horizon, delta.
CASES = [
    ("two", gaussian([1.0, 0.0]), BAYES, 6, 0.1),
    ("two, the second better", gaussian([0.0, 0.4], 1.3, 0.9), BAYES, 6, 0.02),
    ("equal", gaussian([0.0, 0.0]), BAYES, 6, 1 / 6),
    ("equal, bold", gaussian([0.3, 0.3], 0.7, 1.1), BAYES, 5, 1e-8),
    ("little noise", gaussian([0.2, 0.0], 1.0, 0.5), BAYES, 5, 0.05),
    ("very little noise", gaussian([0.2, 0.0], 1.0, 0.1), BAYES, 3, 0.05),
    ("much noise", gaussian([0.1, 0.0], 1.0, 4.0), BAYES, 6, 0.05),
    ("greedy", gaussian([0.5, 0.0], 1.0, 1.0), BAYES, 6, 0.999),
    ("far apart", gaussian([3.0, 0.0]), BAYES, 6, 0.01),
    ("small units", gaussian([1e-3, 2e-3], 2e-3, 3e-3), BAYES, 5, 0.1),
    ("ucb1", gaussian([1.0, 0.0]), UCB1, 6, 0.1),
    ("ucb1, equal", gaussian([0.0, 0.0], 1.5, 1.0), UCB1, 6, 0.25),
    ("ucb1, little noise", gaussian([0.0, 0.5], 1.0, 0.6), UCB1, 5, 0.01),
    ("ucb1, very little noise", gaussian([0.0, 0.5], 1.0, 0.1), UCB1, 4, 0.01),
    ("ucb1, greedy", gaussian([0.0, 0.5], 1.0, 1.0), UCB1, 6, 0.999),
    ("ucb1, narrow", gaussian([0.0, 0.1], 0.2, 1.0), UCB1, 6, 0.1),
    ("wrong means", gaussian([0.5, 0.0]), wrong([0.0, 1.0]), 6, 0.1),
    ("too sure", gaussian([0.5, 0.0]), wrong([0.2, 0.3], 0.5, 1.0), 6, 0.1),
    ("too unsure", gaussian([0.5, 0.0]), wrong([0.0, 0.0], 2.0, 1.0), 6, 0.1),
    ("wrong noise", gaussian([0.5, 0.0], 1.0, 1.0), wrong([0.5, 0.0], 1.0, 2.0), 6, 0.1),
    ("wrong noise, same strength", gaussian([0.5, 0.0], 1.0, 1.0), wrong([0.5, 0.0], 2.0, 2.0), 5, 0.1),
    ("all wrong", gaussian([0.0, 0.3], 0.8, 1.2), wrong([1.0, -0.2], 1.5, 0.7), 6, 0.05),
    ("wrong and very little noise", gaussian([0.0, 0.3], 1.0, 0.2), wrong([1.0, 0.4], 0.5, 0.2), 3, 0.1),
    ("far too high", gaussian([0.0, 0.3], 0.8, 1.0), wrong([3.0, 3.0], 0.8, 1.0), 6, 0.1),
    ("tie of wrong beliefs", gaussian([0.0, 0.3]), wrong([0.5, 0.5], 1.0, 1.0), 4, 0.1),
    ("three", gaussian([0.5, 0.0, 0.2]), BAYES, 4, 0.1),
    ("three, two equal", gaussian([0.0, 0.4, 0.0], 1.0, 0.7), BAYES, 4, 0.02),
    ("three, equal", gaussian([0.0, 0.0, 0.0], 1.0, 1.0), BAYES, 4, 0.05),
    ("three, ucb1", gaussian([0.5, 0.0, 0.2]), UCB1, 4, 0.1),
    ("three, all wrong", gaussian([0.5, 0.0, 0.2]), wrong([0.0, 0.2, 0.4], 1.5, 1.2), 4, 0.1),
    ("four", gaussian([0.1, 0.0, 0.3, 0.1], 1.0, 0.5), BAYES, 4, 0.1),
    ("one", gaussian([0.7]), BAYES, 3, 0.1),
]
GRID_SCHEMES = ((20, 2.4), (24, 2.6))
NESTED_SCHEMES = ((22, mpf(3)), (18, mpf(2)))


def difference(one, other, scale):
    """Largest of all differences; regret in units of the prior width."""
    worst = mpf(0)
    for name, unit in (("regret", scale), ("pulls", 1.0), ("best_chance", 1.0)):
        if one[name] is not None and other[name] is not None:
            worst = max(worst, *(abs(x - y) / unit for x, y in zip(one[name], other[name], strict=True)))
    return worst


def digits(values):
    return None if values is None else [mp.nstr(mpf(value), 17) for value in values]


def main():
    entries = []
    for name, problem, policy, horizon, delta in CASES:
        start = time.time()
        arguments = problem, policy, horizon, delta
        both = None
        if len(problem["prior_mean"]) == 2 and horizon > 4:
            value, again = (by_grid(*arguments, scheme) for scheme in GRID_SCHEMES)
            # The first rounds alone are within the reach of the other way.
            one = by_grid(problem, policy, FEW, delta, GRID_SCHEMES[0])
            both = difference(one, nested(problem, policy, FEW, delta, NESTED_SCHEMES[1]), problem["prior_width"])
            both = max(both, *(abs(x - y) for x, y in zip(one["regret"], value["regret"][:FEW], strict=True)))
            if both > WORST:
                raise ArithmeticError(f"{name}: both ways differ by {mp.nstr(both, 3)}")
        else:
            value, again = (nested(*arguments, scheme) for scheme in NESTED_SCHEMES)
        agreement = difference(value, again, problem["prior_width"])
        if agreement > WORST:
            raise ArithmeticError(f"{name}: agreement is {mp.nstr(agreement, 3)}")
        entries.append(
            {"name": name, "problem": problem, "policy": policy, "horizon": horizon, "delta": delta}
            | {key: digits(values) for key, values in value.items()}
            | {"agreement": mp.nstr(agreement, 2)}
        )
        told = "" if both is None else f", both ways {mp.nstr(both, 2)}"
        seconds = time.time() - start
        print(f"{name}: {entries[-1]['regret'][-1]}, {mp.nstr(agreement, 2)}{told}, {seconds:.0f} s", flush=True)
        lines = ",\n".join(json.dumps(entry) for entry in entries)
        (HERE / "exact.json").write_text(f"[\n{lines}\n]\n")


if __name__ == "__main__":
    main()
