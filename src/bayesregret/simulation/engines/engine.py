"""What an engine is: a place where runs of a simulation are played."""

from __future__ import annotations

import abc
from collections.abc import Iterator
from typing import TYPE_CHECKING, ClassVar

if TYPE_CHECKING:
    from bayesregret.simulation.kernels.run import Record
    from bayesregret.simulation.simulation import Simulation


class Engine(abc.ABC):
    """A place where runs are played: threads, a GPU, a cluster.

    The bits of a result do not depend on it, because a run's random numbers have addresses of their own, and the
    records of runs are added up in order.

    Attributes
    ----------
    name : str
        Name for people.
    processors : int
        Number of processor cores that a simulation may use; what it takes is estimated from this.
    threads : int
        Number of runs that this process holds in memory at once.
    """

    name: ClassVar[str]
    processors: int
    threads: int = 1

    @abc.abstractmethod
    def play(self, simulation: Simulation, begin: int, end: int) -> Iterator[Record]:
        """Yield the records of the runs from `begin` up to, not including, `end`, in order.

        The caller closes the iterator, also after an error or an interrupt; then no run is played any more.

        Parameters
        ----------
        simulation : Simulation
            The simulation whose runs are played.
        begin : int
            The first run, which begins a block.
        end : int
            The run after the last one.
        """
