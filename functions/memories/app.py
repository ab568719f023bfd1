"""Long-term memory: list it, tell something, correct, confirm, deny, forget, and see what was held before."""

from keepsake.api.http import Request, Response, Route, http_handler
from keepsake.api.memory_requests import MemoryBody, MemoryConfirmationBody, MemoryCorrectionBody, memory_wish
from keepsake.api.memory_responses import history_read, memories_listed, memory_read
from keepsake.api.requests import parsed
from keepsake.api.wire import page_size, text_position
from keepsake.bootstrap import Runtime


def list_memories(services: Runtime, request: Request) -> Response:
    """What is known of the caller, in pages; on a past day with `as_of`, with what holds no longer by `past=true`."""
    page = services.learning.memory_keeping.page(
        request.principal, memory_wish(request.query), limit=page_size(request.query), after=text_position(request.query)
    )
    return Response(memories_listed(page))


def tell_memory(services: Runtime, request: Request) -> Response:
    """Remember what the caller says."""
    memory = services.learning.memory_keeping.tell(request.principal, parsed(MemoryBody, request.body).command())
    return Response(memory_read(memory), status=201)


def read_memory(services: Runtime, request: Request) -> Response:
    """One memory."""
    return Response(memory_read(services.learning.memory_keeping.read(request.principal, request.id("memory_id", "memory id"))))


def correct_memory(services: Runtime, request: Request) -> Response:
    """What is right instead; the answer is the memory that took the place."""
    correction = parsed(MemoryCorrectionBody, request.body).command()
    memory = services.learning.memory_keeping.correct(request.principal, request.id("memory_id", "memory id"), correction)
    return Response(memory_read(memory))


def forget_memory(services: Runtime, request: Request) -> Response:
    """Remove a memory; it is not learned again from what was said."""
    services.learning.memory_keeping.forget(request.principal, request.id("memory_id", "memory id"))
    return Response(None, status=204)


def read_history(services: Runtime, request: Request) -> Response:
    """All that was ever held of the same thing, in order."""
    return Response(
        history_read(services.learning.memory_keeping.history(request.principal, request.id("memory_id", "memory id")))
    )


def confirm_memory(services: Runtime, request: Request) -> Response:
    """The caller confirms a memory, or denies it."""
    holds = parsed(MemoryConfirmationBody, request.body).confirmed
    memory = services.learning.memory_keeping.confirm(request.principal, request.id("memory_id", "memory id"), holds=holds)
    return Response(memory_read(memory))


_FILTERS = ("type", "subject", "attribute", "as_of", "past", "limit", "next")
ROUTES = (
    Route("GET /v1/memories", list_memories, query=_FILTERS),
    Route("POST /v1/memories", tell_memory, body=MemoryBody, status=201),
    Route("GET /v1/memories/{memory_id}", read_memory),
    Route("PATCH /v1/memories/{memory_id}", correct_memory, body=MemoryCorrectionBody),
    Route("DELETE /v1/memories/{memory_id}", forget_memory, status=204),
    Route("GET /v1/memories/{memory_id}/history", read_history),
    Route("POST /v1/memories/{memory_id}/confirm", confirm_memory, body=MemoryConfirmationBody),
)
lambda_handler = http_handler(ROUTES)
