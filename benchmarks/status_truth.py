"""Is the status of a running experiment right? Simulated experiments, stopped at random times, and what then happened.

python benchmarks/status_truth.py                  504 experiments on twelve bandits and policies, some minutes
python benchmarks/status_truth.py --experiments 96
python benchmarks/status_truth.py --only catch     one part: truth, alarms, catch or advice

Instances, rewards and continuations are drawn in NumPy, one decision at a time (tests/status/truth_study.py). Controls
must fail: intervals at another level, regret to come that forgets what was learned, and a test that is valid at one
time only, made after each reward. The exit status is 0 if all claims hold and all controls fail.
"""

from __future__ import annotations

import argparse
import math
import sys
from pathlib import Path

import numpy as np

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "tests"))

import bayesregret as br
from bayesregret.digits import text_table
from bayesregret.status import to_come
from bayesregret.status.misfit import ALARM
from status.truth_study import (
    FAR_OFF,
    SETTINGS,
    Check,
    checks_of,
    evidence_of,
    far_off,
    following_advice,
    is_rejected_somewhen,
    played,
    truth,
)

WRONG_LEVEL = 0.7
CONTROL_EVERY, BOUNDS_EVERY = 2, 6  # experiments: bounds and controls take longest
PARTS = ("truth", "alarms", "catch", "advice")
CATCH = 0.95
ERRORS = 4.0


def shown(checks: list[Check]) -> str:
    rows = [
        [check.name, f"{check.mean:.4f}", f"{check.stderr:.4f}", check.should_be, "yes" if check.holds else "NO"]
        for check in checks
    ]
    return text_table([["mean of", "found", "stderr", "should be", "holds"], *rows])


def study_truth(experiments: int) -> bool:
    """Numbers of a status against the truth, and two controls."""
    found, wrong, forgetful = [], [], []
    for seed in range(experiments):
        setting = SETTINGS[seed % len(SETTINGS)]
        found.append(truth(setting, seed, bounds=seed // len(SETTINGS) % BOUNDS_EVERY == 0))
        if seed % CONTROL_EVERY == 0:
            wrong.append(truth(setting, seed, level=WRONG_LEVEL, bounds=False))
            forgetful.append(truth(setting, seed, forgets=True, bounds=False))
        if seed % 24 == 23:
            print(f"{seed + 1} of {experiments} experiments", file=sys.stderr)
    claims = checks_of(found, ALARM)
    print(shown(claims))
    controls = [check for check in checks_of(wrong, ALARM) if "interval of means" in check.name]
    controls += [check for check in checks_of(forgetful, ALARM) if check.name.startswith("regret to come")]
    print(f"\ncontrols: intervals at {WRONG_LEVEL}; regret to come by the prior\n{shown(controls)}\n")
    return all(check.holds for check in claims) and not any(check.holds for check in controls)


def study_alarms(experiments: int) -> bool:
    """False alarms over longer experiments, and of a test that is not valid at any time."""
    setting, rounds = SETTINGS[1], 400
    runs = [played(setting, seed, rounds, rounds).progress for seed in range(experiments)]
    highest = np.array([evidence_of(run) for run in runs])
    holds = True
    for level in (0.01, 0.05, 0.2):
        share, most = float((highest >= -math.log(level)).mean()), level + ERRORS * math.sqrt(level / experiments)
        print(f"false alarms within {rounds} rewards at level {level}: {share:.4f}")
        holds &= share <= most
    control = float(np.mean([is_rejected_somewhen(run, ALARM) for run in runs]))
    print(f"control, a z-test at level {ALARM} after each reward: {control:.4f}\n")
    return holds and control > ALARM + ERRORS * math.sqrt(ALARM / experiments)


def study_catch(experiments: int) -> bool:
    """Priors that are five widths off, within 200 rounds."""
    rows, holds = [["prior", "policy", "caught", "5% of evidence"]], True
    for name, (bandit, sides) in FAR_OFF.items():
        for policy in (br.Thompson(), br.BayesUCB()):
            highest = [
                evidence_of(far_off(bandit, policy, sides[seed % len(sides)], seed)) for seed in range(experiments)
            ]
            caught = float(np.mean(np.array(highest) >= -math.log(ALARM)))
            rows.append([name, policy.name, f"{caught:.3f}", f"e^{np.quantile(highest, 0.05):.1f}"])
            holds &= caught >= CATCH
    print(text_table(rows, ("policy",)), "\n")
    return holds


def study_advice(experiments: int) -> bool:
    """Who stops when advised to has no more regret on average than who goes on."""
    holds = True
    for setting in (SETTINGS[0], SETTINGS[1], SETTINGS[5]):
        regrets = np.array([following_advice(setting, seed, every=20) for seed in range(experiments)])
        saved = regrets[:, 0] - regrets[:, 1]
        stderr = float(saved.std(ddof=1) / math.sqrt(experiments))
        stopped = float(np.mean(saved != 0.0))
        print(
            f"{setting.name}: regret {regrets[:, 0].mean():.2f} without the advice, {regrets[:, 1].mean():.2f} with it;"
            f" saved {saved.mean():.2f} ± {stderr:.2f}; differs in {stopped:.0%}"
        )
        holds &= float(saved.mean()) >= -ERRORS * stderr
    return holds


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--experiments", type=int, default=504)
    parser.add_argument("--only", choices=PARTS, action="append")
    given = parser.parse_args()
    to_come.BUDGET, to_come.MOST_RUNS = 5e7, 320  # the noise of a simulation is part of the standard errors
    studies = {"truth": study_truth, "alarms": study_alarms, "catch": study_catch, "advice": study_advice}
    verdicts = {name: studies[name](given.experiments) for name in given.only or PARTS}
    print(", ".join(f"{name}: {'holds' if holds else 'FAILS'}" for name, holds in verdicts.items()))
    return 0 if all(verdicts.values()) else 1


if __name__ == "__main__":
    sys.exit(main())
