"""Run experiments: a study stores each finished point, and no point is computed twice."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from bayesregret.experiments.experiment import Experiment, PointOutcome
from bayesregret.experiments.point import Settings, check_size, run_point
from bayesregret.experiments.precompute import computed_ahead
from bayesregret.experiments.table import Claim, Table
from bayesregret.simulation.engines.choose import EngineLike, as_engine
from bayesregret.simulation.engines.engine import Engine
from bayesregret.study import Study

# Called before each point with the figure, the point's name, the number of finished points and their total.
Listener = Callable[[str, str, int, int], Any]


@dataclass(frozen=True)
class Finished:
    """The outcome of an experiment."""

    table: Table
    claims: tuple[Claim, ...]
    run: int  # points computed by this call; the others were in the study
    seconds: float  # spent on these points


def run_experiments(
    experiments: Sequence[Experiment],
    study: Study,
    *,
    threads: int | None = None,
    engine: EngineLike | None = None,
    listener: Listener | None = None,
) -> list[Finished]:
    """Run the points that the study lacks, and save each as soon as it is finished.

    ValueError, before the first of them, if one is too large for this machine.
    """
    total = sum(len(experiment.points) for experiment in experiments)
    done = 0
    finished = []
    place = as_engine(engine, threads)
    lacking = _lacking(experiments, study, place)
    with computed_ahead(lacking, threads) as ahead:
        for experiment in experiments:
            outcomes, fresh, seconds = [], 0, 0.0
            for point in experiment.points:
                if listener is not None:
                    listener(experiment.figure, point.name, done, total)
                result = study.result(point.settings)
                if result is None:
                    begin = time.perf_counter()
                    result = run_point(point.settings, place, ahead(point.settings))
                    took = time.perf_counter() - begin
                    study.save(point.settings, result, seconds=took)
                    fresh, seconds = fresh + 1, seconds + took
                outcomes.append(PointOutcome(point, result))
                done += 1
            claims = tuple(experiment.claims(experiment.figure, outcomes))
            finished.append(Finished(experiment.table(outcomes), claims, fresh, seconds))
    return finished


def _lacking(experiments: Sequence[Experiment], study: Study, engine: Engine) -> list[Settings]:
    """Return the settings of the points that the study lacks; ValueError if one of them is too large."""
    lacking = []
    for experiment in experiments:
        for point in experiment.points:
            if study.result(point.settings) is None:
                try:
                    check_size(point.settings, engine)
                except ValueError as error:
                    raise ValueError(f"{experiment.figure}, {point.name}: {error}") from None
                lacking.append(point.settings)
    return lacking
