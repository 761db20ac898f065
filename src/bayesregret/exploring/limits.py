"""How large a problem on a page may be, so that nobody's browser can fill the memory of the machine that serves it."""

from __future__ import annotations

from bayesregret.models import Bandit

LONGEST_ADDRESS = 8_000  # characters
LEAST_ROUNDS, MOST_ROUNDS = 1, 100_000
MOST_RUNS = 1_000_000
MOST_POLICIES = 8
MOST_EDITED_ARMS = 50  # with a number each in the table and in the address
LARGEST_WORK = 10**8  # arms times rounds
# Slower models have fewer arms.
MOST_ARMS = {"gaussian": 10_000, "bernoulli": 10_000, "linear": 200}
MOST_OTHER_ARMS = 200
MOST_PLAYED_ROUNDS = 2_000  # of the single run that is played step by step
LARGEST_MESSAGE = 200_000  # bytes of one message from a browser


def most_arms(bandit: Bandit | str) -> int:
    """Return the largest number of arms of a bandit, or of a kind of bandits."""
    return MOST_ARMS.get(bandit if isinstance(bandit, str) else bandit.kind, MOST_OTHER_ARMS)
