"""Other memories to compare with, where their packages are installed: mem0 without a model (`infer=False`), LangGraph's store.

Both are given the same embedder. Neither is needed by anything else, so neither is among the requirements.
"""

import os
import tempfile
from collections.abc import Callable, Sequence
from contextlib import ExitStack
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from typing import Any, Protocol

from keepsake.domain.sanitizing import for_embedding
from keepsake.ports.embedding import Embedder, Purpose
from tests.benchmarks.facts import SaidTurn

USER = "ann"


class OtherMemory(Protocol):
    """A memory of one user's turns."""

    def add(self, turn: SaidTurn) -> None:
        """Keep a turn."""
        ...

    def search(self, query: str, limit: int) -> Sequence[str]:
        """Ids of the turns found, best first."""
        ...


def installed(embedder: Embedder, closing: ExitStack) -> tuple[dict[str, OtherMemory], list[str]]:
    """Those that can be had, by name, and a line for each that cannot."""
    makers: dict[str, tuple[str, Callable[[Embedder, ExitStack], OtherMemory]]] = {
        "mem0, infer=False": ("mem0", Mem0),
        "LangGraph's store": ("langgraph", LangGraphStore),
    }
    found: dict[str, OtherMemory] = {}
    missing: list[str] = []
    for name, (package, maker) in makers.items():
        if find_spec(package):
            found[name] = maker(embedder, closing)
        else:
            missing.append(f"{name}: the package {package} is not installed, so it is not compared with.")
    return found, missing


def _floats(embedder: Embedder, texts: Sequence[str], purpose: Purpose) -> list[list[float]]:
    vectors = embedder.embed([for_embedding(text) for text in texts], purpose)
    return [[value / 127 for value in memoryview(vector.values).cast("b")] for vector in vectors]


class LangGraphStore:
    """LangGraph's store in memory."""

    def __init__(self, embedder: Embedder, _closing: ExitStack) -> None:
        store_module = import_module("langgraph.store.memory")  # where it is installed

        def embed(texts: Sequence[str]) -> list[list[float]]:
            return _floats(embedder, texts, Purpose.PASSAGE)

        index: Any = {"dims": embedder.model.dimensions, "embed": embed, "fields": ["text"]}
        self._store = store_module.InMemoryStore(index=index)

    def add(self, turn: SaidTurn) -> None:
        """See OtherMemory."""
        self._store.put((USER,), turn.turn_id, {"text": turn.text})

    def search(self, query: str, limit: int) -> Sequence[str]:
        """See OtherMemory."""
        return [item.key for item in self._store.search((USER,), query=query, limit=limit)]


class Mem0:
    """mem0 on its embedded vector store, without a model."""

    def __init__(self, embedder: Embedder, closing: ExitStack) -> None:
        folder = Path(closing.enter_context(tempfile.TemporaryDirectory(prefix="keepsake-bench-")))
        os.environ |= {"MEM0_DIR": str(folder), "MEM0_TELEMETRY": "False"}
        os.environ.setdefault("OPENAI_API_KEY", "none")  # asked for when it is made, and never used
        mem0, settings = import_module("mem0"), import_module("mem0.configs.base")  # where it is installed
        size = embedder.model.dimensions
        config: dict[str, Any] = {
            "vector_store": {"provider": "qdrant", "config": {"path": str(folder / "qdrant"), "embedding_model_dims": size}},
            "history_db_path": str(folder / "history.db"),
        }
        self._memory = mem0.Memory(settings.MemoryConfig(**config))
        self._memory.embedding_model = _Embedding(embedder)

    def add(self, turn: SaidTurn) -> None:
        """See OtherMemory."""
        message = [{"role": turn.role.value, "content": turn.text}]
        self._memory.add(message, user_id=USER, metadata={"turn": turn.turn_id}, infer=False)

    def search(self, query: str, limit: int) -> Sequence[str]:
        """See OtherMemory."""
        found = self._memory.search(query, filters={"user_id": USER}, top_k=limit)
        return [each["metadata"]["turn"] for each in found["results"]]


class _Embedding:
    """Our embedder as mem0 asks for one."""

    def __init__(self, embedder: Embedder) -> None:
        self._embedder = embedder

    def embed(self, text: str, memory_action: str | None = None) -> list[float]:
        """One text; a query where it is searched for."""
        purpose = Purpose.QUERY if memory_action == "search" else Purpose.PASSAGE
        return _floats(self._embedder, [text], purpose)[0]

    def embed_batch(self, texts: Sequence[str], memory_action: str | None = None) -> list[list[float]]:
        """Several at once."""
        return [self.embed(text, memory_action) for text in texts]
