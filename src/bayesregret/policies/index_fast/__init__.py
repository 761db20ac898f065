"""Index policies that move with time, without computing every index in every round: the same decisions, faster."""
