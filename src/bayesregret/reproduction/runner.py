"""Run experiments: a study stores each finished point, and no point is computed twice."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from contextlib import closing
from dataclasses import dataclass
from typing import Any

from bayesregret.reproduction.cluster_points import finished_points
from bayesregret.reproduction.experiment import Experiment, Point, PointOutcome
from bayesregret.reproduction.point import check_size, run_point
from bayesregret.reproduction.precompute import computed_ahead
from bayesregret.reproduction.table import Claim, Table
from bayesregret.simulation.engines.choose import EngineLike, as_engine
from bayesregret.simulation.engines.cluster.engine import ClusterEngine
from bayesregret.simulation.engines.engine import Engine
from bayesregret.simulation.engines.threads import ThreadsEngine
from bayesregret.study import Study, point_key

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

    On a cluster many points run at the same time and finish in any order, with the same results.

    ValueError, before the first of them, if one is too large for this machine.
    """
    total = sum(len(experiment.points) for experiment in experiments)
    done = 0
    finished = []
    place = as_engine(engine, threads)
    lacking = _lacking(experiments, study, place)
    took: dict[str, float] = {}  # seconds of the points that a cluster computed
    if isinstance(place, ClusterEngine):
        took = _run_on_cluster(lacking, study, place, total, listener)
        lacking, listener = [], None
    processes = place.threads if isinstance(place, ThreadsEngine) else None
    with computed_ahead([point.settings for _, point in lacking], processes) as ahead:
        for experiment in experiments:
            outcomes, fresh, seconds = [], 0, 0.0
            for point in experiment.points:
                if listener is not None:
                    listener(experiment.figure, point.name, done, total)
                result = study.result(point.settings)
                if result is None:
                    begin = time.perf_counter()
                    result = run_point(point.settings, place, ahead(point.settings))
                    spent = time.perf_counter() - begin
                    study.save(point.settings, result, seconds=spent)
                    fresh, seconds = fresh + 1, seconds + spent
                elif took:
                    key = point_key(point.settings)
                    fresh, seconds = fresh + (key in took), seconds + took.pop(key, 0.0)
                outcomes.append(PointOutcome(point, result))
                done += 1
            claims = tuple(experiment.claims(experiment.figure, outcomes))
            finished.append(Finished(experiment.table(outcomes), claims, fresh, seconds))
    return finished


def _run_on_cluster(
    lacking: Sequence[tuple[str, Point]], study: Study, engine: ClusterEngine, total: int, listener: Listener | None
) -> dict[str, float]:
    """Save each of these points as soon as it is finished; return the seconds that they took, by key."""
    named = {point_key(point.settings): (figure, point) for figure, point in lacking}
    done = total - len(lacking)
    took: dict[str, float] = {}
    with closing(finished_points([point.settings for _, point in named.values()], engine)) as finished:
        for settings, result, seconds in finished:
            key = point_key(settings)
            figure, point = named[key]
            if listener is not None:
                listener(figure, point.name, done + len(took), total)
            study.save(settings, result, seconds=seconds)
            took[key] = seconds
    return took


def _lacking(experiments: Sequence[Experiment], study: Study, engine: Engine) -> list[tuple[str, Point]]:
    """Return the points that the study lacks, with their figures; ValueError if one of them is too large."""
    lacking = []
    for experiment in experiments:
        for point in experiment.points:
            if study.result(point.settings) is None:
                try:
                    check_size(point.settings, engine)
                except ValueError as error:
                    raise ValueError(f"{experiment.figure}, {point.name}: {error}") from None
                lacking.append((experiment.figure, point))
    return lacking
