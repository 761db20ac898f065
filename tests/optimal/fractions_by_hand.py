"""Optimal play and Gittins indices from their definitions, in fractions: all decision trees, all stopping rules."""

from __future__ import annotations

from fractions import Fraction
from functools import cache
from itertools import product


def exact(numbers) -> tuple[Fraction, ...]:
    return tuple(Fraction(repr(float(number))) for number in numbers)


def best_of_all_trees(alpha, beta, rounds: int) -> Fraction:
    """Highest expected reward of a decision tree: an arm for every sequence of rewards so far."""
    alpha, beta = exact(alpha), exact(beta)
    nodes = [rewards for length in range(rounds) for rewards in product((0, 1), repeat=length)]
    trees = product(range(len(alpha)), repeat=len(nodes))
    return max(_reward_of_tree(dict(zip(nodes, tree, strict=True)), alpha, beta, rounds) for tree in trees)


def _reward_of_tree(tree, alpha, beta, rounds) -> Fraction:
    def reward(sequence, wins, losses) -> Fraction:
        if len(sequence) == rounds:
            return Fraction(0)
        arm = tree[sequence]
        mean = wins[arm] / (wins[arm] + losses[arm])
        won = (*wins[:arm], wins[arm] + 1, *wins[arm + 1 :])
        lost = (*losses[:arm], losses[arm] + 1, *losses[arm + 1 :])
        return mean * (1 + reward((*sequence, 1), won, losses)) + (1 - mean) * reward((*sequence, 0), wins, lost)

    return reward((), alpha, beta)


def best_reward(alpha, beta, rounds: int) -> Fraction:
    """The same number by recursion over posteriors."""

    @cache
    def value(wins, losses, left) -> Fraction:
        return max(with_arm(arm, wins, losses, left) for arm in range(len(wins))) if left else Fraction(0)

    def with_arm(arm, wins, losses, left) -> Fraction:
        mean = wins[arm] / (wins[arm] + losses[arm])
        won = (*wins[:arm], wins[arm] + 1, *wins[arm + 1 :])
        lost = (*losses[:arm], losses[arm] + 1, *losses[arm + 1 :])
        return mean * (1 + value(won, losses, left - 1)) + (1 - mean) * value(wins, lost, left - 1)

    return value(exact(alpha), exact(beta), rounds)


def reward_of(choose, alpha, beta, rounds: int) -> Fraction:
    """The expected reward of a policy that chooses by pulls, wins and the round."""
    alpha, beta = exact(alpha), exact(beta)

    def reward(pulls, wins, round_) -> Fraction:
        if round_ > rounds:
            return Fraction(0)
        arm = choose(pulls, wins, round_)
        mean = (alpha[arm] + wins[arm]) / (alpha[arm] + beta[arm] + pulls[arm])
        more = (*pulls[:arm], pulls[arm] + 1, *pulls[arm + 1 :])
        won = (*wins[:arm], wins[arm] + 1, *wins[arm + 1 :])
        return mean * (1 + reward(more, won, round_ + 1)) + (1 - mean) * reward(more, wins, round_ + 1)

    nothing = (0,) * len(alpha)
    return reward(nothing, nothing, 1)


def index_by_all_rules(alpha, beta, rounds: int) -> Fraction:
    """Highest reward per pull of a stopping rule, which decides in every state but the first whether to go on."""
    (a,), (b,) = exact([alpha]), exact([beta])
    states = [(pulls, wins) for pulls in range(1, rounds) for wins in range(pulls + 1)]
    best = Fraction(0)
    for goes_on in product((False, True), repeat=len(states)):
        rule = {(0, 0): True} | dict(zip(states, goes_on, strict=True))
        probabilities, reward, time = {(0, 0): Fraction(1)}, Fraction(0), Fraction(0)
        for pulls in range(rounds):
            after: dict = {}
            for (_, wins), probability in probabilities.items():
                if rule[pulls, wins]:
                    mean = (a + wins) / (a + b + pulls)
                    reward, time = reward + probability * mean, time + probability
                    for won, likely in ((1, mean), (0, 1 - mean)):
                        key = (pulls + 1, wins + won)
                        after[key] = after.get(key, Fraction(0)) + probability * likely
            probabilities = after
        best = max(best, reward / time)
    return best


def index_by_charges(alpha, beta, rounds: int) -> Fraction:
    """The same number, by raising a charge to the reward per pull of its best rule, until no rule earns more."""
    (a,), (b,) = exact([alpha]), exact([beta])
    charge = a / (a + b)
    while True:

        @cache
        def margin(pulls, wins, charge=charge) -> tuple[Fraction, Fraction]:
            """Of going on from a state: reward less charges, and pulls."""
            mean = (a + wins) / (a + b + pulls)
            surplus, time = mean - charge, Fraction(1)
            if pulls + 1 < rounds:
                for won, likely in ((1, mean), (0, 1 - mean)):
                    more, longer = margin(pulls + 1, wins + won)
                    if more > 0:
                        surplus, time = surplus + likely * more, time + likely * longer
            return surplus, time

        surplus, time = margin(0, 0)
        if surplus == 0:
            return charge
        charge += surplus / time
