"""Every error a caller can meet. A class is a decision for the caller; `code` is stable and documented.

KeepsakeError
├── InvalidRequestError          malformed input (400)
│   └── InvalidIdError
├── UnauthenticatedError         no usable identity (401)
├── AccessDeniedError            known, but not allowed (403)
│   └── ClearanceExceededError
├── NotFoundError                absent, or somebody else's: the same answer (404)
│   ├── SessionNotFoundError
│   ├── SessionExpiredError
│   ├── ArtifactNotFoundError
│   ├── MemoryNotFoundError
│   ├── DocumentNotFoundError
│   └── JobNotFoundError
├── ConflictError                the world moved (409)
│   ├── LostRaceError            retryable
│   ├── StaleVersionError
│   ├── TurnIdReusedError
│   ├── LeaseHeldError           retryable
│   ├── LeaseLostError           retryable
│   ├── ReindexNeededError
│   └── ReindexRunningError
├── SubjectErasedError           a write from before the user's fence (410)
├── TooLargeError                (413)
│   ├── TurnTooLargeError
│   ├── ArtifactTooLargeError
│   └── DocumentTooLargeError
├── UnprocessableError           well formed, impossible (422)
│   ├── SafetyMinimumTooLargeError
│   ├── ScratchPadFullError
│   ├── UnknownModelProfileError
│   └── ModelNotConfiguredError
├── DependencyUnavailableError   an index, a model or a queue did not do its part; retryable (503)
│   ├── IndexUnavailableError
│   ├── ModelUnavailableError
│   ├── QueueUnavailableError
│   └── OutboxFullError
└── StoreError                   a store did not do its part (500)
    ├── StoreUnavailableError    retryable (503)
    ├── ItemTooLargeError
    └── CorruptItemError

No message ever holds what a user wrote, nor an id that a caller chose: messages reach logs.
Nothing here knows HTTP: the statuses stand in `keepsake.api.problems`.
"""

from typing import ClassVar


class KeepsakeError(Exception):
    """Root of the tree. `detail` is written for the caller and is safe to log."""

    code: ClassVar[str] = "internal_error"
    retryable: ClassVar[bool] = False

    def __init__(self, detail: str = "", *, retry_after: int | None = None) -> None:
        super().__init__(detail)
        self.detail = detail
        self.retry_after = retry_after  # whole seconds


class InvalidRequestError(KeepsakeError):
    """The request is malformed. `fields` names the places, never the values."""

    code = "invalid_request"

    def __init__(self, detail: str = "", *, fields: tuple[tuple[str, str], ...] = ()) -> None:
        super().__init__(detail)
        self.fields = fields  # (where, what is wrong)


class InvalidIdError(InvalidRequestError):
    """An id is empty, too long, or holds what no id may hold."""

    code = "invalid_id"


class UnauthenticatedError(KeepsakeError):
    """The request carries no identity that can be used."""

    code = "unauthenticated"


class AccessDeniedError(KeepsakeError):
    """The principal may not do this."""

    code = "access_denied"


class ClearanceExceededError(AccessDeniedError):
    """The principal tried to write above its own clearance."""

    code = "clearance_exceeded"


class NotFoundError(KeepsakeError):
    """There is no such thing, or it is somebody else's."""

    code = "not_found"


class SessionNotFoundError(NotFoundError):
    """The principal has no such session."""

    code = "session_not_found"


class SessionExpiredError(NotFoundError):
    """The session was idle for too long; its log can still be read, its buffer not."""

    code = "session_expired"


class ArtifactNotFoundError(NotFoundError):
    """The session's scratch pad has no artifact of that name."""

    code = "artifact_not_found"


class ConflictError(KeepsakeError):
    """The request met a state it does not fit."""

    code = "conflict"


class LostRaceError(ConflictError):
    """Other writers were faster, as often as we tried. Nothing was written."""

    code = "lost_race"
    retryable = True


class StaleVersionError(ConflictError):
    """The caller named a version that is no longer the current one."""

    code = "stale_version"


class TurnIdReusedError(ConflictError):
    """The turn id was used before, in this session, for other content."""

    code = "turn_id_reused"


class SubjectErasedError(KeepsakeError):
    """The write began before the user was erased."""

    code = "subject_erased"


class TooLargeError(KeepsakeError):
    """The content is larger than Keepsake keeps."""

    code = "too_large"


class TurnTooLargeError(TooLargeError):
    """The turn's text is larger than one turn may be."""

    code = "turn_too_large"


class ArtifactTooLargeError(TooLargeError):
    """The artifact is larger than one artifact may be."""

    code = "artifact_too_large"


class UnprocessableError(KeepsakeError):
    """The request is well formed but cannot be carried out."""

    code = "unprocessable"


class SafetyMinimumTooLargeError(UnprocessableError):
    """The safety-critical items alone do not fit the budget. They are never cut."""

    code = "safety_minimum_too_large"


class ScratchPadFullError(UnprocessableError):
    """The scratch pad holds as much as it may."""

    code = "scratch_pad_full"


class UnknownModelProfileError(UnprocessableError):
    """No model profile of that name is configured."""

    code = "unknown_model_profile"


class ModelNotConfiguredError(UnprocessableError):
    """The call needs a language model and none is configured."""

    code = "model_not_configured"


class StoreError(KeepsakeError):
    """A store failed in a way that a retry does not mend."""

    code = "store_error"


class StoreUnavailableError(StoreError):
    """A store throttled, timed out or did not answer. A write may have taken effect all the same."""

    code = "store_unavailable"
    retryable = True


class ItemTooLargeError(StoreError):
    """An item or a transaction is beyond the store's limits. The layers above keep far below them."""

    code = "item_too_large"


class CorruptItemError(StoreError):
    """A stored item does not read back as what it should be."""

    code = "corrupt_item"


class MemoryNotFoundError(NotFoundError):
    """No such memory of this user that the principal may see."""

    code = "memory_not_found"


class DocumentNotFoundError(NotFoundError):
    """No such document that the principal may see."""

    code = "document_not_found"


class JobNotFoundError(NotFoundError):
    """No such job."""

    code = "job_not_found"


class ReindexNeededError(ConflictError):
    """The index holds vectors of another embedding model, or of another size: a reindex must fill a new one first."""

    code = "reindex_needed"


class ReindexRunningError(ConflictError):
    """A reindex is under way."""

    code = "reindex_running"


class DocumentTooLargeError(TooLargeError):
    """A knowledge document is larger than one may be."""

    code = "document_too_large"


class DependencyUnavailableError(KeepsakeError):
    """Something beside the stores did not answer in time, or not sensibly. What was asked may be tried again."""

    code = "dependency_unavailable"
    retryable = True


class IndexUnavailableError(DependencyUnavailableError):
    """The search index did not answer."""

    code = "index_unavailable"


class ModelUnavailableError(DependencyUnavailableError):
    """A model did not answer."""

    code = "model_unavailable"


class QueueUnavailableError(DependencyUnavailableError):
    """The queue took nothing."""

    code = "queue_unavailable"


class OutboxFullError(DependencyUnavailableError):
    """The index has yet to be told of so much that no more can be remembered. Nothing was written."""

    code = "outbox_full"


class LeaseHeldError(ConflictError):
    """Another worker is at this user's memory."""

    code = "lease_held"
    retryable = True


class LeaseLostError(ConflictError):
    """Background work must start again from the truth: its lease is lost, or something was erased, sealed or held meanwhile."""

    code = "lease_lost"
    retryable = True
