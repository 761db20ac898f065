"""Problem files in TOML or JSON, and common problems that need no file.

A problem file has the field `model`, which is the `kind` of a Bandit class, and the arguments of its constructor. A bad
file raises a ValueError with one line: the file's name, the field and what it may be.
"""

from __future__ import annotations

import inspect
import json
import os
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
    MixtureBandit,
    NormalGammaBandit,
    PoissonBandit,
)
from bayesregret.reading import TOO_MANY_DIGITS, naming, parse_toml, read_text
from bayesregret.writing import write_atomically

LARGEST_FILE = 200_000_000  # bytes
AGENT = "bayesregret agent"  # the format of a saved one
AGENT_FILE = "is a saved agent, not a problem; Agent.from_json reads it"
CSV_FILE = "is CSV, not a problem file; run `bayesregret prior fit` first, which writes a problem file with --output"

# A hundred times the largest problem in use; without a limit a typing error would take all memory.
LARGEST_ARMS = 10**7
LARGEST_TABLE = 10**8
# Seeds of features start beyond the seeds that users give, so that no simulation uses the same random bits.
FIRST_FEATURES_SEED = 2**64


# --- from a file ---------------------------------------------------------------------------------------------------


def load_problem(path: str | os.PathLike[str]) -> Bandit:
    """Read a bandit from a problem file.

    Parameters
    ----------
    path : str or os.PathLike
        A TOML or JSON file with the field `model` and the arguments of that model's class. Without the suffix .toml or
        .json, a file that begins with a brace is read as JSON.

    Returns
    -------
    Bandit
        The bandit that the file describes.

    Raises
    ------
    ValueError
        In one line, if the file cannot be read or does not describe a bandit.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = pathlib.Path(folder, "problem.json")
    ...     _ = path.write_text('{"model": "bernoulli", "alpha": [1, 1], "beta": [1, 3]}')
    ...     load_problem(path)
    BernoulliBandit(alpha=[1., 1.], beta=[1., 3.])
    """
    if not isinstance(path, str | os.PathLike):
        raise checks.fail("path", "the path of a TOML or JSON file", path)
    name = os.fsdecode(path)
    with naming(name):
        return problem_from_dict(_parse(read_text(name, LARGEST_FILE), PurePath(name).suffix.lower()))


def problem_from_dict(data: Mapping[str, Any]) -> Bandit:
    """Return the bandit that a mapping in the format of `Bandit.to_dict` describes.

    >>> problem_from_dict({"model": "bernoulli", "alpha": [1, 1], "beta": [1, 3]})
    BernoulliBandit(alpha=[1., 1.], beta=[1., 3.])
    """
    if not isinstance(data, Mapping):
        raise checks.fail("a problem", "a table of named fields that includes `model`", data)
    models = bandit_classes()
    if data.get("format") == AGENT:
        raise ValueError(AGENT_FILE)
    if "model" not in data:
        raise ValueError(f"model is missing; it may be {_listed(models, 'or')}")
    model = checks.one_of("model", data["model"], models)
    arguments = {field: value for field, value in data.items() if field != "model"}
    check_fields(f"a {model} problem", models[model], arguments)
    if model == MixtureBandit.kind:
        arguments["bandits"] = _components(arguments["bandits"])
    try:
        return models[model](**arguments)
    except (TypeError, OverflowError) as error:  # from the constructor of a user's class
        raise ValueError(checks.one_line(str(error))) from error


def _components(tables: Any) -> Any:
    """Bandits of a mixture, from their tables; an error names the component."""
    if not isinstance(tables, list):
        return tables
    made: list[Any] = []
    for number, table in enumerate(tables, 1):
        try:
            if isinstance(table, Mapping) and table.get("model") == MixtureBandit.kind:
                raise ValueError("model must be that of a bandit, not another mixture")
            made.append(problem_from_dict(table))
        except ValueError as error:
            raise ValueError(f"bandits, number {number}: {error}") from None
    return made


def bandit_classes() -> dict[str, type[Bandit]]:
    """Return all concrete Bandit classes by their `kind`, including users' classes; of two with the same kind, the
    first."""
    found: dict[str, type[Bandit]] = {}
    queue: list[Any] = [Bandit]
    for bandit in queue:
        queue.extend(bandit.__subclasses__())
        if "kind" in vars(bandit) and not inspect.isabstract(bandit):
            found.setdefault(bandit.kind, bandit)
    return found


def check_fields(what: str, made: type, arguments: Mapping[str, Any]) -> None:
    """Raise an error unless the arguments are fields of a class, with all that it needs."""
    parameters = inspect.signature(made).parameters
    takes_any = any(p.kind is p.VAR_KEYWORD for p in parameters.values())
    fields = {name: p for name, p in parameters.items() if p.kind in (p.POSITIONAL_OR_KEYWORD, p.KEYWORD_ONLY)}
    for field in arguments:
        if field not in fields and not takes_any:
            raise ValueError(f"{_field(field)} is not a field of {what}, which may have {_listed(fields, 'and')}")
    needed = [name for name, p in fields.items() if p.default is p.empty]
    for field in needed:
        if field not in arguments:
            raise ValueError(f"{field} is missing; {what} must have {_listed(needed, 'and')}")


def _parse(text: str, suffix: str) -> Any:
    if not text.strip():
        raise ValueError("is empty; it must have `model` and the model's fields")
    # No TOML document begins with a brace.
    if suffix == ".json" or (suffix != ".toml" and text.lstrip().startswith("{")):
        return _parse_json(text)
    return _parse_toml(text, suffix)


def _parse_toml(text: str, suffix: str) -> dict[str, Any]:
    try:
        return parse_toml(text)
    except ValueError:
        if suffix in (".csv", ".tsv") or _has_csv_headings(text):
            raise ValueError(CSV_FILE) from None
        raise


def _has_csv_headings(text: str) -> bool:
    """Whether the first line has two delimiters and no equals sign, as that of no TOML file."""
    first = text.lstrip().partition("\n")[0]
    return "=" not in first and first[0] not in "[#" and max(map(first.count, ",;\t")) > 1


def _parse_json(text: str) -> Any:
    try:
        return json.loads(text, parse_int=_parse_int, parse_constant=_refuse_constant, object_pairs_hook=_unique_fields)
    except json.JSONDecodeError as error:
        raise ValueError(f"is not JSON: {error.msg} (at line {error.lineno}, column {error.colno})") from None


def _parse_int(digits: str) -> int:
    try:
        return int(digits)
    except ValueError:
        raise ValueError(TOO_MANY_DIGITS) from None


def _refuse_constant(constant: str) -> Any:
    raise ValueError(f"is not JSON: has {constant}, and numbers must be finite")


def _unique_fields(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    fields: dict[str, Any] = {}
    for field, value in pairs:
        if field in fields:
            raise ValueError(f"{_field(field)} is given twice")
        fields[field] = value
    return fields


# --- to a file -----------------------------------------------------------------------------------------------------


def save_problem(bandit: Bandit, path: str | os.PathLike[str]) -> None:
    """Write a .toml or .json file from which `load_problem` reads an equal bandit."""
    suffix = PurePath(path).suffix.lower()
    if suffix not in (".toml", ".json"):
        raise checks.fail("path", "the name of a .toml or a .json file", os.fspath(path))
    data = bandit.to_dict()
    text = json.dumps(data, allow_nan=False) if suffix == ".json" else _toml(data)
    write_atomically(path, text.rstrip() + "\n")


def _toml(data: Mapping[str, Any]) -> str:
    """TOML text; strings, numbers and lists of them look the same in TOML and JSON."""
    lines: list[str] = []
    for field, value in data.items():
        if isinstance(value, list) and value and isinstance(value[0], dict):  # the components of a mixture
            lines += [f"\n[[{field}]]\n{_toml(table)}" for table in value]
        else:
            lines.append(f"{field} = {json.dumps(value, allow_nan=False, ensure_ascii=False)}")
    return "\n".join(lines)


# --- common problems without a file --------------------------------------------------------------------------------


def common_gaussian(
    *,
    arms: int = 10,
    prior_gap: float = 1.0,
    prior_width: float = 1.0,
    reward_noise: float = 1.0,
    noise_kind: str = "gaussian",
) -> GaussianBandit:
    """Return the paper's Gaussian problem: prior mean `prior_gap` for the first arm, 0 for the others."""
    prior_mean = np.zeros(checks.whole("arms", arms, 1, LARGEST_ARMS))
    prior_mean[0] = _gap(prior_gap)
    return GaussianBandit(prior_mean, prior_width, reward_noise, noise_kind)


def common_bernoulli(*, arms: int = 10, alpha: float = 1.0, beta: float = 1.0) -> BernoulliBandit:
    """Return a bandit with the same Beta prior for every arm."""
    arms = checks.whole("arms", arms, 1, LARGEST_ARMS)
    return BernoulliBandit(np.full(arms, checks.positive("alpha", alpha)), np.full(arms, checks.positive("beta", beta)))


def common_poisson(*, arms: int = 10, shape: float = 1.0, rate: float = 1.0) -> PoissonBandit:
    """Return a bandit with the same Gamma prior for the mean of every arm."""
    arms = checks.whole("arms", arms, 1, LARGEST_ARMS)
    return PoissonBandit(np.full(arms, checks.positive("shape", shape)), np.full(arms, checks.positive("rate", rate)))


def common_exponential(*, arms: int = 10, shape: float = 3.0, rate: float = 1.0) -> ExponentialBandit:
    """Return a bandit with the same Gamma prior for the rate of every arm."""
    arms = checks.whole("arms", arms, 1, LARGEST_ARMS)
    return ExponentialBandit(
        np.full(arms, checks.positive("shape", shape)), np.full(arms, checks.positive("rate", rate))
    )


def common_normal_gamma(
    *, arms: int = 10, prior_gap: float = 1.0, prior_pulls: float = 1.0, shape: float = 3.0, scale: float = 2.0
) -> NormalGammaBandit:
    """Return a bandit with prior mean `prior_gap` for the first arm and 0 for the others.

    By default the expected variance of rewards is 1.
    """
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
    """Return the paper's linear problem: the prior mean of the parameter is (`prior_gap`, -1, ..., -1)."""
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
    """Return the canonical basis, then vectors drawn uniformly from the unit sphere within the positive orthant."""
    basis = np.eye(dimension)
    if arms == dimension:
        return basis
    normals = GaussianBandit(np.zeros(dimension), 1.0, 1.0)
    drawn = np.abs(normals.draw_means(arms - dimension, seed=FIRST_FEATURES_SEED + seed))
    lengths = np.sqrt(sum(column * column for column in drawn.T))  # in a fixed order: the same bits everywhere
    return np.vstack([basis, drawn / lengths[:, None]])


COMMON_PROBLEMS: dict[str, Callable[..., Bandit]] = {
    "gaussian": common_gaussian,
    "bernoulli": common_bernoulli,
    "linear": common_linear,
    "poisson": common_poisson,
    "exponential": common_exponential,
    "normal-gamma": common_normal_gamma,
}


# --- messages ------------------------------------------------------------------------------------------------------


def _listed(names: Collection[str], last: str) -> str:
    """Return "a, b and c", with `last` in place of "and"."""
    *first, final = names or ["none"]
    return f"{', '.join(first)} {last} {final}" if first else final


def _field(name: Any) -> str:
    """Return the name of a field for a message, quoted unless it is a short identifier."""
    return name if isinstance(name, str) and name.isidentifier() and len(name) <= 40 else checks.shown(name)
