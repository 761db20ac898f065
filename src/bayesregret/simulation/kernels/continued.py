"""Kernel that plays on from what an agent has observed, on instances drawn from the posterior; independent arms."""

from __future__ import annotations

from bayesregret.contracts import choose_arm, draw_means, draw_reward
from bayesregret.contracts.statistics import learn
from bayesregret.rng import INSTANCE, POLICY, REWARD, open_stream, run_word
from bayesregret.simulation.kernels.run import best_arm


def play_on(world, policy, belief, start, stats, means, pending, first, rounds, key, regrets):
    for run in range(regrets.shape[0]):
        word = run_word(key, run)
        draw_means(world, means, open_stream(key, word, INSTANCE))
        best = best_arm(means)
        for arm in range(means.shape[0]):
            stats.counts[arm] = start.counts[arm]
            stats.totals[arm] = start.totals[arm]
            stats.squares[arm] = start.squares[arm]
        for i in range(stats.memory.shape[0]):
            stats.memory[i] = start.memory[i]
        for i in range(stats.scratch.shape[0]):
            stats.scratch[i] = 0.0
        stats.received[0] = start.received[0]
        noise, choices = open_stream(key, word, REWARD), open_stream(key, word, POLICY)
        for arm in range(means.shape[0]):
            for _ in range(pending[arm]):
                reward, noise = draw_reward(world, arm, means[arm], noise)
                learn(belief, stats, arm, reward)
        regret = 0.0
        for round_ in range(rounds):
            arm, choices = choose_arm(policy, belief, stats, first + round_ + 1, choices)
            reward, noise = draw_reward(world, arm, means[arm], noise)
            learn(belief, stats, arm, reward)
            regret += means[best] - means[arm]
        regrets[run] = regret
