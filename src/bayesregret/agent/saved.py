"""Agents as text: a version, a checksum, the settings as plain data, and the state."""

from __future__ import annotations

import hashlib
import re
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar

import msgspec
import numpy as np
from msgspec import UNSET, UnsetType

from bayesregret import checks
from bayesregret.models import Bandit
from bayesregret.policies import Policy
from bayesregret.policy_data import policy_from_dict, policy_to_dict
from bayesregret.problem import AGENT, problem_from_dict

if TYPE_CHECKING:
    from bayesregret.agent.agent import Agent

FORMAT = AGENT
VERSION = 2
LONGEST_NAME = 255  # characters of a text that may be a file name
D = TypeVar("D")
S = TypeVar("S", bound=msgspec.Struct)


class Text(msgspec.Struct, forbid_unknown_fields=True):
    """The text of an agent. Version 1 had no checksum, and at first no seed. `arms` is there if arms have names."""

    format: str
    version: int
    policy: dict[str, Any]
    problem: dict[str, Any]
    horizon: int | None
    state: msgspec.Raw
    seed: int = 0
    arms: list[str] | UnsetType = UNSET
    checksum: str = ""


class Settings(NamedTuple):
    """What an agent is started with."""

    policy: Policy
    problem: Bandit
    horizon: int | None
    seed: int
    arms: tuple[str, ...] | None = None

    def start(self) -> Agent:
        return self.policy.start(self.problem, horizon=self.horizon, seed=self.seed, arms=self.arms)


def to_text(settings: Settings, state: msgspec.Struct) -> str:
    policy, problem = policy_to_dict(settings.policy), settings.problem.to_dict()
    raw = encode_state(state)
    text = Text(
        format=FORMAT,
        version=VERSION,
        policy=policy,
        problem=problem,
        horizon=settings.horizon,
        state=msgspec.Raw(raw),
        seed=settings.seed,
        arms=UNSET if settings.arms is None else list(settings.arms),
        checksum=checksum(settings, raw),
    )
    return encode(text).decode()


def parse(text: str | bytes) -> Text:
    """Parse the text of an agent, if this version can read it."""
    hint = ""
    try:
        found = msgspec.json.decode(text)
    except (ValueError, TypeError, RecursionError) as error:
        found, hint = None, _what_is_wrong(text, str(error))
    if not isinstance(found, dict) or found.get("format") != FORMAT:
        raise ValueError(f"{checks.fail('agent state', 'the text that to_json wrote', text)}{hint}")
    if found.get("version") not in (1, VERSION):
        raise ValueError(f"agent state must be of version 1 or {VERSION}, got {checks.shown(found.get('version'))}")
    return decode(text, Text)


def _what_is_wrong(text: Any, error: str) -> str:
    """A hint for a text that is no JSON: a file name in place of the text, or a damaged one."""
    if not isinstance(text, str | bytes) or not text:
        return ""
    brace: Any = "{" if isinstance(text, str) else b"{"
    if len(text) <= LONGEST_NAME and brace not in text:
        return "; this looks like a file name: pass the text in the file"
    if "truncated" in error:
        return f"; it is cut off after {len(text):,} characters"
    place = re.search(r"\(byte (\d+)\)", error)
    return f"; it is not JSON at character {int(place[1]):,}" if place else ""


def read_settings(text: Text) -> Settings:
    try:
        policy = policy_from_dict(text.policy)
    except (TypeError, OverflowError) as error:  # from the constructor of a user's class
        raise ValueError(f"policy must be what to_json wrote: {checks.one_line(str(error))}") from error
    arms = None if text.arms is UNSET else tuple(text.arms)
    return Settings(policy, problem_from_dict(text.problem), text.horizon, text.seed, arms)


def read_state(text: Text, settings: Settings, schema: type[S]) -> S:
    """Return the state, with the checksum that it must have."""
    if text.version == 1:
        if text.checksum or text.arms is not UNSET:
            newer = "a checksum" if text.checksum else "names of arms"
            raise ValueError(f"agent state's version must be {VERSION}, because it has {newer}, got 1")
        # Agents of earlier versions saved more than those of today need.
        given = decode(text.state, dict[str, Any])
        return decode(encode({name: given[name] for name in schema.__struct_fields__ if name in given}), schema)
    state = decode(text.state, schema)
    if not text.checksum:
        raise ValueError("agent state's checksum must be given")
    if text.checksum != checksum(settings, encode(state)):
        raise ValueError("agent state must be what to_json wrote, but its checksum says that it was changed")
    return state


def restored(settings: Settings, state: bytes) -> Agent:
    """Return the agent that was pickled."""
    agent = settings.start()
    agent._restore_state(decode(state, agent.schema))
    return agent


def checksum(settings: Settings, state: bytes) -> str:
    """Checksum of what the text means: spaces and the order of fields do not matter."""
    names = () if settings.arms is None else (settings.arms,)
    given = policy_to_dict(settings.policy), settings.problem.to_dict(), settings.horizon, settings.seed, *names
    return hashlib.sha256(msgspec.json.encode(given, enc_hook=plain, order="sorted") + state).hexdigest()[:16]


def encode_state(state: msgspec.Struct) -> bytes:
    raw = encode(state)
    if b"null" in raw:  # as msgspec writes inf and nan
        raise ValueError("agent must have finite statistics to be saved; its model or policy made one infinite or nan")
    return raw


def encode(data: Any) -> bytes:
    return msgspec.json.encode(data, enc_hook=plain)


def decode(text: Any, schema: type[D]) -> D:
    try:
        return msgspec.json.decode(text, type=schema)
    except msgspec.ValidationError as error:  # "Expected `int`, got `str` - at `$.counts[0]`"
        what, _, place = str(error).replace("`", "").partition(" - at $")
        what = what[0].lower() + what[1:]
        where = re.sub(r"^\.", "'s ", place) or ""
        raise ValueError(f"agent state{where} must be what to_json wrote: {checks.one_line(what)}") from None


def plain(value: Any) -> Any:
    """Python value of a NumPy one, as users' own classes may hold it."""
    if isinstance(value, np.generic | np.ndarray):
        return value.tolist()
    raise TypeError(f"settings must be numbers, texts or lists of them to be saved, got {checks.shown(value)}")
