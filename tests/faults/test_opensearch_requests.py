"""The requests that roles are held to are those that the index's adapter sends."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import pytest

from keepsake.adapters.opensearch_index import OpenSearchIndex, open_search_index
from tests.fakes import FakeChance, FakeClock
from tests.faults.opensearch_wire import as_reply, endpoint_on_loopback
from tests.faults.test_opensearch_faults import DOCUMENT, LOCATION, MODEL, QUERY, healthy
from tests.integration.guards import INDEX_REQUESTS

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping


def changed_and_refreshed(index: OpenSearchIndex) -> None:
    index.delete([LOCATION])
    index.refresh()


@pytest.mark.parametrize("method", INDEX_REQUESTS)
def test_calls_of_the_index_send_the_requests_that_roles_are_held_to(method: str) -> None:
    calls: Mapping[str, Callable[[OpenSearchIndex], object]] = {
        "current": lambda index: index.current(),
        "create": lambda index: index.create("i-1", MODEL),
        "switch": lambda index: index.switch("i-1"),
        "drop": lambda index: index.drop("i-1"),
        "put": lambda index: index.put([DOCUMENT], index="i-1"),
        "delete": lambda index: index.delete([LOCATION]),
        "search": lambda index: index.search(QUERY),
        "list_owned": lambda index: index.list_owned("o", limit=1),
        "list_all": lambda index: index.list_all("i-1", limit=1),
        "refresh": changed_and_refreshed,
    }
    with endpoint_on_loopback(healthy) as endpoint:
        endpoint.faults = [as_reply({"error": "none"}, 404)] if method == "create" else []
        index = open_search_index(endpoint.url, alias="i", service="none", region=None, clock=FakeClock(), chance=FakeChance())
        calls[method](index)
    sent = {(request.method, _in_a(request.path)) for request in endpoint.sent}
    assert sent - ({("POST", "_bulk")} if method == "refresh" else set()) == set(INDEX_REQUESTS[method])


def _in_a(path: str) -> str:
    """A path without its query, had the alias been `a` in place of `i`."""
    return re.sub(r"\bi(?=-1|/|,|$)", "a", path.split("?", maxsplit=1)[0].removeprefix("/"))
