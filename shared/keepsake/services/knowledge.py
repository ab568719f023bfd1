"""Knowledge documents: taken whole, replaced whole, removed. Own ones, and those of the institution, which only admins write."""

from dataclasses import dataclass

from keepsake.domain.audit import Action, Actor, AuditEvent
from keepsake.domain.clearance import OPEN, Clearance
from keepsake.domain.errors import (
    AccessDeniedError,
    ClearanceExceededError,
    DocumentNotFoundError,
    DocumentTooLargeError,
    InvalidRequestError,
)
from keepsake.domain.ids import checked_id
from keepsake.domain.knowledge import INSTITUTION, MAX_DOCUMENT_BYTES, KnowledgeDocument, KnowledgeKind
from keepsake.domain.pending import Outbox
from keepsake.domain.principal import Principal
from keepsake.domain.search import DocumentKind
from keepsake.domain.text import is_blank
from keepsake.ports.item_store import Write
from keepsake.ports.surroundings import Clock, IdFactory
from keepsake.ports.work_queue import WorkQueue
from keepsake.repositories.keys import Keys
from keepsake.repositories.long_term import LongTerm
from keepsake.repositories.memories import Memories, MemoryState
from keepsake.repositories.refs import TruthRef
from keepsake.services.memories import nudge
from keepsake.services.retrying import Retrying


@dataclass(frozen=True, slots=True)
class PutDocument:
    """A document to keep. Without an id it gets one; with one it takes the place of what stood there."""

    title: str
    text: str
    kind: KnowledgeKind
    document_id: str | None = None
    occurred_at_ms: int | None = None
    institutional: bool = False
    clearance: Clearance = OPEN


@dataclass(frozen=True, slots=True)
class KnowledgeKeeping:
    """Keeps documents. All methods may raise StoreError."""

    long_term: LongTerm
    memories: Memories
    queue: WorkQueue
    clock: Clock
    ids: IdFactory
    retrying: Retrying

    def put(self, principal: Principal, command: PutDocument) -> tuple[KnowledgeDocument, bool]:
        """Keep a document; it, and whether it is new. The same once more changes nothing.

        Raises InvalidIdError, InvalidRequestError, DocumentTooLargeError, ClearanceExceededError, AccessDeniedError (the
        institution's are written by admins), LostRaceError, OutboxFullError and SubjectErasedError.
        """
        self._check(principal, command)
        owner = _owner(principal, institutional=command.institutional)
        document_id = command.document_id or self.ids.new()
        document, is_new = self.retrying.call(lambda: self._attempt(principal, owner, document_id, command))
        nudge(self.memories, self.queue, owner)
        return document, is_new

    def _check(self, principal: Principal, command: PutDocument) -> None:
        if command.document_id is not None:
            checked_id(command.document_id, "document id")
        if is_blank(command.text):
            raise InvalidRequestError("a document has a text", fields=(("text", "is blank"),))
        if len(command.text.encode()) > MAX_DOCUMENT_BYTES:
            raise DocumentTooLargeError(f"the text of a document has at most {MAX_DOCUMENT_BYTES} bytes of UTF-8")
        if not principal.clearance.covers(command.clearance):
            raise ClearanceExceededError("a document cannot be written above the caller's own clearance")
        if command.institutional and not principal.is_admin:
            raise AccessDeniedError("the institution's documents are written by admins")

    def _attempt(
        self, principal: Principal, owner: str, document_id: str, command: PutDocument
    ) -> tuple[KnowledgeDocument, bool]:
        state, now_ms = self.memories.load(owner), self.clock.now_ms()
        found = self.long_term.document(owner, document_id, state.fence)
        before = found.value
        if before and not principal.clearance.covers(before.clearance):
            raise DocumentNotFoundError("there is no such document")
        content = self.memories.keyed.of("document-content", command.title, command.text)
        document = KnowledgeDocument(
            document_id=document_id,
            title=command.title,
            text=command.text,
            kind=command.kind,
            recorded_at_ms=before.recorded_at_ms if before else now_ms,
            occurred_at_ms=_occurred(command, before, now_ms),
            content=content,
            clearance=command.clearance,
        )
        if document == before:
            return document, False
        put = self.long_term.put_document(owner, document, found, state.fence)
        self._commit(principal, owner, state, document_id, [put], Action.DOCUMENT_PUT)
        return document, before is None

    def read(self, principal: Principal, document_id: str) -> tuple[KnowledgeDocument, bool]:
        """A document of the caller's own, else the institution's, and whether it is that. Raises DocumentNotFoundError."""
        for owner in (principal.user_id, INSTITUTION):
            state = self.memories.load(owner)
            document = self.long_term.document(owner, document_id, state.fence).value
            if document and principal.clearance.covers(document.clearance):
                return document, owner == INSTITUTION
        raise DocumentNotFoundError("there is no such document")

    def delete(self, principal: Principal, document_id: str) -> None:
        """Remove a document, its passages with it. Raises DocumentNotFoundError, and AccessDeniedError for the institution's."""
        _, institutional = self.read(principal, document_id)
        if institutional and not principal.is_admin:
            raise AccessDeniedError("the institution's documents are removed by admins")
        owner = _owner(principal, institutional=institutional)
        self.retrying.call(lambda: self._attempt_delete(principal, owner, document_id))
        nudge(self.memories, self.queue, owner)

    def _attempt_delete(self, principal: Principal, owner: str, document_id: str) -> None:
        state = self.memories.load(owner)
        found = self.long_term.document(owner, document_id, state.fence)
        if found.value:
            delete = self.long_term.delete_document(owner, document_id, found)
            self._commit(principal, owner, state, document_id, [delete], Action.DOCUMENT_DELETED)

    def _commit(
        self, principal: Principal, owner: str, state: MemoryState, document_id: str, writes: list[Write], action: Action
    ) -> None:
        keys, now_ms = Keys(owner, self.memories.keyed), self.clock.now_ms()
        ref = TruthRef(DocumentKind.DOCUMENT, str(keys.document(document_id).sort))
        outbox = (state.outbox.value or Outbox()).with_refs([str(ref)], now_ms)
        actor = Actor.SELF if owner == principal.user_id else Actor.ADMIN
        refs = {"document": self.memories.keyed.of("audit-document", document_id)}
        if actor is Actor.ADMIN:
            refs["admin"] = self.memories.keyed.of("audit-user", principal.user_id)
        event = AuditEvent(action, actor, now_ms, {"document": 1}, refs)
        writes = [*writes, self.memories.put_outbox(owner, outbox, state.outbox, state.fence)]
        self.memories.commit(owner, state, writes, event)


def _owner(principal: Principal, *, institutional: bool) -> str:
    return INSTITUTION if institutional else principal.user_id


def _occurred(command: PutDocument, before: KnowledgeDocument | None, now_ms: int) -> int:
    if command.occurred_at_ms is not None:
        return command.occurred_at_ms
    return before.occurred_at_ms if before else now_ms
