"""Audit chains in the store: entries to write, and entries read back in order."""

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import TypeVar

from keepsake.domain.audit import Action, AuditEntry, AuditEvent, ChainHead, linked, proven
from keepsake.domain.hashing import KeyedHash
from keepsake.domain.paging import all_pages
from keepsake.ports.item_store import Absent, Item, ItemStore, Key, PageQuery, Put, Table
from keepsake.repositories.keys import Keys
from keepsake.repositories.records import read, text, whole
from keepsake.repositories.stored import Fence, Stored, head_attributes, put_versioned

T = TypeVar("T")

_PAGE = 500


def linked_writes(chain: str, head: ChainHead, events: Sequence[AuditEvent], keyed: KeyedHash) -> tuple[list[Put], ChainHead]:
    """The entries of `events` as writes, and the head after them, with its proof."""
    writes, last = [], head
    for event in events:
        entry, last = linked(chain, last, event, keyed)
        writes.append(Put(_item(entry), Absent()))
    return writes, proven(chain, last, head, keyed) if events else head


def user_chain_writes(keys: Keys, replaced: Stored[ChainHead], events: Sequence[AuditEvent], fence: Fence) -> list[Put]:
    """Entries in the user's own chain, with its head."""
    if not events:
        return []
    writes, head = linked_writes(keys.user_chain(), replaced.value or ChainHead(), events, keys.keyed)
    return [*writes, put_versioned(keys.chain_head(), head_attributes(head), replaced, fence)]


@dataclass(frozen=True, slots=True)
class AuditChains:
    """Reads chains."""

    store: ItemStore

    def entries(self, chain: str, *, after: int | None = None) -> Iterator[AuditEntry]:
        """Entries of a chain in the order of their sequence, page by page; raises CorruptItemError at one that is none.

        From the very first, or from the one after `after` on.
        """
        query = PageQuery(Table.AUDIT, chain, _PAGE)
        for page in all_pages(lambda position: self.store.query(replace(query, after=position)), after=after):
            yield from (read(_entry, item) for item in page.items)


def _item(entry: AuditEntry) -> Item:
    event = entry.event
    return Item(
        Key(Table.AUDIT, entry.chain, entry.sequence),
        {
            "at": event.at_ms,
            "actor": event.actor,
            "action": event.action.value,
            "counts": json.dumps(dict(event.counts), sort_keys=True),
            "refs": json.dumps(dict(event.refs), sort_keys=True),
            "previous": entry.previous,
            "hash": entry.hash,
        },
    )


def _mapping(item: Item, name: str, kind: type[T]) -> dict[str, T]:
    """A JSON object whose values are all of one kind."""
    stored = json.loads(text(item, name))
    if not isinstance(stored, dict) or not all(type(value) is kind for value in stored.values()):
        raise TypeError(name)
    return stored


def _entry(item: Item) -> AuditEntry:
    event = AuditEvent(
        action=Action(text(item, "action")),
        actor=text(item, "actor"),
        at_ms=whole(item, "at"),
        counts=_mapping(item, "counts", int),
        refs=_mapping(item, "refs", str),
    )
    return AuditEntry(item.key.partition, int(item.key.sort), event, text(item, "previous"), text(item, "hash"))
