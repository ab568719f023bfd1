"""What else is kept of a user: the conversation archive, session summaries, and knowledge documents."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from keepsake.domain.archive import ArchiveChunk
from keepsake.domain.hashing import KeyedHash
from keepsake.domain.knowledge import KnowledgeDocument, KnowledgeKind
from keepsake.domain.summary import SessionSummary
from keepsake.ports.item_store import Item, ItemStore, Key, Put, Value
from keepsake.repositories.keys import ARCHIVE_PREFIX, DOCUMENT_PREFIX, SUMMARY_PREFIX, Keys, unescaped
from keepsake.repositories.records import clearance_attributes, clearance_of, packed, raw, text, unpacked, whole
from keepsake.repositories.session_records import seconds, turn_from_record, turn_record
from keepsake.repositories.stored import Fence, Stored, put_versioned


@dataclass(frozen=True, slots=True)
class LearnedSession:
    """A session's summary. `touched` are the slots of memory whose documents the index has yet to be told of."""

    summary: SessionSummary
    touched: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class LongTerm:
    """Writes of these items; each method names the user it is for."""

    store: ItemStore
    keyed: KeyedHash

    def put_chunk(self, user_id: str, chunk: ArchiveChunk, hidden_after_ms: int, fence: Fence) -> Put:
        """The write of a chunk of the archive."""
        key = Keys(user_id, self.keyed).archive(chunk.session_id, chunk.first_place_ms)
        attributes: dict[str, Value] = {
            "body": packed([turn_record(turn) for turn in chunk.turns]),
            "hidden_after": hidden_after_ms,
            "expires_at": seconds(hidden_after_ms),
            "epoch": fence.epoch,
        }
        return Put(Item(key, attributes))

    def put_summary(
        self, user_id: str, session_id: str, learned: LearnedSession, replaced: Stored[LearnedSession], fence: Fence
    ) -> Put:
        """The write of a session's summary."""
        key = Keys(user_id, self.keyed).summary(session_id)
        body = {"summary": learned.summary.to_record(), "touched": list(learned.touched)}
        return put_versioned(key, {"body": packed(body)}, replaced, fence)

    def put_document(self, owner: str, document: KnowledgeDocument, replaced: Stored[KnowledgeDocument], fence: Fence) -> Put:
        """The write of a knowledge document, whole."""
        attributes: dict[str, Value] = {
            "title": document.title,
            "kind": document.kind.value,
            "recorded_at": document.recorded_at_ms,
            "occurred_at": document.occurred_at_ms,
            "content": document.content,
            "body": packed(document.text),
            **clearance_attributes(document.clearance),
        }
        return put_versioned(Keys(owner, self.keyed).document(document.document_id), attributes, replaced, fence)

    def read(self, keys: Iterable[Key]) -> Mapping[Key, Item]:
        """Items by their keys, in one round trip."""
        return self.store.get_many(list(keys))


def learned_of(item: Item) -> LearnedSession:
    """The summary that an item holds."""
    body = unpacked(raw(item, "body"))
    return LearnedSession(SessionSummary.from_record(body["summary"]), tuple(body["touched"]))


def chunk_of(item: Item) -> ArchiveChunk:
    """The chunk of the archive that an item holds."""
    session_id = unescaped(str(item.key.sort).removeprefix(ARCHIVE_PREFIX).rpartition("#")[0])
    return ArchiveChunk(session_id, tuple(turn_from_record(record) for record in unpacked(raw(item, "body"))))


def is_past(item: Item, now_ms: int) -> bool:
    """Whether the item's time is over, whatever the store still holds."""
    return "hidden_after" in item.attributes and whole(item, "hidden_after") <= now_ms


def document_of(item: Item) -> KnowledgeDocument:
    """The knowledge document that an item holds."""
    return KnowledgeDocument(
        document_id=unescaped(str(item.key.sort).removeprefix(DOCUMENT_PREFIX)),
        title=text(item, "title"),
        text=unpacked(raw(item, "body")),
        kind=KnowledgeKind(text(item, "kind")),
        recorded_at_ms=whole(item, "recorded_at"),
        occurred_at_ms=whole(item, "occurred_at"),
        content=text(item, "content"),
        clearance=clearance_of(item),
    )


def session_of_summary(sort: str) -> str:
    """The session whose summary stands under a sort key."""
    return unescaped(sort.removeprefix(SUMMARY_PREFIX))
