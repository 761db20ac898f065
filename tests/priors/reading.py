"""Small histories, and what was read from them."""

ROW = {"experiment": 1, "arm": 1, "reward": 1}
GOOD = "experiment,arm,pulls,successes\n1,A,10,3\n1,B,20,5\n2,A,30,9\n"


def summed(history):
    """Pulls and totals by (experiment, arm)."""
    arms = zip(history.labels, history.pulls.tolist(), history.totals.tolist(), strict=True)
    return {label: (pulls, total) for label, pulls, total in arms}
