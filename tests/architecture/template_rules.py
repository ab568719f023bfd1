"""The rules that template.yaml keeps. Each takes the template as plain values and yields what breaks it, a line each.

Apart from the tests, so that these can show of every rule that it finds the fault it is there for.
"""

import json
import re
from collections import Counter
from collections.abc import Iterator
from typing import Any

from keepsake.config import settings_from
from keepsake.ports.item_store import INDEXES, SCHEMAS, Table
from local.template import Node, definitions_of, resources, routes_of
from tests.architecture.template_reading import environment_of, fed_by_queues, functions_of

API_GATEWAY_LIMIT_S = 30
TABLES = frozenset(table.value for table in Table)
POWERTOOLS = frozenset(
    {
        "POWERTOOLS_SERVICE_NAME",
        "POWERTOOLS_METRICS_NAMESPACE",
        "POWERTOOLS_TRACER_CAPTURE_RESPONSE",
        "POWERTOOLS_TRACER_CAPTURE_ERROR",
        "POWERTOOLS_LOGGER_LOG_EVENT",
        "LOG_LEVEL",
    }
)
ROUTES = frozenset(
    {
        ("POST", "/v1/sessions/{session_id}/turns", "TurnFunction"),
        ("GET", "/v1/sessions", "SessionsFunction"),
        ("GET", "/v1/sessions/{session_id}", "SessionsFunction"),
        ("GET", "/v1/sessions/{session_id}/turns", "SessionsFunction"),
        ("GET", "/v1/sessions/{session_id}/scratchpad/{name}", "SessionsFunction"),
        ("PUT", "/v1/sessions/{session_id}/scratchpad/{name}", "SessionsFunction"),
        ("DELETE", "/v1/sessions/{session_id}/scratchpad/{name}", "SessionsFunction"),
        ("GET", "/v1/profile", "ProfileFunction"),
        ("PUT", "/v1/profile", "ProfileFunction"),
        ("POST", "/v1/profile/reset", "ProfileFunction"),
        ("GET", "/v1/memories", "MemoriesFunction"),
        ("POST", "/v1/memories", "MemoriesFunction"),
        ("GET", "/v1/memories/{memory_id}", "MemoriesFunction"),
        ("PATCH", "/v1/memories/{memory_id}", "MemoriesFunction"),
        ("DELETE", "/v1/memories/{memory_id}", "MemoriesFunction"),
        ("GET", "/v1/memories/{memory_id}/history", "MemoriesFunction"),
        ("POST", "/v1/memories/{memory_id}/confirm", "MemoriesFunction"),
        ("POST", "/v1/recall", "RecallFunction"),
        ("POST", "/v1/documents", "DocumentsFunction"),
        ("GET", "/v1/documents/{document_id}", "DocumentsFunction"),
        ("DELETE", "/v1/documents/{document_id}", "DocumentsFunction"),
        ("POST", "/v1/admin/reindex", "IndexAdminFunction"),
        ("GET", "/v1/admin/reindex/{job_id}", "IndexAdminFunction"),
        ("POST", "/v1/admin/drift", "IndexAdminFunction"),
        ("POST", "/v1/audit/verify", "AuditFunction"),
        ("GET", "/v1/health", "HealthFunction"),
    }
)
# Nothing else may be in the access log: above all no path, no address and no claim.
LOGGED = frozenset(
    {
        "requestId",
        "requestTimeEpoch",
        "routeKey",
        "status",
        "responseLength",
        "responseLatency",
        "integration.status",
        "integrationLatency",
        "integrationErrorMessage",
        "authorizer.error",
    }
)
# By table: whether items leave by themselves, and whether there are backups.
LEAVES = {"SessionBuffers", "SessionTurns", "LongTermMemory", "Control"}
BACKED_UP = {"LongTermMemory", "MemoryPointers", "AuditLog", "Control"}


def http_functions_end_in_time(document: Node) -> Iterator[str]:
    """A function behind the API ends before API Gateway gives up on it."""
    behind = {route.function for route in routes_of(document)}
    for name, function in functions_of(document).items():
        if name in behind and function["Timeout"] >= API_GATEWAY_LIMIT_S:
            yield f"{name} may run for {function['Timeout']} s"


def queues_are_encrypted(document: Node) -> Iterator[str]:
    """Every queue that something is sent to stands here and is encrypted."""
    queues = dict(resources(document, "AWS::SQS::Queue"))
    for name, function in functions_of(document).items():
        targets = [function["DeadLetterQueue"].get("TargetArn")] if "DeadLetterQueue" in function else []
        targets += [
            event["Properties"].get("DeadLetterConfig", {}).get("Arn")
            for event in function.get("Events", {}).values()
            if event["Type"] == "ScheduleV2"
        ]
        for target in targets:
            queue = queues.get(target["Fn::GetAtt"][0]) if isinstance(target, dict) else None
            properties = queue["Properties"] if queue else {}
            if not (properties.get("SqsManagedSseEnabled") or "KmsMasterKeyId" in properties):
                yield f"{name} sends what failed nowhere, or to a queue without encryption"
    for name, resource in queues.items():
        if not resource["Properties"].get("SqsManagedSseEnabled") and "KmsMasterKeyId" not in resource["Properties"]:
            yield f"{name} is not encrypted"


def queues_lose_nothing(document: Node) -> Iterator[str]:
    """Work is not given out again while it is done, fails alone, and is set aside for two weeks in the end."""
    queues = dict(resources(document, "AWS::SQS::Queue"))
    for name, queue, mapping in fed_by_queues(document):
        properties = queues[queue]["Properties"]
        redrive = properties.get("RedrivePolicy", {})
        dead = queues.get(redrive.get("deadLetterTargetArn", {}).get("Fn::GetAtt", [""])[0], {}).get("Properties", {})
        if properties.get("VisibilityTimeout", 30) < 6 * functions_of(document)[name]["Timeout"]:
            yield f"{queue} gives out again what {name} still works on"
        if not properties.get("FifoQueue") or properties.get("ContentBasedDeduplication") is not False:
            yield f"{queue} is not in order, or calls messages the same by itself"
        if redrive.get("maxReceiveCount") != 5 or not dead.get("FifoQueue") or dead.get("MessageRetentionPeriod") != 14 * 86_400:
            yield f"{queue} drops what fails, or tries forever"
        if mapping.get("FunctionResponseTypes") != ["ReportBatchItemFailures"] or not 1 <= mapping.get("BatchSize", 10) <= 5:
            yield f"{queue} repeats what {name} has done"
        if "MaximumConcurrency" not in mapping.get("ScalingConfig", {}):
            yield f"{queue} may start any number of {name}"


def tables_keep_their_promises(document: Node) -> Iterator[str]:
    """Time to live, backups, encryption and protection of each table are those of the design."""
    tables = dict(resources(document, "AWS::DynamoDB::Table"))
    if set(tables) != TABLES:
        yield f"the tables are {sorted(tables)}"
    for name, resource in tables.items():
        properties = resource["Properties"]
        ttl = {"AttributeName": "expires_at", "Enabled": True} if name in LEAVES else None
        recovery: dict[str, Any] = {"PointInTimeRecoveryEnabled": name in BACKED_UP}
        if name in BACKED_UP:
            recovery["RecoveryPeriodInDays"] = 7
        encryption = {"SSEEnabled": True, "SSEType": "KMS", "KMSMasterKeyId": {"Ref": "CustomerKeyArn"}}
        expected = {
            "BillingMode": "PAY_PER_REQUEST",
            "TimeToLiveSpecification": ttl,
            "PointInTimeRecoverySpecification": recovery,
            "SSESpecification": {"Fn::If": ["HasCustomerKey", encryption, {"Ref": "AWS::NoValue"}]},
            "DeletionProtectionEnabled": {"Fn::If": ["IsProtected", True, False]},
        }
        yield from (f"{name}: {key} is {properties.get(key)}" for key, value in expected.items() if properties.get(key) != value)
        if (resource.get("DeletionPolicy"), resource.get("UpdateReplacePolicy")) != ("Retain", "Retain"):
            yield f"{name} would go with the stack"


def keys_are_the_ports(document: Node) -> Iterator[str]:
    """Keys and indexes are those that the port names."""
    definitions = tuple(definitions_of(document))
    for definition in definitions:
        if definition.key != SCHEMAS[definition.table]:
            yield f"{definition.logical_name} has other keys than the port says"
    found = {sparse.index: sparse.schema for definition in definitions for sparse in definition.indexes}
    if found != INDEXES:
        yield f"the indexes are {sorted(found)}"


def snapshots_are_reached_by_alias(document: Node) -> Iterator[str]:
    """The turn function starts from a snapshot; callers reach the newest one, with the newest layer in it."""
    functions = functions_of(document)
    if functions["TurnFunction"].get("SnapStart") != {"ApplyOn": "PublishedVersions"}:
        yield "the turn function has no snapshot"
    for name, function in functions.items():
        if "SnapStart" in function and not (function.get("AutoPublishAlias") and function.get("AutoPublishAliasAllProperties")):
            yield f"{name} has a snapshot that nobody reaches, or an old one"
    for name, layer in resources(document, "AWS::Serverless::LayerVersion"):
        if layer["Properties"].get("PublishLambdaVersion") is not True:
            yield f"a new {name} would not reach the snapshots"


def variables_are_known(document: Node) -> Iterator[str]:
    """Every environment variable is one that the settings or Powertools read."""
    known = _read_by_settings() | POWERTOOLS
    for name, function in functions_of(document).items():
        for variable in sorted(set(environment_of(document, function)) - known):
            yield f"nobody reads {variable} of {name}"


def nothing_captured(document: Node) -> Iterator[str]:
    """Tracer and logger never take a response, an exception's text or an event: they may hold what a user wrote."""
    for name, function in functions_of(document).items():
        variables = environment_of(document, function)
        for switch in ("POWERTOOLS_TRACER_CAPTURE_RESPONSE", "POWERTOOLS_TRACER_CAPTURE_ERROR", "POWERTOOLS_LOGGER_LOG_EVENT"):
            if variables.get(switch) != "false":
                yield f"{name} does not switch {switch} off"


def routes_are_the_apis(document: Node) -> Iterator[str]:
    """Each call of the API has one function, and all but health ask who calls."""
    routes = routes_of(document)
    found = Counter((route.method, route.path, route.function) for route in routes)
    for wrong in sorted((Counter(ROUTES) - found) + (found - Counter(ROUTES))):
        yield f"{' '.join(wrong)} is missing, or one too many"
    for route in routes:
        if route.authorised == (route.path == "/v1/health"):
            yield f"{route.method} {route.path} is {'' if route.authorised else 'not '}authorised"
    for name, api in resources(document, "AWS::Serverless::HttpApi"):
        auth = api["Properties"].get("Auth", {})
        authorizer = auth.get("Authorizers", {}).get(auth.get("DefaultAuthorizer"), {})
        if set(authorizer.get("JwtConfiguration", {})) != {"issuer", "audience"}:
            yield f"{name} does not check tokens by itself"


def access_log_names_nobody(document: Node) -> Iterator[str]:
    """The access log is JSON of a few harmless things."""
    for name, api in resources(document, "AWS::Serverless::HttpApi"):
        text = api["Properties"]["AccessLogSettings"]["Format"]
        for variable in sorted(set(re.findall(r"\$context\.([A-Za-z.]+)", text)) - LOGGED):
            yield f"{name} logs {variable}"
        if "$context.routeKey" not in json.loads(text).values():
            yield f"{name} does not log routes"


def api_is_throttled(document: Node) -> Iterator[str]:
    """Rate and burst are limited; no page of another origin may call unless it is named."""
    for name, api in resources(document, "AWS::Serverless::HttpApi"):
        settings = api["Properties"].get("DefaultRouteSettings", {})
        if not {"ThrottlingRateLimit", "ThrottlingBurstLimit"} <= set(settings):
            yield f"{name} is not throttled"
        origins = api["Properties"].get("CorsConfiguration", {}).get("AllowOrigins")
        if origins != {"Fn::If": ["HasCorsOrigins", {"Fn::Split": [",", {"Ref": "CorsOrigins"}]}, ["https://none.invalid"]]}:
            yield f"{name} lets pages of other origins call"


def runs_where_it_is_built_for(document: Node) -> Iterator[str]:
    """Functions and layer agree on Python and processor."""
    for name, function in functions_of(document).items():
        if (function["Runtime"], function["Architectures"]) != ("python3.13", ["arm64"]):
            yield f"{name} runs on {function['Runtime']} and {function['Architectures']}"
    for name, layer in resources(document, "AWS::Serverless::LayerVersion"):
        properties = layer["Properties"]
        if (properties["CompatibleRuntimes"], properties["CompatibleArchitectures"]) != (["python3.13"], ["arm64"]):
            yield f"{name} is for another Python or processor"


def alarms_watch_everything(document: Node) -> Iterator[str]:
    """Errors, throttles and long runs of each function, what waits or was given up, schedules that do not run and the API's 5xx
    raise an alarm that somebody may hear.
    """
    alarms = dict(resources(document, "AWS::CloudWatch::Alarm"))
    watched = {(alarm["Properties"].get("MetricName"), _watched(alarm["Properties"])) for alarm in alarms.values()}
    wanted = {(metric, name) for name in functions_of(document) for metric in ("Errors", "Throttles", "Duration")}
    feeding = {queue for _, queue, _ in fed_by_queues(document)}
    wanted |= {("ApproximateAgeOfOldestMessage", name) for name in feeding}
    wanted |= {("ApproximateNumberOfMessagesVisible", name) for name, _ in resources(document, "AWS::SQS::Queue")} - {
        ("ApproximateNumberOfMessagesVisible", name) for name in feeding
    }
    wanted |= {("Invocations", name) for name in _scheduled(document)}
    wanted |= {("5xx", name) for name, _ in resources(document, "AWS::Serverless::HttpApi")}
    yield from (f"no alarm on {metric} of {name}" for metric, name in sorted(wanted - watched))
    for name, alarm in alarms.items():
        properties = alarm["Properties"]
        if "HasAlarmTopic" not in str(properties.get("AlarmActions")):
            yield f"nobody hears {name}"
        function = functions_of(document).get(str(_watched(properties)))
        if properties.get("MetricName") == "Duration" and function and properties["Threshold"] >= function["Timeout"] * 1000:
            yield f"{name} can never ring"
        if properties.get("MetricName") == "Invocations" and properties.get("TreatMissingData") != "breaching":
            yield f"{name} takes silence for good news"


def parameters_explain_themselves(document: Node) -> Iterator[str]:
    """Each parameter says what it is for and what it takes, and has a default."""
    for name, parameter in document["Parameters"].items():
        if not parameter.get("Description") or "Default" not in parameter:
            yield f"{name} has no description or no default"
        if not {"AllowedValues", "AllowedPattern", "MinValue"} & set(parameter):
            yield f"{name} takes anything"


def names_differ_between_stacks(document: Node) -> Iterator[str]:
    """Two stacks fit into one account: whatever has a name of its own has the stack's name in it."""
    for name, function in functions_of(document).items():
        for event in function.get("Events", {}).values():
            if event["Type"] == "ScheduleV2" and event["Properties"].get("OmitName") is not True:
                yield f"a schedule of {name} is named alike in every stack"
    for name, resource in document["Resources"].items():
        for key in ("Name", "TableName", "QueueName", "RoleName", "LogGroupName", "AlarmName", "LayerName"):
            given = resource.get("Properties", {}).get(key)
            if given is not None and "AWS::StackName" not in str(given):
                yield f"{name} is named alike in every stack"


TEMPLATE_RULES = (
    http_functions_end_in_time,
    queues_are_encrypted,
    queues_lose_nothing,
    tables_keep_their_promises,
    keys_are_the_ports,
    snapshots_are_reached_by_alias,
    variables_are_known,
    nothing_captured,
    routes_are_the_apis,
    access_log_names_nobody,
    api_is_throttled,
    runs_where_it_is_built_for,
    alarms_watch_everything,
    parameters_explain_themselves,
    names_differ_between_stacks,
)


class _Asked(dict[str, str]):
    """An environment that remembers which variables it was asked for."""

    def __init__(self) -> None:
        super().__init__()
        self.names: set[str] = set()

    def get(self, key: str, default: Any = None) -> Any:
        self.names.add(key)
        return super().get(key, default)

    def __getitem__(self, key: str) -> str:
        self.names.add(key)
        return super().__getitem__(key)


def _read_by_settings() -> set[str]:
    asked = _Asked()
    settings_from(asked)
    return asked.names


def _scheduled(document: Node) -> set[str]:
    return {
        name
        for name, function in functions_of(document).items()
        if any(event["Type"] == "ScheduleV2" for event in function.get("Events", {}).values())
    }


def _watched(alarm: Node) -> str | None:
    dimensions = alarm.get("Dimensions")
    if not dimensions:
        return None
    value = dimensions[0]["Value"]
    return str(value["Ref"] if "Ref" in value else value["Fn::GetAtt"][0])
