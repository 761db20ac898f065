"""Engines: the places where runs are played, with the same bits on each."""
