"""On a schedule: fold the turns of pending sessions into what is known of their users."""

from typing import Any

from keepsake.api.responses import consolidated
from keepsake.api.scheduled import scheduled_handler
from keepsake.bootstrap import Runtime


def consolidate(services: Runtime, until_ms: int) -> dict[str, Any]:
    """As many sessions as there is time for; the rest stays pending for the next run."""
    return consolidated(services.consolidation.run(until_ms=until_ms))


lambda_handler = scheduled_handler(consolidate)
