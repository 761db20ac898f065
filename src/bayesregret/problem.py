"""Problems as people write them: a TOML or JSON file, or a word for a common one.

A problem file has the constructor's own argument names and `model`, the `kind` of the Bandit class. Whatever is wrong
with it is a ValueError of one line that begins with the file's name and names the field and what it may be.
"""

from __future__ import annotations

import inspect
import json
import os
import tomllib
from collections.abc import Callable, Collection, Mapping
from pathlib import PurePath
from typing import Any

import numpy as np

from bayesregret import checks
from bayesregret.checks import Array
from bayesregret.models import (
    Bandit,
    BernoulliBandit,
    ExponentialBandit,
    GaussianBandit,
    LinearBandit,
    NormalGammaBandit,
    PoissonBandit,
)

LARGEST_FILE = 200_000_000  # bytes
TOO_MANY_DIGITS = "has a whole number of too many digits"

# Room for a hundred times the largest problem anyone has asked for; beyond it a slip of the hand takes all memory.
LARGEST_ARMS = 10**7
LARGEST_TABLE = 10**8
# Features are drawn with seeds of their own: no simulation that a person seeds meets the same bits.
FIRST_FEATURES_SEED = 2**64


# --- from a file ---------------------------------------------------------------------------------------------------


def load_problem(path: str | os.PathLike[str]) -> Bandit:
    """The bandit that a problem file describes.

    The suffix .toml or .json says which language it is in; with any other, a file that begins with a brace is JSON.
    """
    if not isinstance(path, str | os.PathLike):
        raise checks.fail("path", "the path of a TOML or JSON file", path)
    name = os.fsdecode(path)
    try:
        return problem_from_dict(_parse(_read(name), PurePath(name).suffix.lower()))
    except RecursionError:
        raise ValueError(f"{_one_line(name)}: is nested too deeply") from None
    except ValueError as error:
        raise ValueError(f"{_one_line(name)}: {error}") from None


def problem_from_dict(data: Mapping[str, Any]) -> Bandit:
    """The bandit that plain data describe, as `Bandit.to_dict` gives them.

    >>> problem_from_dict({"model": "bernoulli", "alpha": [1, 1], "beta": [1, 3]})
    BernoulliBandit(alpha=[1., 1.], beta=[1., 3.])
    """
    if not isinstance(data, Mapping):
        raise checks.fail("a problem", "a table of named fields, `model` among them", data)
    models = bandit_classes()
    if "model" not in data:
        raise ValueError(f"model is missing; it may be {_listed(models, 'or')}")
    model = checks.one_of("model", data["model"], models)
    arguments = {field: value for field, value in data.items() if field != "model"}
    _check_fields(model, models[model], arguments)
    try:
        return models[model](**arguments)
    except (TypeError, OverflowError) as error:  # a constructor from outside may complain in its own way
        raise ValueError(_one_line(str(error))) from error


def bandit_classes() -> dict[str, type[Bandit]]:
    """Every kind of bandit that a problem can name, those defined outside the package included; the first to take a
    name keeps it."""
    found: dict[str, type[Bandit]] = {}
    waiting: list[Any] = [Bandit]
    for bandit in waiting:
        waiting.extend(bandit.__subclasses__())
        if "kind" in vars(bandit) and not inspect.isabstract(bandit):
            found.setdefault(bandit.kind, bandit)
    return found


def _check_fields(model: str, bandit: type[Bandit], arguments: Mapping[str, Any]) -> None:
    parameters = inspect.signature(bandit).parameters
    takes_any = any(p.kind is p.VAR_KEYWORD for p in parameters.values())
    fields = {name: p for name, p in parameters.items() if p.kind in (p.POSITIONAL_OR_KEYWORD, p.KEYWORD_ONLY)}
    for field in arguments:
        if field not in fields and not takes_any:
            raise ValueError(f"{_field(field)} is no field of a {model} problem; it may have {_listed(fields, 'and')}")
    needed = [name for name, p in fields.items() if p.default is p.empty]
    for field in needed:
        if field not in arguments:
            raise ValueError(f"{field} is missing; a {model} problem must have {_listed(needed, 'and')}")


def _read(name: str) -> str:
    try:
        with open(name, "rb") as file:
            data = file.read(LARGEST_FILE + 1)
    except OSError as error:
        raise ValueError(f"cannot be read: {error.strerror or error}") from None
    if len(data) > LARGEST_FILE:
        raise ValueError(f"is too large; a problem file has at most {LARGEST_FILE // 10**6} MB")
    try:
        return data.decode("utf-8-sig")  # some editors begin a file with a byte order mark
    except UnicodeDecodeError as error:
        raise ValueError(f"must be UTF-8 text, but byte {error.start + 1} is not") from None


def _parse(text: str, suffix: str) -> Any:
    if not text.strip():
        raise ValueError("is empty; it must have `model` and the model's fields")
    # No TOML document begins with a brace.
    if suffix == ".json" or (suffix != ".toml" and text.lstrip().startswith("{")):
        return _parse_json(text)
    return _parse_toml(text)


def _parse_toml(text: str) -> dict[str, Any]:
    try:
        return tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise ValueError(f"is not TOML: {_one_line(str(error))}") from None
    except ValueError:  # Python's limit on the digits of an int
        raise ValueError(TOO_MANY_DIGITS) from None


def _parse_json(text: str) -> Any:
    try:
        return json.loads(
            text, parse_int=_whole, parse_constant=_refuse_constant, object_pairs_hook=_without_duplicates
        )
    except json.JSONDecodeError as error:
        raise ValueError(f"is not JSON: {error.msg} (at line {error.lineno}, column {error.colno})") from None


def _whole(digits: str) -> int:
    try:
        return int(digits)
    except ValueError:
        raise ValueError(TOO_MANY_DIGITS) from None


def _refuse_constant(word: str) -> Any:
    raise ValueError(f"is not JSON: has {word}, and numbers must be finite")


def _without_duplicates(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    made: dict[str, Any] = {}
    for field, value in pairs:
        if field in made:
            raise ValueError(f"{_field(field)} is given twice")
        made[field] = value
    return made


# --- to a file -----------------------------------------------------------------------------------------------------


def save_problem(bandit: Bandit, path: str | os.PathLike[str]) -> None:
    """Write a problem file that `load_problem` reads back as an equal bandit; its suffix must be .toml or .json."""
    suffix = PurePath(path).suffix.lower()
    if suffix not in (".toml", ".json"):
        raise checks.fail("path", "the name of a .toml or a .json file", os.fspath(path))
    data = bandit.to_dict()
    text = json.dumps(data, allow_nan=False) if suffix == ".json" else _toml(data)
    with open(path, "w", encoding="utf-8") as file:
        file.write(text.rstrip() + "\n")


def _toml(data: Mapping[str, Any]) -> str:
    """Text, numbers and lists of them are written the same way in TOML as in JSON."""
    return "\n".join(
        f"{field} = {json.dumps(value, allow_nan=False, ensure_ascii=False)}" for field, value in data.items()
    )


# --- common problems, which need no file ---------------------------------------------------------------------------


def common_gaussian(
    *,
    arms: int = 10,
    prior_gap: float = 1.0,
    prior_width: float = 1.0,
    reward_noise: float = 1.0,
    noise_kind: str = "gaussian",
) -> GaussianBandit:
    """The paper's Gaussian experiment: the first arm is ahead by the prior gap, the others start at 0."""
    prior_mean = np.zeros(checks.whole("arms", arms, 1, LARGEST_ARMS))
    prior_mean[0] = _gap(prior_gap)
    return GaussianBandit(prior_mean, prior_width, reward_noise, noise_kind)


def common_bernoulli(*, arms: int = 10, alpha: float = 1.0, beta: float = 1.0) -> BernoulliBandit:
    """The same Beta prior for every arm."""
    arms = checks.whole("arms", arms, 1, LARGEST_ARMS)
    return BernoulliBandit(np.full(arms, checks.positive("alpha", alpha)), np.full(arms, checks.positive("beta", beta)))


def common_poisson(*, arms: int = 10, shape: float = 1.0, rate: float = 1.0) -> PoissonBandit:
    """The same Gamma prior for every arm's mean."""
    arms = checks.whole("arms", arms, 1, LARGEST_ARMS)
    return PoissonBandit(np.full(arms, checks.positive("shape", shape)), np.full(arms, checks.positive("rate", rate)))


def common_exponential(*, arms: int = 10, shape: float = 3.0, rate: float = 1.0) -> ExponentialBandit:
    """The same Gamma prior for every arm's rate."""
    arms = checks.whole("arms", arms, 1, LARGEST_ARMS)
    return ExponentialBandit(
        np.full(arms, checks.positive("shape", shape)), np.full(arms, checks.positive("rate", rate))
    )


def common_normal_gamma(
    *, arms: int = 10, prior_gap: float = 1.0, prior_pulls: float = 1.0, shape: float = 3.0, scale: float = 2.0
) -> NormalGammaBandit:
    """The first arm is ahead by the prior gap, the others start at 0; by default variances are 1 on average."""
    prior_mean = np.zeros(checks.whole("arms", arms, 1, LARGEST_ARMS))
    prior_mean[0] = _gap(prior_gap)
    return NormalGammaBandit(prior_mean, prior_pulls, shape, scale)


def common_linear(
    *,
    arms: int = 30,
    dimension: int = 10,
    prior_gap: float = 1.0,
    prior_width: float = 1.0,
    reward_noise: float = 1.0,
    features_seed: int = 0,
) -> LinearBandit:
    """The paper's linear experiment: the first arm is ahead by the prior gap when the parameter is the prior mean."""
    dimension = checks.whole("dimension", dimension, 1, LARGEST_ARMS)
    arms = checks.whole("arms", arms, 1, LARGEST_ARMS)
    if arms < dimension:
        raise ValueError(f"arms must be at least the dimension, {dimension}, got {arms}")
    if arms * dimension > LARGEST_TABLE:
        raise ValueError(f"arms times dimension must be at most {LARGEST_TABLE}, got {arms * dimension}")
    prior_mean = np.full(dimension, -1.0)
    prior_mean[0] = _gap(prior_gap)
    features = _spread_features(arms, dimension, checks.whole("features_seed", features_seed, 0))
    return LinearBandit(features, prior_mean, prior_width=prior_width, reward_noise=reward_noise)


def _gap(value: Any) -> float:
    gap = checks.real("prior_gap", value)
    if abs(gap) > checks.LARGEST:
        raise checks.fail("prior_gap", f"between {-checks.LARGEST:g} and {checks.LARGEST:g}", value)
    return gap


def _spread_features(arms: int, dimension: int, seed: int) -> Array:
    """The canonical basis, then vectors uniform on the unit sphere's part in the positive orthant."""
    basis = np.eye(dimension)
    if arms == dimension:
        return basis
    normals = GaussianBandit(np.zeros(dimension), 1.0, 1.0)
    drawn = np.abs(normals.draw_means(arms - dimension, seed=FIRST_FEATURES_SEED + seed))
    lengths = np.sqrt(sum(column * column for column in drawn.T))  # summed in a fixed order: the same bits everywhere
    return np.vstack([basis, drawn / lengths[:, None]])


COMMON_PROBLEMS: dict[str, Callable[..., Bandit]] = {
    "gaussian": common_gaussian,
    "bernoulli": common_bernoulli,
    "linear": common_linear,
    "poisson": common_poisson,
    "exponential": common_exponential,
    "normal-gamma": common_normal_gamma,
}


# --- words ---------------------------------------------------------------------------------------------------------


def _listed(names: Collection[str], last: str) -> str:
    """a, b and c."""
    *first, final = names or ["none"]
    return f"{', '.join(first)} {last} {final}" if first else final


def _field(name: Any) -> str:
    """A field's name in a message: bare when it looks like one."""
    return name if isinstance(name, str) and name.isidentifier() and len(name) <= 40 else checks.shown(name)


def _one_line(text: str) -> str:
    return text if text.isprintable() else repr(text)
