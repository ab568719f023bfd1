"""SearchIndex on OpenSearch: a managed domain or a node of one's own (2.19 or newer), or a serverless collection.

Serverless collections give ids themselves, know no routing and cannot be refreshed: there a document that is put again is looked
for and its old copy removed, and one that is put is found when the collection has refreshed itself.
"""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, TypeVar

from keepsake.adapters.opensearch_answers import found_in, is_gone, nothing_found, page_in, refusal, written
from keepsake.adapters.opensearch_client import Limits, SearchClient, answer_read, as_json, open_client
from keepsake.adapters.opensearch_documents import fields_of, key_of, routing_of
from keepsake.adapters.opensearch_mapping import Layout, index_body, model_of, write_alias
from keepsake.adapters.opensearch_queries import owned, page_body, search_lines, searched_terms
from keepsake.domain.errors import IndexUnavailableError
from keepsake.domain.search import Found, IndexDocument, IndexQuery
from keepsake.ports.embedding import EmbeddingModel
from keepsake.ports.search_index import NO_INDEX, IndexedPage, Location, NotIndexed, PhysicalIndex
from keepsake.ports.surroundings import Chance, Clock

T = TypeVar("T")

# Of one bulk request. Small domains refuse requests over 10 MB.
_MOST_BYTES = 4_000_000
_MOST_DOCUMENTS = 500
_ASIDE = "?ignore_unavailable=true&allow_no_indices=true"


class OpenSearchIndex:
    """See SearchIndex."""

    def __init__(self, client: SearchClient, *, alias: str, layout: Layout | None = None) -> None:
        self._client = client
        self._alias = alias
        self._layout = layout or Layout()
        self._models: dict[str, EmbeddingModel] = {}  # an index never changes its model
        self._touched: set[str] = set()

    def current(self) -> PhysicalIndex | None:
        """See SearchIndex."""
        answer = self._client.write("the look at an index", "GET", f"/{self._alias}/_mapping", fine=(404,))
        if "error" in answer or not answer:
            return None
        counting = {"size": 0, "track_total_hits": True}
        counted = self._client.write("a count", "POST", f"/{self._alias}/_search{_ASIDE}", counting)
        with answer_read("the look at an index"):
            name = max(answer)
            model = model_of(answer[name]["mappings"]["_meta"])
            return PhysicalIndex(name, model, counted["hits"]["total"]["value"])

    def create(self, name: str, model: EmbeddingModel) -> None:
        """See SearchIndex."""
        body = index_body(name, model, self._layout)
        if self._model_in(name) is None:
            answer = self._client.write("the making of an index", "PUT", f"/{name}", body, fine=(400,))
            if "error" in answer and self._model_in(name) is None:  # else somebody else made it just now
                raise IndexUnavailableError("the making of an index failed (status 400)")
        there = self._model_in(name)
        if there is None or (there.name, there.dimensions) != (model.name, model.dimensions):
            raise ValueError("an index of that name holds vectors of another model")

    def switch(self, name: str) -> None:
        """See SearchIndex."""
        if self._model_in(name) is None:
            raise ValueError("there is no index of that name")
        answer = self._client.write("the look at an alias", "GET", f"/_alias/{self._alias}", fine=(404,))
        others = [] if "error" in answer else sorted(set(answer) - {name})
        actions: list[dict[str, Any]] = [{"remove": {"index": other, "alias": self._alias}} for other in others]
        actions.append({"add": {"index": name, "alias": self._alias}})
        self._client.write("the switch of an alias", "POST", "/_aliases", {"actions": actions})

    def drop(self, name: str) -> None:
        """See SearchIndex."""
        self._client.write("the removal of an index", "DELETE", f"/{name}", fine=(404,))
        self._forget(name)

    def put(self, documents: Sequence[IndexDocument], *, index: str) -> tuple[Location | NotIndexed, ...]:
        """See SearchIndex."""
        if not documents:
            return ()
        model = self._models.get(index) or self._model_in(index)
        if model is None:
            return (refusal(404),) * len(documents)
        if any(document.vector.dimensions != model.dimensions for document in documents):
            raise ValueError("a vector has not the dimensions of the index")
        keys = [key_of(document.owner, document.document_id) for document in documents]
        last = dict(zip(keys, documents, strict=True))
        old = {} if self._layout.managed else self._copies(sorted(last), index)
        self._touched.add(index)
        outcomes = self._written(last, index)
        if any(isinstance(outcome, NotIndexed) and outcome.code == NO_INDEX for outcome in outcomes.values()):
            self._forget(index)  # somebody else has dropped it
        self.delete([copy for key, outcome in outcomes.items() if isinstance(outcome, Location) for copy in old.get(key, ())])
        return tuple([outcomes[key] for key in keys])

    def delete(self, locations: Sequence[Location]) -> tuple[bool, ...]:
        """See SearchIndex."""
        gone: list[bool] = []
        for batch in _batches([(location, as_json({"delete": _address(location)}) + b"\n") for location in locations]):
            items = self._bulk([line for _, line in batch])
            with answer_read("a bulk"):
                gone.extend([is_gone(item) for item in items])
        self._touched.update(location.index for location in locations)
        return tuple(gone)

    def search(self, query: IndexQuery) -> Found:
        """See SearchIndex. Of a query's terms the first 512, shared among its owners, are looked for."""
        if not query.owners or not query.kinds:
            return nothing_found(query)
        wait = round(self._client.limits.read * 900)
        lines = search_lines(query, index=query.index or self._alias, layout=self._layout, milliseconds=wait)
        answer = self._client.read("a search", "/_msearch", lines)
        with answer_read("a search"):
            return found_in(answer, query, searched_terms(query), len(lines) // 2)

    def list_owned(self, owner: str, *, limit: int, after: str | None = None) -> IndexedPage:
        """See SearchIndex."""
        routing = f"&routing={routing_of(owner)}" if self._layout.managed else ""
        return self._page(f"/{self._alias}/_search{_ASIDE}{routing}", owned(owner), limit=limit, after=after)

    def list_all(self, index: str, *, limit: int, after: str | None = None) -> IndexedPage:
        """See SearchIndex."""
        return self._page(f"/{index}/_search{_ASIDE}", {"match_all": {}}, limit=limit, after=after)

    def refresh(self) -> None:
        """See SearchIndex. Serverless collections cannot be asked to: there it does nothing."""
        if self._layout.managed:
            names = ",".join(sorted({self._alias, *self._touched}))
            self._client.write("a refresh", "POST", f"/{names}/_refresh{_ASIDE}")

    def _model_in(self, name: str) -> EmbeddingModel | None:
        answer = self._client.write("the look at an index", "GET", f"/{name}/_mapping", fine=(404,))
        if "error" in answer:
            return None
        with answer_read("the look at an index"):
            self._models[name] = model_of(answer[name]["mappings"]["_meta"])
        return self._models[name]

    def _forget(self, name: str) -> None:
        self._models.pop(name, None)
        self._touched.discard(name)

    def _page(self, path: str, query: Mapping[str, Any], *, limit: int, after: str | None) -> IndexedPage:
        answer = self._client.write("a listing", "POST", path, page_body(query, limit=limit, after=after))
        with answer_read("a listing"):
            return page_in(answer, limit=limit, routing=self._routing)

    def _routing(self, owner: str) -> str:
        return routing_of(owner) if self._layout.managed else ""

    def _put_lines(self, document: IndexDocument, index: str) -> bytes:
        # By its own name OpenSearch would make an index that is not there (any more), with a mapping of its own choice.
        address: dict[str, Any] = {"_index": write_alias(index), "require_alias": True}
        if self._layout.managed:
            address |= {"_id": key_of(document.owner, document.document_id), "routing": routing_of(document.owner)}
        fields = fields_of(document, unit_vector=self._layout.unit_vectors)
        return as_json({"index": address}) + b"\n" + as_json(fields) + b"\n"

    def _bulk(self, batch: Sequence[bytes]) -> Sequence[Mapping[str, Any]]:
        answer = self._client.write("a bulk", "POST", "/_bulk", b"".join(batch))
        with answer_read("a bulk"):
            items: Sequence[Mapping[str, Any]] = answer["items"]
            if len(items) != len(batch):
                raise ValueError("not as many outcomes as documents")
            return items

    def _written(self, documents: Mapping[str, IndexDocument], index: str) -> dict[str, Location | NotIndexed]:
        """The outcome of each, by key. Raises only when no part of them was answered."""
        outcomes: dict[str, Location | NotIndexed] = {}
        failures: list[IndexUnavailableError] = []
        answered = False
        lines = {key: self._put_lines(document, index) for key, document in documents.items()}
        for batch in _batches(list(lines.items())):
            keys = [key for key, _ in batch]
            try:
                items = self._bulk([line for _, line in batch])
                with answer_read("a bulk"):
                    routings = [self._routing(documents[key].owner) for key in keys]
                    outcomes |= zip(keys, map(written, items, routings), strict=True)
                answered = True
            except IndexUnavailableError as error:
                failures.append(error)
                outcomes |= dict.fromkeys(keys, refusal(503))
        if failures and not answered:
            raise failures[0]
        return outcomes

    def _copies(self, keys: Sequence[str], index: str) -> dict[str, list[Location]]:
        """What stands in the index under these keys, by key: one document each, or more after a race."""
        found: dict[str, list[Location]] = {}
        for at in range(0, len(keys), _MOST_DOCUMENTS):
            asked = {"bool": {"filter": [{"terms": {"key": list(keys[at : at + _MOST_DOCUMENTS])}}]}}
            page = self._page(f"/{index}/_search{_ASIDE}", asked, limit=2 * _MOST_DOCUMENTS, after=None)
            for one in page.documents:
                found.setdefault(key_of(one.owner, one.document_id), []).append(one.location)
        return found


def _address(location: Location) -> dict[str, str]:
    address = {"_index": location.index, "_id": location.id}
    return {**address, "routing": location.routing} if location.routing else address


def _batches(lines: Sequence[tuple[T, bytes]]) -> Iterator[list[tuple[T, bytes]]]:
    """The lines in their order, as many at once as one request may hold."""
    batch: list[tuple[T, bytes]] = []
    size = 0
    for whose, line in lines:
        if batch and (len(batch) == _MOST_DOCUMENTS or size + len(line) > _MOST_BYTES):
            yield batch
            batch, size = [], 0
        batch.append((whose, line))
        size += len(line)
    if batch:
        yield batch


def open_search_index(  # noqa: PLR0913 - what one says of an endpoint
    url: str,
    *,
    alias: str,
    service: str,
    region: str | None,
    clock: Clock,
    chance: Chance,
    limits: Limits | None = None,
    layout: Layout | None = None,
) -> OpenSearchIndex:
    """The index at `url`; nothing is sent yet. `service`: `es` (managed domain), `aoss` (serverless collection) or `none`
    (nothing is signed). `layout` says how indexes are made. Raises ValueError as `open_client` does.
    """
    client = open_client(url, service=service, region=region, clock=clock, chance=chance, limits=limits)
    return OpenSearchIndex(client, alias=alias, layout=layout or Layout.of(service))
