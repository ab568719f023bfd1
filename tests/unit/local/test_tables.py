from collections.abc import Iterator
from typing import TYPE_CHECKING

import boto3
import pytest
from moto import mock_aws

from keepsake.ports.item_store import Table
from local.tables import create_tables
from local.template import load_template

if TYPE_CHECKING:
    from mypy_boto3_dynamodb import DynamoDBClient

TEMPLATE = load_template()


@pytest.fixture
def client(monkeypatch: pytest.MonkeyPatch) -> "Iterator[DynamoDBClient]":
    monkeypatch.setenv("AWS_ACCESS_KEY_ID", "testing")
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", "testing")
    with mock_aws():
        yield boto3.client("dynamodb", region_name="eu-central-1")


def test_all_tables_are_made_with_keys_indexes_and_time_to_live(client: "DynamoDBClient") -> None:
    names = create_tables(client, TEMPLATE, "try-")
    assert names == {table: f"try-{table}" for table in Table}
    described = client.describe_table(TableName=names[Table.LONG_TERM])["Table"]
    assert [element["AttributeName"] for element in described["KeySchema"]] == ["user_id", "item"]
    (index,) = described["GlobalSecondaryIndexes"]
    assert index["IndexName"] == "PendingSessions"
    assert [element["AttributeName"] for element in index["KeySchema"]] == ["pending_shard", "pending_since"]
    assert index["Projection"] == {"ProjectionType": "KEYS_ONLY"}
    assert {table: ttl(client, names[table]) for table in Table} == {
        Table.BUFFERS: "expires_at",
        Table.TURNS: "expires_at",
        Table.LONG_TERM: "expires_at",
        Table.POINTERS: None,
        Table.AUDIT: None,
        Table.CONTROL: "expires_at",
    }


def test_making_them_again_keeps_what_is_in_them(client: "DynamoDBClient") -> None:
    names = create_tables(client, TEMPLATE)
    client.put_item(TableName=names[Table.CONTROL], Item={"key": {"S": "k"}, "item": {"S": "i"}})
    assert create_tables(client, TEMPLATE) == names
    assert client.scan(TableName=names[Table.CONTROL])["Count"] == 1


def test_a_table_that_was_lost_is_made_again(client: "DynamoDBClient") -> None:
    names = create_tables(client, TEMPLATE)
    client.delete_table(TableName=names[Table.AUDIT])
    create_tables(client, TEMPLATE)
    assert client.describe_table(TableName=names[Table.AUDIT])["Table"]["TableStatus"] == "ACTIVE"


def ttl(client: "DynamoDBClient", name: str) -> str | None:
    return client.describe_time_to_live(TableName=name)["TimeToLiveDescription"].get("AttributeName")
