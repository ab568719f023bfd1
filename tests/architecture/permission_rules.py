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
# The indexes behind our alias: their names are known only when they are made.
OUR_INDEXES = "${SearchResourceArn}/${SearchAlias}*"
# The search index or a model may be used by who is given it: condition of the template, and the setting that says which.
OUTSIDE = {
    "es": ("SearchesDomain", "SEARCH_ENDPOINT"),
    "aoss": ("SearchesCollection", "SEARCH_ENDPOINT"),
}
MODELS = {
    "EmbeddingModelId": ("HasSearch", "EMBEDDING_MODEL_ID"),
    "ExtractionModelId": ("HasExtractionModel", "EXTRACTION_MODEL_ID"),
}


def no_wildcards(document: Node) -> Iterator[str]:
    """Every action and every resource is named."""
    for grant in grants(document):
        if any("*" in action for action in grant.actions):
            yield f"{grant.role} may do {sorted(grant.actions)}"
        unnamed = any("*" in target for target in grant.targets - {OUR_INDEXES})
        if unnamed and not grant.actions <= WITHOUT_RESOURCE and not _through_a_profile(grant):
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
    """Forgetting is another road than these functions': none may delete from long-term memory, but documents that are removed."""
    for grant in grants(document):
        if "LongTermMemory" in grant.targets and grant.role != "DocumentsRole":
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
        asked = [grant for grant in mine if "sqs:ReceiveMessage" not in grant.actions]  # who is fed need not know by what
        reached = frozenset(target.split("/")[0] for grant in asked for target in grant.targets)
        known = {value.get("Ref") for value in environment_of(document, function).values() if isinstance(value, dict)}
        queues = {name for name, _ in resources(document, "AWS::SQS::Queue") if name != "ConsolidationDeadLetters"}
        for target in sorted(TABLES | {"HashKeySecret"} | queues):
            if (target in reached) != (target in known):
                yield f"{name} {'may reach but does not know' if target in reached else 'knows but may not reach'} {target}"


def index_and_models_only_if_given(document: Node) -> Iterator[str]:
    """The search index and the models are reached when there are any, by the functions that know them, and no others are."""
    for name, function in functions_of(document).items():
        mine = [grant for grant in grants(document) if grant.role == function["Role"]["Fn::GetAtt"][0]]
        used = {use for grant in mine for use in _outside(grant)}
        for condition, setting, proper in sorted(used):
            if not proper:
                yield f"{name} may use more than what {setting} names, or without {condition}"
        variables = environment_of(document, function)
        reached = {setting for _, setting, _ in used}
        yield from (f"{name} may reach but does not know {setting}" for setting in sorted(reached - variables.keys()))
        # A model may be known for comparison only; the index is known to be asked.
        if "SEARCH_ENDPOINT" in variables and "SEARCH_ENDPOINT" not in reached:
            yield f"{name} knows but may not reach the index"


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
    index_and_models_only_if_given,
    customer_key_only_if_given,
    one_log_group_each,
)


def _through_a_profile(grant: Grant) -> bool:
    """Models of all regions, but only when they are called by the one inference profile that is named."""
    return grant.actions == {"bedrock:InvokeModel"} and "bedrock:InferenceProfileArn" in grant.only_if


def _outside(grant: Grant) -> Iterator[tuple[str, str, bool]]:
    """Uses of the index or of a model: which condition and setting they belong to, and whether they are no more than that."""
    for action in grant.actions:
        kind = action.split(":")[0]
        if kind in OUTSIDE:
            condition, setting = OUTSIDE[kind]
            yield condition, setting, grant.condition == condition and all("SearchResourceArn" in each for each in grant.targets)
        if kind == "bedrock":
            for target in grant.targets:
                named = next((name for name in MODELS if name in target or name in grant.only_if), None)
                condition, setting = MODELS[named] if named else ("nothing", "nothing")
                yield condition, setting, grant.condition == condition


def _logs(grant: Grant) -> bool:
    return any(action.startswith("logs:") for action in grant.actions)


def _takes_customer_key(given: Any) -> bool:
    return bool(given == {"Fn::If": ["HasCustomerKey", {"Ref": "CustomerKeyArn"}, {"Ref": "AWS::NoValue"}]})
