"""What stands behind the recall port until there is an index: it finds nothing, and says why it did or did not look."""

from dataclasses import dataclass

from keepsake.domain.principal import Principal
from keepsake.ports.recall import Recalled, RecallRequest, RecallWish

_REASONS = {
    RecallWish.ALWAYS: "asked_by_caller",
    RecallWish.NEVER: "declined_by_caller",
    RecallWish.AUTO: "no_index",
}


@dataclass(frozen=True, slots=True)
class NothingRecalled:
    """Recall over an empty past."""

    def recall(self, principal: Principal, request: RecallRequest) -> Recalled:  # noqa: ARG002 - an empty past has no owner
        """No hits."""
        return Recalled(ran=request.wish is RecallWish.ALWAYS, reason=_REASONS[request.wish])
