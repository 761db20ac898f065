"""A few seconds of everything, for a package installed into an empty environment; run as a script."""

import bayesregret as br

bandit = br.GaussianBandit([1, 0, 0], prior_width=1, reward_noise=1)
result = br.simulate(bandit, [br.BayesUCB(), br.UCB1()], horizon=100, runs=200, seed=7)
exact = br.exact_regret(bandit, br.BayesUCB(), horizon=100)
bound = br.bounds.certified(bandit, horizon=100)
assert abs(result["bayes-ucb"].mean - exact.regret) < 5 * result["bayes-ucb"].stderr
assert exact.regret < bound.value
agent = br.Thompson().start(bandit, seed=1)
agent.update(agent.select(), 0.5)
assert br.Agent.from_json(agent.to_json()).pulls.sum() == 1
print(f"bayesregret {br.__version__}: regret {exact.regret:.4f}, simulated {result['bayes-ucb'].estimate}")
