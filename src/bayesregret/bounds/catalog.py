"""Every result by its public name; the bodies are registered in the file of each family."""

from __future__ import annotations

from bayesregret.bounds.bound import Formula

UCB1 = "ucb1"
ANY = "any"

gap_dependent = Formula(
    "gap_dependent", "paper", "Theorem 1 (Gaussian), Theorem 5 first part (Bernoulli), Theorem 6 (linear)."
)
prior_dependent = Formula(
    "prior_dependent",
    "paper",
    'Corollary 2 with its complete statement (Gaussian), Theorem 5 second part (Bernoulli). `constant="appendix"` '
    "takes the constant of the appendix, Theorem 11, in place of the main text's.",
)
ucb1_gap_dependent = Formula(
    "ucb1_gap_dependent",
    "paper",
    "Theorem 1 with an infinitely wide prior: the trend that Figure 1 draws for UCB1.",
    policy=UCB1,
)
ucb1_prior_dependent = Formula("ucb1_prior_dependent", "paper", "Theorem 4.", policy=UCB1)
sqrt = Formula("sqrt", "paper", "The earlier square-root bound, eq. (3), and the gap-free linear bound, eq. (4).")
information = Formula("information", "paper", "The information-theoretic form of the appendix's note.")
lai_lower = Formula("lai_lower", "paper", "Lai's asymptotic lower bound, eq. (2).", policy=ANY, kind="lower")
complexity = Formula(
    "complexity", "paper", "The sum over arms of the prior integral in Corollary 2.", policy=ANY, kind="quantity"
)
complexity_bound = Formula(
    "complexity_bound",
    "paper",
    "Lemma 3: a closed upper bound on the complexity at xi = 0.",
    policy=ANY,
    kind="quantity",
)
action_bound = Formula(
    "action_bound",
    "paper",
    "Eq. (6): the pulls of an arm with this `gap` while all confidence intervals hold.",
    kind="quantity",
    listed=False,  # it is about one gap
)
failure_regret = Formula(
    "failure_regret", "paper", "Lemma 7: an arm's error in a round whose intervals fail.", kind="quantity"
)
failure_probability = Formula(
    "failure_probability", "paper", "Lemma 9: the chance that an interval fails in a round.", kind="quantity"
)
posterior_variances = Formula(
    "posterior_variances", "paper", "Lemma 10: the sum of the taken arms' posterior variances.", kind="quantity"
)

certified_floor = Formula("certified_floor", "certified", "Theorem 1 repaired: whole pulls, none when B < 0.")
certified_epsilon = Formula(
    "certified_epsilon", "certified", "The repaired form with epsilon; its infimum over epsilon if None."
)
certified_index = Formula("certified_index", "certified", "Counts the pulls at which an arm's index is high enough.")
certified_first_passage = Formula(
    "certified_first_passage",
    "certified",
    "Counts the pulls of an arm until its index first falls below all that the others' indices fall to.",
)
certified_gap_free = Formula(
    "certified_gap_free", "certified", "The sum of confidence widths under the worst allocation."
)
certified_prior_dependent = Formula("certified_prior_dependent", "certified", "Corollary 2 repaired.")
certified_small_width = Formula("certified_small_width", "certified", "A prior too narrow to be far from the best arm.")
certified_trivial = Formula("certified_trivial", "certified", "The worst arm in every round.")
certified_min_gap = Formula("certified_min_gap", "certified", "Theorem 6 repaired.")
certified_all_gaps = Formula(
    "certified_all_gaps", "certified", "Every arm's gap, own pulls and share of the information."
)
certified_ucb1 = Formula("certified_ucb1", "certified", "For UCB1.", policy=UCB1)
certified = Formula("certified", "certified", "The smallest certified bound for BayesUCB.", listed=False)
