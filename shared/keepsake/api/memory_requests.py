"""Bodies and queries of requests about memories, recall and documents."""

from collections.abc import Mapping
from typing import Annotated, Literal

from pydantic import Field, StringConstraints

from keepsake.api.requests import Body, ClearanceGiven, Milliseconds, Name, Spoken, Title, clearance_of
from keepsake.api.wire import instant
from keepsake.domain.errors import InvalidRequestError
from keepsake.domain.ids import checked_id
from keepsake.domain.knowledge import INSTITUTION, KnowledgeKind
from keepsake.domain.memories.values import USER, MemoryType, SourceType
from keepsake.domain.search import DocumentKind
from keepsake.ports.recall import ALL_KINDS, MAX_HITS, RecallRequest
from keepsake.services.knowledge import PutDocument
from keepsake.services.memories import CorrectMemory, MemoryWish, TellMemory

MAX_QUERY_CHARACTERS = 4_000
_MAX_TEXT = 600

Value = Annotated[Spoken, StringConstraints(max_length=300)]
Sentence = Annotated[Spoken, StringConstraints(max_length=_MAX_TEXT)]


class MemoryBody(Body):
    """Something to remember. `attribute` is what of the subject it tells, e.g. home or likes."""

    type: MemoryType
    subject: Name = USER
    attribute: Name
    value: Value
    text: Sentence | None = None
    valid_from: Milliseconds | None = None
    valid_to: Milliseconds | None = None
    source: Literal[SourceType.EXPLICIT, SourceType.STORY, SourceType.RECORDING] = SourceType.EXPLICIT
    clearance: ClearanceGiven = None

    def command(self) -> TellMemory:
        """What to remember."""
        return TellMemory(
            type=self.type,
            attribute=self.attribute,
            value=self.value,
            text=self.text,
            subject=self.subject,
            valid_from_ms=self.valid_from,
            valid_to_ms=self.valid_to,
            clearance=clearance_of(self.clearance),
            source=self.source,
        )


class MemoryCorrectionBody(Body):
    """What is right of a memory instead; what is absent stays as it is."""

    value: Value | None = None
    text: Sentence | None = None
    valid_from: Milliseconds | None = None
    valid_to: Milliseconds | None = None

    def command(self) -> CorrectMemory:
        """The correction. Raises InvalidRequestError when it corrects nothing."""
        if not self.model_fields_set:
            raise InvalidRequestError("a correction says what is right: value, text, valid_from or valid_to")
        return CorrectMemory(self.value, self.text, self.valid_from, self.valid_to)


class MemoryConfirmationBody(Body):
    """Whether a memory is right."""

    confirmed: bool


class RecallBody(Body):
    """A search. `as_of` asks what was so at that time; `since` and `until` bound when it was said, both inclusive."""

    query: Annotated[Spoken, StringConstraints(max_length=MAX_QUERY_CHARACTERS)]
    limit: Annotated[int, Field(ge=1, le=MAX_HITS)] = 10
    kinds: Annotated[list[DocumentKind], Field(min_length=1, max_length=8)] | None = None
    as_of: Milliseconds | None = None
    since: Milliseconds | None = None
    until: Milliseconds | None = None

    def request(self, now_ms: int) -> RecallRequest:
        """What is asked. Raises InvalidRequestError."""
        if self.since is not None and self.until is not None and self.since > self.until:
            raise InvalidRequestError("since is not after until", fields=(("since", "after until"),))
        return RecallRequest(
            text=self.query,
            at_ms=now_ms,
            limit=self.limit,
            kinds=frozenset(self.kinds) if self.kinds else ALL_KINDS,
            as_of_ms=self.as_of,
            since_ms=self.since,
            until_ms=self.until,
        )


class DocumentBody(Body):
    """A document to keep; with a `document_id` of one that is there, in its place.

    `institutional`: for everybody here; only admins may.
    """

    title: Title
    text: Spoken
    kind: KnowledgeKind = KnowledgeKind.REFERENCE
    document_id: str | None = None
    occurred_at: Milliseconds | None = None
    institutional: bool = False
    clearance: ClearanceGiven = None

    def command(self) -> PutDocument:
        """The document to keep."""
        return PutDocument(
            title=self.title,
            text=self.text,
            kind=self.kind,
            document_id=self.document_id,
            occurred_at_ms=self.occurred_at,
            institutional=self.institutional,
            clearance=clearance_of(self.clearance),
        )


class ReindexBody(Body):
    """Nothing needs to be said: the embedding model is a setting of the installation."""


class DriftBody(Body):
    """Whose documents are to be looked at (one's own without a user), and whether what is amiss is to be repaired.

    `institutional`: those that belong to everybody here.
    """

    user_id: str | None = None
    institutional: bool = False
    repair: bool = False

    def owner(self) -> str | None:
        """Whose. Raises InvalidIdError, and InvalidRequestError for a user and the institution at once."""
        if self.user_id is not None and self.institutional:
            raise InvalidRequestError("user_id or institutional, not both", fields=(("institutional", "beside user_id"),))
        if self.institutional:
            return INSTITUTION
        return None if self.user_id is None else checked_id(self.user_id, "user id")


def memory_wish(query: Mapping[str, str]) -> MemoryWish:
    """The filters of a list of memories. Raises InvalidRequestError."""
    as_of = query.get("as_of")
    return MemoryWish(
        type=_member(query, "type"),
        subject=query.get("subject"),
        attribute=query.get("attribute"),
        as_of_ms=None if as_of is None else _as_of(as_of),
        past=_flag(query, "past"),
    )


def _member(query: Mapping[str, str], name: str) -> MemoryType | None:
    given = query.get(name)
    if given is None:
        return None
    try:
        return MemoryType(given)
    except ValueError:
        raise InvalidRequestError(f"{name} is one of {', '.join(MemoryType)}", fields=((name, "unknown"),)) from None


def _flag(query: Mapping[str, str], name: str) -> bool:
    given = query.get(name, "false")
    if given not in ("true", "false"):
        raise InvalidRequestError(f"{name} is true or false", fields=((name, "neither true nor false"),))
    return given == "true"


def _as_of(given: str) -> int:
    """An RFC 3339 time, or a date, which means its end: what held on that day."""
    try:
        return instant(given)
    except ValueError:
        raise InvalidRequestError("as_of is a date or an RFC 3339 time with a zone", fields=(("as_of", "not a time"),)) from None
