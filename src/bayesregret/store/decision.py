"""What a caller gets from `decide`."""

from __future__ import annotations

from typing import NamedTuple


class Decision(NamedTuple):
    """A decision of an experiment.

    Attributes
    ----------
    id : str
        To be given back with the reward.
    arm : int
        Number of the arm to pull.
    name : str
        Name of the arm.
    number : int
        Place of the decision in the experiment's log.

    Examples
    --------
    >>> decision = Decision(id="17-0c0ffee0", arm=1, name="green", number=17)
    >>> decision.name
    'green'
    """

    id: str
    arm: int
    name: str
    number: int
