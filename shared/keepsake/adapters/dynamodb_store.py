"""The item store on DynamoDB, on a client of the AWS SDK.

The client resends what failed on the way, under the same token; this module resends what DynamoDB put off: keys it did
not get to, and transactions it cancelled for a passing reason.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING, Any
from uuid import uuid4

from botocore.config import Config

from keepsake.adapters.aws_clients import make_service_client
from keepsake.adapters.aws_errors import Reason, TransactionCanceledError, aws_errors_mapped
from keepsake.adapters.dynamodb_codec import (
    Wire,
    decode_item,
    decode_key,
    decode_named,
    encode_condition,
    encode_item,
    encode_key,
    encode_sort,
)
from keepsake.adapters.item_limits import MAX_PAGE_ITEMS, check_index_page, check_page, distinct_keys, write_sizes
from keepsake.domain.errors import CorruptItemError, ItemTooLargeError, StoreError, StoreUnavailableError
from keepsake.ports.item_store import (
    INDEXES,
    SCHEMAS,
    ConditionFailedError,
    Delete,
    Index,
    IndexPage,
    IndexPosition,
    Item,
    Key,
    Page,
    PageQuery,
    Put,
    Table,
    Write,
)

if TYPE_CHECKING:
    from mypy_boto3_dynamodb import DynamoDBClient

    from keepsake.ports.surroundings import Chance, Clock

_ATTEMPTS = 6  # of which five wait first: 0.8 seconds at most, half of it on average
_FIRST_WAIT, _LONGEST_WAIT = 0.025, 0.4  # seconds, before jitter
_CONTENT_TYPE = "application/x-amz-json"


def make_client(
    *, region: str | None = None, endpoint: str | None = None, max_connections: int = 32, read_timeout: float = 2.5
) -> DynamoDBClient:
    """A client whose timeouts and retries are set, not inherited: an unreachable endpoint costs 2 seconds, a mute one 5.

    `region` and `endpoint` default to what the environment says.
    """
    config = Config(
        connect_timeout=1,
        read_timeout=read_timeout,
        retries={"mode": "standard", "total_max_attempts": 2},
        max_pool_connections=max_connections,
        tcp_keepalive=True,
        parameter_validation=False,  # requests are built here, from values that were checked
    )
    client: DynamoDBClient = make_service_client("dynamodb", region=region, endpoint=endpoint, config=config)
    return client


class DynamoDbItemStore:
    """ItemStore on those of the six tables whose names are given: a function knows only what it uses. Safe for many threads."""

    def __init__(self, client: DynamoDBClient, table_names: Mapping[Table, str], *, clock: Clock, chance: Chance) -> None:
        self._client = client
        self._names = dict(table_names)
        self._tables = {name: table for table, name in self._names.items()}
        self._clock = clock
        self._chance = chance

    def get_many(self, keys: Sequence[Key]) -> Mapping[Key, Item]:
        """See ItemStore. What DynamoDB did not get to, for load or beyond 16 MB, is asked for again."""
        pending = self._read_request(distinct_keys(keys))
        found: dict[Key, Item] = {}
        waits = self._waits()
        while pending:
            answer = _call("BatchGetItem", self._client.batch_get_item, {"RequestItems": pending})
            found.update(self._items_of(_part(answer, "Responses", dict)))
            left: Wire = answer.get("UnprocessedKeys") or {}
            waits = waits if _count(left) == _count(pending) else self._waits()  # patience begins anew with every step ahead
            if left and not next(waits, False):
                raise StoreUnavailableError("BatchGetItem left keys unprocessed")
            pending = left
        return found

    def query(self, query: PageQuery) -> Page:
        """See ItemStore."""
        check_page(query)
        request = self._page_request(query)
        if request is None:
            return Page((), None)
        answer = _call("Query", self._client.query, request)
        items = tuple([decode_item(query.table, wire) for wire in _part(answer, "Items", list)])
        if len(items) > query.limit:
            items = items[: query.limit]
            return Page(items, items[-1].key.sort)
        last = answer.get("LastEvaluatedKey")
        return Page(items, decode_key(query.table, last).sort if last else None)

    def fetch(self, keys: Sequence[Key], pages: Sequence[PageQuery]) -> tuple[Mapping[Key, Item], tuple[Page, ...]]:
        """See ItemStore. Threads of this call only: none may outlive it into a snapshot of the function."""
        with ThreadPoolExecutor(len(pages) + 1, thread_name_prefix="fetch") as threads:
            found = [threads.submit(self.query, page) for page in pages]
            items = self.get_many(keys) if keys else {}
            return items, tuple(page.result() for page in found)

    def query_index(self, index: Index, partition: str, *, limit: int, after: IndexPosition | None = None) -> IndexPage:
        """See ItemStore."""
        check_index_page(index, partition, limit, after)
        answer = _call("Query", self._client.query, self._index_request(index, partition, limit, after))
        read = [_position(index, wire) for wire in _part(answer, "Items", list)]
        keys = tuple([position.key for position in read[:limit]])
        if len(read) > limit:
            return IndexPage(keys, read[limit - 1])
        last = answer.get("LastEvaluatedKey")
        return IndexPage(keys, _position(index, last) if last else None)

    def transact(self, writes: Sequence[Write]) -> None:
        """See ItemStore. A transaction that lost against another, or was throttled, is sent again unchanged."""
        write_sizes(writes)
        actions = [self._action(write) for write in writes]
        waits = self._waits()
        while not self._took_effect(writes, actions):
            if not next(waits, False):
                raise StoreUnavailableError("TransactWriteItems was cancelled, as often as it was sent")

    def _took_effect(self, writes: Sequence[Write], actions: list[Wire]) -> bool:
        """Send once. False when DynamoDB says that nothing was written, and the same again may succeed.

        The token makes one of the client's attempts and its resends, should the first have taken effect unseen. After a
        cancellation nothing has, so the next time has its own.
        """
        request = {"TransactItems": actions, "ClientRequestToken": str(uuid4())}
        try:
            _call("TransactWriteItems", self._client.transact_write_items, request)
        except TransactionCanceledError as canceled:
            _raise_lasting(writes, canceled.reasons)
            return False
        return True

    def _waits(self) -> Iterator[bool]:
        """Waits before each resend, longer every time and by chance; ends after the last."""
        for attempt in range(_ATTEMPTS - 1):
            self._clock.sleep(min(_LONGEST_WAIT, _FIRST_WAIT * 2**attempt) * self._chance.fraction())
            yield True

    def _read_request(self, keys: Sequence[Key]) -> Wire:
        request: dict[str, Wire] = {}
        for key in keys:
            part = request.setdefault(self._names[key.table], {"Keys": [], "ConsistentRead": True})
            part["Keys"].append(encode_key(key))
        return request

    def _items_of(self, responses: Mapping[str, Any]) -> dict[Key, Item]:
        items = [decode_item(self._tables[name], wire) for name, read in responses.items() for wire in read]
        return {item.key: item for item in items}

    def _action(self, write: Write) -> Wire:
        table = write.key.table
        parts = {"TableName": self._names[table], **encode_condition(write.condition, table)}
        if isinstance(write, Put):
            return {"Put": {"Item": encode_item(write.item), **parts}}
        kind = "Delete" if isinstance(write, Delete) else "ConditionCheck"
        return {kind: {"Key": encode_key(write.key), **parts}}

    def _page_request(self, query: PageQuery) -> Wire | None:
        """None when nothing can be in the page: DynamoDB refuses a start outside of the range instead of answering."""
        term = _sort_term(query)
        if term is None:
            return None
        schema = SCHEMAS[query.table]
        expression, bounds = term
        request: Wire = {
            "TableName": self._names[query.table],
            "ConsistentRead": True,
            "KeyConditionExpression": f"#partition = :partition{expression}",
            "ExpressionAttributeNames": {"#partition": schema.partition} | ({"#sort": schema.sort} if bounds else {}),
            "ExpressionAttributeValues": {":partition": {"S": query.partition}}
            | {name: encode_sort(query.table, bound) for name, bound in bounds.items()},
            "ScanIndexForward": not query.descending,
            "Limit": min(query.limit, MAX_PAGE_ITEMS) + 1,  # one more, to know whether there is more
        }
        if query.after is None:
            return request
        side = _side(query, query.after) * (-1 if query.descending else 1)
        if side > 0:
            return None
        if side == 0:
            request["ExclusiveStartKey"] = encode_key(Key(query.table, query.partition, query.after))
        return request

    def _index_request(self, index: Index, partition: str, limit: int, after: IndexPosition | None) -> Wire:
        schema = INDEXES[index]
        request: Wire = {
            "TableName": self._names[schema.table],
            "IndexName": index.value,
            "KeyConditionExpression": "#partition = :partition",
            "ExpressionAttributeNames": {"#partition": schema.partition},
            "ExpressionAttributeValues": {":partition": {"S": partition}},
            "Limit": min(limit, MAX_PAGE_ITEMS) + 1,
        }
        if after is not None:
            place = {schema.partition: {"S": partition}, schema.sort: {"N": str(after.sort)}}
            request["ExclusiveStartKey"] = place | encode_key(after.key)
        return request


def _call(name: str, operation: Callable[..., Mapping[str, Any]], request: Wire) -> Mapping[str, Any]:
    with aws_errors_mapped(name):
        answer = operation(**request)
        kind = answer["ResponseMetadata"]["HTTPHeaders"].get("content-type", "")
    if not kind.startswith(_CONTENT_TYPE):  # a page of a proxy's reads as an empty answer: a write that never was
        raise StoreUnavailableError(f"{name} was not answered by DynamoDB")
    return answer


def _count(request: Wire) -> int:
    return sum([len(part["Keys"]) for part in request.values()])


def _part(answer: Mapping[str, Any], name: str, kind: type) -> Any:
    part = answer.get(name)
    if not isinstance(part, kind):
        raise StoreUnavailableError("DynamoDB's answer is not whole")
    return part


def _position(index: Index, wire: Mapping[str, Any]) -> IndexPosition:
    schema = INDEXES[index]
    sort = decode_named(wire, schema.sort)
    if not isinstance(sort, int):
        raise CorruptItemError("an index holds a position that is no number")
    return IndexPosition(sort, decode_key(schema.table, wire))


def _raise_lasting(writes: Sequence[Write], reasons: Sequence[Reason]) -> None:
    """Raises for a cancellation that the same again would meet too; a condition that does not hold comes first."""
    failed = [write.key for write, reason in zip(writes, reasons, strict=False) if reason is Reason.CONDITION]
    if failed:
        raise ConditionFailedError(tuple(failed)) from None
    if Reason.TOO_LARGE in reasons:
        raise ItemTooLargeError("TransactWriteItems was cancelled (size)") from None
    if Reason.OTHER in reasons or Reason.PASSING not in reasons:
        raise StoreError("TransactWriteItems was cancelled") from None


def _sort_term(query: PageQuery) -> tuple[str, dict[str, str | int]] | None:
    """The key condition's part on the sort key, which may be one comparison only; None when no key can meet it."""
    prefix, until = query.prefix or None, query.until
    if prefix is None:
        return ("", {}) if until is None else _at_most(until)
    if until is None or (str(until) > prefix and not str(until).startswith(prefix)):
        return " AND begins_with(#sort, :prefix)", {":prefix": prefix}
    if str(until) < prefix:
        return None
    return " AND #sort BETWEEN :prefix AND :until", {":prefix": prefix, ":until": until}


def _at_most(until: str | int) -> tuple[str, dict[str, str | int]] | None:
    return None if until == "" else (" AND #sort <= :until", {":until": until})


def _side(query: PageQuery, position: str | int) -> int:
    """Where `position` stands to the keys that prefix and until allow: -1 below, 0 among, 1 above them."""
    if position == "":
        return -1
    if query.until is not None and position > query.until:  # type: ignore[operator]  # both are of the table's kind
        return 1
    if query.prefix and not str(position).startswith(query.prefix):
        return -1 if str(position) < query.prefix else 1
    return 0
