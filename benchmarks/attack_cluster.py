"""Attack the cluster engine: kill random workers during sweeps, and cut the connection to the scheduler.

python benchmarks/attack_cluster.py --kills 100 --cuts 10

Sweeps of small points with one large point among them run on two worker processes of this machine, again and again,
until as many workers have been killed (SIGKILL, at random times) and as many connections have been cut (by a TCP proxy
on 127.0.0.1, between the client and the scheduler) as asked. Each sweep must end with the points of two threads, bit
for bit. The exit status is 1 if one does not.
"""

from __future__ import annotations

import argparse
import contextlib
import logging
import os
import pathlib
import random
import signal
import socket
import sys
import tempfile
import threading
import time
from collections.abc import Iterator
from typing import Any

import bayesregret as br
from bayesregret.reproduction import run_experiments
from bayesregret.reproduction.sweep import sweep_experiments
from bayesregret.study import Study

POLICIES = ["bayes-ucb", "thompson"]
SMALL = {
    "horizon": 1_000,
    "runs": 500,
    "policies": POLICIES,
    "problem": {"common": "gaussian", "arms": 10},
    "vary": {"prior_width": [n / 100 for n in range(1, 301)]},
}
LARGE = {**SMALL, "runs": 60_000, "vary": {"prior_width": [0.5, 1.0]}}


class Proxy:
    """Passes bytes on between a port of this machine and another address, until it is told to cut."""

    def __init__(self, address: str) -> None:
        host, port = address.removeprefix("tcp://").rsplit(":", 1)
        self.target = host, int(port)
        self.listener = socket.create_server(("127.0.0.1", 0))
        self.address = f"tcp://127.0.0.1:{self.listener.getsockname()[1]}"
        self.sockets: set[socket.socket] = set()
        threading.Thread(target=self._accept, daemon=True).start()

    def cut(self) -> None:
        """Break all connections, as a network does: with a reset."""
        for connection in list(self.sockets):
            with contextlib.suppress(OSError):
                connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, b"\1\0\0\0\0\0\0\0")
                connection.shutdown(socket.SHUT_RDWR)
                connection.close()
        self.sockets.clear()

    def close(self) -> None:
        """Break all connections, and take no more."""
        self.listener.close()
        self.cut()

    def _accept(self) -> None:
        while True:
            try:
                near, _ = self.listener.accept()
            except OSError:  # closed
                return
            try:
                far = socket.create_connection(self.target)
            except OSError:  # the scheduler has ended
                near.close()
                continue
            self.sockets |= {near, far}
            for source, sink in ((near, far), (far, near)):
                threading.Thread(target=self._pass_on, args=(source, sink), daemon=True).start()

    def _pass_on(self, source: socket.socket, sink: socket.socket) -> None:
        with contextlib.suppress(OSError):
            while content := source.recv(1 << 16):
                sink.sendall(content)
        for connection in (source, sink):
            with contextlib.suppress(OSError):
                connection.shutdown(socket.SHUT_RDWR)
                connection.close()


class Attacker:
    """Kills workers and cuts connections while a sweep runs."""

    def __init__(self, cluster: Any, proxy: Proxy, asked: argparse.Namespace) -> None:
        self.cluster, self.proxy = cluster, proxy
        self.left = [self._kill] * asked.kills + [self._cut] * asked.cuts
        random.shuffle(self.left)
        self.kills = self.cuts = 0
        self.pause = asked.pause

    @contextlib.contextmanager
    def attacking(self) -> Iterator[None]:
        over = threading.Event()
        thread = threading.Thread(target=self._attack, args=(over,), daemon=True)
        thread.start()
        try:
            yield
        finally:
            over.set()
            thread.join()

    def _attack(self, over: threading.Event) -> None:
        while self.left and not over.wait(random.uniform(0.5, 1.5) * self.pause):
            self.left.pop()()

    def _kill(self) -> None:
        # A worker that is killed while it starts is not started again by Dask.
        ready = self.cluster.scheduler.workers
        nannies = [nanny for nanny in self.cluster.workers.values() if nanny.worker_address in ready]
        processes = [nanny.pid for nanny in nannies if nanny.pid]
        if processes:
            os.kill(random.choice(processes), signal.SIGKILL)
            self.kills += 1
        else:  # all of them are just starting
            self.left.append(self._kill)

    def _cut(self) -> None:
        self.proxy.cut()
        self.cuts += 1


def sweep(folder: str, name: str, **options: Any) -> tuple[list[Any], int]:
    """Run the sweeps into a study of their own; return what they found, and the number of points saved."""
    experiments = sweep_experiments(SMALL) + sweep_experiments(LARGE)
    with Study.open(pathlib.Path(folder, name)) as study:
        finished = run_experiments(experiments, study, **options)
        return [(done.table, done.claims, done.run) for done in finished], len(study)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--kills", type=int, default=100)
    parser.add_argument("--cuts", type=int, default=10)
    parser.add_argument("--pause", type=float, default=2.0, help="seconds between attacks, on average")
    parser.add_argument("--seed", type=int, default=1)
    asked = parser.parse_args()
    random.seed(asked.seed)
    import dask
    from distributed import LocalCluster

    # Otherwise Dask gives up a worker that is dead again 15 seconds after it died.
    dask.config.set({"distributed.deploy.lost-worker-timeout": "1 day"})
    for library in ("distributed", "tornado", "asyncio"):
        logging.getLogger(library).setLevel(logging.CRITICAL + 1)
    wrong = sweeps = 0
    begin = time.perf_counter()
    settings: dict[str, Any] = {"n_workers": 2, "threads_per_worker": 1, "dashboard_address": "127.0.0.1:0"}
    with (
        LocalCluster(silence_logs=logging.CRITICAL, **settings) as cluster,
        tempfile.TemporaryDirectory() as folder,
    ):
        expected = sweep(folder, "threads.sqlite", threads=2)
        proxy = Proxy(cluster.scheduler_address)
        attacker = Attacker(cluster, proxy, asked)
        engine = br.ClusterEngine(proxy.address)
        while attacker.left:
            sweeps += 1
            with attacker.attacking():
                found = sweep(folder, f"{sweeps}.sqlite", engine=engine)
            wrong += found != expected
            passed = f"{time.perf_counter() - begin:.0f} s: sweep {sweeps} {'ok' if found == expected else 'WRONG'}"
            print(f"{passed}, {attacker.kills} kills and {attacker.cuts} cuts so far", flush=True)
    points = expected[1]
    print(
        f"{sweeps} sweeps of {points} points, {attacker.kills} workers killed, {attacker.cuts} connections cut: "
        f"{wrong} sweeps with other bits or lost points"
    )
    sys.exit(wrong > 0)


if __name__ == "__main__":
    main()
