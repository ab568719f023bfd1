"""What the local service and the tests need to know of template.yaml: routes, schedules, queues, tables. Its only reader.

`read_template` gives the file as it stands, with CloudFormation's tags in their long form; `load_template` what follows from it.
"""

import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import yaml

from keepsake.ports.item_store import Index, IndexSchema, KeySchema, Table

TEMPLATE = Path(__file__).resolve().parent.parent / "template.yaml"

Node = Mapping[str, Any]

_RATE = re.compile(r"rate\((\d+) (minute|hour|day)s?\)")
_MINUTES = {"minute": 1, "hour": 60, "day": 24 * 60}
# What the deployed scheduler fills in: times and ids of the run.
_SCHEDULERS_OWN = re.compile(r"<aws\.scheduler\.[a-z-]+>")
_PLACEHOLDER = re.compile(r"\$\{(\w+)\}")


class TemplateError(ValueError):
    """The template says something that the local service cannot follow."""


@dataclass(frozen=True, slots=True)
class Route:
    """One call of the HTTP API. `path` is the template's, with {parameters}; `module` has the function's `lambda_handler`."""

    method: str
    path: str
    function: str
    module: str
    authorised: bool


@dataclass(frozen=True, slots=True)
class Schedule:
    """A function that is called every so many minutes with `event`, always the same."""

    name: str
    function: str
    module: str
    minutes: int
    event: Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Feed:
    """A FIFO queue and the function that it feeds, `batch_size` messages at a time. Times in seconds.

    A message that was received and not deleted comes again after `visibility_s`; after `max_receives` it is set aside for
    `dead_retention_s`.
    """

    queue: str
    function: str
    module: str
    batch_size: int
    timeout_s: int
    visibility_s: int
    max_receives: int
    retention_s: int
    dead_retention_s: int


@dataclass(frozen=True, slots=True)
class SparseIndex:
    """An index of a table, and the attributes it is made of."""

    index: Index
    schema: IndexSchema


@dataclass(frozen=True, slots=True)
class TableDefinition:
    """One table. `ttl` is the attribute with the epoch second from which the store may drop an item, None for never."""

    table: Table
    logical_name: str
    key: KeySchema
    indexes: tuple[SparseIndex, ...]
    ttl: str | None


@dataclass(frozen=True, slots=True)
class Template:
    """The template, as far as it concerns a service that runs on one machine."""

    routes: tuple[Route, ...]
    schedules: tuple[Schedule, ...]
    tables: tuple[TableDefinition, ...]
    feeds: tuple[Feed, ...] = ()


def load_template(path: Path = TEMPLATE) -> Template:
    """Read the template. Raises ValueError where it cannot be followed, OSError and yaml.YAMLError where it cannot be read."""
    return template_of(read_template(path))


def template_of(document: Node) -> Template:
    """What follows from the template as it stands. Raises ValueError where it cannot be followed."""
    return Template(routes_of(document), schedules_of(document), definitions_of(document), feeds_of(document))


def read_template(path: Path = TEMPLATE) -> Node:
    """The file as plain mappings and lists; `!Ref x` is {"Ref": "x"}, `!GetAtt a.b` is {"Fn::GetAtt": ["a", "b"]}, and so on."""
    # The loader is a SafeLoader: it makes nothing but plain values.
    document = yaml.load(path.read_text(encoding="utf-8"), Loader=_Loader)  # noqa: S506
    if not isinstance(document, dict):
        raise TemplateError("the template is not a mapping")
    return document


def resources(document: Node, kind: str) -> Iterator[tuple[str, Node]]:
    """Logical name and resource of every resource of this type, in the template's order."""
    for name, resource in document["Resources"].items():
        if resource["Type"] == kind:
            yield name, resource


def routes_of(document: Node) -> tuple[Route, ...]:
    """The routes, in the template's order."""
    functions = resources(document, "AWS::Serverless::Function")
    return tuple(route for name, function in functions for route in _routes(name, function["Properties"]))


def schedules_of(document: Node) -> tuple[Schedule, ...]:
    """The schedules, at the rates that the parameters' defaults give. Raises TemplateError where a rate is none."""
    parameters = document.get("Parameters", {})
    functions = resources(document, "AWS::Serverless::Function")
    return tuple(plan for name, function in functions for plan in _schedules(name, function["Properties"], parameters))


def feeds_of(document: Node) -> tuple[Feed, ...]:
    """The queues that feed functions. Raises TemplateError for one that cannot be run on one machine."""
    functions = resources(document, "AWS::Serverless::Function")
    return tuple(feed for name, function in functions for feed in _feeds(name, function["Properties"], document))


def definitions_of(document: Node) -> tuple[TableDefinition, ...]:
    """The tables. Raises ValueError for a table or an index that the port does not name."""
    return tuple(_table(name, table["Properties"]) for name, table in resources(document, "AWS::DynamoDB::Table"))


def module_of(function: Node) -> str:
    """The module of a function, from its properties, as the local service imports it. In Lambda the folder is the root: `app`."""
    return ".".join((*Path(function["CodeUri"]).parts, "app"))


def _routes(name: str, function: Node) -> Iterator[Route]:
    for event in function.get("Events", {}).values():
        if event["Type"] == "HttpApi":
            call = event["Properties"]
            authorised = call.get("Auth", {}).get("Authorizer") != "NONE"
            yield Route(call["Method"].upper(), call["Path"], name, module_of(function), authorised)


def _schedules(name: str, function: Node, parameters: Node) -> Iterator[Schedule]:
    for event_name, event in function.get("Events", {}).items():
        if event["Type"] == "ScheduleV2":
            plan = event["Properties"]
            minutes = _minutes(_filled_in(plan["ScheduleExpression"], parameters))
            event_sent = json.loads(_SCHEDULERS_OWN.sub("local", plan.get("Input", "{}")))
            yield Schedule(event_name.lower(), name, module_of(function), minutes, event_sent)


def _feeds(name: str, function: Node, document: Node) -> Iterator[Feed]:
    common = document.get("Globals", {}).get("Function", {})
    for event in function.get("Events", {}).values():
        if event["Type"] == "SQS":
            mapping = event["Properties"]
            queue_name, queue = _queue(mapping["Queue"], document)
            if "ReportBatchItemFailures" not in mapping.get("FunctionResponseTypes", ()) or not queue.get("FifoQueue"):
                raise TemplateError(f"{queue_name} is no FIFO queue, or {name} is not asked which messages failed")
            redrive = queue["RedrivePolicy"]
            _, dead = _queue(redrive["deadLetterTargetArn"], document)
            yield Feed(
                queue=queue_name,
                function=name,
                module=module_of(function),
                batch_size=mapping.get("BatchSize", 10),
                timeout_s={**common, **function}["Timeout"],
                visibility_s=queue["VisibilityTimeout"],
                max_receives=redrive["maxReceiveCount"],
                retention_s=queue["MessageRetentionPeriod"],
                dead_retention_s=dead["MessageRetentionPeriod"],
            )


def _queue(arn: Node, document: Node) -> tuple[str, Node]:
    """Logical name and properties of a queue that stands in the template."""
    name = arn["Fn::GetAtt"][0]
    return name, document["Resources"][name]["Properties"]


def _filled_in(value: str | Node, parameters: Node) -> str:
    """The text of a plain string or of a `!Sub`, with the defaults of the parameters it names."""
    if isinstance(value, str):
        return value

    def default(match: re.Match[str]) -> str:
        name = match.group(1)
        if "Default" not in parameters.get(name, {}):
            raise TemplateError(f"{name} is not a parameter with a default")
        return str(parameters[name]["Default"])

    return _PLACEHOLDER.sub(default, value["Fn::Sub"])


def _minutes(expression: str) -> int:
    match = _RATE.fullmatch(expression)
    if match is None:
        raise TemplateError(f"only rates can be run on one machine, not {expression}")
    return int(match.group(1)) * _MINUTES[match.group(2)]


def _table(logical_name: str, properties: Node) -> TableDefinition:
    types = {each["AttributeName"]: each["AttributeType"] for each in properties["AttributeDefinitions"]}
    table = Table(logical_name)
    ttl = properties.get("TimeToLiveSpecification", {})
    return TableDefinition(
        table=table,
        logical_name=logical_name,
        key=_key_schema(properties["KeySchema"], types),
        indexes=tuple(_index(table, index, types) for index in properties.get("GlobalSecondaryIndexes", ())),
        ttl=ttl["AttributeName"] if ttl.get("Enabled") else None,
    )


def _index(table: Table, index: Node, types: Mapping[str, str]) -> SparseIndex:
    key = _key_schema(index["KeySchema"], types)
    if not key.numeric or index["Projection"]["ProjectionType"] != "KEYS_ONLY":
        raise TemplateError(f"{index['IndexName']} is not a sparse index of keys, sorted by a number")
    return SparseIndex(Index(index["IndexName"]), IndexSchema(table, key.partition, key.sort))


def _key_schema(elements: list[Node], types: Mapping[str, str]) -> KeySchema:
    names = {each["KeyType"]: each["AttributeName"] for each in elements}
    if types[names["HASH"]] != "S":
        raise TemplateError(f"the partition key {names['HASH']} is not a string")
    return KeySchema(names["HASH"], names["RANGE"], numeric=types[names["RANGE"]] == "N")


# The one in C is ten times as fast; where PyYAML was built without it, the other reads the same.
_Fastest: type[yaml.SafeLoader] = getattr(yaml, "CSafeLoader", yaml.SafeLoader)


class _Loader(_Fastest):  # type: ignore[misc, valid-type]  # mypy wants to know now which it is
    """YAML with CloudFormation's short tags, and nothing else beyond plain values."""


def _long_form(loader: _Loader, suffix: str, node: yaml.Node) -> Node:
    value = _plain(loader, node)
    if suffix in ("Ref", "Condition"):
        return {suffix: value}
    if suffix == "GetAtt" and isinstance(value, str):
        value = value.split(".", 1)
    return {f"Fn::{suffix}": value}


def _plain(loader: _Loader, node: yaml.Node) -> Any:
    if isinstance(node, yaml.ScalarNode):
        return loader.construct_scalar(node)
    if isinstance(node, yaml.SequenceNode):
        return loader.construct_sequence(node, deep=True)
    if isinstance(node, yaml.MappingNode):
        return loader.construct_mapping(node, deep=True)
    raise TemplateError("a tag stands before something that is no value")


_Loader.add_multi_constructor("!", _long_form)
