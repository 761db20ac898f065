"""What Prometheus reads at /metrics."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator

from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram, disable_created_metrics, generate_latest
from prometheus_client.core import CounterMetricFamily
from prometheus_client.registry import Collector
from starlette.types import ASGIApp, Message, Receive, Scope, Send

disable_created_metrics()  # type: ignore[no-untyped-call] # the time since which each number is counted would be as many lines again

LATENCIES = (0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0)
SIZES = (1, 2, 4, 8, 16, 32, 64, 128, 256, 512, 1024)


class Metrics:
    """Counters of one server; `repeated` returns how many decisions and rewards the log had already."""

    def __init__(self, repeated: Callable[[], dict[str, int]]) -> None:
        self.registry = CollectorRegistry()
        self.decisions = self._counter("decisions", "Decisions that were given out, repeated ones included.")
        self.rewards = self._counter("rewards", "Rewards that were taken, repeated ones included.")
        self.registry.register(_Duplicates(repeated))
        self.conflicts = self._counter("conflicts", "Requests that contradicted the log.")
        self.requests = self._counter("requests", "Requests that were answered.", "route", "status")
        self.open = Gauge("bayesregret_open_experiments", "Experiments that go on.", registry=self.registry)
        self.seconds = Histogram(
            "bayesregret_request_seconds",
            "Time from a request to its answer.",
            ["route"],
            buckets=LATENCIES,
            registry=self.registry,
        )
        self.batches = Histogram(
            "bayesregret_commit_requests",
            "Requests that one transaction committed.",
            buckets=SIZES,
            registry=self.registry,
        )

    def _counter(self, name: str, meaning: str, *labels: str) -> Counter:
        return Counter(f"bayesregret_{name}", meaning, labels, registry=self.registry)

    def text(self) -> bytes:
        """Return all numbers in the format of Prometheus."""
        return generate_latest(self.registry)


class _Duplicates(Collector):
    def __init__(self, repeated: Callable[[], dict[str, int]]) -> None:
        self._repeated = repeated

    def collect(self) -> Iterator[CounterMetricFamily]:
        found = CounterMetricFamily(
            "bayesregret_duplicates", "Decisions and rewards that the log had already.", labels=["kind"]
        )
        for kind, number in self._repeated().items():
            found.add_metric([kind], number)
        yield found


class MeasureRequests:
    """Middleware that counts requests, and how long they take."""

    def __init__(self, app: ASGIApp, metrics: Metrics) -> None:
        self.app = app
        self.metrics = metrics

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return
        start, status = time.perf_counter(), 500

        async def noted(message: Message) -> None:
            nonlocal status
            status = message.get("status", status)
            await send(message)

        try:
            await self.app(scope, receive, noted)
        finally:
            # The pattern of the route: names of experiments would be too many labels.
            route = getattr(scope.get("route"), "path", "other")
            self.metrics.seconds.labels(route).observe(time.perf_counter() - start)
            self.metrics.requests.labels(route, status).inc()
