"""Running experiments: each finished point is kept in a study, and none is done twice."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from bayesregret.experiments.experiment import Experiment, Outcome
from bayesregret.experiments.point import run_point
from bayesregret.experiments.precompute import computed_ahead
from bayesregret.experiments.table import Claim, Table
from bayesregret.study import Study

# Told before each point: the figure, the point in words, and how many points are done of how many.
Listener = Callable[[str, str, int, int], Any]


@dataclass(frozen=True)
class Finished:
    """An experiment with all its points run."""

    table: Table
    claims: tuple[Claim, ...]
    run: int  # points that had to be run now; the others were in the study
    seconds: float  # that these took


def run_experiments(
    experiments: Sequence[Experiment], study: Study, *, threads: int | None = None, listener: Listener | None = None
) -> list[Finished]:
    """Run what the study lacks, and keep each point as soon as it is finished."""
    total = sum(len(experiment.points) for experiment in experiments)
    points = [point.settings for experiment in experiments for point in experiment.points]
    done = 0
    finished = []
    lacking = [settings for settings in points if study.result(settings) is None]
    with computed_ahead(lacking, threads) as ahead:
        for experiment in experiments:
            outcomes, fresh, seconds = [], 0, 0.0
            for point in experiment.points:
                if listener is not None:
                    listener(experiment.figure, point.name, done, total)
                result = study.result(point.settings)
                if result is None:
                    begin = time.perf_counter()
                    result = run_point(point.settings, threads, ahead(point.settings))
                    took = time.perf_counter() - begin
                    study.save(point.settings, result, seconds=took)
                    fresh, seconds = fresh + 1, seconds + took
                outcomes.append(Outcome(point, result))
                done += 1
            claims = tuple(experiment.claims(experiment.figure, outcomes))
            finished.append(Finished(experiment.table(outcomes), claims, fresh, seconds))
    return finished
