"""Language models through Bedrock's Converse: each held to the schema in the way that it knows."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from keepsake.adapters.bedrock_client import bedrock_errors_mapped
from keepsake.domain.model_traits import AnswersBy, ModelTable
from keepsake.ports.language_model import ModelAnswer, ModelTask

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from mypy_boto3_bedrock_runtime import BedrockRuntimeClient

_CUT = frozenset({"max_tokens", "model_context_window_exceeded"})
_REFUSED = frozenset({"guardrail_intervened", "content_filtered", "refusal"})


class ConverseModel:
    """LanguageModel on a client of Bedrock. `model_id` is a model's or that of an inference profile. Safe for many threads."""

    def __init__(self, client: BedrockRuntimeClient, model_id: str, table: ModelTable) -> None:
        self._client = client
        self._model_id = model_id
        self._traits = table.traits(model_id)

    def answer(self, task: ModelTask) -> ModelAnswer:
        """One call. Raises ModelUnavailableError, also when the answer is not of the service's shape."""
        with bedrock_errors_mapped("asking a model"):
            response: Mapping[str, Any] = self._client.converse(**self._request(task))
            reason, usage = str(response["stopReason"]), response["usage"]
            return ModelAnswer(
                text=_text(response["output"]["message"]["content"]),
                cut=reason in _CUT,
                refused=reason in _REFUSED,
                input_tokens=int(usage["inputTokens"]),
                output_tokens=int(usage["outputTokens"]),
                model=self._model_id,
            )

    def _request(self, task: ModelTask) -> dict[str, Any]:
        # Without a bound the most that the model can answer is reserved, and paid for in throttling.
        inference: dict[str, Any] = {"maxTokens": task.max_tokens}
        if self._traits.temperature:
            inference["temperature"] = 0.0
        return {
            "modelId": self._model_id,
            "system": [{"text": task.prompt.system}],
            "messages": [{"role": "user", "content": [{"text": task.prompt.data}]}],
            "inferenceConfig": inference,
            **(_by_schema(task) if self._traits.answers_by is AnswersBy.JSON_SCHEMA else _by_tool(task)),
        }


def _by_schema(task: ModelTask) -> dict[str, Any]:
    schema = {"name": task.schema_name, "schema": json.dumps(task.schema)}
    return {"outputConfig": {"textFormat": {"type": "json_schema", "structure": {"jsonSchema": schema}}}}


def _by_tool(task: ModelTask) -> dict[str, Any]:
    tool = {"name": task.schema_name, "description": "Takes the whole answer.", "inputSchema": {"json": task.schema}}
    return {"toolConfig": {"tools": [{"toolSpec": tool}], "toolChoice": {"tool": {"name": task.schema_name}}}}


def _text(blocks: Sequence[Mapping[str, Any]]) -> str:
    """The input of the tool that was called, as JSON; without a call, the text as it came. Reasoning is neither."""
    for block in blocks:
        if "toolUse" in block:
            return json.dumps(block["toolUse"]["input"], ensure_ascii=False)
    return "".join([str(block["text"]) for block in blocks if "text" in block])
