"""Every item store and every search index, for the suites that hold all of them to one contract."""

from __future__ import annotations

import contextlib
from contextlib import ExitStack
from typing import TYPE_CHECKING

import pytest
from moto import mock_aws

from keepsake.adapters.dynamodb_store import DynamoDbItemStore, make_client
from keepsake.adapters.sqlite_store import SqliteItemStore
from keepsake.ports.item_store import (
    ItemStore,
)
from tests.contract.indexes import Bench, adapters, opened
from tests.dynamodb_tables import create_tables
from tests.fakes import DictItemStore, FakeChance, FakeClock

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from mypy_boto3_dynamodb import DynamoDBClient


@pytest.fixture(scope="module")
def client() -> Iterator[DynamoDBClient]:
    with mock_aws():
        yield make_client()


@pytest.fixture(params=["dictionary", "sqlite", "dynamodb"])
def store(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[ItemStore]:
    with ExitStack() as closing:
        if request.param == "dictionary":
            yield DictItemStore()
        elif request.param == "sqlite":
            yield closing.enter_context(contextlib.closing(SqliteItemStore(tmp_path / "items.db")))
        else:
            client = request.getfixturevalue("client")
            names = create_tables(client, prefix=tmp_path.name)
            yield DynamoDbItemStore(client, names, clock=FakeClock(), chance=FakeChance())


@pytest.fixture(params=adapters())
def bench(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Bench]:
    with opened(request.param, tmp_path) as one:
        yield one
