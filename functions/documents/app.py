"""Knowledge documents: stories, transcripts, help pages; the caller's own, or the institution's."""

from keepsake.api.http import Request, Response, Route, http_handler
from keepsake.api.memory_requests import DocumentBody
from keepsake.api.memory_responses import document_read
from keepsake.api.requests import parsed
from keepsake.bootstrap import Runtime


def put_document(services: Runtime, request: Request) -> Response:
    """Keep a document, whole, in place of any of the same id. It is found as soon as it is indexed."""
    command = parsed(DocumentBody, request.body).command()
    document, is_new = services.learning.knowledge.put(request.principal, command)
    answer = document_read(document, institutional=command.institutional, whole=False)
    return Response(answer, status=201 if is_new else 200)


def read_document(services: Runtime, request: Request) -> Response:
    """A document with its text."""
    document, institutional = services.learning.knowledge.read(request.principal, request.id("document_id", "document id"))
    return Response(document_read(document, institutional=institutional))


def delete_document(services: Runtime, request: Request) -> Response:
    """Remove a document and all its passages."""
    services.learning.knowledge.delete(request.principal, request.id("document_id", "document id"))
    return Response(None, status=204)


ROUTES = (
    Route("POST /v1/documents", put_document, body=DocumentBody, status=201),
    Route("GET /v1/documents/{document_id}", read_document),
    Route("DELETE /v1/documents/{document_id}", delete_document, status=204),
)
lambda_handler = http_handler(ROUTES)
