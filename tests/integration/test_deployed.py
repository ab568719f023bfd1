"""Each function as it is deployed: made of the variables that the template gives it, on the tables it may reach."""

import json
from collections.abc import Iterator, Mapping
from typing import Any

import boto3
import pytest
from moto import mock_aws

from keepsake import bootstrap
from keepsake.config import settings_from
from local.tables import create_tables
from local.template import load_template, read_template, resources
from tests.architecture.built import logical_name
from tests.world import LambdaContext, handler, load_event

KEY = '{"version": "v1", "key": "QUJDREVGR0hJSktMTU5PUFFSU1RVVldYWVphYmNkZWZnaGlqa2xtbm9wcXJzdHV2d3g="}'
CALLS = {
    "turn": ["turn"],
    "sessions": ["sessions_list", "sessions_read", "sessions_turns", "scratchpad_write", "scratchpad_read", "scratchpad_remove"],
    "profile": ["profile_read", "profile_write", "profile_reset"],
    "audit": ["audit_verify"],
    "memories": ["memories_tell", "memories_list", "memories_read", "memories_correct", "memories_history", "memories_confirm"],
    "documents": ["documents_put", "documents_read", "documents_remove"],
    "recall": ["recall"],
    "index_admin": ["reindex_start"],
    "health": ["health"],
    "consolidation_planner": ["consolidation_planner"],
    "consolidation": ["consolidation"],
}


@pytest.fixture
def names() -> Iterator[Mapping[str, str]]:
    """Names of the tables by the template's own, and of the secret."""
    with mock_aws():
        template = load_template()
        tables = create_tables(boto3.client("dynamodb"), template, prefix="deployed-")
        secret = boto3.client("secretsmanager").create_secret(Name="key", SecretString=KEY)
        fifo = boto3.client("sqs").create_queue(QueueName="deployed.fifo", Attributes={"FifoQueue": "true"})
        known = {definition.logical_name: tables[definition.table] for definition in template.tables}
        yield known | {"secret": secret["ARN"], "ConsolidationQueue": fifo["QueueUrl"]}


def environment_of(function: str, names: Mapping[str, str]) -> dict[str, str]:
    """The variables that the template gives a function, its references resolved."""
    template = read_template()
    functions = dict(resources(template, "AWS::Serverless::Function"))
    variables = functions[logical_name(function)]["Properties"]["Environment"]["Variables"]
    defaults = {name: str(parameter["Default"]) for name, parameter in template["Parameters"].items()}
    return {name: _resolved(value, {**defaults, **names}) for name, value in variables.items()}


def _resolved(value: object, names: Mapping[str, str]) -> str:
    match value:
        case {"Ref": str(name)} if name in names:
            return names[name]
        case {"Ref": str(name)} if "Secret" in name or "Key" in name:
            return names["secret"]
        case str(plain):
            return plain
        case _:
            return ""


def test_every_function_answers_with_only_what_the_template_gives_it(names: Mapping[str, str]) -> None:
    told: dict[str, str] = {}
    for function, events in CALLS.items():
        bootstrap.use(bootstrap.deployed(settings_from(environment_of(function, names))))
        bootstrap.runtime().prime()
        for event in events:
            answer = handler(function)(_filled_in(load_event(event), told), LambdaContext())
            expected = (422,) if function == "index_admin" else (200, 201, 204)  # an installation need not have an index
            assert answer.get("statusCode", 200) in expected, (function, event, answer)
            assert not answer.get("batchItemFailures"), function
            if event == "memories_tell":
                told["memory_id"] = json.loads(answer["body"])["memory_id"]


def test_what_waits_goes_from_the_planner_over_the_queue_to_the_worker(names: Mapping[str, str]) -> None:
    """By the template's own variables; SQS hands over what the planner sent."""

    def called(function: str, event: dict[str, Any]) -> dict[str, Any]:
        bootstrap.use(bootstrap.deployed(settings_from(environment_of(function, names))))
        return handler(function)(event, LambdaContext(300_000))

    assert called("turn", load_event("turn"))["statusCode"] == 200
    assert called("consolidation_planner", load_event("consolidation_planner") | {"everything": True})["sent"] == 1
    sqs = boto3.client("sqs")
    received = sqs.receive_message(QueueUrl=names["ConsolidationQueue"], MessageSystemAttributeNames=["All"])["Messages"]
    event = load_event("consolidation")
    (record,) = event["Records"]
    record |= {"body": received[0]["Body"], "attributes": received[0]["Attributes"]}
    assert called("consolidation", event) == {"batchItemFailures": []}
    assert called("consolidation_planner", load_event("consolidation_planner") | {"everything": True})["sent"] == 0


def _filled_in(event: dict[str, Any], known: Mapping[str, str]) -> dict[str, Any]:
    if "pathParameters" in event:
        event["pathParameters"] |= {name: value for name, value in known.items() if name in event["pathParameters"]}
    return event
