"""Golden values of the bounds' ingredients at 30 digits, from their definitions alone.

Run as `python tests/golden/bounds_mpmath.py` (20 minutes, one process): it writes `bounds.json` beside itself after
every problem. Nothing here comes from `bayesregret`; speed is no aim. Each value is computed twice, with panels of
different lengths and Gauss-Legendre rules of different degrees, and kept only if the two agree to 1e-14.

Notation as in the paper: h_a, H_a the prior density and distribution of arm a, M the best other arm with density
f_-a = sum_{j!=a} h_j prod_{i!=a,j} H_i, x = M - theta_a the gap, L = log(1/delta), z = sqrt(2L).
E sum g denotes sum_a int_0^inf g(x) p_a(x) dx, p_a(x) = int f_-a(m) h_a(m - x) dm. Equal arms are computed once.

Every distribution is written in a coordinate y in which it is smooth. For a Gaussian arm y is the mean. For a Beta arm
y is the arc with theta = sin(y)^2: the density there, 2 sin(y)^(2 alpha - 1) cos(y)^(2 beta - 1) / B(alpha, beta), has
no singular ends when alpha and beta are multiples of 1/2, as they must be here.
"""

import json
import pathlib
import sys
import time
from collections import Counter
from functools import cache
from itertools import pairwise
from typing import NamedTuple

from legendre import gauss_legendre
from mpmath import mp, mpf

mp.dps = 30
HERE = pathlib.Path(__file__).parent
REACH = 14  # widths at which a Gaussian is cut off: exp(-98)
NOTHING = mpf(10) ** -45
ROOT_HALF = mp.sqrt(mpf(1) / 2)
INVERSE_ROOT_TWO_PI = 1 / mp.sqrt(2 * mp.pi)
WORST = mpf(10) ** -14


class Scheme(NamedTuple):
    """How to place nodes: the degree of a panel, its greatest length in prior widths, its greatest ratio of ends."""

    degree: int
    width: mpf
    ratio: mpf


SCHEMES = (Scheme(14, mpf(1), mpf(2)), Scheme(17, mpf("1.3"), mpf("2.2")))


# --- quadrature ----------------------------------------------------------------------------------------------------


def panel(start, end, degree):
    return [(start + (end - start) * y, (end - start) * w) for y, w in gauss_legendre(degree)]


def squared_panel(start, end, degree):
    """A panel whose left end may be a square-root branch point: start + (end - start) y^2."""
    return [(start + (end - start) * y * y, 2 * (end - start) * y * w) for y, w in gauss_legendre(degree)]


def between(breaks, start, end):
    """Sorted break points inside [start, end], with both ends."""
    return [start, *sorted({b for b in breaks if start < b < end}), end]


def refined(breaks, longest):
    """The same breaks, with equal pieces where two are further apart than `longest`."""
    out = [breaks[0]]
    for start, end in pairwise(breaks):
        pieces = int(mp.ceil((end - start) / longest))
        out += [start + (end - start) * i / pieces for i in range(1, pieces + 1)]
    return out


def geometric(start, end, ratio):
    """start, start ratio, start ratio^2, ... below end: the grading that 1/x needs."""
    out = []
    while start < end:
        out.append(start)
        start *= ratio
    return out


def nodes(breaks, degree, rule=panel):
    return [node for start, end in pairwise(breaks) for node in rule(start, end, degree)]


def integral(function, points):
    return mp.fsum(w * function(y) for y, w in points)


# --- problems ------------------------------------------------------------------------------------------------------


def psi(u):
    """E (u - Z)^+ for a standard normal Z: u Phi(u) + phi(u)."""
    return u * normal_distribution(u) + normal_density(u)


def normal_density(u):
    return mp.exp(-u * u / 2) * INVERSE_ROOT_TWO_PI


def normal_distribution(u):
    return upper_tail(-u)


def upper_tail(u):
    return mp.erfc(u * ROOT_HALF) / 2


class Problem:
    """Code common to both models. `groups` maps each distinct arm to its multiplicity."""

    def best_other(self, arm, y):
        """f_-a in the coordinate y."""
        return self.best_of(self.others(arm), y)

    def best_of(self, groups, y):
        """Density of the best of some arms: sum_j h_j prod_{i!=j} H_i."""
        if len(groups) == 1:
            [(j, count)] = groups.items()
            return count * self.density(j, y) * (self.distribution(j, y) ** (count - 1) if count > 1 else 1)
        below = {j: self.distribution(j, y) for j in groups}
        total = mpf(0)
        for j, count in groups.items():
            term = count * self.density(j, y)
            for i, many in groups.items():
                term *= below[i] ** (many - (i == j))
            total += term
        return total

    @cache  # noqa: B019 - a problem lives as long as the script
    def others(self, arm):
        """The arms without one of this kind."""
        return {j: count - (j == arm) for j, count in self.groups.items() if count > (j == arm)}

    def count(self):
        return sum(self.groups.values())

    def expected(self, gap_function, gaps):
        """E sum g; `gap_function(arm)` is g, `gaps[arm]` nodes and weights for the gap of the arm."""
        total = mpf(0)
        for arm, many in self.groups.items():
            g = gap_function(arm)
            total += many * mp.fsum(w * g(x) for x, w in gaps[arm])
        return total

    def expected_gap_sum(self, scheme):
        """K E[max] - sum of prior means."""
        means = sum(many * self.mean(arm) for arm, many in self.groups.items())
        return self.count() * self.expected_best(scheme) - means

    def expected_max_gap(self, scheme):
        """E[max - min]."""
        return self.expected_best(scheme) - self.expected_worst(scheme)


class Gaussian(Problem):
    """theta_a ~ N(mu_a, s0^2), rewards N(theta_a, s^2). An arm is its mu_a."""

    def __init__(self, spec):
        self.groups = Counter(mpf(repr(mu)) for mu in spec["prior_mean"])
        self.s0 = mpf(repr(spec["prior_width"]))
        self.s = mpf(repr(spec["reward_noise"]))
        self.r = (self.s / self.s0) ** 2

    def mean(self, arm):
        return arm

    def density(self, arm, y):
        return normal_density((y - arm) / self.s0) / self.s0

    def distribution(self, arm, y):
        return normal_distribution((y - arm) / self.s0)

    def longest(self, scheme):
        """Longest panel: the best of very many arms has a narrow distribution."""
        return scheme.width * self.s0 / (2 if self.count() > 50 else 1)

    def line(self, scheme, breaks=()):
        """Nodes for the whole line, relative accuracy in every tail included."""
        start, end = min(self.groups) - REACH * self.s0, max(self.groups) + REACH * self.s0
        return nodes(refined(between(breaks, start, end), self.longest(scheme)), scheme.degree)

    def best_other_nodes(self, arm, scheme, breaks=()):
        """(m, w f_-a(m)) where the best other arm can be."""
        best = max(self.others(arm))
        start, end = best - REACH * self.s0, best + REACH * self.s0
        points = nodes(refined(between(breaks, start, end), self.longest(scheme)), scheme.degree)
        return [(m, w * self.best_other(arm, m)) for m, w in points]

    def gap_nodes(self, arm, kinks, scheme):
        """(x, w p_a(x)): p_a by the sum over m."""
        best = max(self.others(arm))
        start, end = max(mpf(0), best - arm - 20 * self.s0), max(mpf(0), best - arm) + 20 * self.s0
        breaks = {*kinks, *geometric(min(kinks), end, scheme.ratio)}
        points = nodes(refined(between(breaks, start, end), self.longest(scheme)), scheme.degree)
        others = self.best_other_nodes(arm, scheme)
        weights = [w / (self.s0 * mp.sqrt(2 * mp.pi)) for _, w in others]
        scaled = [(m - arm) / self.s0 for m, _ in others]
        out = []
        for x, w in points:
            shift = x / self.s0
            out.append((x, w * mp.fdot(weights, [mp.exp(-((b - shift) ** 2) / 2) for b in scaled])))
        return out

    def expected_best(self, scheme):
        """E[max] = int m (sum_j h_j prod_{i!=j} H_i) dm, measured from the highest mean."""
        top = max(self.groups)
        breaks = refined([top - REACH * self.s0, top + REACH * self.s0], self.longest(scheme))
        return top + integral(lambda m: (m - top) * self.best_of(self.groups, m), nodes(breaks, scheme.degree))

    def expected_worst(self, scheme):
        """E[min] = -E[max of -theta]."""
        mirror = Gaussian.__new__(Gaussian)
        mirror.groups = Counter({-mu: many for mu, many in self.groups.items()})
        mirror.s0 = self.s0
        return -mirror.expected_best(scheme)

    def complexity(self, low, high, scheme):
        """sum_a int h_a(m - clip(m - mu_a, low, high)) f_-a(m) dm."""
        total = mpf(0)
        for arm, many in self.groups.items():

            def inside(m, arm=arm):
                return self.density(arm, m - min(max(m - arm, low), high)) * self.best_other(arm, m)

            total += many * integral(inside, self.line(scheme, (arm + low, arm + high)))
        return total

    def a_coefficient(self, log_delta):
        return 8 * self.s**2 * log_delta

    def reach(self, log_delta):
        """x_c = s0 sqrt(8L), where B = 0."""
        return self.s0 * mp.sqrt(8 * log_delta)

    # -- leading terms

    def kinks(self, n, log_delta):
        return [self.reach(log_delta), 1 / mp.sqrt(mp.log(n))]

    def theorem_leading(self, log_delta, epsilon, gaps, strength=None):
        """Theorem 1: E sum [A/max(x, eps) - r max(x, eps)]; strength 0 for UCB1's."""
        A, r = self.a_coefficient(log_delta), self.r if strength is None else strength
        return self.expected(lambda _: lambda x: A / max(x, epsilon) - r * max(x, epsilon), gaps)

    def epsilon_leading(self, log_delta, low, gaps):
        """E sum x (B(x) + 1) 1{low <= x <= x_c}, B = A/x^2 - r."""
        A, end = self.a_coefficient(log_delta), self.reach(log_delta)
        return self.expected(lambda _: lambda x: A / x + (1 - self.r) * x if low <= x <= end else mpf(0), gaps)

    def floor_leading(self, n, log_delta, scheme):
        """sum_a sum_{k<n} int_0^{x_k} x p_a(x) dx, x_k = sqrt(A/(k + r)).

        Given M = m = mu_a + s0 b the inner integral is closed: with c = b - x_k/s0,
        s0 [b (Phi(b) - Phi(c)) + phi(b) - phi(c)].
        """
        reaches = [mp.sqrt(self.a_coefficient(log_delta) / (k + self.r)) for k in range(n)]
        total = mpf(0)
        for arm, many in self.groups.items():
            for m, w in self.best_other_nodes(arm, scheme):
                b = (m - arm) / self.s0
                ends = [b - x / self.s0 for x in reaches]
                total += (
                    many
                    * w
                    * self.s0
                    * (n * psi(b) - mp.fsum(b * normal_distribution(c) + normal_density(c) for c in ends))
                )
        return total

    def index_leading(self, n, log_delta, scheme):
        """sum_a sum_{k<n} int_{u<z} v_k psi(u) E_zeta f_-a(mu_a + sqrt(v_k) u + sqrt(s0^2 - v_k) zeta) du."""
        z, total = mp.sqrt(2 * log_delta), mpf(0)
        for k in range(n):
            v = 1 / (1 / self.s0**2 + k / self.s**2)
            spread = self.s0 * mp.sqrt(k / (k + self.r))
            zetas = nodes(refined([-mpf(11), mpf(11)], 2 * scheme.width), scheme.degree) if k else [(mpf(0), mpf(1))]
            zetas = [(zeta * spread, w * normal_density(zeta) if k else w) for zeta, w in zetas]
            points = nodes(refined([-mpf(REACH), z], 2 * scheme.width), scheme.degree)
            points = [(mp.sqrt(v) * u, w * v * psi(u)) for u, w in points]
            for arm, many in self.groups.items():
                for step, w in points:
                    total += many * w * integral(lambda q, at=arm + step, arm=arm: self.best_other(arm, at + q), zetas)
        return total

    def prior_dependent(self, n, log_delta, gaps, scheme):
        """I sum_a int sup_{[e1, u]} h_a(m - x) f_-a(m) dm + E sum x (B + 1) 1{e2 < x <= x_c} + 1,
        u = min(e2, max(e1, x_c)), I = A log(n u) + (1 - r)(u^2 - e1^2)/2."""
        e1, e2 = 1 / mpf(n), 1 / mp.sqrt(mp.log(n))
        u = min(e2, max(e1, self.reach(log_delta)))
        inner = self.a_coefficient(log_delta) * mp.log(n * u) + (1 - self.r) * (u * u - e1 * e1) / 2
        return inner * self.complexity(e1, u, scheme) + self.epsilon_leading(log_delta, e2, gaps) + 1

    def ucb1_certified(self, n, log_delta, gaps):
        """E sum x min(n, 1 + sum_{k=1}^{n-1} Qtail(sqrt(k) x/s - z))."""
        z = mp.sqrt(2 * log_delta)

        def g(x):
            return x * min(n, 1 + mp.fsum(upper_tail(mp.sqrt(k) * x / self.s - z) for k in range(1, n)))

        return self.expected(lambda _: g, gaps)


@cache
def beta_function(alpha, beta):
    return mp.beta(alpha, beta)


@cache
def beta_distribution(alpha, beta, y):
    """P(theta <= sin(y)^2). Closed if it can be, otherwise the series with positive terms
    q^alpha (1-q)^beta / (alpha B) sum_i prod_{l<=i} (alpha+beta+l-1)/(alpha+l) q^i from the nearer end."""
    if y <= 0:
        return mpf(0)
    if alpha == beta == mpf(1) / 2:
        return 2 * y / mp.pi
    if beta == 1:
        return mp.sin(y) ** (2 * alpha)
    if alpha == 1:
        return 1 - mp.cos(y) ** (2 * beta)
    q = mp.sin(y) ** 2
    if q > alpha / (alpha + beta):
        return 1 - beta_distribution(beta, alpha, mp.pi / 2 - y)
    term, total, i = mpf(1), mpf(1), 0
    while term > total * mpf(10) ** -33:
        i += 1
        term *= (alpha + beta + i - 1) / (alpha + i) * q
        total += term
    return q**alpha * (1 - q) ** beta / (alpha * beta_function(alpha, beta)) * total


class Bernoulli(Problem):
    """theta_a ~ Beta(alpha_a, beta_a). An arm is its (alpha, beta); the coordinate is the arc y."""

    SPREAD = (0, 1, 2, 3, 4, 6, 8, 10, 12, 16, 24, 40, 60)

    def __init__(self, spec):
        pairs = zip(spec["alpha"], spec["beta"], strict=True)
        self.groups = Counter((mpf(repr(alpha)), mpf(repr(beta))) for alpha, beta in pairs)

    def mean(self, arm):
        return arm[0] / (arm[0] + arm[1])

    def deviation(self, arm):
        alpha, beta = arm
        return mp.sqrt(alpha * beta / (alpha + beta + 1)) / (alpha + beta)

    def density(self, arm, y):
        """Density of the arc."""
        alpha, beta = arm
        cos, sin = mp.cos_sin(y)
        return 2 * sin ** int(2 * alpha - 1) * cos ** int(2 * beta - 1) / beta_function(alpha, beta)

    def mean_density(self, arm, q):
        """h_a(q), 0 outside [0, 1]."""
        alpha, beta = arm
        if not 0 <= q <= 1:
            return mpf(0)
        return q ** (alpha - 1) * (1 - q) ** (beta - 1) / beta_function(alpha, beta)

    def distribution(self, arm, y):
        return beta_distribution(*arm, y)

    def below(self, arm, q):
        """H_a(q) and E[theta_a; theta_a <= q] = mean (H_a(q) - q^alpha (1-q)^beta/(alpha B(alpha, beta)))."""
        alpha, beta = arm
        if q <= 0:
            return mpf(0), mpf(0)
        if q >= 1:
            return mpf(1), self.mean(arm)
        H = self.distribution(arm, mp.asin(mp.sqrt(q)))
        edge = q**alpha * (1 - q) ** beta / (alpha * beta_function(alpha, beta))
        return H, self.mean(arm) * (H - edge)

    def arcs(self, scheme, kinks=(), shifts=(), moved=None):
        """Break points of [0, pi/2]: where arms change (`moved`, if narrow, also by the shifts), kinks, graded ends."""
        values = list(kinks)
        for arm in self.groups:
            moves = arm == moved and self.deviation(arm) < mpf("0.05")
            for shift in (mpf(0), *shifts) if moves else (mpf(0),):
                values += [self.mean(arm) + shift + i * self.deviation(arm) for i in self.SPREAD]
                values += [self.mean(arm) + shift - i * self.deviation(arm) for i in self.SPREAD]
        breaks = {mp.asin(mp.sqrt(q)) for q in values if 0 < q < 1}
        first = mp.sqrt(min(kinks, default=mpf("0.1")))
        graded = geometric(first, mp.pi / 4, scheme.ratio)
        return between(breaks | set(graded) | {mp.pi / 2 - c for c in graded}, mpf(0), mp.pi / 2)

    def best_other_nodes(self, arm, scheme, kinks=(), shifts=()):
        """(t, w f_-a(t)), those that matter."""
        points = nodes(self.arcs(scheme, kinks, shifts, arm), scheme.degree, squared_panel)
        weighted = [(t, w * self.best_other(arm, t)) for t, w in points]
        return [(t, w) for t, w in weighted if w > NOTHING]

    def gap_nodes(self, arm, kinks, scheme):
        """(x, weight) over pairs of arcs t of M and t - u of theta_a: x = sin(u) sin(2t - u)."""
        out = []
        own = [self.mean(arm) + sign * i * self.deviation(arm) for i in self.SPREAD for sign in (-1, 1)]
        own = [mp.asin(mp.sqrt(q)) for q in own if 0 < q < 1]
        for t, weight in self.best_other_nodes(arm, scheme, kinks, kinks):
            for start, end in self.gap_panels(arm, t, kinks, own, scheme):
                for u, w in panel(start, end, scheme.degree):
                    x = mp.sin(u) * mp.sin(2 * t - u)
                    out.append((x, weight * w * self.density(arm, t - u)))
        return out

    def gap_panels(self, arm, t, kinks, own, scheme):
        """Panels of u in [0, t]: broken where x meets a kink and where the arm's density changes."""
        at = []
        for x in kinks:
            q = mp.sin(t) ** 2 - x
            if q > 0:
                at.append(mp.asin(x / mp.sin(t + mp.asin(mp.sqrt(q)))))
        grading = geometric(min(at), t, scheme.ratio) if at else []
        breaks = between([*at, *grading, *(t - s for s in own)], mpf(0), t)
        heights = [self.density(arm, t - u) for u in breaks]
        pairs = zip(breaks, breaks[1:], heights, heights[1:], strict=False)
        return [(start, end) for start, end, one, other in pairs if max(one, other) > NOTHING]

    def expected_best(self, scheme):
        """E[max] = int_0^1 P(max > q) dq."""
        return self.above_level(self.groups, mpf(0), scheme)[0]

    def expected_worst(self, scheme):
        """int_0^1 prod (1 - H_i)."""
        points = nodes(self.arcs(scheme), scheme.degree, squared_panel)
        return integral(lambda t: self.all_above(t) * mp.sin(2 * t), points)

    def all_below(self, groups, t):
        out = mpf(1)
        for arm, many in groups.items():
            out *= self.distribution(arm, t) ** many
        return out

    def all_above(self, t):
        out = mpf(1)
        for arm, many in self.groups.items():
            out *= (1 - self.distribution(arm, t)) ** many
        return out

    def highest(self, arm, low, high):
        """sup of h_a over [low, high], 0 outside [0, 1]: the mode if it is inside, else the higher end."""
        alpha, beta = arm
        low, high = max(low, mpf(0)), min(high, mpf(1))
        if low > high:
            return mpf(0)
        if alpha > 1 and beta > 1 and low <= self.mode(arm) <= high:
            return self.mean_density(arm, self.mode(arm))
        return max(self.mean_density(arm, low), self.mean_density(arm, high))

    def mode(self, arm):
        return (arm[0] - 1) / (arm[0] + arm[1] - 2)

    def arm_complexity(self, arm, low, high, scheme):
        """int sup_{x in [low, high]} h_a(m - x) f_-a(m) dm; alpha < 1 makes it infinite."""
        if arm[0] < 1:
            return mp.inf
        kinks = [low, high]
        if arm[0] > 1 and arm[1] > 1:
            kinks += [self.mode(arm) + low, self.mode(arm) + high]
        points = self.best_other_nodes(arm, scheme, kinks, [low, high])
        return mp.fsum(w * self.highest(arm, mp.sin(t) ** 2 - high, mp.sin(t) ** 2 - low) for t, w in points)

    def complexity(self, low, high, scheme):
        """sum_a int h_a(m - xi_a(m)) f_-a(m) dm; at low = high = 0, sum_a int h_a f_-a."""
        if high == 0:
            return self.weighted_complexity(lambda m: 1, scheme)
        return sum(many * self.arm_complexity(arm, low, high, scheme) for arm, many in self.groups.items())

    def weighted_complexity(self, weight, scheme):
        """sum_a int h_a(m) weight(m) f_-a(m) dm; infinite where both densities have poles of order 1/2."""
        total = mpf(0)
        points = nodes(self.arcs(scheme), scheme.degree, squared_panel)
        for arm, many in self.groups.items():
            if self.has_pole(arm) and weight(mpf(0)) != 0:
                return mp.inf

            def inside(t, arm=arm):
                m = mp.sin(t) ** 2
                return self.mean_density(arm, m) * weight(m) * self.best_other(arm, t)

            total += many * integral(inside, points)
        return total

    def has_pole(self, arm):
        """Is int h_a f_-a infinite, at m = 1 (beta_a and the least other beta) or at m = 0 (all alphas together)?"""
        alphas = sum(many * alpha for (alpha, _), many in self.groups.items())
        return arm[1] + min(beta for _, beta in self.others(arm)) <= 1 or alphas <= 1

    # -- leading terms

    def strength(self, arm):
        return arm[0] + arm[1] + 1

    def reach(self, arm, log_delta):
        """x_ca = sqrt(2L/(alpha_a + beta_a + 1)), where B_a = 0."""
        return mp.sqrt(2 * log_delta / self.strength(arm))

    def kinks(self, n, log_delta):
        return [*(self.reach(arm, log_delta) for arm in self.groups), 1 / mp.sqrt(mp.log(n))]

    def theorem_leading(self, log_delta, epsilon, gaps):
        """Theorem 5: E sum [2L/max(x, eps) - (alpha_a + beta_a + 1) max(x, eps)]."""

        def of_arm(arm):
            return lambda x: 2 * log_delta / max(x, epsilon) - self.strength(arm) * max(x, epsilon)

        return self.expected(of_arm, gaps)

    def epsilon_leading(self, log_delta, low, gaps):
        """E sum x (B_a(x) + 1) 1{low <= x <= x_ca}, B_a = 2L/x^2 - (alpha_a + beta_a + 1)."""

        def of_arm(arm):
            end, rest = self.reach(arm, log_delta), self.strength(arm) - 1
            return lambda x: 2 * log_delta / x - rest * x if low <= x <= end else mpf(0)

        return self.expected(of_arm, gaps)

    def floor_leading(self, n, log_delta, scheme):
        """sum_a sum_{k<n} int_0^{x_k} x p_a(x) dx, x_k = sqrt(2L/(k + alpha_a + beta_a + 1)).

        Given M = m the inner integral is int_{m-x_k}^m (m - theta) h_a(theta) dtheta, by `below`.
        """
        total = mpf(0)
        for arm, many in self.groups.items():
            for k in range(n):
                x = mp.sqrt(2 * log_delta / (k + self.strength(arm)))
                kinks = [x, (1 + x) / 2, (7 + x) / 8]  # the first is one; the others split what is above it
                for t, w in self.best_other_nodes(arm, scheme, kinks, [x]):
                    m = mp.sin(t) ** 2
                    (mass, moment), (lower_mass, lower_moment) = self.below(arm, m), self.below(arm, m - x)
                    total += many * w * (m * (mass - lower_mass) - (moment - lower_moment))
        return total

    def index_leading(self, n, log_delta, scheme):
        """sum_a sum_{k<n} F_a(k), F_a(k) = E[(M - theta_a)^+] - sum_j betabinomial(j; k) [Phi(u_kj) + C_k S(u_kj)],
        C_k = sqrt(L/(2(alpha+beta+k+1))), u_kj = (alpha+j)/(alpha+beta+k) + C_k, Phi(u) = E[(M-u)^+], S(u) = P(M > u).
        """
        total = mpf(0)
        for arm, many in self.groups.items():
            positive_part = self.expected_best(scheme) - self.mean(arm)  # E max(M, theta) - E theta
            for k in range(n):
                width = mp.sqrt(log_delta / (2 * (self.strength(arm) + k)))
                total += many * positive_part
                for j in range(k + 1):
                    u = (arm[0] + j) / (arm[0] + arm[1] + k) + width
                    if u < 1:
                        excess, tail = self.above_level(self.others(arm), mp.asin(mp.sqrt(u)), scheme)
                        total -= many * betabinomial(j, k, arm) * (excess + width * tail)
        return total

    def above_level(self, others, start, scheme):
        """E[(M - u)^+] = int_u^1 P(M > q) dq and P(M > u), the arc of u being `start`."""
        breaks = between(self.arcs(scheme), start, mp.pi / 2)
        points = nodes(breaks, scheme.degree, squared_panel)
        excess = integral(lambda t: (1 - self.all_below(others, t)) * mp.sin(2 * t), points)
        return excess, 1 - self.all_below(others, start)

    def prior_dependent(self, n, log_delta, gaps, scheme):
        """sum_a I_a int sup_{[e1, u_a]} h_a(m - x) f_-a(m) dm + E sum x (B_a + 1) 1{e2 < x <= x_ca} + 1,
        u_a = min(e2, max(e1, x_ca)), I_a = 2L log(n u_a) - (alpha_a + beta_a) (u_a^2 - e1^2)/2."""
        e1, e2 = 1 / mpf(n), 1 / mp.sqrt(mp.log(n))
        total = self.epsilon_leading(log_delta, e2, gaps) + 1
        for arm, many in self.groups.items():
            u = min(e2, max(e1, self.reach(arm, log_delta)))
            inner = 2 * log_delta * mp.log(n * u) - (self.strength(arm) - 1) * (u * u - e1 * e1) / 2
            total += many * inner * self.arm_complexity(arm, e1, u, scheme)
        return total


def betabinomial(j, k, arm):
    """P(j successes among k rewards)."""
    alpha, beta = arm
    return mp.binomial(k, j) * beta_function(alpha + j, beta + k - j) / beta_function(alpha, beta)


# --- quantities ----------------------------------------------------------------------------------------------------


def compute(quantity, problem, n, delta, epsilon, gaps, scheme):
    """One value. `gaps` is {arm: nodes of its gap}, or None where no quantity needs it."""
    log_delta = -mp.log(delta)
    e1, e2 = 1 / mpf(n), 1 / mp.sqrt(mp.log(n))
    match quantity:
        case "theorem_1_leading" | "theorem_5_leading":
            return problem.theorem_leading(log_delta, epsilon, gaps)
        case "ucb1_leading":
            return problem.theorem_leading(log_delta, epsilon, gaps, strength=mpf(0))
        case "epsilon_leading":
            return problem.epsilon_leading(log_delta, epsilon, gaps)
        case "floor_leading":
            return problem.floor_leading(n, log_delta, scheme)
        case "index_leading":
            return problem.index_leading(n, log_delta, scheme)
        case "complexity":
            return problem.complexity(e1, e2, scheme)
        case "complexity_at_zero":
            return problem.complexity(mpf(0), mpf(0), scheme)
        case "variance_complexity":
            return problem.weighted_complexity(lambda m: m * (1 - m), scheme)
        case "expected_gap_sum":
            return problem.expected_gap_sum(scheme)
        case "expected_max_gap":
            return problem.expected_max_gap(scheme)
        case "prior_dependent_certified":
            return problem.prior_dependent(n, log_delta, gaps, scheme)
        case "ucb1_certified_leading":
            return problem.ucb1_certified(n, log_delta, gaps)
    raise ValueError(quantity)


WITH_EPSILON = {"theorem_1_leading", "theorem_5_leading", "ucb1_leading", "epsilon_leading"}
WITH_GAPS = WITH_EPSILON | {"prior_dependent_certified", "ucb1_certified_leading"}


def gaussian(means, width=1.0, noise=1.0):
    return {"model": "gaussian", "prior_mean": means, "prior_width": width, "reward_noise": noise}


def bernoulli(*pairs):
    return {"model": "bernoulli", "alpha": [alpha for alpha, _ in pairs], "beta": [beta for _, beta in pairs]}


T1, T5, UCB1, EPSILON = "theorem_1_leading", "theorem_5_leading", "ucb1_leading", "epsilon_leading"
FLOOR, INDEX, PRIOR, CERTIFIED_UCB1 = (
    "floor_leading",
    "index_leading",
    "prior_dependent_certified",
    "ucb1_certified_leading",
)
COMPLEXITY, AT_ZERO, VARIANCE = "complexity", "complexity_at_zero", "variance_complexity"
GAP_SUM, MAX_GAP = "expected_gap_sum", "expected_max_gap"
GAPS = {GAP_SUM: 1000, MAX_GAP: 1000}
BOTH, ONE, SMALL = ("1e-3", "1e-7"), ("1e-3",), ("1e-7",)
PLAIN = {COMPLEXITY: 1000, AT_ZERO: 1000}

# Name, problem, delta (None: 1/n), and for each quantity its values of epsilon at horizon 1000 or its horizon.
CASES = [
    (
        "landmark",
        gaussian([1.0] + [0.0] * 9),
        None,
        {T1: BOTH, UCB1: BOTH, EPSILON: BOTH, PRIOR: 1000, CERTIFIED_UCB1: 20, FLOOR: 1000, INDEX: 20, **PLAIN, **GAPS},
    ),
    ("two", gaussian([1.0, 0.0]), None, {T1: BOTH, EPSILON: ONE, PRIOR: 1000, FLOOR: 50, INDEX: 5, **PLAIN, **GAPS}),
    ("two equal", gaussian([0.0, 0.0]), None, {T1: ONE, UCB1: SMALL, EPSILON: SMALL, CERTIFIED_UCB1: 20, **PLAIN}),
    ("ten equal", gaussian([0.0] * 10), None, {T1: ONE, EPSILON: ONE, FLOOR: 50, **PLAIN, **GAPS}),
    (
        "two hundred equal",
        gaussian([0.0] * 200),
        None,
        {T1: BOTH, EPSILON: ONE, FLOOR: 50, PRIOR: 1000, **PLAIN, **GAPS},
    ),
    ("forty widths apart", gaussian([40.0, 0.0, 0.0]), None, {T1: ONE, UCB1: ONE, PRIOR: 1000, **PLAIN, **GAPS}),
    (
        "surely bad arm",
        gaussian([1.0, 0.5, 0.5, -30.0]),
        None,
        {T1: ONE, EPSILON: ONE, PRIOR: 1000, CERTIFIED_UCB1: 20, FLOOR: 50, **PLAIN, **GAPS},
    ),
    ("narrow", gaussian([1.0, 0.0, 0.0], width=1e-3), None, {T1: ONE, UCB1: ONE, **GAPS}),
    (
        "narrow equal",
        gaussian([0.0, 0.0, 0.0], width=1e-3),
        None,
        {T1: BOTH, EPSILON: ONE, PRIOR: 1000, FLOOR: 50, **PLAIN, **GAPS},
    ),
    (
        "wide",
        gaussian([1.0, 0.0, 0.0], width=1e3),
        None,
        {T1: BOTH, EPSILON: ONE, PRIOR: 1000, FLOOR: 50, **PLAIN, **GAPS},
    ),
    (
        "strong prior",
        gaussian([0.0, 0.0, 0.0], width=0.01),
        None,
        {T1: ONE, EPSILON: ONE, PRIOR: 1000, FLOOR: 50, INDEX: 20, CERTIFIED_UCB1: 20, **PLAIN},
    ),
    (
        "weak prior",
        gaussian([0.0, 0.0, 0.0], noise=0.01),
        None,
        {T1: ONE, EPSILON: ONE, PRIOR: 1000, FLOOR: 50, INDEX: 20, CERTIFIED_UCB1: 20},
    ),
    ("little noise", gaussian([0.0] * 10, noise=0.01), "1e-6", {T1: ONE, EPSILON: ONE, FLOOR: 50}),
    (
        "two uniform",
        bernoulli((1, 1), (1, 1)),
        None,
        {T5: BOTH, EPSILON: BOTH, PRIOR: 1000, FLOOR: 50, INDEX: 20, VARIANCE: 1000, **PLAIN, **GAPS},
    ),
    (
        "ten uniform",
        bernoulli(*[(1, 1)] * 10),
        None,
        {T5: BOTH, EPSILON: ONE, PRIOR: 1000, FLOOR: 50, INDEX: 20, VARIANCE: 1000, **PLAIN, **GAPS},
    ),
    (
        "two arcsine",
        bernoulli((0.5, 0.5), (0.5, 0.5)),
        None,
        {T5: BOTH, EPSILON: BOTH, FLOOR: 50, INDEX: 20, VARIANCE: 1000, **PLAIN, **GAPS},
    ),
    (
        "three arcsine",
        bernoulli(*[(0.5, 0.5)] * 3),
        None,
        {T5: ONE, EPSILON: ONE, PRIOR: 1000, FLOOR: 50, INDEX: 20, VARIANCE: 1000, AT_ZERO: 1000, GAP_SUM: 1000},
    ),
    (
        "surely bad success",
        bernoulli((1, 1), (2, 1), (1, 1000)),
        None,
        {T5: ONE, EPSILON: ONE, PRIOR: 1000, FLOOR: 20, INDEX: 20, VARIANCE: 1000, **PLAIN, **GAPS},
    ),
    (
        "three strong",
        bernoulli(*[(1000, 1000)] * 3),
        None,
        {T5: ONE, EPSILON: ONE, PRIOR: 1000, FLOOR: 4, INDEX: 4, VARIANCE: 1000, **PLAIN, **GAPS},
    ),
    (
        "mixed",
        bernoulli((1, 1), (0.5, 0.5), (1000, 1000)),
        None,
        {T5: ONE, EPSILON: ONE, VARIANCE: 1000, FLOOR: 3, **PLAIN, **GAPS},
    ),
]


def wanted(quantities):
    """(quantity, horizon, epsilon) of a case."""
    for quantity, what in quantities.items():
        if isinstance(what, tuple):
            yield from ((quantity, 1000, epsilon) for epsilon in what)
        else:
            yield quantity, what, None


def values(problem, delta, rows, scheme):
    """All values of a case by one scheme; the nodes of the gaps are shared."""
    gaps = None
    if any(quantity in WITH_GAPS for quantity, _, _ in rows):
        kinks = problem.kinks(1000, -mp.log(mpf(delta or "1e-3")))
        kinks = {*kinks, *(mpf(epsilon) for _, _, epsilon in rows if epsilon)}
        gaps = {arm: problem.gap_nodes(arm, kinks, scheme) for arm in problem.groups}
    for quantity, n, epsilon in rows:
        its_delta = mpf(delta) if delta else 1 / mpf(n)
        yield compute(quantity, problem, n, its_delta, mpf(epsilon or 0), gaps, scheme)


def agreement(first, second):
    if first == second:
        return mpf(0)
    return abs(first - second) / abs(second)


def case(name, spec, delta, quantities):
    """The records of one case."""
    problem = {"gaussian": Gaussian, "bernoulli": Bernoulli}[spec["model"]](spec)
    rows = list(wanted(quantities))
    both = [list(values(problem, delta, rows, scheme)) for scheme in SCHEMES]
    for (quantity, n, epsilon), first, second in zip(rows, *both, strict=True):
        difference = agreement(first, second)
        digits = 20 if difference < mpf(10) ** -21 else 17 if difference < mpf(10) ** -18 else 14
        print(
            f"{name:20} {quantity:26} {epsilon or n:>6} {mp.nstr(second, 17):>24} {mp.nstr(difference, 2)}", flush=True
        )
        if difference <= WORST:
            yield {
                "name": name,
                "problem": spec,
                "horizon": n,
                "delta": float(delta or 1 / n),
                "epsilon": float(epsilon) if epsilon else None,
                "quantity": quantity,
                "value": "inf" if second == mp.inf else mp.nstr(second, digits),
                "agreement": mp.nstr(difference, 2),
            }


def main(names):
    """Writes bounds.json; with names of cases, computes only those and leaves the others as they are."""
    path = HERE / "bounds.json"
    done = json.loads(path.read_text()) if names and path.exists() else []
    order = [name for name, *_ in CASES]
    for name, *rest in CASES:
        if names and name not in names:
            continue
        start = time.perf_counter()
        done = [record for record in done if record["name"] != name] + list(case(name, *rest))
        done.sort(key=lambda record: order.index(record["name"]))
        path.write_text("[\n" + ",\n".join(map(json.dumps, done)) + "\n]\n")
        print(f"{name}: {time.perf_counter() - start:.0f} s", flush=True)


if __name__ == "__main__":
    main(sys.argv[1:])
