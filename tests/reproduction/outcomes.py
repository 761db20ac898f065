"""Outcomes of points, made up."""

from bayesregret.reproduction.experiment import Point, PointOutcome


def outcome(x, regret, *, stderr=0.1, more=1.0, more_stderr=0.1, bounds=None, exact=None, exact_error=1e-9, runs=1_000):
    """BayesUCB and UCB1; `exact` are their exact regrets."""
    policies = [
        {"name": "bayes-ucb", "regret": regret, "stderr": stderr, "more": 0.0, "more_stderr": 0.0},
        {"name": "ucb1", "regret": regret + more, "stderr": stderr, "more": more, "more_stderr": more_stderr},
    ]
    for policy, value in zip(policies, exact or (), strict=False):
        policy |= {"exact": value, "exact_error": exact_error}
    return PointOutcome(Point(x, f"x = {x:g}", {"runs": runs}), {"policies": policies, "bounds": bounds or {}})


def bound(value, *, leading=None, form="paper", policy="bayes-ucb"):
    leading = value if leading is None else leading
    return {"value": value, "leading": leading, "form": form, "policy": policy, "error": 0.0, "applies": True}
