"""Metrics in Prometheus' text form. No label names a tenant, a task or a key."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram, generate_latest

from unhack.core.verdict import Verdict

MEDIA = "text/plain; version=0.0.4; charset=utf-8"
_SECONDS = (0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60)


class Metrics:
    """The figures of one server. `gauges` are read when they are asked for: name, how, words."""

    def __init__(self, gauges: Mapping[str, tuple[Callable[[], float], str]]) -> None:
        self._registry = CollectorRegistry()
        self._requests = Counter(
            "unhack_requests",
            "Requests by route and status",
            ["method", "route", "status"],
            registry=self._registry,
        )
        self._seconds = Histogram(
            "unhack_request_seconds",
            "Seconds from a request to the end of its reply",
            ["method", "route"],
            buckets=_SECONDS,
            registry=self._registry,
        )
        self._verdicts = Counter(
            "unhack_verdicts", "Stored verdicts by status", ["status"], registry=self._registry
        )
        for name, (read, words) in gauges.items():
            Gauge(f"unhack_{name}", words, registry=self._registry).set_function(read)

    def count_request(self, method: str, route: str, status: int, seconds: float) -> None:
        """Count a reply. `route` is its pattern, such as /v1/batches/{batch_id}."""
        self._requests.labels(method, route, str(status)).inc()
        self._seconds.labels(method, route).observe(seconds)

    def count_verdict(self, verdict: Verdict) -> None:
        """Count a verdict that is stored."""
        self._verdicts.labels(verdict.status.value).inc()

    def text(self) -> bytes:
        """All figures."""
        return generate_latest(self._registry)
