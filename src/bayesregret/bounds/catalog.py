"""All public formulas by name. The files in paper/ and certified/ register their bodies."""

from __future__ import annotations

from bayesregret.bounds.bound import ANY, Formula

UCB1 = "ucb1"
THOMPSON = "thompson"

gap_dependent = Formula(
    "gap_dependent",
    "paper",
    "The paper's gap-dependent bound: Theorem 1 (Gaussian), Theorem 5, first part (Bernoulli), Theorem 6 (linear).",
)
prior_dependent = Formula(
    "prior_dependent",
    "paper",
    "The paper's prior-dependent bound: Corollary 2 with its complete statement (Gaussian), Theorem 5, second part "
    '(Bernoulli); `constant="appendix"` uses the constant of Theorem 11 in the appendix instead of the main text\'s.',
)
ucb1_gap_dependent = Formula(
    "ucb1_gap_dependent",
    "paper",
    "Theorem 1 with an infinitely wide prior, which Figure 1 draws for UCB1.",
    policy=UCB1,
)
ucb1_prior_dependent = Formula(
    "ucb1_prior_dependent", "paper", "Theorem 4, the paper's prior-dependent bound for UCB1.", policy=UCB1
)
sqrt = Formula(
    "sqrt", "paper", "The earlier square-root bound, eq. (3), and its counterpart for linear bandits, eq. (4)."
)
information = Formula(
    "information", "paper", "The information-theoretic form of Theorem 6, from a note in the paper's appendix."
)
lai_lower = Formula(
    "lai_lower", "paper", "Lai's asymptotic lower bound on the regret of any policy, eq. (2).", policy=ANY, kind="lower"
)
complexity = Formula(
    "complexity", "paper", "The prior integral in Corollary 2, summed over arms.", policy=ANY, kind="quantity"
)
complexity_bound = Formula(
    "complexity_bound",
    "paper",
    "Lemma 3, a closed-form upper bound on the complexity at xi = 0.",
    policy=ANY,
    kind="quantity",
)
action_bound = Formula(
    "action_bound",
    "paper",
    "Eq. (6), the number of pulls of an arm with this `gap` while all confidence intervals hold.",
    kind="quantity",
    listed=False,  # it needs a gap
)
failure_regret = Formula(
    "failure_regret",
    "paper",
    "Lemma 7, a bound on an arm's expected estimation error in a round in which some confidence interval fails.",
    kind="quantity",
)
failure_probability = Formula(
    "failure_probability",
    "paper",
    "Lemma 9, the probability that some confidence interval fails in a round.",
    kind="quantity",
)
posterior_variances = Formula(
    "posterior_variances",
    "paper",
    "Lemma 10, the sum over rounds of the pulled arm's posterior variance.",
    kind="quantity",
)

certified_lower = Formula(
    "certified_lower",
    "certified",
    "The least Bayes regret that any policy can have, from below: the least regret with geometric discounting or, in "
    "few rounds, with other weights. With an `accuracy` such as 0.01, computed faster, it may be lower by about this "
    "fraction.",
    policy=ANY,
    kind="lower",
)
certified_floor = Formula(
    "certified_floor",
    "certified",
    "Theorem 1 repaired: the number of pulls is rounded up to a whole number and never negative.",
)
certified_epsilon = Formula(
    "certified_epsilon",
    "certified",
    "Theorem 1 repaired, with gaps below epsilon charged epsilon; the best epsilon if epsilon is None.",
)
certified_index = Formula(
    "certified_index",
    "certified",
    "Charges an arm its gap for every number of pulls after which its index may reach the best mean.",
)
certified_first_passage = Formula(
    "certified_first_passage",
    "certified",
    "Charges an arm its gap until its index first falls below the highest of the other arms' lowest indices.",
)
certified_gap_free = Formula(
    "certified_gap_free", "certified", "The sum of confidence widths under the worst allocation of pulls."
)
certified_prior_dependent = Formula(
    "certified_prior_dependent", "certified", "Corollary 2 and the second part of Theorem 5, repaired."
)
certified_small_width = Formula(
    "certified_small_width",
    "certified",
    "For narrow priors: while intervals hold, a pulled arm's gap is at most two prior confidence widths.",
)
certified_trivial = Formula(
    "certified_trivial", "certified", "The expected gap of the worst arm in every round, for every policy.", policy=ANY
)
certified_min_gap = Formula("certified_min_gap", "certified", "Theorem 6 repaired, by the smallest gap.")
certified_all_gaps = Formula(
    "certified_all_gaps",
    "certified",
    "For linear bandits, by every arm's gap, number of pulls and contribution to the information.",
)
certified_ucb1 = Formula(
    "certified_ucb1",
    "certified",
    "A bound for UCB1, from the tails of sample means and the probability that the best arm's index ever fails.",
    policy=UCB1,
)
certified_thompson = Formula(
    "certified_thompson",
    "certified",
    "Thompson sampling: the smallest of three forms, by the entropy of the best arm and by how likely arms are tied.",
    policy=THOMPSON,
)
certified_thompson_lower = Formula(
    "certified_thompson_lower",
    "certified",
    "Thompson sampling, from below: two tied best arms cannot both have been pulled in every round.",
    policy=THOMPSON,
    kind="lower",
)
certified = Formula(
    "certified", "certified", "The smallest certified bound on the regret of BayesUCB that holds.", listed=False
)
