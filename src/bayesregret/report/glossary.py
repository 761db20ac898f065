"""Short definitions of the words on the page of a plan."""

from __future__ import annotations

import html
import re
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from bayesregret.planning import Plan


class Word(NamedTuple):
    """A word and its meaning; `pattern` finds it in the page, in lower case, where that is not the word itself."""

    term: str
    meaning: str
    pattern: str = ""


WORDS = (
    Word("5%, 50%, 95%", "Of many experiments, 5, 50 and 95 percent have a regret below these numbers.", r"\b50%"),
    Word(
        "A/B test",
        "Uses all arms equally often for a fixed number of rounds, and from then on only the arm that looks best.",
    ),
    Word("agent", "A policy in use: a program that is asked for an arm and is given the rewards.", r"\bagent\b"),
    Word("arm", "One of the options to choose from, such as a variant of a web page.", r"\barms?\b"),
    Word("batch", "Rounds whose rewards become known together.", r"\bbatch(es)?\b"),
    Word("Bayes regret", "Regret, averaged over the experiments that the prior makes likely."),
    Word("best arm", "The arm with the highest mean reward, which nobody knows in advance.", r"\bbest arm\b"),
    Word(
        "certified",
        "An upper limit of the Bayes regret that is proved and not simulated; a dash where none is proved.",
    ),
    Word("control", "What is done today, with a known mean reward."),
    Word(
        "delta",
        "A setting of bayes-ucb and ucb1 between 0 and 1: the smaller it is, the more they explore. A common choice is "
        "1/n, where n is the horizon.",
    ),
    Word("explore", "To use an arm in order to learn how good it is, although another one looks better.", r"\bexplor"),
    Word("horizon", "The number of rounds of the experiment."),
    Word(
        "level", "The average mean reward of an experiment's arms, which differs between experiments.", r"\blevels?\b"
    ),
    Word(
        "matched prior",
        "One prior with the same means and variances as a mixture; the policies use it in place of the mixture.",
        r"\bmatche[sd]\b",
    ),
    Word("mean reward", "The average reward of an arm if it were used for ever.", r"\bmean rewards?\b"),
    Word("mixture", "A prior made of several priors, each with a weight: any one of them may be the right one."),
    Word("per round", "Bayes regret divided by the number of rounds."),
    Word("policy", "A rule that chooses the arm of each round from the rewards so far.", r"\bpolic(y|ies)\b"),
    Word("prior", "What is known about the arms before the experiment: how likely each mean reward is.", r"\bprior\b"),
    Word("prior mean", "The expected mean reward of an arm before the experiment.", r"\bprior means?\b"),
    Word("prior width", "The standard deviation of an arm's mean reward before the experiment.", r"\bprior widths?\b"),
    Word(
        "regret",
        "The reward that is lost by not always using the best arm: the expected reward of the best arm in every round, "
        "minus that of the arms that were used.",
    ),
    Word("reward", "The number that a round gives, such as 1 for a conversion and 0 for none.", r"\brewards?\b"),
    Word("round", "One choice of an arm and its reward, for example for one user.", r"\brounds?\b"),
    Word("run", "One simulated experiment: mean rewards drawn from the prior, and all rounds of it.", r"\bruns\b"),
    Word("seed", "The number that starts the random numbers: the same seed gives the same page.", r"\bseed\b"),
    Word(
        "standard error,\N{NO-BREAK SPACE}±",
        "The typical error of a simulated number: in 95 of 100 cases it is off by less than two standard errors.",
        "standard error",
    ),
    Word(
        "times the least",
        "Regret divided by the smallest that any policy can have; at most so much where only a proved lower bound is "
        "known.",
    ),
    Word("unsure", "The probability at the end is too close to 95 percent to decide.", r"\bunsure\b"),
)

COST = Word("cost", "What a round costs, a number that should be small. A reward is the opposite.", r"\bcosts?\b")

POLICIES = {
    "bayes-ucb": "Rates each arm by what prior and rewards say about it, plus a bonus for uncertainty, and uses the "
    "arm with the highest rating.",
    "bayes-optimal": "The policy with the least Bayes regret that is possible, found by computing all futures.",
    "epsilon-greedy": "Uses the arm that looks best by prior and rewards, and now and then a random one.",
    "explore-commit": "Uses all arms equally often for some rounds, and then only the one that looks best.",
    "gittins": "Rates each arm by the best average reward that it can be expected to give before it is given up.",
    "greedy": "Always uses the arm that looks best by prior and rewards.",
    "information-directed": "Weighs the regret of an arm against what its reward would reveal about the best arm.",
    "kl-ucb": "Rates each arm by the highest mean reward that its rewards do not rule out. Uses no prior.",
    "lin-ucb": "Estimates all arms together from their features, plus a bonus for uncertainty. Uses no prior.",
    "moss": "Rates each arm by its average reward, plus a bonus until it had its share of the rounds. Uses no prior.",
    "quantile-ucb": "Rates each arm by a high quantile of its mean reward, by prior and rewards.",
    "thompson": "Draws for each arm a mean reward that is likely by prior and rewards, and uses the arm with the "
    "highest draw.",
    "ucb1": "Rates each arm by its average reward, plus a bonus for uncertainty. Uses no prior.",
}


def glossary(plan: Plan, page: str) -> list[Word]:
    """Return definitions of the words that the page contains, in alphabetical order."""
    text = visible_text(page).lower()
    policies = {outcome.policy.name for outcome in plan.outcomes.values()}
    known = [Word(name, meaning) for name, meaning in POLICIES.items() if name in policies]
    costs = [COST] if plan.reward.minimise else []
    words = (*WORDS, *costs, *known, _within_epsilon(plan))
    found = [word for word in words if re.search(word.pattern or re.escape(word.term.lower()), text)]
    return sorted(found, key=lambda word: word.term.lower())


def _within_epsilon(plan: Plan) -> Word:
    apart = "mean cost is at most {} above" if plan.reward.minimise else "mean reward is at most {} below"
    never = f">\N{NO-BREAK SPACE}{plan.horizon:,}"
    return Word(
        f"within {plan.epsilon:g}",
        f"On an arm whose {apart.format(f'{plan.epsilon:g}')} that of the best arm. The column has the round from "
        f"which on the probability of that stays above 95 percent; {never} if there is no such round.",
    )


def visible_text(page: str) -> str:
    """Return the text of a page without scripts, styles and figures."""
    bare = re.sub(r"<(script|style|svg)\b.*?</\1>", " ", page, flags=re.DOTALL)
    return html.unescape(re.sub(r"<[^>]*>", " ", bare))
