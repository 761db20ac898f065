"""SMPyBandits: its simulator, Bernoulli BayesUCB, because its Gaussian posterior's quantiles are not numbers."""

import contextlib
import os
import time

from online import HORIZON, Problem, report, rounds_asked_for

runs = max(1, rounds_asked_for() // HORIZON)
with open(os.devnull, "w") as nowhere, contextlib.redirect_stdout(nowhere):  # it tells all it does
    from SMPyBandits.Arms import Bernoulli
    from SMPyBandits.Environment import Evaluator
    from SMPyBandits.Policies import BayesUCB

    evaluator = Evaluator(
        {
            "horizon": HORIZON,
            "repetitions": runs,
            "n_jobs": 1,
            "verbosity": 0,
            "environment": [{"arm_type": Bernoulli, "params": Problem(0, binary=True).means}],
            "policies": [{"archtype": BayesUCB, "params": {}}],
        }
    )
    start = time.perf_counter_ns()
    evaluator.startAllEnv()
    elapsed = time.perf_counter_ns() - start
report("SMPyBandits", f"its simulator, Bernoulli BayesUCB, one instance, {runs} runs", elapsed / (runs * HORIZON))
