"""Items, keys and conditions as DynamoDB spells them.

Written out by hand: it is on the path of every turn, and a whole number needs no detour through Decimal.
"""

from collections.abc import Mapping
from typing import Any

from keepsake.domain.errors import CorruptItemError
from keepsake.ports.item_store import (
    SCHEMAS,
    Absent,
    AbsentOrExpired,
    Condition,
    EpochAtMost,
    Item,
    Key,
    KeySchema,
    NotHeld,
    RevisionAtMost,
    Table,
    Value,
    VersionEquals,
)

Wire = dict[str, Any]  # a part of a request


def encode_value(value: Value) -> Wire:
    """One attribute's value. Its kind was checked before."""
    kind = type(value)
    if kind is str:
        return {"S": value}
    if kind is int:
        return {"N": str(value)}
    if kind is bytes:
        return {"B": value}
    if kind is bool:
        return {"BOOL": value}
    if isinstance(value, tuple):
        return {"L": [{"S": str(part)} for part in value]}
    return {"S": str(value)}  # an enumeration's member


def encode_key(key: Key) -> Wire:
    """The two key attributes."""
    schema = SCHEMAS[key.table]
    return {schema.partition: {"S": key.partition}, schema.sort: encode_sort(key.table, key.sort)}


def encode_sort(table: Table, sort: str | int) -> Wire:
    """A sort key's value, or a bound on it."""
    return {"N": str(sort)} if SCHEMAS[table].numeric else {"S": sort}


def encode_item(item: Item) -> Wire:
    """The whole item."""
    encoded = {name: encode_value(value) for name, value in item.attributes.items()}
    encoded.update(encode_key(item.key))
    return encoded


def encode_condition(condition: Condition | None, table: Table) -> Wire:
    """The parts of a request that state `condition`; names are placeholders, since DynamoDB reserves many."""
    if condition is None:
        return {}
    expression, name, value = _expression(condition, SCHEMAS[table])
    names = {"#name": name}
    if "#key" in expression:
        names["#key"] = SCHEMAS[table].partition
    parts: Wire = {"ConditionExpression": expression, "ExpressionAttributeNames": names}
    if value is not None:
        parts["ExpressionAttributeValues"] = {":value": {"N": str(value)}}
    return parts


def _expression(condition: Condition, schema: KeySchema) -> tuple[str, str, int | None]:
    match condition:
        case Absent():
            return "attribute_not_exists(#name)", schema.partition, None
        case AbsentOrExpired(now):
            return "attribute_not_exists(#key) OR #name <= :value", "expires_at", now
        case VersionEquals(version):
            return "#name = :value", "version", version
        case EpochAtMost(epoch):
            return "attribute_not_exists(#name) OR #name <= :value", "epoch", epoch
        case RevisionAtMost(revision):
            return "attribute_not_exists(#name) OR #name <= :value", "revision", revision
        case NotHeld():
            return "attribute_not_exists(#name)", "held", None


def decode_item(table: Table, wire: Mapping[str, Any]) -> Item:
    """The item of `wire`. Raises CorruptItemError for what no Keepsake wrote."""
    attributes = {name: _decode_value(value) for name, value in wire.items()}
    schema = SCHEMAS[table]
    try:
        partition, sort = attributes.pop(schema.partition), attributes.pop(schema.sort)
    except KeyError:
        raise CorruptItemError("an item came without its key") from None
    return Item(_key(table, partition, sort), attributes)


def decode_key(table: Table, wire: Mapping[str, Any]) -> Key:
    """The key of `wire`, which may hold more. Raises CorruptItemError."""
    schema = SCHEMAS[table]
    return _key(table, decode_named(wire, schema.partition), decode_named(wire, schema.sort))


def decode_named(wire: Mapping[str, Any], name: str) -> Value:
    """One attribute of `wire`. Raises CorruptItemError when it is not there."""
    if name not in wire:
        raise CorruptItemError("an item came without an attribute that its index has")
    return _decode_value(wire[name])


def _key(table: Table, partition: Value, sort: Value) -> Key:
    if not isinstance(partition, str) or not isinstance(sort, str | int):
        raise CorruptItemError("an item's key is of another kind than its table's")
    return Key(table, partition, sort)


def _decode_value(wire: Mapping[str, Any]) -> Value:
    try:
        ((kind, value),) = wire.items()
        if kind == "N":
            return int(value)
        if kind == "L":
            return tuple([part["S"] for part in value])
        if kind in {"S", "B", "BOOL"}:
            return value  # type: ignore[no-any-return]
    except (ValueError, KeyError, TypeError):
        raise CorruptItemError("an attribute does not read back") from None
    raise CorruptItemError("an attribute is of a kind that Keepsake does not write")
