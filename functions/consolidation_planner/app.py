"""On a schedule: put what waits for consolidation on the queue."""

from typing import Any

from keepsake.api.responses import planned
from keepsake.api.scheduled import Event, scheduled_handler
from keepsake.bootstrap import Runtime


def plan(services: Runtime, event: Event, until_ms: int) -> dict[str, Any]:
    """What is due; everything that waits, when the event says `"everything": true`, as an operator may."""
    return planned(services.learning.planner.run(until_ms=until_ms, everything=event.get("everything") is True))


lambda_handler = scheduled_handler(plan)
