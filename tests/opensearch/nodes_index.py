"""The search index on a node for tests: small, without replicas, and gone when its test is."""

import json
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager

from keepsake.adapters.opensearch_index import OpenSearchIndex, open_search_index
from keepsake.adapters.opensearch_mapping import Layout
from keepsake.adapters.surroundings import SystemChance, SystemClock

SMALL = Layout(shards=2, replicas=0)
SERVERLESS = Layout(managed=False, engine="lucene")  # but for the engine, which the node has not


def index_on(url: str, alias: str, layout: Layout = SMALL) -> OpenSearchIndex:
    """The search index behind `alias`. Names of its indexes must begin with the alias."""
    surroundings = {"clock": SystemClock(), "chance": SystemChance()}
    return open_search_index(url, alias=alias, service="none", region=None, layout=layout, **surroundings)  # type: ignore[arg-type]


@contextmanager
def dropped_at_the_end(url: str, alias: str) -> Iterator[None]:
    """Remove every index whose name begins with `alias`, whatever happens."""
    try:
        yield
    finally:
        asked(url, "DELETE", f"/{alias}*")


def asked(url: str, method: str, path: str, body: object = None) -> object:
    """What the node answers to a plain request."""
    raw = None if body is None else json.dumps(body).encode()
    request = urllib.request.Request(url + path, data=raw, method=method, headers={"content-type": "application/json"})  # noqa: S310
    with urllib.request.urlopen(request, timeout=30) as answer:  # noqa: S310 - a node for tests
        return json.load(answer)
