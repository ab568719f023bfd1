"""OpenSearch down, slow, throttling, partly failing, or something else altogether behind its address."""

from __future__ import annotations

import hashlib
import json
import logging
import threading
import time
import traceback
from collections.abc import Callable, Iterator
from typing import Any

import pytest
from botocore.auth import SigV4Auth
from botocore.awsrequest import AWSRequest
from botocore.credentials import Credentials

from keepsake.adapters.opensearch_client import Limits, open_client
from keepsake.adapters.opensearch_documents import fields_of
from keepsake.adapters.opensearch_index import OpenSearchIndex, open_search_index
from keepsake.adapters.opensearch_mapping import Layout, index_body, write_alias
from keepsake.domain.clearance import OPEN
from keepsake.domain.errors import IndexUnavailableError
from keepsake.domain.search import DocumentKind, IndexDocument, IndexQuery
from keepsake.domain.vectors import Vector
from keepsake.ports.embedding import EmbeddingModel
from keepsake.ports.search_index import NO_INDEX, Location, NotIndexed
from tests.fakes import FakeChance, FakeClock
from tests.faults.opensearch_wire import SECRET, Endpoint, Reply, Sent, as_reply, endpoint_on_loopback, refused

MODEL = EmbeddingModel("m", 4)
LIMITS = Limits(connect=0.3, read=0.3, write=0.6)
DOCUMENT = IndexDocument(SECRET, SECRET, DocumentKind.TURN, SECRET, (SECRET,), (SECRET,), Vector(b"\1\2\3\4"), 5)
QUERY = IndexQuery((SECRET,), OPEN, frozenset({DocumentKind.TURN}), (SECRET,), Vector(b"\1\2\3\4"))
LOCATION = Location("i-1", "id", "routing")


def healthy(sent: Sent) -> Reply:
    """What an OpenSearch that holds one document answers."""
    path = sent.path.split("?")[0]
    if path == "/_bulk":
        actions = [line for line in sent.lines if set(line) <= {"index", "delete"}]
        return as_reply({"errors": False, "items": [_item(action) for action in actions]})
    if path == "/_msearch":
        return as_reply({"responses": [_response(at) for at in range(len(sent.lines) // 2)]})
    if path.endswith("_search"):
        return as_reply(_response(1))
    if path.endswith("_mapping"):
        return as_reply({"i-1": index_body("i-1", MODEL, Layout())})
    return as_reply({"i-1": {}} if path.startswith("/_alias/") else {"acknowledged": True})


def _item(action: dict[str, Any]) -> dict[str, Any]:
    ((kind, address),) = action.items()
    if kind == "index" and not (address["_index"] == write_alias("i-1") and address["require_alias"]):
        return {kind: {"_index": address["_index"], "status": 400}}
    return {kind: {"_index": "i-1", "_id": address["_id"], "status": 200}}


def _response(at: int) -> dict[str, Any]:
    source = json.loads(json.dumps(fields_of(DOCUMENT, unit_vector=False)))
    hits = [{"_index": "i-1", "_id": "id", "_source": source}] if at else []
    response = {"timed_out": False, "_shards": {"total": 1, "failed": 0}, "hits": {"total": {"value": 1}, "hits": hits}}
    buckets = {"buckets": {"0": {"doc_count": 1}}}
    sums = {"length": {"value": 1.0}, "window_length": {"value": 1.0}}
    return response if at else {**response, "aggregations": {"turn": buckets, "window": buckets, **sums}}


@pytest.fixture
def endpoint() -> Iterator[Endpoint]:
    with endpoint_on_loopback(healthy) as endpoint:
        yield endpoint


@pytest.fixture
def clock() -> FakeClock:
    return FakeClock()


@pytest.fixture
def index(endpoint: Endpoint, clock: FakeClock) -> OpenSearchIndex:
    return open_search_index(
        endpoint.url, alias="i", service="none", region=None, clock=clock, chance=FakeChance(), limits=LIMITS
    )


Call = Callable[[OpenSearchIndex], object]
CALLS: dict[str, Call] = {
    "current": lambda index: index.current(),
    "create": lambda index: index.create("i-1", MODEL),
    "switch": lambda index: index.switch("i-1"),
    "drop": lambda index: index.drop("i-1"),
    "put": lambda index: index.put([DOCUMENT], index="i-1"),
    "delete": lambda index: index.delete([LOCATION]),
    "search": lambda index: index.search(QUERY),
    "list_owned": lambda index: index.list_owned(SECRET, limit=3),
    "list_all": lambda index: index.list_all("i-1", limit=3),
    "refresh": lambda index: index.refresh(),
}
FAULTS: dict[str, Reply | Callable[[Sent], Reply] | None] = {
    "closes the connection": None,
    "401": refused(401),
    "403": refused(403),
    "429": refused(429),
    "500": refused(500),
    "503": refused(503),
    "a proxy's page with 502": Reply(502, f"<html>{SECRET}</html>".encode(), "text/html"),
    "a proxy's page with 200": Reply(200, f"<html>{SECRET}</html>".encode(), "text/html"),
    "plain text": Reply(200, SECRET.encode(), "text/plain"),
    "cut JSON": Reply(200, f'{{"took": 1, "{SECRET}'.encode()),
    "cut on the wire": Reply(200, f'{{"took": "{SECRET}"'.encode(), cut=100),
    "no UTF-8": Reply(200, b'{"a": "\xff\xfe"}'),
    "a list": as_reply([SECRET]),
    "a number": as_reply(7),
    "a list as error": Reply(500, json.dumps([SECRET]).encode()),
}
# Whose answer is not read: that there is one is all that counts.
UNREAD = {"switch", "drop", "refresh"}


@pytest.mark.parametrize("fault", FAULTS)
@pytest.mark.parametrize("call", CALLS)
def test_every_fault_of_every_call_is_an_index_that_does_not_answer(
    endpoint: Endpoint, index: OpenSearchIndex, call: str, fault: str, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.DEBUG)
    endpoint.faults = [FAULTS[fault]] * 3  # as often as anything is tried
    with pytest.raises(IndexUnavailableError) as caught:
        CALLS[call](index)
    assert SECRET not in "".join(traceback.format_exception(caught.value))
    assert SECRET not in caplog.text


@pytest.mark.parametrize("call", sorted(set(CALLS) - UNREAD))
@pytest.mark.parametrize(
    "body",
    [
        {"responses": 3, "items": 3, "hits": 3, "i-1": 3, "timed_out": False, "_shards": {"failed": 0}},
        {"items": [], "responses": [], "i-1": {"mappings": {}}, "hits": {}},
    ],
)
def test_answers_of_another_shape_are_no_answers(
    endpoint: Endpoint, index: OpenSearchIndex, call: str, body: dict[str, Any]
) -> None:
    endpoint.faults = [as_reply(body)] * 3
    with pytest.raises(IndexUnavailableError):
        CALLS[call](index)


@pytest.mark.parametrize("call", CALLS)
def test_all_is_well_where_nothing_fails(index: OpenSearchIndex, call: str) -> None:
    CALLS[call](index)


def test_a_search_that_is_not_answered_in_time_ends_in_time_and_is_not_tried_again(
    endpoint: Endpoint, index: OpenSearchIndex
) -> None:
    released = threading.Event()

    def slow(sent: Sent) -> Reply:
        released.wait(5)
        return healthy(sent)

    endpoint.answering = slow
    began = time.monotonic()
    with pytest.raises(IndexUnavailableError, match="in time"):
        index.search(QUERY)
    assert time.monotonic() - began < 2
    assert len(endpoint.sent) == 1
    released.set()


def test_nobody_at_the_address_ends_in_time() -> None:
    with endpoint_on_loopback(healthy) as gone:
        url = gone.url
    index = open_search_index(url, alias="i", service="none", region=None, clock=FakeClock(), chance=FakeChance(), limits=LIMITS)
    with pytest.raises(IndexUnavailableError):
        index.search(QUERY)
    with pytest.raises(IndexUnavailableError):
        index.put([DOCUMENT], index="i-1")


@pytest.mark.parametrize("status", [429, 502, 503, 504])
def test_a_writer_tries_again_after_passing_refusals(
    endpoint: Endpoint, index: OpenSearchIndex, clock: FakeClock, status: int
) -> None:
    endpoint.faults = [healthy, refused(status), refused(status)]  # the look at the model succeeds, the bulk does not at first
    (outcome,) = index.put([DOCUMENT], index="i-1")
    assert isinstance(outcome, Location)
    assert clock.slept == [0.1, 0.2]


@pytest.mark.parametrize("status", [400, 401, 403, 500])
def test_a_writer_does_not_try_again_what_will_not_pass(
    endpoint: Endpoint, index: OpenSearchIndex, clock: FakeClock, status: int
) -> None:
    endpoint.faults = [healthy, refused(status)]
    with pytest.raises(IndexUnavailableError):
        index.put([DOCUMENT], index="i-1")
    assert clock.slept == []


def test_a_reader_does_not_try_again(endpoint: Endpoint, index: OpenSearchIndex, clock: FakeClock) -> None:
    endpoint.faults = [refused(503)]
    with pytest.raises(IndexUnavailableError):
        index.search(QUERY)
    assert (len(endpoint.sent), clock.slept) == (1, [])


def test_each_document_of_a_bulk_has_its_own_outcome(endpoint: Endpoint, index: OpenSearchIndex) -> None:
    statuses = [201, 429, 503, 400, 404]

    error = {"error": {"type": "mapper_parsing_exception", "reason": SECRET}}
    items = [{"index": {"_index": "i-1", "_id": f"{at}", "status": status, **error}} for at, status in enumerate(statuses)]
    endpoint.faults = [healthy, as_reply({"errors": True, "items": items})]
    documents = [IndexDocument("ada", f"d{at}", DocumentKind.TURN, "", (), (), DOCUMENT.vector, 0) for at in range(5)]
    outcomes = index.put(documents, index="i-1")
    assert isinstance(outcomes[0], Location)
    assert (outcomes[0].index, outcomes[0].id) == ("i-1", "0")
    assert outcomes[1:] == (
        NotIndexed("throttled", retryable=True),
        NotIndexed("unavailable", retryable=True),
        NotIndexed("refused", retryable=False),
        NotIndexed("no_index", retryable=False),
    )


def test_an_index_that_turns_out_to_be_gone_is_looked_at_anew(endpoint: Endpoint, index: OpenSearchIndex) -> None:
    assert isinstance(index.put([DOCUMENT], index="i-1")[0], Location)
    endpoint.faults = [as_reply({"errors": True, "items": [{"index": {"_index": write_alias("i-1"), "status": 404}}]})]
    assert index.put([DOCUMENT], index="i-1") == (NotIndexed(NO_INDEX, retryable=False),)
    before = len(endpoint.sent)
    index.put([DOCUMENT], index="i-1")
    assert [sent.path for sent in endpoint.sent[before:]] == ["/i-1/_mapping", "/_bulk"]


def test_what_went_in_before_a_bulk_failed_keeps_its_location(endpoint: Endpoint, index: OpenSearchIndex) -> None:
    documents = [IndexDocument("ada", f"d{at}", DocumentKind.TURN, "", (), (), DOCUMENT.vector, 0) for at in range(501)]
    endpoint.faults = [healthy, healthy, refused(500)]
    outcomes = index.put(documents, index="i-1")
    assert all(isinstance(outcome, Location) for outcome in outcomes[:500])
    assert outcomes[500:] == (NotIndexed("unavailable", retryable=True),)


def test_only_what_is_not_there_is_gone(endpoint: Endpoint, index: OpenSearchIndex) -> None:
    endpoint.faults = [as_reply({"items": [{"delete": {"status": status}} for status in (200, 404, 429, 503)]})]
    assert index.delete([LOCATION] * 4) == (True, True, False, False)


@pytest.mark.parametrize(
    "spoiled",
    [
        {"timed_out": True},
        {"_shards": {"total": 2, "failed": 1}},
        {"error": {"type": SECRET}},
        {"hits": {"hits": [{"_source": {}}]}},
    ],
)
@pytest.mark.parametrize("at", [0, 1, 3])
def test_a_search_of_which_one_part_is_not_whole_is_not_answered(
    endpoint: Endpoint, index: OpenSearchIndex, spoiled: dict[str, Any], at: int
) -> None:
    responses = [_response(number) for number in range(4)]
    responses[at] = {**responses[at], **spoiled}
    endpoint.faults = [as_reply({"responses": responses})]
    with pytest.raises(IndexUnavailableError) as caught:
        index.search(QUERY)
    assert SECRET not in str(caught.value)


def test_a_hit_of_somebody_elses_is_never_passed_on(endpoint: Endpoint, index: OpenSearchIndex) -> None:
    responses = [_response(number) for number in range(4)]
    responses[2]["hits"]["hits"][0]["_source"]["owner"] = "mallory"
    responses[2]["hits"]["hits"][0]["_source"]["key"] = "another"
    endpoint.faults = [as_reply({"responses": responses})]
    with pytest.raises(IndexUnavailableError):
        index.search(QUERY)


def test_nobody_and_nothing_asked_for_ask_nothing(endpoint: Endpoint, index: OpenSearchIndex) -> None:
    for query in (IndexQuery((), OPEN, QUERY.kinds, ("a",), None), IndexQuery(("ada",), OPEN, frozenset(), ("a",), None)):
        assert index.search(query).candidates == ()
    assert index.put([], index="i-1") == ()
    assert index.delete([]) == ()
    assert endpoint.sent == []


def test_no_request_says_in_its_line_whose_it_is_or_what_it_looks_for(endpoint: Endpoint, index: OpenSearchIndex) -> None:
    for call in CALLS.values():
        call(index)
    assert len(endpoint.sent) >= len(CALLS)
    assert all("what" not in sent.path for sent in endpoint.sent)


def test_a_user_and_password_of_the_url_are_sent(endpoint: Endpoint) -> None:
    url = endpoint.url.replace("http://", "http://ad%40a:p%3Aw@")
    index = open_search_index(url, alias="i", service="none", region=None, clock=FakeClock(), chance=FakeChance())
    index.search(QUERY)
    assert endpoint.sent[0].headers["authorization"] == "Basic YWRAYTpwOnc="


@pytest.mark.parametrize("url", ["", "localhost:9200", "ftp://host", "http://"])
def test_an_address_that_is_none_is_refused_without_being_quoted(url: str) -> None:
    with pytest.raises(ValueError, match=r"^the search endpoint is an URL that begins with http:// or https://$"):
        open_search_index(url, alias="i", service="none", region=None, clock=FakeClock(), chance=FakeChance())


@pytest.mark.parametrize("service", ["es", "aoss"])
def test_requests_are_signed_as_the_sdk_signs_what_arrives(endpoint: Endpoint, service: str) -> None:
    credentials = Credentials("AKIDEXAMPLE", "secret key", "session token")
    client = open_client(
        endpoint.url, service=service, region="eu-west-1", clock=FakeClock(), chance=FakeChance(), credentials=credentials
    )
    index = OpenSearchIndex(client, alias="i", layout=Layout.of("es"))
    for call in CALLS.values():
        call(index)
    assert len(endpoint.sent) > len(CALLS)
    for sent in endpoint.sent:
        assert sent.headers["X-Amz-Content-SHA256"] == hashlib.sha256(sent.body).hexdigest()
        assert sent.headers["X-Amz-Security-Token"] == "session token"
        assert sent.headers["Authorization"] == _signed_by_the_sdk(sent, endpoint.url, credentials, service)


def _signed_by_the_sdk(sent: Sent, url: str, credentials: Credentials, service: str) -> str:
    """The SDK's own signature over what came in, made for the moment the request names."""
    names = sent.headers["Authorization"].split("SignedHeaders=")[1].split(",")[0].split(";")
    lower = {name.lower(): value for name, value in sent.headers.items()}
    headers = {name: lower[name] for name in names}
    request = AWSRequest(sent.method, url + sent.path, data=sent.body, headers=headers)
    request.context["timestamp"] = lower["x-amz-date"]
    signer = SigV4Auth(credentials, service, "eu-west-1")
    signature = signer.signature(signer.string_to_sign(request, signer.canonical_request(request)), request)
    scope = f"{credentials.access_key}/{lower['x-amz-date'][:8]}/eu-west-1/{service}/aws4_request"
    return f"AWS4-HMAC-SHA256 Credential={scope}, SignedHeaders={';'.join(names)}, Signature={signature}"
