"""An index of its own, with a random name, on the node that tests share."""

import os
import secrets
from collections.abc import Iterator

import pytest

from keepsake.adapters.opensearch_index import OpenSearchIndex
from tests.opensearch.node import node_url
from tests.opensearch.nodes_index import SERVERLESS, dropped_at_the_end, index_on


@pytest.fixture(scope="session")
def url() -> str:
    return node_url()


@pytest.fixture
def alias() -> str:
    return f"test-{os.getpid()}-{secrets.token_hex(6)}"


@pytest.fixture
def index(url: str, alias: str) -> Iterator[OpenSearchIndex]:
    with dropped_at_the_end(url, alias):
        yield index_on(url, alias)


@pytest.fixture
def serverless(url: str, alias: str) -> Iterator[OpenSearchIndex]:
    """Uses the node as if it were a serverless collection."""
    with dropped_at_the_end(url, alias):
        yield index_on(url, alias, SERVERLESS)
