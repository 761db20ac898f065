"""Information-directed sampling of Russo and Van Roy (2014, 2018): little regret for what is learnt of the best arm."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple

from bayesregret import checks
from bayesregret.contracts import choose_arm
from bayesregret.dispatch import rarely_called
from bayesregret.numerics.special import make_special_functions_ready
from bayesregret.policies.base import BelievingPolicy
from bayesregret.policies.information_gain.best_arm import (
    add_panel,
    ends,
    fill_panel,
    finish_gaps,
    lay_out,
    room_for_best,
    start_integrals,
)
from bayesregret.policies.information_gain.linear import VarianceDirected, scratch_for_draws
from bayesregret.policies.information_gain.next_reward import (
    MOST_TELLING,
    Outcomes,
    add_outcomes,
    fill_gains,
    lay_out_outcomes,
    make_outcomes,
    room_for_outcomes,
    start_outcomes,
)
from bayesregret.policies.information_gain.posterior_shapes import (
    BetaShapes,
    NormalShapes,
    Rule,
    make_rule,
    make_shapes,
    panel_end,
)
from bayesregret.policies.information_gain.two_arm_mixture import best_mixture
from bayesregret.policies.selection import leading_arm
from bayesregret.rng import uniform

if TYPE_CHECKING:
    from bayesregret.models import Bandit

GAINS = ("exact", "variance")
# Beyond these pseudo-counts, logarithms of the gamma function have fewer than eight decimals.
LARGEST_COUNT = 1e7


class Directed(NamedTuple):
    family: Any  # of posteriors
    rule: Rule
    outcomes: Outcomes
    by_variance: bool


@choose_arm.implement(Directed)
def choose_directed(policy, model, stats, round_, stream):
    u, stream = uniform(stream)
    room = look_ahead(policy, model, stats)
    first, second, share = best_mixture(room.best.gaps, room.best.gains)
    return (first if u < share else second), stream


@rarely_called
def look_ahead(policy, model, stats):
    """The gaps and gains of all arms, in `scratch`."""
    family, rule, outcomes = policy.family, policy.rule, policy.outcomes
    arms = stats.counts.shape[0]
    room = lay_out(stats.scratch, arms)
    what_if = lay_out_outcomes(stats.scratch[room_for_best(arms) :], arms, outcomes.points.shape[1])
    leader = leading_arm(model, stats)
    make_shapes(family, model, stats, room.shapes)
    z, last = ends(room.shapes)
    start_integrals(family, room, z)
    start_outcomes(family, outcomes, room.shapes, what_if, z)
    while z < last:
        end = min(last, panel_end(family, room.shapes, z))
        half = 0.5 * (end - z)
        fill_panel(family, room, rule, z, half)
        add_panel(family, room, rule, z, half, leader)
        add_outcomes(family, outcomes, room, what_if, rule, z, half)
        z = end
    finish_gaps(room, leader)
    fill_gains(family, outcomes, room, what_if, policy.by_variance)
    return room


@dataclass(frozen=True)
class InformationDirected(BelievingPolicy):
    """Arms drawn so that (expected gap)^2 / gain is smallest, the gain being what a reward tells about the best arm.

    At most two arms have a chance in a round; of equal ones the lowest-numbered is taken. With `gain="exact"` it is the
    mutual information of the best arm and the reward; with `gain="variance"` the variance of the arm's mean that the
    best arm explains, whatever the noise, which is much cheaper for Gaussian rewards. For independent Gaussian or
    Bernoulli arms; and for linear beliefs, there always by variance, from so many `draws` of the posterior in every
    round. `prior` is a bandit whose prior the policy believes in, the true one if None.

    Chances and gaps have errors of about 1e-9, gains of 1e-6 of their size. Gaussian noise below a quarter of an arm's
    deviation, which is so at most before its first pull, is taken for that quarter: the gain is then low, by a tenth
    among equal arms and by a quarter at most, against an arm that is known.

    >>> InformationDirected(gain="variance")
    InformationDirected(gain='variance', draws=100, prior=None)
    """

    name: ClassVar[str] = "information-directed"
    gain: str = "exact"
    draws: int = 100
    prior: Bandit | None = None

    def __post_init__(self) -> None:
        super().__post_init__()
        checks.one_of("gain", self.gain, GAINS)
        checks.whole("draws", self.draws, 2)

    def settings(self, bandit: Bandit, horizon: int | None) -> Directed | VarianceDirected:
        if (self.prior or bandit).kind == "linear":
            return VarianceDirected(int(self.draws))
        by_variance = self.gain == "variance"
        return Directed(self._family(self.prior or bandit), make_rule(), make_outcomes(), by_variance)

    def _family(self, believed: Any) -> Any:
        """One for each kind of belief."""
        if believed.kind == "gaussian":
            return NormalShapes(believed.reward_noises, 0.0 if self.gain == "variance" else MOST_TELLING)
        if believed.kind == "bernoulli":
            largest = max(believed.alpha.max(), believed.beta.max())
            if largest > LARGEST_COUNT:
                raise ValueError(
                    f"alpha and beta must be at most {LARGEST_COUNT:g} for information-directed, got {largest:g}"
                )
            make_special_functions_ready()
            return BetaShapes()
        raise ValueError(
            f"policy must be one that runs on {believed.a_kind} bandit, got information-directed, which runs on "
            "gaussian, bernoulli and linear ones"
        )

    def scratch(self, bandit: Bandit) -> int:
        return room_for_best(bandit.arms) + room_for_outcomes(bandit.arms, make_outcomes())

    def linear_scratch(self, rank: int, columns: int) -> int:
        return scratch_for_draws(rank, columns)
