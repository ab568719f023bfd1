"""The settings and the mapping of an index: what is searched, what is only kept, and what differs between kinds of endpoints."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from keepsake.adapters.opensearch_documents import TURN, VECTOR, WINDOW
from keepsake.ports.embedding import EmbeddingModel

_USUAL_LENGTH = {TURN: 20.0, WINDOW: 90.0}  # terms; only preselects, the exact lengths rank
# Documents of an owner; the idf that preselects is that of a collection this large.
_USUAL_DOCUMENTS = 3000.0


@dataclass(frozen=True, slots=True)
class Layout:
    """How indexes are made. `managed`: our own ids and routing, scripts, refreshes; serverless collections refuse all of that.

    `engine` of the vectors: `lucene` keeps whole bytes, `faiss` floats; serverless collections have `faiss` only. Segments with
    less than `graph_from` vectors are searched exactly by faiss, without a graph.
    """

    managed: bool = True
    engine: str = "lucene"
    shards: int = 3
    replicas: int = 1
    graph_from: int = 15_000

    @classmethod
    def of(cls, service: str) -> "Layout":
        """The usual layout for a service: `aoss` is a serverless collection, all others are managed."""
        return cls(managed=False, engine="faiss") if service == "aoss" else cls()

    @property
    def unit_vectors(self) -> bool:
        """Whether vectors are sent with length 1: where the index compares by their inner product."""
        return not self.managed


def write_alias(name: str) -> str:
    """The alias by which documents are put into an index: its own from its making on, and gone with it."""
    return f"{name}-w"


def index_body(name: str, model: EmbeddingModel, layout: Layout) -> dict[str, Any]:
    """The body of a request that creates an index for one model's vectors, with the alias by which it is written."""
    body: dict[str, Any] = {
        "aliases": {write_alias(name): {}},
        "settings": {"index": _settings(layout)},
        "mappings": {
            "dynamic": "strict",
            "_meta": {
                "model": model.name,
                "dimensions": model.dimensions,
                "weak_below": model.weak_below,
                "strong_above": model.strong_above,
            },
            # Kept are counts and whole bytes instead. An index is filled again from the truth, never from itself.
            "_source": {"excludes": [TURN, WINDOW, VECTOR]},
            "properties": _properties(model, layout),
        },
    }
    if layout.managed:
        body["mappings"]["_routing"] = {"required": True}
    return body


def model_of(meta: Mapping[str, Any]) -> EmbeddingModel:
    """The model whose vectors an index holds. Raises LookupError, TypeError, ValueError when the index is none of ours."""
    weak, strong = float(meta["weak_below"]), float(meta["strong_above"])
    return EmbeddingModel(str(meta["model"]), int(meta["dimensions"]), weak, strong)


def _settings(layout: Layout) -> dict[str, Any]:
    if not layout.managed:
        return {"knn": True}
    return {
        "knn": True,
        "knn.advanced.approximate_threshold": layout.graph_from,
        "number_of_shards": layout.shards,
        "number_of_replicas": layout.replicas,
        "similarity": {field: _similarity(field) for field in (TURN, WINDOW)},
    }


def _similarity(field: str) -> dict[str, Any]:
    """BM25 (k1 1.5, b .75) without what the shard's other documents would say: their number and their mean length."""
    idf = f"Math.log(1 + {_USUAL_DOCUMENTS} / (term.docFreq + 0.5))"
    frequency = f"doc.freq / (doc.freq + 1.5 * (0.25 + 0.75 * doc.length / {_USUAL_LENGTH[field]}))"
    return {"type": "scripted", "script": {"source": f"return query.boost * {idf} * {frequency};"}}


def _properties(model: EmbeddingModel, layout: Layout) -> dict[str, Any]:
    keyword, number = {"type": "keyword"}, {"type": "integer"}
    kept = {"type": "keyword", "index": False, "doc_values": False}
    return {
        "key": keyword,
        "owner": keyword,
        "document_id": kept,
        "kind": keyword,
        "ref": kept,
        "session": kept,
        "speaker": kept,
        "role": kept,
        "level": {"type": "long"},
        "compartments": keyword,
        "compartment_count": number,
        "epoch": {"type": "long", "index": False},
        "occurred_at": {"type": "long"},
        "length": number,
        "window_length": number,
        TURN: _lexical(TURN, layout),
        WINDOW: _lexical(WINDOW, layout),
        "found_by": {"type": "object", "enabled": False},
        VECTOR: _vector(model.dimensions, layout),
    }


def _lexical(field: str, layout: Layout) -> dict[str, Any]:
    """Our own tokens, as many values as there are: nothing is analysed again, and how often each stands there is kept."""
    mapped = {"type": "text", "analyzer": "keyword", "index_options": "freqs"}
    return {**mapped, "similarity": field} if layout.managed else mapped


def _vector(dimensions: int, layout: Layout) -> dict[str, Any]:
    mapped: dict[str, Any] = {"type": "knn_vector", "dimension": dimensions}
    if not layout.managed:
        return {**mapped, "method": {"name": "hnsw", "engine": layout.engine, "space_type": "innerproduct"}}
    if layout.engine == "lucene":
        mapped["data_type"] = "byte"
    return {**mapped, "method": {"name": "hnsw", "engine": layout.engine, "space_type": "cosinesimil"}}
