"""Attack saved agents: change their states, and see that what is accepted is an agent that works.

Also the opposite: agents that honestly came into extreme states are accepted. `benchmarks/attack_states.py` does both
at full size, compiled; test_states.py a part of it, in plain Python, where a place outside a table is an IndexError.
"""

from __future__ import annotations

import copy
import json
import math
from typing import Any

import numpy as np

import bayesregret as br
from bayesregret.agent.arms import EveryRoundAgent
from golden.simulations import BANDITS, POLICIES, SMALL_POLICIES
from sealing import sealed

HORIZON, SHORT_HORIZON = 50, 12  # the short one where tables are computed
MIXTURES = {
    "mixture of bernoulli": br.MixtureBandit(
        [0.3, 0.7], [br.BernoulliBandit([2, 1, 1], [8, 4, 4]), br.BernoulliBandit([5, 3, 1], [5, 3, 1])]
    ),
    "mixture of gaussian": br.MixtureBandit(
        [0.5, 0.5], [br.GaussianBandit([0.0, 1.0], 1.0, 1.0), br.GaussianBandit([1.0, 0.0], 2.0, 1.0)]
    ),
}
SLOW_TABLES = {"bayes-optimal", "gittins", "gittins, with a discount"}  # too slow to compute anew for each bandit
LEGACY = 0.1  # fraction of states that claim to be of version 1
SPECIAL = [
    0, 1, -1, 2, 7, 49, 50, 51, 511, 512, 10**6, 2**31, 2**53 - 1, 2**53, 2**53 + 1, 2**62, 2**63, 2**64 - 1, 2**64,
    10**30, 0.0, -0.0, 0.5, -0.5, 1.0, 1.5, 1e-9, 1e-50, 1e-320, 1e6, 1e16, 1e50, 1e100, 1e300, 1.7e308, -1e50, -1e300,
    None, True, False, "", "a", [], {}, [[]], [0], {"a": 1},
]  # fmt: skip


def pairs() -> list[tuple[str, str]]:
    """Every policy with every model that it runs on."""
    return [(model, policy) for model in BANDITS | MIXTURES for policy in POLICIES if _starts(model, policy)]


def _starts(model: str, policy: str) -> bool:
    try:
        start(model, policy, 0)
    except ValueError:
        return False
    return True


def start(model: str, policy: str, seed: int) -> br.Agent:
    horizon = SHORT_HORIZON if policy in SMALL_POLICIES else HORIZON
    bandit = (BANDITS | MIXTURES)[model]
    return POLICIES[policy].start(bandit, horizon=horizon, seed=seed, arms=letters(bandit.arms) if seed % 2 else None)


def letters(arms: int) -> list[str]:
    return [f"variant {letter}" for letter in "ABCDEFGH"[:arms]]


# --- honest agents -------------------------------------------------------------------------------------------------


def play(agent: br.Agent, rounds: int, rng: np.random.Generator, size: float = 1.0) -> None:
    """Decisions, and rewards that are late, come from elsewhere, or never come."""
    waiting: list[int] = []
    for _ in range(rounds):
        arm = agent.select()
        if not (isinstance(arm, int) and 0 <= arm < agent.problem.arms):
            raise AssertionError(f"arm {arm!r} of {agent.problem.arms}")
        waiting.append(arm)
        while waiting and rng.random() < 0.7:
            agent.update(_given(agent, waiting.pop(int(rng.integers(len(waiting))))), reward(agent.problem, rng, size))
        if waiting and agent.pending[waiting[-1]] > 0 and rng.random() < 0.05:
            agent.forget(_given(agent, waiting.pop()))
        if rng.random() < 0.05:
            agent.update(int(rng.integers(agent.problem.arms)), reward(agent.problem, rng, size))


def _given(agent: br.Agent, arm: int) -> int | str:
    """An arm by its number or, now and then, by its name."""
    return agent.name_of(arm) if agent._rewards % 5 == 3 else arm


def reward(bandit: br.Bandit, rng: np.random.Generator, size: float) -> float:
    kind = bandit.representative.kind
    if kind == "bernoulli":
        return float(rng.random() < 0.6)
    if kind == "poisson":
        return float(rng.poisson(3.0)) if size == 1.0 else math.floor(size * rng.random())
    if kind == "exponential":
        return float(size * rng.exponential())
    return float(size * rng.normal())


# --- changes -------------------------------------------------------------------------------------------------------


def mutated(data: dict[str, Any], rng: np.random.Generator) -> dict[str, Any]:
    """One to three changes, most of them to the state, and to nothing else where tables would take long to compute."""
    changed = copy.deepcopy(data)
    in_state = 1.0 if data["policy"]["name"] in SMALL_POLICIES else 0.85
    for _ in range(rng.integers(1, 4)):
        _change_somewhere(changed["state"] if rng.random() < in_state else changed, rng)
        if not isinstance(changed.get("state"), dict):
            break
    if rng.random() < LEGACY:
        changed["version"] = 1
        changed.pop("checksum", None)
    return changed


def _change_somewhere(place: Any, rng: np.random.Generator) -> None:
    """Walk down to a random entry and change it."""
    while True:
        keys = list(place) if isinstance(place, dict) else list(range(len(place)))
        if not keys:
            return
        key = keys[int(rng.integers(len(keys)))]
        inner = place[key]
        if not isinstance(inner, dict | list) or not inner or rng.random() < 0.1:
            break
        place = inner
    act = rng.random()
    if act < 0.06:
        del place[key]
    elif act < 0.1 and isinstance(place, dict):
        place["extra"] = inner
    elif act < 0.16:
        place[key] = place[keys[int(rng.integers(len(keys)))]]
    else:
        place[key] = _other(inner, rng)


def _other(value: Any, rng: np.random.Generator) -> Any:
    if isinstance(value, int | float) and not isinstance(value, bool) and rng.random() < 0.6:
        whole = isinstance(value, int)
        step = int(rng.integers(-3, 4)) if whole or rng.random() < 0.5 else float(rng.normal())
        near = [value + step, -value, value * 2, value * 10, value * (1 + 1e-9), value / 3, float(value)]
        return near[int(rng.integers(len(near)))]
    return copy.deepcopy(SPECIAL[int(rng.integers(len(SPECIAL)))])


class Pool:
    """Saved states of honest agents, a few for each pair of a model and a policy."""

    def __init__(self, some: list[tuple[str, str]] | None = None, size: int = 6) -> None:
        self.pairs, self.size = some or pairs(), size
        self.texts: dict[tuple[str, str], list[dict[str, Any]]] = {}

    def draw(self, seed: int, rng: np.random.Generator) -> tuple[str, dict[str, Any]]:
        """Return the name of a policy and one of its states."""
        pair = self.pairs[seed % len(self.pairs)]
        texts = self.texts.setdefault(pair, [])
        if len(texts) < self.size:
            agent = start(*pair, seed)
            play(agent, int(rng.integers([2, 10, 60, 60][rng.integers(4)])), rng)
            texts.append(json.loads(agent.to_json()))
        return pair[1], texts[int(rng.integers(len(texts)))]


def attack(pool: Pool, seed: int, rounds: int = 50, slow_rounds: int = 50) -> str:
    """Change a state, and return what came of it; `slow_rounds` is for information-directed sampling."""
    rng = np.random.default_rng(seed)
    name, data = pool.draw(seed, rng)
    return verdict(mutated(data, rng), slow_rounds if name == "information-directed" else rounds, rng)


# --- verdicts ------------------------------------------------------------------------------------------------------


def verdict(data: dict[str, Any], rounds: int, rng: np.random.Generator) -> str:
    """ "refused" or "accepted"; AssertionError if a refusal is not one line or an accepted agent does not work."""
    try:
        agent = br.Agent.from_json(sealed(data))
    except ValueError as error:
        lines = str(error).splitlines()
        assert len(lines) == 1, lines
        assert lines[0].isprintable(), lines
        return "refused"
    if data["version"] > 1:
        loaded, given = (
            _as_floats(json.dumps(state)) for state in (json.loads(agent.to_json())["state"], data["state"])
        )
        assert loaded == given, [name for name in loaded if loaded[name] != given.get(name)]
    works(agent, rounds, rng)
    return "accepted"


def _as_floats(text: str) -> Any:
    """Whole numbers are allowed where floats are expected, and written as floats again."""
    return json.loads(text, parse_int=float)


def works(agent: br.Agent, rounds: int, rng: np.random.Generator) -> None:
    """Play, save and load: the loaded agent must make the same decisions."""
    play(agent, rounds, rng)
    assert isinstance(agent, EveryRoundAgent) or not np.isnan(agent.index).any()  # those have no index
    text = agent.to_json()
    again = br.Agent.from_json(text)
    assert again.to_json() == text
    assert [again.select() for _ in range(3)] == [agent.select() for _ in range(3)]


# --- extreme but honest --------------------------------------------------------------------------------------------


def extreme_agent(rng: np.random.Generator, without: set[str]) -> br.Agent:
    """An agent of a random policy on a bandit whose numbers are from 1e-50 to 1e50, or ordinary."""
    while True:
        bandit = _extreme_bandit(rng)
        names = [name for name in POLICIES if name not in without]
        policy = POLICIES[names[int(rng.integers(len(names)))]]
        horizon = SHORT_HORIZON if policy.name in SMALL_POLICIES else 1000
        try:
            arms = letters(bandit.arms) if rng.random() < 0.3 else None
            return policy.start(bandit, horizon=horizon, seed=int(rng.integers(2**62)), arms=arms)
        except ValueError:  # it does not run on this bandit
            continue


def _extreme_bandit(rng: np.random.Generator) -> br.Bandit:
    kind = ["gaussian", "arms", "bernoulli", "poisson", "exponential", "normal-gamma", "linear", "mixture"][
        rng.integers(8)
    ]
    arms, reach = int(rng.integers(1, 6)), [0.0, 1.0, 8.0, 20.0, 49.0][rng.integers(5)]

    def some(count: int = arms) -> list[float]:
        return [float(10.0 ** rng.uniform(-reach, reach)) for _ in range(count)]

    def signed(count: int = arms) -> list[float]:
        return [number * float(rng.choice([-1.0, 1.0])) for number in some(count)]

    try:
        if kind == "gaussian":
            return br.GaussianBandit(signed(), *some(2), str(rng.choice(["gaussian", "rademacher"])))
        if kind == "arms":
            return br.GaussianBandit(signed(), some(), some())
        if kind == "linear":
            dimension = int(rng.integers(1, 4))
            features = [signed(dimension) for _ in range(arms)]
            return br.LinearBandit(features, signed(dimension), prior_width=some(1)[0], reward_noise=some(1)[0])
        if kind == "normal-gamma":
            return br.NormalGammaBandit(signed(), some(), [0.6 + number for number in some()], some())
        if kind == "exponential":
            return br.ExponentialBandit([1.0 + number for number in some()], some())
        if kind == "mixture":
            return br.MixtureBandit([0.25, 0.75], [br.GaussianBandit(signed(), *some(2)) for _ in range(2)])
        return (br.BernoulliBandit if kind == "bernoulli" else br.PoissonBandit)(some(), some())
    except ValueError:
        return _extreme_bandit(rng)


def check_honest(rng: np.random.Generator, rounds: int, without: set[str] = SLOW_TABLES) -> str:
    """Play with rewards of one extreme size, save now and then: every text must load and go on the same way."""
    agent = extreme_agent(rng, without)
    size = float(10.0 ** rng.uniform(-50, 48)) if rng.random() < 0.5 else 1.0
    for _ in range(3):
        play(agent, int(rng.integers(0, rounds + 1)), rng, size)
        text = agent.to_json()
        again = br.Agent.from_json(text)
        assert again.to_json() == text
    works(agent, 5, rng)
    return agent.policy.name
