"""Thompson sampling without drawing every arm in every round: exact in distribution, faster."""
