"""The real handlers on real stores: SQLite, and DynamoDB under moto."""

from collections.abc import Iterator
from pathlib import Path

import boto3
import pytest
from moto import mock_aws

from keepsake.adapters.dynamodb_store import DynamoDbItemStore
from keepsake.adapters.sqlite_store import SqliteItemStore
from keepsake.ports.item_store import ItemStore
from tests.dynamodb_tables import create_tables
from tests.fakes import FakeChance, FakeClock
from tests.world import World


@pytest.fixture
def clock() -> FakeClock:
    return FakeClock()


@pytest.fixture(params=["sqlite", "dynamodb"])
def store(request: pytest.FixtureRequest, tmp_path: Path, clock: FakeClock) -> Iterator[ItemStore]:
    if request.param == "sqlite":
        sqlite = SqliteItemStore(tmp_path / "keepsake.db")
        yield sqlite
        sqlite.close()
        return
    with mock_aws():
        client = boto3.client("dynamodb")
        yield DynamoDbItemStore(client, create_tables(client), clock=clock, chance=FakeChance())
        client.close()


@pytest.fixture
def world(store: ItemStore, clock: FakeClock) -> World:
    return World(store, clock)
