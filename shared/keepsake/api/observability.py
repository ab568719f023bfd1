"""Logs, metrics and traces of a call: route templates, statuses, codes, counts. Never a body, a path, or an id a caller chose."""

import os
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

from aws_lambda_powertools import Logger, Tracer
from aws_lambda_powertools.metrics import EphemeralMetrics, MetricUnit

from keepsake.config import in_lambda
from keepsake.domain.errors import KeepsakeError

SERVICE = "keepsake"
NAMESPACE = "Keepsake"

logger = Logger(service=SERVICE)
# Elsewhere there is nobody to send traces to, and the tracer takes 20 MB and half a second to load.
tracer = Tracer(service=SERVICE, auto_patch=False) if in_lambda(os.environ) else None


@dataclass(slots=True)
class Observed:
    """One call while it is under way, and what will be told of it."""

    route: str
    correlation_id: str
    status: int = 500
    code: str = ""
    counts: dict[str, int] = field(default_factory=dict)
    crash: str = ""

    def answered(self, status: int) -> None:
        """The call was answered."""
        self.status = status

    def refused(self, error: KeepsakeError, status: int) -> None:
        """The call was refused, or something failed."""
        self.status, self.code = status, error.code

    def crashed(self, error: BaseException) -> None:
        """Something broke that nobody foresaw. Where, and of which kind; its message may hold anything, so it is not told."""
        self.crash = f"{type(error).__name__} at {_place(error)}"


@contextmanager
def observed(event: Mapping[str, Any]) -> Iterator[Observed]:
    """Observe one call that an event started: a log line, a few metrics and trace annotations when it ends."""
    request = event.get("requestContext") or {}
    call = Observed(
        route=str(event.get("routeKey") or event.get("source") or "unknown"),
        correlation_id=str(request.get("requestId") or event.get("id") or "unknown"),
    )
    started = time.perf_counter()
    with _traced(call):
        yield call
    _tell(call, (time.perf_counter() - started) * 1000)


@contextmanager
def _traced(call: Observed) -> Iterator[None]:
    if tracer is None:
        yield
        return
    with tracer.provider.in_subsegment("## call") as begun:
        yield
        segment: Any = begun  # None where the call came without a trace
        if segment is not None:
            segment.put_annotation("route", call.route)
            segment.put_annotation("status", str(call.status))


def _tell(call: Observed, milliseconds: float) -> None:
    told: dict[str, Any] = {
        "correlation_id": call.correlation_id,
        "route": call.route,
        "status": call.status,
        "milliseconds": round(milliseconds, 1),
        **call.counts,
    }
    if call.code:
        told["code"] = call.code
    if call.crash:
        logger.error("call crashed", extra={**told, "crash": call.crash})
    else:
        logger.info("call", extra=told)
    _measure(call, milliseconds)


def _measure(call: Observed, milliseconds: float) -> None:
    # Made anew for each call: the shared Metrics object would mix the calls of a local service.
    metrics = EphemeralMetrics(namespace=NAMESPACE, service=SERVICE)
    metrics.add_dimension("route", call.route)
    metrics.add_metric("Latency", MetricUnit.Milliseconds, milliseconds)
    metrics.add_metric("ServerError", MetricUnit.Count, int(call.status >= 500))
    metrics.add_metric("Refused", MetricUnit.Count, int(400 <= call.status < 500))
    for name, count in call.counts.items():
        metrics.add_metric(name, MetricUnit.Count, count)
    metrics.flush_metrics()


def _place(error: BaseException) -> str:
    """File and line where the error was raised."""
    trace = error.__traceback__
    while trace is not None and trace.tb_next is not None:
        trace = trace.tb_next
    if trace is None:
        return "unknown"
    return f"{trace.tb_frame.f_code.co_filename.rsplit('/', 1)[-1]}:{trace.tb_lineno}"
