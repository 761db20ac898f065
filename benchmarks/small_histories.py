"""Fits of priors to few experiments: how low is `level_spread`, how often is it 0, and do intervals of the width cover?

python benchmarks/small_histories.py               three to five experiments, five minutes of one processor
python benchmarks/small_histories.py --fits 50     a rough answer

Histories are simulated in NumPy from a known prior (tests/priors/histories.py), with four arms per experiment and
levels that vary as much as the arms of an experiment do, or half as much, on the scale of the link.
"""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

import bayesregret as br
from bayesregret.priors.families.family import PriorPoint

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "tests"))

from priors.histories import simulated

Z_95 = 1.959964
ARMS = 4
EXPERIMENTS = (3, 4, 5)
# Location and spread of the arms, pulls of each, and the arms' standard deviation on the scale of the link.
SETTINGS: Mapping[str, tuple[Mapping[str, Any], float]] = {
    "gaussian": ({"location": 1.0, "spread": 1.0, "pulls": 50}, 1.0),
    "bernoulli": ({"location": -2.0, "spread": 0.02, "pulls": 500}, 0.43),
}
HEADINGS = ("model", "levels / arms", "experiments", "fits", "level_spread", "its median", "is 0", "width covered")


def one_setting(model: str, share: float, experiments: int, fits: int, seed: int) -> list[str]:
    """One row: bias of the level spread, its fits at 0, and coverage of 95 percent intervals of the width."""
    prior, arms_apart = SETTINGS[model]
    level_spread = share * arms_apart
    ratios, is_covered = np.empty(fits), np.empty(fits, dtype=bool)
    for i in range(fits):
        drawn = {**prior, "level_spread": level_spread, "seed": [seed, experiments, i]}
        fitted = br.fit_prior(simulated(model, experiments=experiments, arms=ARMS, **drawn), model=model, grouped=True)
        ratios[i] = fitted.parameters["level_spread"] / level_spread
        is_covered[i] = covers(fitted, PriorPoint(prior["location"], prior["spread"], level_spread))
    error = ratios.std() / fits**0.5
    return [
        model,
        f"{share:g}",
        str(experiments),
        str(fits),
        f"{ratios.mean() - 1.0:+.0%} ± {error:.0%}",
        f"{np.median(ratios) - 1.0:+.0%}",
        f"{np.mean(ratios == 0.0):.0%}",
        f"{is_covered.mean():.0%} ± {(is_covered.mean() * (1.0 - is_covered.mean()) / fits) ** 0.5:.0%}",
    ]


def covers(fitted: br.FittedPrior, truth: PriorPoint) -> bool:
    """Whether the width is within 1.96 standard errors of the true one, or the true one below the upper limit of 0."""
    name = fitted.family.width_name
    width, estimate = fitted.family.parameters(truth)[name], fitted.parameters[name]
    if estimate == 0.0:
        return width <= fitted.upper_limits[name]
    return abs(estimate - width) <= Z_95 * fitted.standard_errors[name]


def main() -> None:
    parser = argparse.ArgumentParser(description="Fits of priors to few experiments.")
    parser.add_argument("--fits", type=int, default=300, help="of each setting")
    parser.add_argument("--seed", type=int, default=1)
    given = parser.parse_args()
    start = time.process_time()
    rows = [HEADINGS]
    for model in SETTINGS:
        for share in (1.0, 0.5):
            rows += [one_setting(model, share, experiments, given.fits, given.seed) for experiments in EXPERIMENTS]
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    print("\n".join("  ".join(cell.rjust(width) for cell, width in zip(row, widths, strict=True)) for row in rows))
    print(f"seed {given.seed}, {ARMS} arms per experiment, {time.process_time() - start:.0f} s of one processor")


if __name__ == "__main__":
    main()
