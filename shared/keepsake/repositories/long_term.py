"""What else is kept of a user: the conversation archive, session summaries, and knowledge documents."""

from collections.abc import Iterable
from dataclasses import dataclass, replace

from keepsake.domain.archive import ArchiveChunk
from keepsake.domain.clearance import Clearance
from keepsake.domain.hashing import KeyedHash
from keepsake.domain.knowledge import KnowledgeDocument, KnowledgeKind
from keepsake.domain.paging import all_pages
from keepsake.domain.summary import SessionSummary
from keepsake.domain.turns import Turn
from keepsake.ports.item_store import MAX_GET, Delete, Item, ItemStore, PageQuery, Put, Table, Value, VersionEquals
from keepsake.repositories.keys import ARCHIVE_PREFIX, DOCUMENT_PREFIX, SUMMARY_PREFIX, Keys, escaped, unescaped
from keepsake.repositories.memory_records import clearance_from, clearance_record
from keepsake.repositories.records import clearance_attributes, clearance_of, packed, raw, read, text, unpacked, whole
from keepsake.repositories.session_records import seconds, turn_from_record, turn_record
from keepsake.repositories.stored import Fence, Stored, put_versioned, stored

_PAGE = 100
# So many clearances of one session's turns are told apart by when they were last said.
_MOST_CLEARANCES = 32


@dataclass(frozen=True, slots=True)
class LearnedSession:
    """A session's summary, and when the last turn of each clearance that it covers was said.

    `touched` are the slots of memory that the page before the watermark touched: the index may have to be told of them again.
    """

    summary: SessionSummary
    said: tuple[tuple[Clearance, int], ...] = ()
    touched: tuple[str, ...] = ()

    def extended(self, summary: SessionSummary, turns: Iterable[Turn], touched: tuple[str, ...]) -> "LearnedSession":
        """With more turns, and the summary of all of them."""
        said = dict(self.said) | {turn.clearance: turn.occurred_at_ms for turn in turns}
        return LearnedSession(summary, tuple(said.items())[:_MOST_CLEARANCES], touched)

    def said_ms(self, clearance: Clearance) -> int:
        """When the last turn was said that a reader of the clearance may know of; 0 when there is none."""
        return max((at_ms for cleared, at_ms in self.said if clearance.covers(cleared)), default=0)


@dataclass(frozen=True, slots=True)
class LongTerm:
    """These items of all owners; each method names the one it is for."""

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

    def chunks(self, user_id: str, session_id: str, fence: Fence, *, now_ms: int) -> list[tuple[ArchiveChunk, int]]:
        """All chunks of a session's archive in order, each with the end of its time."""
        prefix = f"{ARCHIVE_PREFIX}{escaped(session_id)}#"
        query = PageQuery(Table.LONG_TERM, user_id, _PAGE, prefix=prefix)
        items = (item for page in all_pages(lambda after: self.store.query(replace(query, after=after))) for item in page.items)
        alive = (item for item in items if not fence.hides(item) and not is_past(item, now_ms))
        return [(read(chunk_of, item), whole(item, "hidden_after")) for item in alive]

    def put_summary(
        self, user_id: str, session_id: str, learned: LearnedSession, replaced: Stored[LearnedSession], fence: Fence
    ) -> Put:
        """The write of a session's summary."""
        key = Keys(user_id, self.keyed).summary(session_id)
        said = [[at_ms, *clearance_record(clearance)] for clearance, at_ms in learned.said]
        body = {"summary": learned.summary.to_record(), "said": said, "touched": list(learned.touched)}
        return put_versioned(key, {"body": packed(body)}, replaced, fence)

    def summary(self, user_id: str, session_id: str, fence: Fence) -> Stored[LearnedSession]:
        """A session's summary as it stands."""
        key = Keys(user_id, self.keyed).summary(session_id)
        return stored(self.store.get_many([key]).get(key), fence, learned_of)

    def standing(self, owner: str, sorts: Iterable[str], fence: Fence, *, now_ms: int) -> set[str]:
        """Those of an owner's items, by their sort keys, that are there still."""
        keys = [Keys(owner, self.keyed).long_term(sort) for sort in sorts]
        found: set[str] = set()
        for at in range(0, len(keys), MAX_GET):
            items = self.store.get_many(keys[at : at + MAX_GET])
            found |= {str(key.sort) for key, item in items.items() if not fence.hides(item) and not is_past(item, now_ms)}
        return found

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

    def document(self, owner: str, document_id: str, fence: Fence) -> Stored[KnowledgeDocument]:
        """A knowledge document as it stands."""
        key = Keys(owner, self.keyed).document(document_id)
        return stored(self.store.get_many([key]).get(key), fence, document_of)

    def delete_document(self, owner: str, document_id: str, replaced: Stored[KnowledgeDocument]) -> Delete:
        """The removal of a knowledge document that was read."""
        condition = VersionEquals(replaced.version) if replaced.version is not None else None
        return Delete(Keys(owner, self.keyed).document(document_id), condition)


def learned_of(item: Item) -> LearnedSession:
    """The summary that an item holds."""
    body = unpacked(raw(item, "body"))
    said = tuple((clearance_from(cleared), at_ms) for at_ms, *cleared in body["said"])
    return LearnedSession(SessionSummary.from_record(body["summary"]), said, tuple(body["touched"]))


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
        document_id=document_id_of(str(item.key.sort)),
        title=text(item, "title"),
        text=unpacked(raw(item, "body")),
        kind=KnowledgeKind(text(item, "kind")),
        recorded_at_ms=whole(item, "recorded_at"),
        occurred_at_ms=whole(item, "occurred_at"),
        content=text(item, "content"),
        clearance=clearance_of(item),
    )


def document_id_of(sort: str) -> str:
    """The id of the knowledge document that stands under a sort key."""
    return unescaped(sort.removeprefix(DOCUMENT_PREFIX))


def session_of_summary(sort: str) -> str:
    """The session whose summary stands under a sort key."""
    return unescaped(sort.removeprefix(SUMMARY_PREFIX))
