"""Small stand-ins for what comes from outside. Each keeps its port's contract; the store is in the contract suite."""

from collections.abc import Iterator, Mapping, Sequence
from itertools import count, cycle
from threading import Lock

from keepsake.adapters.item_limits import check_index_page, check_page, distinct_keys, item_bytes, write_sizes
from keepsake.ports.item_store import (
    INDEXES,
    MAX_PAGE_BYTES,
    Absent,
    AbsentOrExpired,
    Check,
    Condition,
    ConditionFailedError,
    Delete,
    EpochAtMost,
    Index,
    IndexPage,
    IndexPosition,
    Item,
    Key,
    NotHeld,
    Page,
    PageQuery,
    Put,
    RevisionAtMost,
    Value,
    VersionEquals,
    Write,
)


class FakeClock:
    """Clock that stands still until it is moved; sleeping moves it. `slept` lists what was slept."""

    def __init__(self, now_ms: int = 1_790_000_000_000) -> None:
        self.ms = now_ms
        self.slept: list[float] = []

    def now_ms(self) -> int:
        return self.ms

    def sleep(self, seconds: float) -> None:
        self.slept.append(seconds)
        self.ms += round(seconds * 1000)

    def advance(self, *, minutes: float = 0, seconds: float = 0, ms: int = 0) -> None:
        self.ms += round((minutes * 60 + seconds) * 1000) + ms


class FakeIds:
    """IdFactory that counts; its ids have the length and the characters of real ones."""

    def __init__(self) -> None:
        self._next = count(1)

    def new(self) -> str:
        return f"id-{next(self._next):0>19}"


class FakeChance:
    """Chance that yields the given fractions, over and over."""

    def __init__(self, *fractions: float) -> None:
        self._next = cycle(fractions or (0.5,))

    def fraction(self) -> float:
        return next(self._next)


class FakeHashKeys:
    """HashKeys with a key that everybody knows."""

    def current(self) -> tuple[str, bytes]:
        return "v1", bytes(range(32))


class DictItemStore:
    """ItemStore in a dictionary: the plainest reading of the contract."""

    def __init__(self) -> None:
        self._items: dict[Key, Item] = {}
        self._one_at_a_time = Lock()

    def get_many(self, keys: Sequence[Key]) -> Mapping[Key, Item]:
        return {key: self._items[key] for key in distinct_keys(keys) if key in self._items}

    def query(self, query: PageQuery) -> Page:
        check_page(query)
        with self._one_at_a_time:
            partition = [item for item in self._items.values() if _in_range(item.key, query)]
        partition.sort(key=lambda item: item.key.sort, reverse=query.descending)
        page: list[Item] = []
        room = MAX_PAGE_BYTES
        for item in partition:
            room -= item_bytes(item)
            if len(page) == query.limit or room < 0:
                return Page(tuple(page), page[-1].key.sort)
            page.append(item)
        return Page(tuple(page), None)

    def fetch(self, keys: Sequence[Key], pages: Sequence[PageQuery]) -> tuple[Mapping[Key, Item], tuple[Page, ...]]:
        return self.get_many(keys), tuple(self.query(page) for page in pages)

    def query_index(self, index: Index, partition: str, *, limit: int, after: IndexPosition | None = None) -> IndexPage:
        check_index_page(index, partition, limit, after)
        with self._one_at_a_time:
            found = sorted(self._positions(index, partition), key=_order)
        rest = [position for position in found if after is None or _order(position) > _order(after)]
        page = rest[:limit]
        return IndexPage(tuple(position.key for position in page), page[-1] if len(rest) > limit else None)

    def transact(self, writes: Sequence[Write]) -> None:
        write_sizes(writes)
        with self._one_at_a_time:
            failed = tuple(write.key for write in writes if not self._may(write))
            if failed:
                raise ConditionFailedError(failed)
            for write in writes:
                self._apply(write)

    def _may(self, write: Write) -> bool:
        return write.condition is None or _holds(write.condition, self._items.get(write.key))

    def _apply(self, write: Write) -> None:
        match write:
            case Put(item):
                plain = {name: str(value) if isinstance(value, str) else value for name, value in item.attributes.items()}
                self._items[item.key] = Item(item.key, plain)
            case Delete(key):
                self._items.pop(key, None)
            case Check():
                pass

    def _positions(self, index: Index, partition: str) -> Iterator[IndexPosition]:
        schema = INDEXES[index]
        for key, item in self._items.items():
            since = item.attributes.get(schema.sort)
            if key.table is schema.table and item.attributes.get(schema.partition) == partition and isinstance(since, int):
                yield IndexPosition(since, key)


def _order(position: IndexPosition) -> tuple[int, str, str | int]:
    return position.sort, position.key.partition, position.key.sort


def _in_range(key: Key, query: PageQuery) -> bool:
    if (key.table, key.partition) != (query.table, query.partition):
        return False
    sort, after = _comparable(key.sort), query.after
    return (
        (query.prefix is None or str(key.sort).startswith(query.prefix))
        and (query.until is None or sort <= _comparable(query.until))
        and (after is None or (sort < _comparable(after) if query.descending else sort > _comparable(after)))
    )


def _comparable(sort: str | int) -> tuple[int, bytes]:
    return (0, sort.encode()) if isinstance(sort, str) else (sort, b"")


def _holds(condition: Condition, item: Item | None) -> bool:
    match condition:
        case Absent():
            return item is None
        case AbsentOrExpired(now):
            return _number(item, "expires_at", now + 1) <= now if item else True
        case VersionEquals(version):
            return item is not None and item.attributes.get("version") == version
        case EpochAtMost(epoch):
            return _number(item, "epoch", epoch) <= epoch
        case RevisionAtMost(revision):
            return _number(item, "revision", revision) <= revision
        case NotHeld():
            return item is None or "held" not in item.attributes


def _number(item: Item | None, name: str, missing: int) -> int:
    value: Value = item.attributes.get(name, missing) if item else missing
    assert isinstance(value, int)
    return value
