"""Pointers: which document of the index belongs to whom. Written before the document, and removed after it."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from keepsake.domain.clearance import OPEN, Clearance
from keepsake.domain.hashing import KeyedHash
from keepsake.ports.item_store import MAX_GET, Item, ItemStore, PageQuery, Put, Table, Value
from keepsake.ports.search_index import Location
from keepsake.repositories.keys import Keys
from keepsake.repositories.records import clearance_attributes, clearance_of, read, text, whole
from keepsake.repositories.stored import Fence

EXCERPT_CHARACTERS = 200


@dataclass(frozen=True, slots=True)
class Pointer:
    """A pointer. `location` is None until the index has taken the document; `retention_expires_ms` None: kept until erased."""

    document_id: str
    kind: str
    ref: str
    excerpt: str
    created_ms: int
    retention_expires_ms: int | None = None
    location: Location | None = None
    session_id: str = ""
    clearance: Clearance = OPEN

    def at(self, location: Location) -> "Pointer":
        """The pointer to a document that the index has taken."""
        return replace(self, location=location)


@dataclass(frozen=True, slots=True)
class PointerPage:
    """Pointers by their document ids; `next` continues after them."""

    pointers: tuple[Pointer, ...]
    next: str | None


@dataclass(frozen=True, slots=True)
class Pointers:
    """Pointers of all users."""

    store: ItemStore
    keyed: KeyedHash

    def put(self, user_id: str, pointer: Pointer, fence: Fence) -> Put:
        """The write of a pointer, in place of one to the same document."""
        key = Keys(user_id, self.keyed).pointer(pointer.document_id)
        return Put(Item(key, {**_attributes(pointer), "epoch": fence.epoch}))

    def load(self, user_id: str, document_ids: Sequence[str], fence: Fence) -> Mapping[str, Pointer]:
        """Those of the pointers that are there, by document id."""
        keys = [Keys(user_id, self.keyed).pointer(document_id) for document_id in document_ids]
        found: dict[str, Pointer] = {}
        for at in range(0, len(keys), MAX_GET):
            items = self.store.get_many(keys[at : at + MAX_GET])
            found |= {str(key.sort): read(_pointer_of, item) for key, item in items.items() if not fence.hides(item)}
        return found

    def page(self, user_id: str, *, limit: int, after: str | None = None, prefix: str | None = None) -> PointerPage:
        """A page of a user's pointers; of those whose document ids begin with `prefix`."""
        found = self.store.query(PageQuery(Table.POINTERS, user_id, limit, prefix=prefix, after=after))
        pointers = tuple(read(_pointer_of, item) for item in found.items)
        return PointerPage(pointers, str(found.next) if found.next is not None else None)


def excerpt_of(content: str) -> str:
    """The beginning of a text, on one line."""
    return " ".join(content[: 2 * EXCERPT_CHARACTERS].split())[:EXCERPT_CHARACTERS]


def _attributes(pointer: Pointer) -> dict[str, Value]:
    attributes: dict[str, Value] = {
        "kind": pointer.kind,
        "ref": pointer.ref,
        "excerpt": pointer.excerpt,
        "created_at": pointer.created_ms,
        **clearance_attributes(pointer.clearance),
    }
    if pointer.session_id:
        attributes["session_id"] = pointer.session_id
    if pointer.retention_expires_ms is not None:
        attributes["retention_expires_at"] = pointer.retention_expires_ms
    if pointer.location:
        attributes |= {"index": pointer.location.index, "id": pointer.location.id, "routing": pointer.location.routing}
    return attributes


def _pointer_of(item: Item) -> Pointer:
    attributes = item.attributes
    located = "index" in attributes
    return Pointer(
        document_id=str(item.key.sort),
        kind=text(item, "kind"),
        ref=text(item, "ref"),
        excerpt=text(item, "excerpt"),
        created_ms=whole(item, "created_at"),
        retention_expires_ms=whole(item, "retention_expires_at") if "retention_expires_at" in attributes else None,
        location=Location(text(item, "index"), text(item, "id"), text(item, "routing")) if located else None,
        session_id=text(item, "session_id", ""),
        clearance=clearance_of(item),
    )
