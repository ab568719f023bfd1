"""The template as the rules look at it: functions with the globals in them, and what each role may do."""

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from local.template import Node, resources


@dataclass(frozen=True, slots=True)
class Grant:
    """One statement of a role. `targets` are logical names, or the text given; `condition` is the template's, `only_if` IAM's."""

    role: str
    actions: frozenset[str]
    targets: frozenset[str]
    condition: str | None = None
    only_if: str = ""


def functions_of(document: Node) -> dict[str, Node]:
    """Properties of every function, the template's globals included."""
    common = document["Globals"]["Function"]
    return {name: {**common, **each["Properties"]} for name, each in resources(document, "AWS::Serverless::Function")}


def environment_of(document: Node, function: Node) -> dict[str, Any]:
    """All variables of a function."""
    shared = document["Globals"]["Function"]["Environment"]["Variables"]
    own = function.get("Environment", {}).get("Variables", {})
    return {**shared, **own}


def grants(document: Node) -> Iterator[Grant]:
    """Every statement of every role."""
    for role, resource in resources(document, "AWS::IAM::Role"):
        for policy in resource["Properties"].get("Policies", ()):
            for given in policy["PolicyDocument"]["Statement"]:
                condition, statement = _unwrapped(given)
                if statement["Effect"] == "Allow":
                    targets = frozenset(_target(each) for each in _listed(statement["Resource"]))
                    only_if = json.dumps(statement.get("Condition", ""))
                    yield Grant(role, frozenset(_listed(statement["Action"])), targets, condition, only_if)


def fed_by_queues(document: Node) -> Iterator[tuple[str, str, Node]]:
    """Each function that a queue feeds, the queue, and how."""
    for name, function in functions_of(document).items():
        for event in function.get("Events", {}).values():
            if event["Type"] == "SQS":
                yield name, event["Properties"]["Queue"]["Fn::GetAtt"][0], event["Properties"]


def _listed(value: Any) -> Sequence[Any]:
    return value if isinstance(value, list) else [value]


def _unwrapped(given: Node) -> tuple[str | None, Node]:
    if "Fn::If" in given:
        condition, statement, _ = given["Fn::If"]
        return condition, statement
    return None, given


def _target(given: str | Mapping[str, Any]) -> str:
    """The logical name behind a resource; with `/index/…` for an index."""
    if isinstance(given, str):
        return given
    if "Ref" in given:
        return str(given["Ref"])
    if "Fn::GetAtt" in given:
        return str(given["Fn::GetAtt"][0])
    return re.sub(r"\$\{(\w+)\.Arn\}", r"\1", str(given["Fn::Sub"]))
