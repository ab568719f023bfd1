"""Makes the template's tables on any DynamoDB endpoint: an emulator, for local runs and tests.

Deployed, CloudFormation makes them.
"""

from collections.abc import Iterator
from typing import TYPE_CHECKING

from keepsake.ports.item_store import KeySchema, Table
from local.template import TableDefinition, Template

if TYPE_CHECKING:
    from mypy_boto3_dynamodb import DynamoDBClient
    from mypy_boto3_dynamodb.type_defs import AttributeDefinitionTypeDef, CreateTableInputTypeDef, KeySchemaElementTypeDef


def create_tables(client: "DynamoDBClient", template: Template, prefix: str = "") -> dict[Table, str]:
    """Make what is not there yet of the six tables, with indexes and TTL, and answer their names, which begin with `prefix`.

    Tables that are there are left as they are. Raises botocore's ClientError when the endpoint refuses.
    """
    names = {definition.table: f"{prefix}{definition.table}" for definition in template.tables}
    for definition in template.tables:
        _create(client, definition, names[definition.table])
    for definition in template.tables:
        name = names[definition.table]
        client.get_waiter("table_exists").wait(TableName=name, WaiterConfig={"Delay": 1, "MaxAttempts": 60})
        _enable_ttl(client, name, definition.ttl)
    return names


def _create(client: "DynamoDBClient", definition: TableDefinition, name: str) -> None:
    request: CreateTableInputTypeDef = {
        "TableName": name,
        "BillingMode": "PAY_PER_REQUEST",
        "AttributeDefinitions": _attributes(definition),
        "KeySchema": _elements(definition.key),
    }
    if definition.indexes:  # an empty list of them is refused
        request["GlobalSecondaryIndexes"] = [
            {
                "IndexName": sparse.index,
                "KeySchema": _elements(KeySchema(sparse.schema.partition, sparse.schema.sort)),
                "Projection": {"ProjectionType": "KEYS_ONLY"},
            }
            for sparse in definition.indexes
        ]
    try:
        client.create_table(**request)
    except client.exceptions.ResourceInUseException:
        return  # it is there, or another caller is making it


def _attributes(definition: TableDefinition) -> "list[AttributeDefinitionTypeDef]":
    def types() -> "Iterator[AttributeDefinitionTypeDef]":
        yield {"AttributeName": definition.key.partition, "AttributeType": "S"}
        yield {"AttributeName": definition.key.sort, "AttributeType": "N" if definition.key.numeric else "S"}
        for sparse in definition.indexes:
            yield {"AttributeName": sparse.schema.partition, "AttributeType": "S"}
            yield {"AttributeName": sparse.schema.sort, "AttributeType": "N"}

    return list(types())


def _elements(key: KeySchema) -> "list[KeySchemaElementTypeDef]":
    return [{"AttributeName": key.partition, "KeyType": "HASH"}, {"AttributeName": key.sort, "KeyType": "RANGE"}]


def _enable_ttl(client: "DynamoDBClient", name: str, attribute: str | None) -> None:
    if attribute is None:
        return
    status = client.describe_time_to_live(TableName=name)["TimeToLiveDescription"].get("TimeToLiveStatus")
    if status not in ("ENABLED", "ENABLING"):  # enabling it twice is refused
        client.update_time_to_live(TableName=name, TimeToLiveSpecification={"Enabled": True, "AttributeName": attribute})
