"""On a schedule: fold the turns of pending sessions into what is known of their users."""

from typing import Any

from keepsake.api.observability import observed
from keepsake.api.responses import consolidated
from keepsake.bootstrap import runtime

# Time kept back for the transaction under way when the function's own time runs out.
_RESERVE_MS = 10_000


def lambda_handler(event: dict[str, Any], context: Any) -> dict[str, Any]:
    """Consolidate as many sessions as there is time for; the rest stays pending for the next run."""
    with observed(event) as call:
        current = runtime()
        until_ms = current.clock.now_ms() + max(0, context.get_remaining_time_in_millis() - _RESERVE_MS)
        report = current.consolidation.run(until_ms=until_ms)
        call.counts.update(sessions=report.sessions, turns=report.turns, left=report.left)
        call.answered(200)
        return consolidated(report)
