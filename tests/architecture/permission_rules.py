"""The rules that roles, keys and logs of template.yaml keep. As in template_rules, each yields what breaks it, a line each."""

import re
from collections import Counter
from collections.abc import Iterator
from typing import Any

from keepsake.ports.item_store import Table
from local.template import Node, resources
from tests.architecture.template_reading import Grant, environment_of, functions_of, grants

TABLES = frozenset(table.value for table in Table)
# X-Ray's two calls know no resources: AWS takes nothing but "*" for them.
WITHOUT_RESOURCE = frozenset({"xray:PutTelemetryRecords", "xray:PutTraceSegments"})


def no_wildcards(document: Node) -> Iterator[str]:
    """Every action and every resource is named."""
    for grant in grants(document):
        if any("*" in action for action in grant.actions):
            yield f"{grant.role} may do {sorted(grant.actions)}"
        if any("*" in target for target in grant.targets) and not grant.actions <= WITHOUT_RESOURCE:
            yield f"{grant.role} may do {sorted(grant.actions)} to anything"


def no_scans(document: Node) -> Iterator[str]:
    """Nobody may read a whole table, by whatever name."""
    for grant in grants(document):
        for action in sorted(grant.actions):
            if re.match("dynamodb:(Scan|PartiQL|Export|GetRecords)", action):
                yield f"{grant.role} has {action}"


def audit_only_grows(document: Node) -> Iterator[str]:
    """Entries are put, and read by the function that verifies them. Nothing else happens to them."""
    for grant in grants(document):
        if "AuditLog" in grant.targets:
            allowed = {"dynamodb:PutItem"} | ({"dynamodb:Query"} if grant.role == "AuditRole" else set())
            for action in sorted(grant.actions - allowed):
                yield f"{grant.role} has {action} on the audit log"


def nobody_deletes_memories(document: Node) -> Iterator[str]:
    """Forgetting is another road than these functions': none may delete from long-term memory."""
    for grant in grants(document):
        if "LongTermMemory" in grant.targets:
            for action in sorted(grant.actions & {"dynamodb:DeleteItem", "dynamodb:BatchWriteItem", "dynamodb:UpdateItem"}):
                yield f"{grant.role} has {action} on long-term memory"


def one_role_each(document: Node) -> Iterator[str]:
    """Each function has a role of its own, with one policy that is written here."""
    functions = functions_of(document)
    used = Counter(str(function.get("Role")) for function in functions.values())
    roles = dict(resources(document, "AWS::IAM::Role"))
    for name, function in functions.items():
        role = function.get("Role", {}).get("Fn::GetAtt", [None])[0]
        if role not in roles or used[str(function.get("Role"))] != 1 or "Policies" in function:
            yield f"{name} has no role of its own"
            continue
        properties = roles[role]["Properties"]
        if len(properties.get("Policies", ())) != 1 or "ManagedPolicyArns" in properties:
            yield f"{role} has other than one policy"


def permissions_fit_settings(document: Node) -> Iterator[str]:
    """A function knows exactly the tables that its role reaches, and the hash key if it may read it."""
    for name, function in functions_of(document).items():
        mine = [grant for grant in grants(document) if grant.role == function["Role"]["Fn::GetAtt"][0]]
        reached = frozenset(target.split("/")[0] for grant in mine for target in grant.targets)
        known = {value.get("Ref") for value in environment_of(document, function).values() if isinstance(value, dict)}
        for target in sorted(TABLES | {"HashKeySecret"}):
            if (target in reached) != (target in known):
                yield f"{name} {'may reach but does not know' if target in reached else 'knows but may not reach'} {target}"


def customer_key_only_if_given(document: Node) -> Iterator[str]:
    """Roles may use the customer's key when there is one, and no other key."""
    for grant in grants(document):
        if any(action.startswith("kms:") for action in grant.actions) and (
            grant.condition != "HasCustomerKey" or grant.targets != {"CustomerKeyArn"}
        ):
            yield f"{grant.role} may use a key that need not be the customer's"


def one_log_group_each(document: Node) -> Iterator[str]:
    """Each function logs into a group of its own, which forgets in time and takes the customer's key."""
    groups = dict(resources(document, "AWS::Logs::LogGroup"))
    functions = functions_of(document)
    used = Counter(str(function.get("LoggingConfig")) for function in functions.values())
    for name, function in functions.items():
        group = function.get("LoggingConfig", {}).get("LogGroup", {}).get("Ref")
        if group not in groups or used[str(function["LoggingConfig"])] != 1:
            yield f"{name} has no log group of its own"
            continue
        role = function["Role"]["Fn::GetAtt"][0]
        written = {target for grant in grants(document) if grant.role == role and _logs(grant) for target in grant.targets}
        if written != {group}:
            yield f"{role} may log elsewhere than into {group}"
    for group, resource in groups.items():
        properties = resource["Properties"]
        if properties.get("RetentionInDays") != {"Ref": "LogRetentionDays"} or not _takes_customer_key(
            properties.get("KmsKeyId")
        ):
            yield f"{group} keeps logs forever, or without the customer's key"


PERMISSION_RULES = (
    no_wildcards,
    no_scans,
    audit_only_grows,
    nobody_deletes_memories,
    one_role_each,
    permissions_fit_settings,
    customer_key_only_if_given,
    one_log_group_each,
)


def _logs(grant: Grant) -> bool:
    return any(action.startswith("logs:") for action in grant.actions)


def _takes_customer_key(given: Any) -> bool:
    return bool(given == {"Fn::If": ["HasCustomerKey", {"Ref": "CustomerKeyArn"}, {"Ref": "AWS::NoValue"}]})
