"""Exact regret of explore-then-commit: explore all arms equally, then commit to the highest posterior mean."""
