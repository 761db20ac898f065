"""Acceleration of index policies that change with time: the same decisions, with few indices computed."""
