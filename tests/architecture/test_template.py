"""template.yaml keeps its rules, and every rule finds the faults that it is there for."""

import copy
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from local.template import Node, read_template
from tests.architecture import permission_rules as permissions
from tests.architecture import template_rules as rules

Rule = Callable[[Node], Iterator[str]]
Resources = dict[str, Any]
RULES = rules.TEMPLATE_RULES + permissions.PERMISSION_RULES


@pytest.fixture(scope="module")
def template() -> Node:
    return read_template()


@pytest.mark.parametrize("rule", RULES, ids=lambda rule: rule.__name__)
def test_the_template_keeps_the_rule(rule: Rule, template: Node) -> None:
    assert list(rule(template)) == []


def statements(found: Resources, role: str) -> list[Any]:
    listed = found[role]["Properties"]["Policies"][0]["PolicyDocument"]["Statement"]
    assert isinstance(listed, list)
    return listed


def statement(found: Resources, role: str, sid: str) -> dict[str, Any]:
    return next(each for each in statements(found, role) if each.get("Sid") == sid)


def grant(found: Resources, role: str, action: str, table: str) -> None:
    resource = "*" if table == "*" else {"Fn::GetAtt": [table, "Arn"]}
    statements(found, role).append({"Effect": "Allow", "Action": action, "Resource": resource})


def event(found: Resources, function: str, name: str) -> dict[str, Any]:
    properties: dict[str, Any] = found[function]["Properties"]["Events"][name]["Properties"]
    return properties


def optional(found: Resources, role: str, sid: str) -> list[Any]:
    """Condition, statement and alternative of a statement that is not always there."""
    listed: list[list[Any]] = [each["Fn::If"] for each in statements(found, role) if "Fn::If" in each]
    return next(each for each in listed if each[1]["Sid"] == sid)


def key_statement(found: Resources, role: str) -> list[Any]:
    return optional(found, role, "UseCustomerKey")


def mapping(found: Resources) -> dict[str, Any]:
    """How the queue feeds the worker."""
    return event(found, "ConsolidationFunction", "Work")


def replaced(found: Resources, resource: str, **properties: Any) -> None:
    found[resource]["Properties"].update(properties)


def removed(found: Resources, resource: str, name: str) -> None:
    del found[resource]["Properties"][name]


def log_format(found: Resources, old: str, new: str) -> None:
    settings = found["Api"]["Properties"]["AccessLogSettings"]
    assert old in settings["Format"]
    settings["Format"] = settings["Format"].replace(old, new)


FAULTS: list[tuple[Rule, str, Callable[[Resources], object]]] = [
    (permissions.no_wildcards, "actions", lambda r: grant(r, "TurnRole", "dynamodb:*", "Control")),
    (permissions.no_wildcards, "any table", lambda r: grant(r, "TurnRole", "dynamodb:PutItem", "*")),
    (
        permissions.no_wildcards,
        "more than X-Ray's calls",
        lambda r: statement(r, "TurnRole", "WriteTraces")["Action"].append("xray:GetTraceSummaries"),
    ),
    (
        permissions.no_wildcards,
        "any model",
        lambda r: optional(r, "ConsolidationRole", "ExtractThroughProfile")[1].pop("Condition"),
    ),
    (
        permissions.no_wildcards,
        "any index",
        lambda r: optional(r, "TurnRole", "SearchIndex")[1].update(Resource={"Fn::Sub": "${SearchResourceArn}/*"}),
    ),
    (
        permissions.index_and_models_only_if_given,
        "another domain",
        lambda r: optional(r, "TurnRole", "SearchIndex")[1].update(Resource="arn:aws:es:x:123456789012:domain/x/_msearch"),
    ),
    (
        permissions.index_and_models_only_if_given,
        "always",
        lambda r: statements(r, "TurnRole").append(optional(r, "TurnRole", "SearchIndex")[1]),
    ),
    (
        permissions.index_and_models_only_if_given,
        "another model",
        lambda r: grant(r, "TurnRole", "bedrock:InvokeModel", "Control"),
    ),
    (
        permissions.index_and_models_only_if_given,
        "unknown model",
        lambda r: r["ConsolidationFunction"]["Properties"]["Environment"]["Variables"].pop("EXTRACTION_MODEL_ID"),
    ),
    (
        permissions.index_and_models_only_if_given,
        "unreachable index",
        lambda r: r["HealthFunction"]["Properties"]["Environment"]["Variables"].update(SEARCH_ENDPOINT="https://x"),
    ),
    (permissions.no_scans, "scan", lambda r: grant(r, "ConsolidationRole", "dynamodb:Scan", "LongTermMemory")),
    (permissions.no_scans, "PartiQL", lambda r: grant(r, "SessionsRole", "dynamodb:PartiQLSelect", "LongTermMemory")),
    (permissions.audit_only_grows, "update", lambda r: grant(r, "TurnRole", "dynamodb:UpdateItem", "AuditLog")),
    (permissions.audit_only_grows, "delete by its verifier", lambda r: grant(r, "AuditRole", "dynamodb:DeleteItem", "AuditLog")),
    (permissions.audit_only_grows, "batch", lambda r: grant(r, "ProfileRole", "dynamodb:BatchWriteItem", "AuditLog")),
    (permissions.audit_only_grows, "read by others", lambda r: grant(r, "TurnRole", "dynamodb:Query", "AuditLog")),
    (
        permissions.nobody_deletes_memories,
        "delete",
        lambda r: grant(r, "ConsolidationRole", "dynamodb:DeleteItem", "LongTermMemory"),
    ),
    (permissions.one_role_each, "shared", lambda r: replaced(r, "HealthFunction", Role={"Fn::GetAtt": ["TurnRole", "Arn"]})),
    (permissions.one_role_each, "none", lambda r: removed(r, "HealthFunction", "Role")),
    (
        permissions.one_role_each,
        "managed policy",
        lambda r: replaced(r, "TurnRole", ManagedPolicyArns=["arn:aws:iam::aws:policy/AdministratorAccess"]),
    ),
    (
        permissions.permissions_fit_settings,
        "unknown table",
        lambda r: grant(r, "HealthRole", "dynamodb:BatchGetItem", "SessionTurns"),
    ),
    (
        permissions.permissions_fit_settings,
        "unknown queue",
        lambda r: r["MemoriesFunction"]["Properties"]["Environment"]["Variables"].pop("QUEUE_URL"),
    ),
    (
        permissions.permissions_fit_settings,
        "unreachable queue",
        lambda r: statements(r, "MemoriesRole").remove(statement(r, "MemoriesRole", "SendWork")),
    ),
    (
        permissions.permissions_fit_settings,
        "unreachable table",
        lambda r: r["HealthFunction"]["Properties"]["Environment"]["Variables"].update(TABLE_AUDIT_LOG={"Ref": "AuditLog"}),
    ),
    (
        permissions.permissions_fit_settings,
        "unreachable key",
        lambda r: statements(r, "TurnRole").remove(statement(r, "TurnRole", "ReadHashKey")),
    ),
    (
        permissions.customer_key_only_if_given,
        "always",
        lambda r: statements(r, "TurnRole").append(key_statement(r, "TurnRole")[1]),
    ),
    (
        permissions.customer_key_only_if_given,
        "another key",
        lambda r: key_statement(r, "TurnRole")[1].update(Resource="arn:aws:kms:eu-central-1:123456789012:key/other"),
    ),
    (permissions.one_log_group_each, "none", lambda r: replaced(r, "TurnFunction", LoggingConfig={"LogFormat": "JSON"})),
    (
        permissions.one_log_group_each,
        "shared",
        lambda r: replaced(r, "TurnFunction", LoggingConfig=r["AuditFunction"]["Properties"]["LoggingConfig"]),
    ),
    (permissions.one_log_group_each, "kept forever", lambda r: removed(r, "TurnLogGroup", "RetentionInDays")),
    (permissions.one_log_group_each, "without the customer's key", lambda r: removed(r, "AccessLogGroup", "KmsKeyId")),
    (
        permissions.one_log_group_each,
        "elsewhere",
        lambda r: statement(r, "TurnRole", "WriteLogs").update(Resource={"Fn::GetAtt": ["AuditLogGroup", "Arn"]}),
    ),
    (rules.http_functions_end_in_time, "too long", lambda r: replaced(r, "AuditFunction", Timeout=30)),
    (rules.queues_are_encrypted, "plain queue", lambda r: replaced(r, "ConsolidationDeadLetters", SqsManagedSseEnabled=False)),
    (rules.queues_are_encrypted, "plain work", lambda r: replaced(r, "ConsolidationQueue", SqsManagedSseEnabled=False)),
    (rules.queues_lose_nothing, "impatient", lambda r: replaced(r, "ConsolidationQueue", VisibilityTimeout=1799)),
    (rules.queues_lose_nothing, "the function takes longer", lambda r: replaced(r, "ConsolidationFunction", Timeout=301)),
    (rules.queues_lose_nothing, "no order", lambda r: removed(r, "ConsolidationQueue", "FifoQueue")),
    (rules.queues_lose_nothing, "alike by content", lambda r: replaced(r, "ConsolidationQueue", ContentBasedDeduplication=True)),
    (rules.queues_lose_nothing, "forever", lambda r: removed(r, "ConsolidationQueue", "RedrivePolicy")),
    (rules.queues_lose_nothing, "forgetful", lambda r: replaced(r, "ConsolidationFailures", MessageRetentionPeriod=345600)),
    (rules.queues_lose_nothing, "whole batches", lambda r: mapping(r).pop("FunctionResponseTypes")),
    (rules.queues_lose_nothing, "long batches", lambda r: mapping(r).update(BatchSize=6)),
    (rules.queues_lose_nothing, "any number at once", lambda r: mapping(r).pop("ScalingConfig")),
    (
        rules.queues_are_encrypted,
        "queue of SAM's making",
        lambda r: event(r, "ConsolidationPlannerFunction", "Consolidation").update(DeadLetterConfig={"Type": "SQS"}),
    ),
    (
        rules.queues_are_encrypted,
        "somebody else's queue",
        lambda r: replaced(r, "ConsolidationPlannerFunction", DeadLetterQueue={"Type": "SQS", "TargetArn": "arn:aws:sqs:x"}),
    ),
    (rules.tables_keep_their_promises, "buffers backed up", lambda r: replaced(r, "SessionBuffers", **backups(7))),
    (rules.tables_keep_their_promises, "turns backed up", lambda r: replaced(r, "SessionTurns", **backups(7))),
    (rules.tables_keep_their_promises, "memories for 35 days", lambda r: replaced(r, "LongTermMemory", **backups(35))),
    (
        rules.tables_keep_their_promises,
        "fences not backed up",
        lambda r: removed(r, "Control", "PointInTimeRecoverySpecification"),
    ),
    (
        rules.tables_keep_their_promises,
        "audit that leaves",
        lambda r: replaced(r, "AuditLog", TimeToLiveSpecification={"AttributeName": "expires_at", "Enabled": True}),
    ),
    (rules.tables_keep_their_promises, "turns that stay", lambda r: removed(r, "SessionTurns", "TimeToLiveSpecification")),
    (
        rules.tables_keep_their_promises,
        "a reserved word",
        lambda r: replaced(r, "Control", TimeToLiveSpecification={"AttributeName": "ttl", "Enabled": True}),
    ),
    (rules.tables_keep_their_promises, "no customer key", lambda r: removed(r, "MemoryPointers", "SSESpecification")),
    (rules.tables_keep_their_promises, "unprotected", lambda r: replaced(r, "Control", DeletionProtectionEnabled=False)),
    (rules.tables_keep_their_promises, "goes with the stack", lambda r: r["AuditLog"].pop("DeletionPolicy")),
    (rules.tables_keep_their_promises, "a seventh", lambda r: r.update(More=r["Control"])),
    (
        rules.keys_are_the_ports,
        "another key",
        lambda r: replaced(r, "Control", KeySchema=swapped(r["Control"]["Properties"]["KeySchema"])),
    ),
    (rules.keys_are_the_ports, "no index", lambda r: removed(r, "LongTermMemory", "GlobalSecondaryIndexes")),
    (rules.snapshots_are_reached_by_alias, "no snapshot", lambda r: removed(r, "TurnFunction", "SnapStart")),
    (rules.snapshots_are_reached_by_alias, "no alias", lambda r: removed(r, "TurnFunction", "AutoPublishAlias")),
    (rules.snapshots_are_reached_by_alias, "old code", lambda r: removed(r, "TurnFunction", "AutoPublishAliasAllProperties")),
    (rules.snapshots_are_reached_by_alias, "old layer", lambda r: removed(r, "KeepsakeLayer", "PublishLambdaVersion")),
    (
        rules.variables_are_known,
        "misspelt",
        lambda r: r["TurnFunction"]["Properties"]["Environment"]["Variables"].update(SESSION_IDLE_MINS="45"),
    ),
    (
        rules.nothing_captured,
        "responses",
        lambda r: r["TurnFunction"]["Properties"]["Environment"]["Variables"].update(POWERTOOLS_TRACER_CAPTURE_RESPONSE="true"),
    ),
    (rules.routes_are_the_apis, "missing", lambda r: r["ProfileFunction"]["Properties"]["Events"].pop("ResetProfile")),
    (rules.routes_are_the_apis, "elsewhere", lambda r: event(r, "ProfileFunction", "ReadProfile").update(Path="/v1/profiles")),
    (
        rules.routes_are_the_apis,
        "twice",
        lambda r: r["AuditFunction"]["Properties"]["Events"].update(
            More=r["HealthFunction"]["Properties"]["Events"]["ReadHealth"]
        ),
    ),
    (rules.routes_are_the_apis, "open", lambda r: event(r, "TurnFunction", "TakeTurn").update(Auth={"Authorizer": "NONE"})),
    (rules.routes_are_the_apis, "closed health", lambda r: event(r, "HealthFunction", "ReadHealth").pop("Auth")),
    (rules.routes_are_the_apis, "open by default", lambda r: r["Api"]["Properties"]["Auth"].pop("DefaultAuthorizer")),
    (
        rules.routes_are_the_apis,
        "any audience",
        lambda r: r["Api"]["Properties"]["Auth"]["Authorizers"]["Jwt"]["JwtConfiguration"].pop("audience"),
    ),
    (rules.access_log_names_nobody, "path", lambda r: log_format(r, "$context.routeKey", "$context.path")),
    (rules.access_log_names_nobody, "user", lambda r: log_format(r, "$context.status", "$context.authorizer.claims.sub")),
    (rules.access_log_names_nobody, "address", lambda r: log_format(r, "$context.status", "$context.identity.sourceIp")),
    (rules.access_log_names_nobody, "no route", lambda r: log_format(r, "$context.routeKey", "$context.requestId")),
    (rules.api_is_throttled, "unlimited", lambda r: removed(r, "Api", "DefaultRouteSettings")),
    (rules.api_is_throttled, "every origin", lambda r: r["Api"]["Properties"]["CorsConfiguration"].update(AllowOrigins=["*"])),
    (rules.runs_where_it_is_built_for, "function", lambda r: replaced(r, "TurnFunction", Architectures=["x86_64"])),
    (rules.runs_where_it_is_built_for, "layer", lambda r: replaced(r, "KeepsakeLayer", CompatibleRuntimes=["python3.12"])),
    (rules.alarms_watch_everything, "errors", lambda r: r.pop("ProfileErrors")),
    (rules.alarms_watch_everything, "given-up runs", lambda r: r.pop("DeadLetters")),
    (rules.alarms_watch_everything, "given-up work", lambda r: r.pop("WorkFailed")),
    (rules.alarms_watch_everything, "waiting work", lambda r: r.pop("WorkWaits")),
    (rules.alarms_watch_everything, "no runs", lambda r: r.pop("PlannerSilent")),
    (rules.alarms_watch_everything, "silence", lambda r: replaced(r, "PlannerSilent", TreatMissingData="notBreaching")),
    (rules.alarms_watch_everything, "5xx", lambda r: r.pop("ApiServerErrors")),
    (rules.alarms_watch_everything, "unheard", lambda r: removed(r, "TurnErrors", "AlarmActions")),
    (rules.alarms_watch_everything, "never", lambda r: replaced(r, "TurnDuration", Threshold=29000)),
    (
        rules.names_differ_between_stacks,
        "schedule",
        lambda r: event(r, "ConsolidationPlannerFunction", "Consolidation").pop("OmitName"),
    ),
    (rules.names_differ_between_stacks, "table", lambda r: replaced(r, "Control", TableName="Control")),
]


def backups(days: int) -> dict[str, Any]:
    return {"PointInTimeRecoverySpecification": {"PointInTimeRecoveryEnabled": True, "RecoveryPeriodInDays": days}}


def swapped(elements: list[dict[str, str]]) -> list[dict[str, str]]:
    partition, sort = (element["AttributeName"] for element in elements)
    return [{"AttributeName": sort, "KeyType": "HASH"}, {"AttributeName": partition, "KeyType": "RANGE"}]


@pytest.mark.parametrize(("rule", "fault", "seed"), FAULTS, ids=lambda value: getattr(value, "__name__", str(value)))
def test_the_rule_finds_a_fault(rule: Rule, fault: str, seed: Callable[[Resources], object], template: Node) -> None:
    faulty = copy.deepcopy(dict(template))
    seed(faulty["Resources"])
    assert list(rule(faulty)), fault


@pytest.mark.parametrize(
    ("name", "missing"), [("Stage", "Description"), ("LogLevel", "Default"), ("CorsOrigins", "AllowedPattern")]
)
def test_a_parameter_that_does_not_explain_itself_is_found(name: str, missing: str, template: Node) -> None:
    faulty = copy.deepcopy(dict(template))
    del faulty["Parameters"][name][missing]
    assert list(rules.parameters_explain_themselves(faulty))


def test_every_rule_has_a_fault_that_it_finds() -> None:
    assert {rule for rule, _, _ in FAULTS} | {rules.parameters_explain_themselves} == set(RULES)
