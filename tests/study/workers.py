"""Processes that work on a study, to be killed or to disturb one another; run as a script.

workers.py killed FOLDER SEED      kill workers at random moments, let the last one finish; print what happened
workers.py write STUDY FIRST STEP  save every point, in an order of its own
"""

import json
import os
import random
import signal
import sys
import time

from bayesregret.study import Study

POINTS = 400
KILLS = 30
BETWEEN_OPENINGS = 8  # points, so that kills meet opening and closing, too


def settings_of(point: int) -> dict:
    return {"point": point, "seed": 7, "width": point / 7}


def compute(point: int) -> dict:
    draw = random.Random(point)
    return {"regret": draw.gauss(0, 1), "curve": [draw.gauss(0, 1e-300) for _ in range(100)], "stderr": "inf"}


def work(path: str, order: list[int], tell=lambda point: None) -> None:
    for start in range(0, len(order), BETWEEN_OPENINGS):
        with Study.open(path) as study:
            for point in order[start : start + BETWEEN_OPENINGS]:
                if study.result(settings_of(point)) is None:
                    study.save(settings_of(point), compute(point), seconds=0.0)
                    tell(point)


def content(path: str) -> dict[str, str]:
    """Settings and results as text, which tells floats apart to the last bit."""
    with Study.open(path, write=False) as study:
        return {entry.key: json.dumps([entry.settings, entry.result]) for entry in study.entries()}


def start_worker(path: str) -> tuple[int, int]:
    reader, writer = os.pipe()
    child = os.fork()
    if child:
        os.close(writer)
        return child, reader
    status = 1
    try:
        work(path, list(range(POINTS)), lambda point: os.write(writer, b"%d\n" % point))
        status = 0
    finally:
        os._exit(status)


def kill_many(path: str, seed: int) -> dict[str, int]:
    """Kill one worker after another; every point reported as saved must be there."""
    draw = random.Random(seed)
    kills = lost = 0
    saved: set[int] = set()
    while True:
        child, reports = start_worker(path)
        left_to_do = POINTS - len(saved)
        if kills < KILLS:
            time.sleep(draw.uniform(0.0, draw.choice([0.003, 0.03])))  # some while the file is being made
            os.kill(child, signal.SIGKILL)
        status = os.waitpid(child, 0)[1]
        with os.fdopen(reports) as lines:
            saved.update(int(line) for line in lines if line.endswith("\n"))
        if os.WIFSIGNALED(status):
            kills += 1
        elif os.WEXITSTATUS(status):
            raise SystemExit("a worker failed")
        if saved:
            with Study.open(path, create=False, write=False) as study:
                lost += sum(study.result(settings_of(point)) != compute(point) for point in saved)
        if not os.WIFSIGNALED(status):
            return {"kills": kills, "lost": lost, "left_to_do": left_to_do}


if __name__ == "__main__":
    match sys.argv[1:]:
        case ["killed", path, seed]:
            print(json.dumps(kill_many(path, int(seed))))
        case ["write", path, first, step]:
            work(path, [(int(first) + int(step) * i) % POINTS for i in range(POINTS)])
