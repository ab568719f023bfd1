"""The template as the rules look at it: functions with the globals in them, and what each role may do."""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from local.template import Node, resources


@dataclass(frozen=True, slots=True)
class Grant:
    """One statement of a role. `condition` is the template's; `targets` are logical names, or the text given."""

    role: str
    actions: frozenset[str]
    targets: frozenset[str]
    condition: str | None = None


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
                    yield Grant(role, frozenset(_listed(statement["Action"])), targets, condition)


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
