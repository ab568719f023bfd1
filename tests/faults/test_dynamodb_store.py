"""What the DynamoDB store does when DynamoDB, or the way to it, fails: faults are put in at the HTTP level, below the SDK."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any
from uuid import uuid4

import pytest
from botocore.awsrequest import AWSPreparedRequest, AWSResponse
from botocore.exceptions import ConnectTimeoutError, EndpointConnectionError
from moto import mock_aws

from keepsake.adapters.dynamodb_store import DynamoDbItemStore, make_client
from keepsake.domain.errors import CorruptItemError, ItemTooLargeError, StoreError, StoreUnavailableError
from keepsake.ports.item_store import (
    Absent,
    ConditionFailedError,
    Index,
    Item,
    Key,
    PageQuery,
    Put,
    Table,
    VersionEquals,
)
from tests.dynamodb_tables import create_tables
from tests.fakes import FakeChance, FakeClock
from tests.faults.dynamodb_wire import (
    JSON,
    SECRET,
    TIMEOUT,
    Fault,
    Wire,
    answer,
    body,
    body_of,
    broken,
    cancelled,
    error,
    lost_answer,
    through,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

    from mypy_boto3_dynamodb import DynamoDBClient

# ---- the parts --------------------------------------------------------------------------------------------------------


@pytest.fixture(scope="module", autouse=True)
def aws() -> Iterator[None]:
    with mock_aws():
        yield


@pytest.fixture
def client() -> DynamoDBClient:
    return make_client()  # of its own for every test: a client that retried often stops to


@pytest.fixture
def names(client: DynamoDBClient) -> Mapping[Table, str]:
    return create_tables(client, prefix=uuid4().hex)


@pytest.fixture
def wire(client: DynamoDBClient, names: Mapping[Table, str]) -> Wire:
    return Wire(client)


@pytest.fixture
def clock() -> FakeClock:
    return FakeClock()


@pytest.fixture
def store(client: DynamoDBClient, names: Mapping[Table, str], clock: FakeClock) -> DynamoDbItemStore:
    return DynamoDbItemStore(client, names, clock=clock, chance=FakeChance(0.5))


def item(at: int, **attributes: Any) -> Item:
    return Item(Key(Table.TURNS, "session", at), attributes)


ONE, TWO = item(1, text="one"), item(2, text="two")
BOTH = {ONE.key: ONE, TWO.key: TWO}


@pytest.fixture
def written(store: DynamoDbItemStore, wire: Wire) -> DynamoDbItemStore:
    store.transact([Put(ONE), Put(TWO)])
    wire.sent.clear()
    return store


# ---- reads ------------------------------------------------------------------------------------------------------------


def leaving(*sorts: int) -> Fault:
    """Answers a batch but for the keys of these turns, which come back unprocessed."""

    def fault(wire: Wire, request: AWSPreparedRequest) -> AWSResponse:
        ((table, asked),) = body_of(request)["RequestItems"].items()
        keys = asked["Keys"]
        left = [key for key in keys if int(key["turn_timestamp"]["N"]) in sorts]
        asked["Keys"] = [key for key in keys if key not in left]
        read: dict[str, Any] = {"Responses": {}}
        if len(left) < len(keys):
            request.body = json.dumps({"RequestItems": {table: asked}}).encode()
            read = json.loads(wire.reach(request).content)
        return answer(request, 200, read | {"UnprocessedKeys": {table: {"Keys": left, "ConsistentRead": True}}})

    return fault


def test_keys_that_were_left_unprocessed_are_asked_for_again(written: DynamoDbItemStore, wire: Wire, clock: FakeClock) -> None:
    wire.faults = [leaving(1, 2), leaving(2), through]
    assert written.get_many([ONE.key, TWO.key, item(3).key]) == BOTH
    asked = [part for _, sent in wire.sent for part in sent["RequestItems"].values()]
    assert [len(part["Keys"]) for part in asked] == [3, 2, 1]
    assert all(part["ConsistentRead"] for part in asked)
    assert len(clock.slept) == 2


def test_keys_that_stay_unprocessed_end_as_unavailable_after_a_bounded_wait(
    written: DynamoDbItemStore, wire: Wire, clock: FakeClock
) -> None:
    wire.faults = [leaving(1, 2)] * 100
    with pytest.raises(StoreUnavailableError):
        written.get_many([ONE.key, TWO.key])
    assert len(wire.sent) == 6
    assert clock.slept == sorted(clock.slept)
    assert 0 < sum(clock.slept) < 1


def test_a_batch_that_gets_ahead_step_by_step_is_read_to_its_end(store: DynamoDbItemStore, wire: Wire, clock: FakeClock) -> None:
    store.transact([Put(item(n)) for n in range(20)])
    wire.faults = [leaving(*range(n, 20)) for n in range(1, 20)]
    assert len(store.get_many([item(n).key for n in range(20)])) == 20
    assert max(clock.slept) <= 0.025


@pytest.mark.parametrize("lost", [TIMEOUT, lost_answer, error("InternalServerError", 500), body(b"<html>", 503, "text/html")])
def test_a_read_that_failed_on_its_way_is_sent_again(written: DynamoDbItemStore, wire: Wire, lost: Fault) -> None:
    wire.faults = [lost]
    assert written.get_many([ONE.key]) == {ONE.key: ONE}
    wire.faults = [lost]
    assert written.query(PageQuery(Table.TURNS, "session", 5)).items == (ONE, TWO)


READS: list[Callable[[DynamoDbItemStore], object]] = [
    lambda store: store.get_many([ONE.key]),
    lambda store: store.query(PageQuery(Table.TURNS, "session", 5)),
    lambda store: store.query_index(Index.PENDING_SESSIONS, "7", limit=5),
]
CALLS = [*READS, lambda store: store.transact([Put(ONE, Absent())])]

UNANSWERED = [
    TIMEOUT,
    broken(ConnectTimeoutError(endpoint_url=SECRET)),
    broken(EndpointConnectionError(endpoint_url=SECRET, error=SECRET)),
    error("InternalServerError", 500),
    error("RequestLimitExceeded", 400),
    body(b"", 502),
    body(f"<html>{SECRET}".encode(), 504, "text/html"),
    body(b"", 429),
]


@pytest.mark.parametrize("call", CALLS)
@pytest.mark.parametrize("fault", UNANSWERED)
def test_a_store_that_does_not_answer_is_unavailable_and_nothing_of_it_is_quoted(
    store: DynamoDbItemStore, wire: Wire, call: Callable[[DynamoDbItemStore], object], fault: Fault
) -> None:
    wire.faults = [fault] * 9
    with pytest.raises(StoreUnavailableError) as raised:
        call(store)
    assert len(wire.sent) <= 2
    assert SECRET not in raised.value.detail
    assert raised.value.__suppress_context__


GARBAGE = [
    b"",
    b"[]",
    b"null",
    b'"x"',
    b"7",
    b"<html>",
    b"{",
    b"\xff\xfe",
    b'{"Responses": 5, "Items": 5}',
    b'{"Items": {"a": 1}}',
]


@pytest.mark.parametrize("call", READS)
@pytest.mark.parametrize("content_type", [JSON, "text/html"])
def test_a_garbled_answer_is_not_an_empty_one(
    store: DynamoDbItemStore, wire: Wire, call: Callable[[DynamoDbItemStore], object], content_type: str
) -> None:
    for raw in GARBAGE:
        wire.faults = [body(raw, 200, content_type)]
        with pytest.raises(StoreUnavailableError):
            call(store)
        assert wire.faults == []


@pytest.mark.parametrize(
    "wire_item",
    [
        {"session_key": {"S": "session"}, "turn_timestamp": {"N": "1"}, "x": {"SS": ["a"]}},
        {"session_key": {"S": "session"}, "turn_timestamp": {"N": "1"}, "x": {"N": "1.5"}},
        {"session_key": {"S": "session"}, "turn_timestamp": {"N": "1"}, "x": {"NULL": True}},
        {"session_key": {"S": "session"}, "turn_timestamp": {"N": "1"}, "x": {"L": [{"N": "1"}]}},
        {"session_key": {"S": "session"}, "turn_timestamp": {"N": "1"}, "x": {}},
        {"session_key": {"N": "1"}, "turn_timestamp": {"N": "1"}},
        {"session_key": {"S": "session"}},
    ],
)
def test_an_item_that_no_keepsake_wrote_is_corrupt(
    store: DynamoDbItemStore, wire: Wire, names: Mapping[Table, str], wire_item: dict[str, Any]
) -> None:
    table = names[Table.TURNS]
    wire.faults = [body({"Items": [wire_item]}), body({"Responses": {table: [wire_item]}, "UnprocessedKeys": {}})]
    with pytest.raises(CorruptItemError):
        store.query(PageQuery(Table.TURNS, "session", 5))
    with pytest.raises(CorruptItemError):
        store.get_many([ONE.key])


@pytest.mark.parametrize(
    ("query", "start"),
    [
        (PageQuery(Table.LONG_TERM, "u", 5, prefix="b", after="a"), None),
        (PageQuery(Table.LONG_TERM, "u", 5, prefix="b", after="b"), "b"),
        (PageQuery(Table.LONG_TERM, "u", 5, prefix="b", after="c", descending=True), None),
        (PageQuery(Table.LONG_TERM, "u", 5, prefix="b", after="b1", descending=True), "b1"),
        (PageQuery(Table.LONG_TERM, "u", 5, until="b", after="c", descending=True), None),
        (PageQuery(Table.LONG_TERM, "u", 5, until="b", after="a", descending=True), "a"),
        (PageQuery(Table.LONG_TERM, "u", 5, after=""), None),
    ],
    ids=repr,
)
def test_a_start_outside_of_the_range_is_not_sent_since_dynamodb_would_refuse_it(
    store: DynamoDbItemStore, wire: Wire, query: PageQuery, start: str | None
) -> None:
    store.query(query)
    ((_, sent),) = wire.sent
    assert sent.get("ExclusiveStartKey", {}).get("item") == (start and {"S": start})
    assert sent["ConsistentRead"]


@pytest.mark.parametrize(
    "query",
    [
        PageQuery(Table.LONG_TERM, "u", 5, prefix="b", after="c"),
        PageQuery(Table.LONG_TERM, "u", 5, prefix="b", after="a", descending=True),
        PageQuery(Table.LONG_TERM, "u", 5, until="b", after="c"),
        PageQuery(Table.LONG_TERM, "u", 5, prefix="b", until="a"),
        PageQuery(Table.LONG_TERM, "u", 5, until=""),
        PageQuery(Table.LONG_TERM, "u", 5, after="", descending=True),
    ],
    ids=repr,
)
def test_a_page_that_can_only_be_empty_costs_no_call(store: DynamoDbItemStore, wire: Wire, query: PageQuery) -> None:
    assert store.query(query).items == ()
    assert wire.sent == []


# ---- writes -----------------------------------------------------------------------------------------------------------


def test_a_write_whose_answer_was_lost_is_sent_again_under_its_token_and_happens_once(
    store: DynamoDbItemStore, wire: Wire
) -> None:
    wire.faults = [lost_answer]
    store.transact([Put(ONE, Absent())])
    first, second = wire.tokens()
    assert first == second
    assert store.get_many([ONE.key]) == {ONE.key: ONE}


def test_a_write_that_was_lost_on_its_way_is_sent_again(store: DynamoDbItemStore, wire: Wire) -> None:
    wire.faults = [TIMEOUT]
    store.transact([Put(ONE, Absent())])
    assert store.get_many([ONE.key]) == {ONE.key: ONE}


def test_a_write_of_which_no_answer_ever_comes_is_unavailable_though_it_took_effect(store: DynamoDbItemStore, wire: Wire) -> None:
    wire.faults = [lost_answer, lost_answer]
    with pytest.raises(StoreUnavailableError):
        store.transact([Put(ONE, Absent())])
    assert store.get_many([ONE.key]) == {ONE.key: ONE}


def test_a_write_that_never_got_through_is_unavailable_and_not_there(store: DynamoDbItemStore, wire: Wire) -> None:
    wire.faults = [TIMEOUT] * 2
    with pytest.raises(StoreUnavailableError):
        store.transact([Put(ONE, Absent())])
    assert store.get_many([ONE.key]) == {}


def test_every_transaction_has_a_token_of_its_own(store: DynamoDbItemStore, wire: Wire) -> None:
    for _ in range(3):
        store.transact([Put(ONE)])
    assert len(set(wire.tokens())) == 3
    assert all(1 <= len(token) <= 36 for token in wire.tokens())


@pytest.mark.parametrize("code", ["TransactionConflict", "ThrottlingError", "ProvisionedThroughputExceeded"])
def test_a_transaction_cancelled_for_a_passing_reason_is_sent_again_unchanged_under_a_new_token(
    store: DynamoDbItemStore, wire: Wire, clock: FakeClock, code: str
) -> None:
    wire.faults = [cancelled("None", code), cancelled(code, code)]
    store.transact([Put(ONE, Absent()), Put(TWO)])
    assert store.get_many([ONE.key, TWO.key]) == BOTH
    sent = [body["TransactItems"] for _, body in wire.sent if "TransactItems" in body]
    assert sent[0] == sent[1] == sent[2]
    assert len(set(wire.tokens())) == 3
    assert clock.slept == [0.0125, 0.025]


@pytest.mark.parametrize("code", ["TransactionConflict", "ThrottlingError", "ProvisionedThroughputExceeded"])
def test_a_reason_that_does_not_pass_ends_as_unavailable(
    store: DynamoDbItemStore, wire: Wire, clock: FakeClock, code: str
) -> None:
    wire.faults = [cancelled(code, "None")] * 100
    with pytest.raises(StoreUnavailableError):
        store.transact([Put(ONE), Put(TWO)])
    assert len(wire.sent) == 6
    assert sum(clock.slept) < 1
    wire.faults.clear()
    assert store.get_many([ONE.key]) == {}


@pytest.mark.parametrize("other", ["None", "TransactionConflict", "ThrottlingError", "ValidationError", "SomethingNew"])
def test_a_condition_that_failed_is_told_whatever_else_went_wrong(store: DynamoDbItemStore, wire: Wire, other: str) -> None:
    wire.faults = [cancelled(other, "ConditionalCheckFailed", other)]
    with pytest.raises(ConditionFailedError) as failed:
        store.transact([Put(ONE), Put(TWO, VersionEquals(1)), Put(item(3))])
    assert failed.value.keys == (TWO.key,)
    assert len(wire.sent) == 1


@pytest.mark.parametrize(
    ("fault", "expected"),
    [
        (cancelled("ItemCollectionSizeLimitExceeded", "None"), ItemTooLargeError),
        (
            cancelled("ValidationError", "None", message="Item size to update has exceeded the maximum allowed size"),
            ItemTooLargeError,
        ),
        (cancelled("ValidationError", "None"), StoreError),
        (cancelled("ValidationError", "TransactionConflict"), StoreError),
        (cancelled("SomethingNew", "None"), StoreError),
        (cancelled("None", "None"), StoreError),
        (error("TransactionCanceledException"), StoreError),
        (error("ValidationException", message="Item size has exceeded the maximum allowed size"), ItemTooLargeError),
        (error("ValidationException"), StoreError),
        (error("IdempotentParameterMismatchException"), StoreError),
        (error("ItemCollectionSizeLimitExceededException"), ItemTooLargeError),
        (error("AccessDeniedException"), StoreError),
        (error("ResourceNotFoundException"), StoreError),
        (error("SomethingNewException"), StoreError),
        (body(b"", 403), StoreError),
        (body(b"<html>", 200, "text/html"), StoreUnavailableError),
        (body(b"[]"), StoreUnavailableError),
        (error("TransactionCanceledException", CancellationReasons=7), StoreUnavailableError),
    ],
)
def test_what_a_retry_does_not_mend_is_told_at_once(
    store: DynamoDbItemStore, wire: Wire, fault: Fault, expected: type[StoreError]
) -> None:
    wire.faults = [fault]
    with pytest.raises(StoreError) as raised:
        store.transact([Put(ONE), Put(TWO)])
    assert type(raised.value) is expected
    assert len(wire.sent) == 1
    assert SECRET not in raised.value.detail


def test_a_transaction_still_in_progress_is_asked_for_again_under_its_token(store: DynamoDbItemStore, wire: Wire) -> None:
    wire.faults = [error("TransactionInProgressException")]
    store.transact([Put(ONE, Absent())])
    assert len(set(wire.tokens())) == 1
    wire.faults = [error("TransactionInProgressException")] * 2
    with pytest.raises(StoreUnavailableError):
        store.transact([Put(ONE)])


def test_an_item_that_is_too_large_is_refused_before_anything_is_sent(store: DynamoDbItemStore, wire: Wire) -> None:
    with pytest.raises(ItemTooLargeError):
        store.transact([Put(ONE), Put(item(2, text="x" * 500_000))])
    assert wire.sent == []
