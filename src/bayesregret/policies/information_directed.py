"""Information-directed sampling of Russo and Van Roy (2014, 2018): little regret per information on the best arm."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple

from bayesregret import checks
from bayesregret.contracts import choose_arm
from bayesregret.dispatch import rarely_called
from bayesregret.numerics.special import make_special_functions_ready
from bayesregret.policies.base import PosteriorPolicy, keep
from bayesregret.policies.information_gain.best_arm import (
    add_panel,
    ends,
    fill_panel,
    finish_gaps,
    scratch_for_best,
    split_scratch,
    start_integrals,
)
from bayesregret.policies.information_gain.linear import LinearInformationRatio, scratch_for_draws
from bayesregret.policies.information_gain.next_reward import (
    LARGEST_RATIO,
    Outcomes,
    add_outcomes,
    fill_gains,
    make_outcomes,
    scratch_for_outcomes,
    split_for_outcomes,
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
# Gaussian ones with the exact gain, which takes time for all pairs of arms; beyond, a decision takes a hundredth of a
# second.
MOST_ARMS = 128
MOST_DRAWS = 10**6  # on a linear belief; one decision then takes seconds
# Beyond these pseudo-counts, logarithms of the gamma function have fewer than eight decimals.
LARGEST_COUNT = 1e7


class InformationRatio(NamedTuple):
    family: Any  # of posteriors: NormalShapes or BetaShapes
    rule: Rule
    outcomes: Outcomes
    by_variance: bool


@choose_arm.implement(InformationRatio)
def choose_directed(policy, model, stats, round_, stream):
    u, stream = uniform(stream)
    space = fill_workspace(policy, model, stats)
    first, second, weight = best_mixture(space.best.gaps, space.best.gains)
    return (first if u < weight else second), stream


@rarely_called
def fill_workspace(policy, model, stats):
    """Compute the gaps and gains of all arms, in `scratch`."""
    family, rule, outcomes = policy.family, policy.rule, policy.outcomes
    arms = stats.counts.shape[0]
    space = split_scratch(stats.scratch, arms)
    after = split_for_outcomes(stats.scratch[scratch_for_best(arms) :], arms, outcomes.points.shape[1])
    leader = leading_arm(model, stats)
    make_shapes(family, model, stats, space.shapes)
    z, last = ends(space.shapes)
    start_integrals(family, space, z)
    start_outcomes(family, outcomes, space.shapes, after, z)
    while z < last:
        end = min(last, panel_end(family, space.shapes, z))
        half = 0.5 * (end - z)
        fill_panel(family, space, rule, z, half)
        add_panel(family, space, rule, z, half, leader)
        add_outcomes(family, outcomes, space, after, rule, z, half)
        z = end
    finish_gaps(space, leader)
    fill_gains(family, outcomes, space, after, policy.by_variance)
    return space


@dataclass(frozen=True)
class InformationDirected(PosteriorPolicy):
    """Information-directed sampling: draw arms so that (expected gap)^2 / (expected gain) is smallest.

    The gain of an arm is the information of its next reward on the best arm. At most two arms have positive probability
    in a round; ties go to the lowest-numbered arms. The policy runs on independent Gaussian or Bernoulli arms, and on
    linear beliefs, there always with `gain="variance"`.

    Probabilities and gaps have errors of about 1e-9, gains relative errors of 1e-6. Gaussian noise below a quarter of
    an arm's posterior standard deviation, possible only before its first pull, counts as that quarter: the gain is then
    too low, by a tenth among equal arms and by at most a quarter, against an arm whose mean is known.

    Parameters
    ----------
    gain : str
        "exact": mutual information of the best arm and the reward; "variance": variance of the arm's mean explained by
        the best arm, regardless of the noise, which is much cheaper for Gaussian rewards. "exact" runs on at most 128
        Gaussian arms.
    draws : int
        Number of posterior draws per round on a linear belief.
    prior : Bandit, optional
        Bandit whose prior the policy believes in; by default the true one.

    Examples
    --------
    >>> agent = InformationDirected(gain="variance").start(GaussianBandit([0, 5], prior_width=1, reward_noise=1))
    >>> agent.select()
    1
    """

    name: ClassVar[str] = "information-directed"
    gain: str = "exact"
    draws: int = 100
    prior: Bandit | None = None

    def __post_init__(self) -> None:
        super().__post_init__()
        keep(
            self,
            gain=checks.one_of("gain", self.gain, GAINS),
            draws=checks.whole_up_to("draws", self.draws, 2, MOST_DRAWS),
        )

    def settings(self, bandit: Bandit, horizon: int | None) -> InformationRatio | LinearInformationRatio:
        if (self.prior or bandit).kind == "linear":
            return LinearInformationRatio(self.draws)
        by_variance = self.gain == "variance"
        return InformationRatio(self._family(self.prior or bandit), make_rule(), make_outcomes(), by_variance)

    def _family(self, believed: Any) -> Any:
        """Return the family of posteriors of a belief."""
        if believed.kind == "gaussian":
            if self.gain == "exact" and believed.arms > MOST_ARMS:
                raise ValueError(
                    f'gain must be "variance" for more than {MOST_ARMS} gaussian arms: the exact gain would take too '
                    f"long, got {believed.arms} arms"
                )
            return NormalShapes(believed.reward_noises, 0.0 if self.gain == "variance" else LARGEST_RATIO)
        if believed.kind == "bernoulli":
            largest = max(believed.alpha.max(), believed.beta.max())
            if largest > LARGEST_COUNT:
                raise ValueError(
                    f"alpha and beta must be at most {LARGEST_COUNT:g} for information-directed, "
                    f"got {checks.in_full(largest)}"
                )
            make_special_functions_ready()
            return BetaShapes()
        raise ValueError(
            f"policy must be one that runs on {believed.a_kind} bandit, got information-directed, which runs on "
            "gaussian, bernoulli and linear ones"
        )

    def scratch(self, bandit: Bandit) -> int:
        return scratch_for_best(bandit.arms) + scratch_for_outcomes(bandit.arms, make_outcomes())

    def linear_scratch(self, rank: int, columns: int) -> int:
        return scratch_for_draws(rank, columns)
