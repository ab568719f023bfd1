"""Converse through a real client of the SDK, against a server that speaks Bedrock's wire and fails as it is told."""

import json
from collections.abc import Iterator, Mapping
from typing import Any

import pytest

from keepsake.adapters.bedrock_client import Patience, make_bedrock_client
from keepsake.adapters.bedrock_converse import ConverseModel
from keepsake.adapters.learning_files import load_model_table
from keepsake.domain.errors import ModelUnavailableError
from keepsake.domain.sanitizing import for_extraction
from keepsake.ports.language_model import ModelAnswer, ModelTask
from tests.faults.bedrock_server import SECRET, Bedrock, Reply, always, bedrock, error

pytestmark = pytest.mark.sockets

SCHEMA: Mapping[str, Any] = {"type": "object", "properties": {"facts": {"type": "array", "items": {"type": "string"}}}}
NOVA, HAIKU, NEWEST = "eu.amazon.nova-lite-v1:0", "global.anthropic.claude-haiku-4-5-20251001-v1:0", "anthropic.claude-haiku-5-5"


def said(*blocks: Mapping[str, Any], reason: str = "end_turn") -> dict[str, Any]:
    return {
        "output": {"message": {"role": "assistant", "content": list(blocks)}},
        "stopReason": reason,
        "usage": {"inputTokens": 12, "outputTokens": 7, "totalTokens": 19},
        "metrics": {"latencyMs": 5},
    }


def called(answer: Mapping[str, Any]) -> dict[str, Any]:
    return {"toolUse": {"toolUseId": "t1", "name": "memories", "input": answer}}


@pytest.fixture
def service() -> Iterator[Bedrock]:
    with bedrock(always(said({"text": '{"facts": []}'}))) as running:
        yield running


def ask(service: Bedrock, model_id: str = HAIKU, attempts: int = 1) -> ModelAnswer:
    task = ModelTask(for_extraction("Find facts.", "Ada: a@b.org"), "memories", SCHEMA, max_tokens=900)
    return ConverseModel(service.client(attempts), model_id, load_model_table()).answer(task)


def test_a_model_that_knows_schemas_is_sent_one_and_answers_in_text(service: Bedrock) -> None:
    answer = ask(service)
    assert (answer.text, answer.cut, answer.refused) == ('{"facts": []}', False, False)
    assert (answer.input_tokens, answer.output_tokens, answer.model) == (12, 7, HAIKU)
    [asked] = service.asked
    assert (asked.operation, asked.model) == ("converse", HAIKU)
    assert asked.body["inferenceConfig"] == {"maxTokens": 900, "temperature": 0.0}
    assert asked.body["system"] == [{"text": "Find facts."}]
    assert asked.body["messages"] == [{"role": "user", "content": [{"text": "Ada: [EMAIL_1]"}]}]
    text_format = asked.body["outputConfig"]["textFormat"]
    assert text_format["type"] == "json_schema"
    assert json.loads(text_format["structure"]["jsonSchema"]["schema"]) == SCHEMA
    assert "toolConfig" not in asked.body


def test_a_model_that_does_not_is_made_to_call_a_tool_and_answers_by_its_input(service: Bedrock) -> None:
    service.usual = always(said({"text": "Well."}, called({"facts": ["Åda 😀"]}), reason="tool_use"))
    answer = ask(service, NOVA)
    assert json.loads(answer.text) == {"facts": ["Åda 😀"]}
    tools = service.asked[0].body["toolConfig"]
    assert tools["toolChoice"] == {"tool": {"name": "memories"}}
    assert [tool["toolSpec"]["inputSchema"]["json"] for tool in tools["tools"]] == [SCHEMA]
    assert "outputConfig" not in service.asked[0].body


def test_a_model_that_refuses_a_temperature_gets_none_and_a_bound_all_the_same(service: Bedrock) -> None:
    ask(service, NEWEST)
    ask(service, "some.unknown-model")
    assert [asked.body["inferenceConfig"] for asked in service.asked] == [{"maxTokens": 900}] * 2


def test_what_a_model_reasons_is_no_answer(service: Bedrock) -> None:
    reasoning = {"reasoningContent": {"reasoningText": {"text": "hm"}}}
    service.usual = always(said(reasoning, {"text": "{"}, {"text": "}"}))
    assert ask(service).text == "{}"


@pytest.mark.parametrize(
    ("reason", "cut", "refused"),
    [
        ("end_turn", False, False),
        ("tool_use", False, False),
        ("malformed_model_output", False, False),
        ("max_tokens", True, False),
        ("model_context_window_exceeded", True, False),
        ("guardrail_intervened", False, True),
        ("content_filtered", False, True),
        ("refusal", False, True),
    ],
)
def test_why_a_model_stopped_says_whether_the_answer_is_cut_or_refused(
    service: Bedrock, reason: str, cut: bool, refused: bool
) -> None:
    service.usual = always(said({"text": "x"}, reason=reason))
    answer = ask(service)
    assert (answer.cut, answer.refused) == (cut, refused)


def test_an_answer_without_words_is_empty(service: Bedrock) -> None:
    service.usual = always(said(reason="content_filtered"))
    assert ask(service).text == ""


FAULTS: dict[str, Reply] = {
    "throttled": error("ThrottlingException", 429),
    "no such model": error("ResourceNotFoundException", 404),
    "invalid": error("ValidationException", 400),
    "timed out": error("ModelTimeoutException", 408),
    "no JSON": always(b"<html>"),
    "nothing": always({}),
    "no message": always({**said(), "output": {}}),
    "no usage": always({"output": {"message": {"role": "assistant", "content": []}}, "stopReason": "end_turn"}),
    "too late": always(said(), delay=0.6),
}


@pytest.mark.parametrize("fault", FAULTS)
def test_no_sensible_answer_means_that_the_model_is_unavailable_and_nothing_else_is_told(service: Bedrock, fault: str) -> None:
    service.usual = FAULTS[fault]
    with pytest.raises(ModelUnavailableError) as raised:
        ask(service)
    assert SECRET not in str(raised.value)
    assert raised.value.__cause__ is None


def test_throttling_is_tried_again(service: Bedrock) -> None:
    service.replies = [error("ThrottlingException", 429)]
    assert ask(service, attempts=2).text == '{"facts": []}'


@pytest.mark.parametrize("patience", Patience)
def test_the_clients_timeouts_and_retries_are_set_and_not_inherited(patience: Patience) -> None:
    config: Any = make_bedrock_client(patience, region="eu-west-1", endpoint="http://127.0.0.1:1").meta.config
    assert (config.connect_timeout, config.read_timeout) == patience.value[:2]
    assert config.retries == {"mode": "standard", "total_max_attempts": patience.value.attempts}
