"""A policy in service: one decision at a time, the same formulas as in the simulation, state that survives a crash."""

from __future__ import annotations

import json
import threading
from abc import ABC, abstractmethod
from collections.abc import Iterable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bayesregret import checks
from bayesregret.checks import Array
from bayesregret.contracts import (
    arm_index,
    choose_arm,
    choose_linear,
    confidence_width,
    mean_plus_width,
    nothing_known,
    take_in,
)
from bayesregret.dispatch import compile_kernel
from bayesregret.models import Bandit
from bayesregret.models.linear import LinearModel
from bayesregret.models.linear_posterior import LinearPosterior, aim, forget, learn, make_posterior
from bayesregret.models.linear_streak import (
    EXCESS,
    SETTLED,
    begin,
    learn_one,
    linear_nothing_known,
    make_streak,
    stretch,
)
from bayesregret.policies.policy import (
    Policy,
    check_fits,
    check_fits_linear,
    is_mean_plus_width,
    make_chooser,
    make_linear_chooser,
    moves_with_time,
)
from bayesregret.problem import problem_from_dict
from bayesregret.rng import POLICY, open_stream, read_stream, run_word, seed_key, write_stream

FORMAT = "bayesregret agent"
VERSION = 1
LINEAR_STATE = ("counts", "surplus", "mean", "variance", "roots")
KNOWN_STATE = ("counts", "totals", "squares", "memory")


class Agent(ABC):
    """What `policy.start(bandit)` gives.

    `select` may be called any number of times before the rewards come, and they may come late and in any order.
    Decisions depend on the rewards received so far alone, but for policies that move with time or chance: there each
    `select` is a round, and with the same seed an agent makes the decisions of the first run of a simulation. Ties go
    to the lowest arm number. Safe to use from several threads.

    >>> agent = BayesUCB(delta=0.01).start(BernoulliBandit(alpha=[1, 1], beta=[1, 1]))
    >>> agent.select()
    0
    >>> agent.update(0, reward=0)
    >>> agent.select()
    1
    """

    def __init__(self, policy: Policy, bandit: Bandit, horizon: int | None, seed: int) -> None:
        self.policy = policy
        self.bandit = bandit
        self.horizon = horizon
        self.seed = seed
        self.settings = policy.settings(bandit, horizon)
        self.belief = policy.belief(bandit)
        if isinstance(self.belief, LinearModel):
            check_fits_linear(policy, self.settings)
        else:
            check_fits(policy, bandit, self.settings, self.belief)
        self._index: Array = np.empty(bandit.arms)
        self._lock = threading.Lock()

    def select(self) -> int:
        """The arm to take now."""
        with self._lock:
            return int(self._index.argmax())

    def update(self, arm: int, reward: float) -> None:
        """Take in one reward. A bad arm or reward raises ValueError and changes nothing."""
        arm, reward = self._checked(arm, reward)
        with self._lock:
            self._learn(arm, reward)

    def update_many(self, arms: Iterable[int], rewards: Iterable[float]) -> None:
        """Take in a batch of rewards, in order. If one is bad, ValueError, and none is taken in."""
        arms, rewards = list(arms), list(rewards)
        if len(arms) != len(rewards):
            raise ValueError(f"arms and rewards must be equally many, got {len(arms)} and {len(rewards)}")
        batch = [self._checked(arm, reward) for arm, reward in zip(arms, rewards, strict=True)]
        with self._lock:
            for arm, reward in batch:
                self._learn(arm, reward)

    @property
    def index(self) -> Array:
        """(arms,): the index of each arm; the highest is taken."""
        with self._lock:
            return self._index.copy()

    @property
    @abstractmethod
    def pulls(self) -> NDArray[np.int64]:
        """(arms,): the rewards received of each arm."""

    def to_json(self) -> str:
        """The whole agent as text; `Agent.from_json` gives one that goes on with the same bits."""
        with self._lock:
            state = self._state()
        return json.dumps(
            {
                "format": FORMAT,
                "version": VERSION,
                "policy": _policy_to_dict(self.policy),
                "problem": self.bandit.to_dict(),
                "horizon": self.horizon,
                "seed": self.seed,
                "state": state,
            },
            allow_nan=False,
        )

    @staticmethod
    def from_json(text: str) -> Agent:
        """The agent that `to_json` wrote down."""
        data = _parsed(text)
        try:
            policy = _policy_from_dict(data["policy"])
            agent = policy.start(problem_from_dict(data["problem"]), horizon=data["horizon"], seed=data.get("seed", 0))
            agent._restore(data["state"])
        except (KeyError, TypeError, AttributeError) as error:
            raise ValueError(f"agent state must be what to_json wrote, but has no usable {error}") from None
        return agent

    def _checked(self, arm: int, reward: float) -> tuple[int, float]:
        return checks.whole("arm", arm, 0, self.bandit.arms - 1), self.bandit.check_reward(reward)

    @abstractmethod
    def _learn(self, arm: int, reward: float) -> None: ...

    @abstractmethod
    def _state(self) -> dict[str, Any]: ...

    @abstractmethod
    def _restore(self, state: dict[str, Any]) -> None: ...


class ArmsAgent(Agent):
    """Independent arms: a count and a total each; an update costs one index."""

    def __init__(self, policy: Policy, bandit: Bandit, horizon: int | None, seed: int) -> None:
        super().__init__(policy, bandit, horizon, seed)
        self._formula = mean_plus_width if is_mean_plus_width(self.settings) else arm_index
        self._count = [0] * bandit.arms
        self._total = [0.0] * bandit.arms
        self._look_at_all()

    @property
    def pulls(self) -> NDArray[np.int64]:
        return np.array(self._count)

    def _learn(self, arm: int, reward: float) -> None:
        count, total = self._count[arm] + 1, self._total[arm] + reward
        index = self._formula(self.settings, self.belief, arm, count, total)
        self._count[arm], self._total[arm], self._index[arm] = count, total, index

    def _look_at_all(self) -> None:
        for arm in range(self.bandit.arms):
            self._index[arm] = self._formula(self.settings, self.belief, arm, self._count[arm], self._total[arm])

    def _state(self) -> dict[str, Any]:
        return {"counts": self._count, "totals": self._total}

    def _restore(self, state: dict[str, Any]) -> None:
        self._count = [int(number) for number in _numbers(state, "counts", (self.bandit.arms,))]
        self._total = _numbers(state, "totals", (self.bandit.arms,)).tolist()
        self._look_at_all()


class RoundsAgent(Agent):
    """A policy that looks at all arms in every round: by the compiled function of the simulation."""

    def __init__(self, policy: Policy, bandit: Bandit, horizon: int | None, seed: int) -> None:
        super().__init__(policy, bandit, horizon, seed)
        self._start_knowing()
        self._rounds = 0
        key = seed_key(seed)
        self._stream = np.empty((1, 4), np.uint64)
        with np.errstate(over="ignore"):
            write_stream(self._stream, 0, open_stream(key, run_word(key, 0), POLICY))

    def _start_knowing(self) -> None:
        chooser = make_chooser(self.policy, self.bandit, self.settings)
        self._chooser = chooser.settings
        self._known = nothing_known(self.bandit.arms, chooser.memory, chooser.scratch)
        self._choose = compile_kernel(_choose, type(self.settings), type(self.belief))

    def select(self) -> int:
        with self._lock, np.errstate(all="ignore"):
            self._rounds += 1
            return int(self._choose(self._chooser, self.belief, self._known, self._rounds, self._stream))

    @property
    def index(self) -> Array:
        raise AttributeError(f"index is not what {self.policy.name} goes by: its choices move with time or chance")

    @property
    def pulls(self) -> NDArray[np.int64]:
        with self._lock:
            return self._known.counts.copy()

    def _learn(self, arm: int, reward: float) -> None:
        take_in(self._known, arm, reward)

    def _state(self) -> dict[str, Any]:
        kept = {name: getattr(self._known, name).tolist() for name in KNOWN_STATE}
        return {"rounds": self._rounds, "stream": self._stream[0].tolist()} | kept

    def _restore(self, state: dict[str, Any]) -> None:
        for name in KNOWN_STATE:
            kept = getattr(self._known, name)
            kept[...] = _numbers(state, name, kept.shape)
        self._known.scratch[...] = 0.0
        self._known.received[0] = self._known.counts.sum()
        self._rounds = checks.whole("agent state's rounds", state["rounds"], 0)
        words = [checks.whole("agent state's stream", word, 0, 2**64 - 1) for word in state["stream"]]
        self._stream[0] = words


def _choose(chooser: Any, belief: Any, known: Any, round_: int, streams: Any) -> Any:
    arm, stream = choose_arm(chooser, belief, known, round_, read_stream(streams, 0))
    write_stream(streams, 0, stream)
    return arm


class LinearAgent(Agent):
    """A linear belief: one compiled rank-one update for each reward."""

    def __init__(self, policy: Policy, bandit: Bandit, horizon: int | None, seed: int) -> None:
        super().__init__(policy, bandit, horizon, seed)
        self._posterior = make_posterior(self.belief)
        self._update = compile_kernel(_learn_and_look, type(self.settings), LinearModel)
        forget(self._posterior, self.belief)
        self._call(0, 0, 0.0)

    @property
    def pulls(self) -> NDArray[np.int64]:
        with self._lock:
            return self._posterior.counts[: self.bandit.arms].copy()

    def _learn(self, arm: int, reward: float) -> None:
        self._call(arm, 1, reward)

    def _call(self, arm: int, pulls: int, reward: float) -> None:
        self._update(self._posterior, self.belief, self.settings, arm, pulls, reward, self._index)

    def _state(self) -> dict[str, Any]:
        return _posterior_to_dict(self._posterior, self.bandit.arms)

    def _restore(self, state: dict[str, Any]) -> None:
        _restore_posterior(self._posterior, self.bandit.arms, state)
        self._call(0, 0, 0.0)


def _learn_and_look(posterior: Any, model: Any, policy: Any, arm: int, pulls: int, reward: float, index: Any) -> None:
    if pulls > 0:
        aim(posterior, arm)
        learn(posterior, model, arm, pulls, reward - posterior.mean[arm])
    for other in range(index.shape[0]):
        index[other] = posterior.mean[other] + confidence_width(policy, posterior.variance[other])


class LinearRoundsAgent(RoundsAgent):
    """A policy that looks at a linear posterior in every round, by the compiled functions of the simulation."""

    def _start_knowing(self) -> None:
        chooser = make_linear_chooser(self.policy, self.bandit, self.settings, *self.belief.whitened.shape)
        self._chooser = chooser.settings
        self._known = linear_nothing_known(self.belief, chooser.memory, chooser.scratch)
        self._posterior = make_streak(self.belief)
        self._choose = compile_kernel(_choose_linear, type(self.settings), LinearModel)
        self._update = compile_kernel(_learn_one, LinearModel)

    def select(self) -> int:
        with self._lock, np.errstate(all="ignore"):
            self._rounds += 1
            return int(self._choose(self._chooser, self._posterior, self._known, self._rounds, self._stream))

    def _learn(self, arm: int, reward: float) -> None:
        super()._learn(arm, reward)
        self._update(self._posterior, self.belief, arm, reward)

    def _state(self) -> dict[str, Any]:
        streak, (arm, pulls) = self._posterior, self._posterior.target.tolist()
        kept = {"arm": arm, "pulls": pulls, "excess": streak.numbers[EXCESS], "information": streak.numbers[SETTLED]}
        return super()._state() | {"streak": kept, "posterior": _posterior_to_dict(streak.start, self.bandit.arms)}

    def _restore(self, state: dict[str, Any]) -> None:
        super()._restore(state)
        streak, kept = self._posterior, state["streak"]
        _restore_posterior(streak.start, self.bandit.arms, state["posterior"])
        begin(streak, checks.whole("agent state's arm", kept["arm"], 0, self.bandit.arms - 1))
        if checks.whole("agent state's pulls", kept["pulls"], 0) > 0:
            stretch(streak, self.belief, kept["pulls"], checks.real("agent state's excess", kept["excess"]))
        streak.numbers[SETTLED] = checks.at_least("agent state's information", kept["information"], 0.0)


def _choose_linear(chooser: Any, posterior: Any, known: Any, round_: int, streams: Any) -> Any:
    arm, stream = choose_linear(chooser, posterior, known, round_, read_stream(streams, 0))
    write_stream(streams, 0, stream)
    return arm


def _learn_one(posterior: Any, model: Any, arm: int, reward: float) -> None:
    learn_one(posterior, model, arm, reward)


def _posterior_to_dict(posterior: LinearPosterior, arms: int) -> dict[str, Any]:
    kept = {name: getattr(posterior, name)[..., :arms].tolist() for name in LINEAR_STATE}
    return {"updates": int(posterior.updates[0])} | kept


def _restore_posterior(posterior: LinearPosterior, arms: int, state: dict[str, Any]) -> None:
    for name in LINEAR_STATE:
        kept = getattr(posterior, name)[..., :arms]
        kept[...] = _numbers(state, name, kept.shape)
    posterior.updates[0] = checks.whole("agent state's updates", state["updates"], 0)


def start_agent(policy: Policy, bandit: Bandit, horizon: int | None, seed: int) -> Agent:
    """The kind of agent that fits what the policy believes."""
    if not isinstance(bandit, Bandit):
        raise checks.fail("bandit", "a bandit such as GaussianBandit", bandit)
    if horizon is not None:
        checks.whole("horizon", horizon, 1)
    checks.whole("seed", seed, 0)
    kind: type[Agent] = ArmsAgent
    moves, is_linear = moves_with_time(policy.settings(bandit, horizon)), isinstance(policy.belief(bandit), LinearModel)
    if moves:
        kind = LinearRoundsAgent if is_linear else RoundsAgent
    elif is_linear:
        kind = LinearAgent
    return kind(policy, bandit, horizon, seed)


def _policy_to_dict(policy: Policy) -> dict[str, Any]:
    given = {name: value for name, value in vars(policy).items() if value is not None}
    return {"name": policy.name} | {
        name: value.to_dict() if isinstance(value, Bandit) else value for name, value in given.items()
    }


def _policy_from_dict(data: dict[str, Any]) -> Policy:
    arguments = dict(data)
    name = arguments.pop("name")
    if name not in Policy.classes:
        raise ValueError(f"policy must be one of {', '.join(sorted(Policy.classes))}, got {checks.shown(name)}")
    if "prior" in arguments:
        arguments["prior"] = problem_from_dict(arguments["prior"])
    return Policy.classes[name](**arguments)


def _parsed(text: str) -> dict[str, Any]:
    """The text of an agent as data, if it is one that this version can read."""
    may_be = "the text that to_json wrote"
    try:
        data = json.loads(text)
    except (ValueError, TypeError, RecursionError):
        raise checks.fail("agent state", may_be, text) from None
    if not isinstance(data, dict) or data.get("format") != FORMAT:
        raise checks.fail("agent state", may_be, text)
    if data.get("version") != VERSION:
        raise ValueError(f"agent state must be of format version {VERSION}, got {checks.shown(data.get('version'))}")
    return data


def _numbers(state: dict[str, Any], name: str, shape: tuple[int, ...]) -> Array:
    """A field of an agent's state: numbers of this shape, and what else its name promises."""
    field = f"agent state's {name}"
    if shape == (0,) and state[name] == []:
        return np.zeros(0)
    made = checks.array(field, state[name], len(shape), "a table of numbers")
    if made.shape != shape:
        raise ValueError(f"{field} must have the shape {shape}, got {made.shape}")
    if name in ("counts", "variance") and made.min() < 0.0:
        raise ValueError(f"{field} must not be negative, but has the entry {made.min():g}")
    if name == "counts" and (made != np.floor(made)).any():
        raise ValueError(f"{field} must be whole numbers")
    return made
