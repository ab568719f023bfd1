"""The six tables, as the port's schemas describe them, in moto or on any other endpoint."""

from __future__ import annotations

from typing import TYPE_CHECKING

from keepsake.ports.item_store import INDEXES, SCHEMAS, Table

if TYPE_CHECKING:
    from collections.abc import Mapping

    from mypy_boto3_dynamodb import DynamoDBClient
    from mypy_boto3_dynamodb.type_defs import AttributeDefinitionTypeDef, GlobalSecondaryIndexTypeDef


def create_tables(client: DynamoDBClient, prefix: str = "test") -> Mapping[Table, str]:
    """Make them; answers their names, which begin with `prefix`."""
    names = {table: f"{prefix}-{table.value}" for table in Table}
    for table, name in names.items():
        schema = SCHEMAS[table]
        kinds: list[AttributeDefinitionTypeDef] = [
            {"AttributeName": schema.partition, "AttributeType": "S"},
            {"AttributeName": schema.sort, "AttributeType": "N" if schema.numeric else "S"},
        ]
        indexes: list[GlobalSecondaryIndexTypeDef] = []
        for index, sparse in INDEXES.items():
            if sparse.table is table:
                kinds.append({"AttributeName": sparse.partition, "AttributeType": "S"})
                kinds.append({"AttributeName": sparse.sort, "AttributeType": "N"})
                indexes.append(
                    {
                        "IndexName": index.value,
                        "KeySchema": [
                            {"AttributeName": sparse.partition, "KeyType": "HASH"},
                            {"AttributeName": sparse.sort, "KeyType": "RANGE"},
                        ],
                        "Projection": {"ProjectionType": "KEYS_ONLY"},
                    }
                )
        client.create_table(
            TableName=name,
            KeySchema=[
                {"AttributeName": schema.partition, "KeyType": "HASH"},
                {"AttributeName": schema.sort, "KeyType": "RANGE"},
            ],
            AttributeDefinitions=kinds,
            BillingMode="PAY_PER_REQUEST",
            **({"GlobalSecondaryIndexes": indexes} if indexes else {}),  # type: ignore[arg-type]
        )
    return names
