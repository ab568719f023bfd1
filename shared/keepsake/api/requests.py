"""Bodies of requests: validated strictly, unknown fields refused. What goes inward is a command, never a body."""

import re
from collections.abc import Mapping
from typing import Annotated, Any, Literal, TypeVar

from pydantic import (
    AfterValidator,
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    ValidationError,
    WithJsonSchema,
    model_validator,
)

from keepsake.api.wire import rfc_3339
from keepsake.domain.clearance import OPEN, Clearance
from keepsake.domain.context import Tier
from keepsake.domain.errors import InvalidRequestError, ModelNotConfiguredError, TooLargeError
from keepsake.domain.knowledge import MAX_TITLE_CHARACTERS
from keepsake.domain.profile import ProfileEdit
from keepsake.domain.text import has_nul, is_blank
from keepsake.domain.turns import Role
from keepsake.ports.recall import RecallWish
from keepsake.services.context_windows import HostItem, WindowWish
from keepsake.services.sessions import PutArtifact
from keepsake.services.turns import TakeTurn

# One Lambda call carries 6 MB; what is escaped in JSON on the way out must fit it again.
MAX_BODY_BYTES = 4 * 1024 * 1024
MAX_ITEMS_CHARACTERS = 1024 * 1024
MAX_ITEMS = 500
MAX_NAME_CHARACTERS = 128
MAX_TOKENS = 2_000_000
_MAX_FINDINGS = 20


# What pydantic names beside fields and numbers of entries: the members of a union.
_MEMBERS = frozenset({"str", "int", "float", "dict", "TextPart", "OtherPart", "ClearanceBody", "NamedEntry", "LevelledEntry"})
_FIELD = re.compile(r"[A-Za-z_]\w{0,63}")


def _storable(text: str) -> str:
    if has_nul(text):
        raise ValueError("holds a NUL character")
    return text


def _spoken(text: str) -> str:
    if is_blank(text):
        raise ValueError("is blank")
    return text


def _single_line(text: str) -> str:
    # A name stands before what is said, in the context window: with a line break it could pretend to be somebody else's words.
    if len(text.splitlines()) != 1 or not text.replace("\t", " ").isprintable():
        raise ValueError("holds a line break or a control character")
    return text


def _zoned(given: object) -> int:
    if not isinstance(given, str):
        raise ValueError("is not an RFC 3339 time in a string")  # noqa: TRY004 - pydantic takes ValueError as a finding
    try:
        return rfc_3339(given)
    except ValueError:
        raise ValueError("is not an RFC 3339 time with a zone, from 1900 on") from None


def _not_text(kind: str) -> str:
    if kind == "text":
        raise ValueError("a text part has a text")
    return kind


Spoken = Annotated[str, AfterValidator(_storable), AfterValidator(_spoken)]
Storable = Annotated[str, AfterValidator(_storable)]
Name = Annotated[str, Field(min_length=1, max_length=MAX_NAME_CHARACTERS), AfterValidator(_spoken), AfterValidator(_single_line)]
Title = Annotated[
    str, Field(min_length=1, max_length=MAX_TITLE_CHARACTERS), AfterValidator(_spoken), AfterValidator(_single_line)
]
Milliseconds = Annotated[int, BeforeValidator(_zoned), WithJsonSchema({"type": "string", "format": "date-time"})]
TokenCount = Annotated[int, Field(ge=0, le=MAX_TOKENS)]


class Body(BaseModel):
    """A request's body: no unknown fields, no silent conversions. A field that is null counts as not given."""

    model_config = ConfigDict(extra="forbid", strict=True, frozen=True)

    @model_validator(mode="before")
    @classmethod
    def _without_nulls(cls, given: Any) -> Any:
        return {name: value for name, value in given.items() if value is not None} if isinstance(given, dict) else given


class TextPart(BaseModel):
    """A part of a message that is text. Other fields of a part are the host's own and are not kept."""

    model_config = ConfigDict(extra="ignore", strict=True, frozen=True)
    type: Literal["text"]
    text: Storable


class OtherPart(BaseModel):
    """A part that is not text: an image, a tool's call. It is noted by its type."""

    model_config = ConfigDict(extra="ignore", strict=True, frozen=True)
    type: Annotated[str, Field(pattern=r"^[A-Za-z][A-Za-z0-9_.-]{0,63}$"), AfterValidator(_not_text)]


class ClearanceBody(Body):
    """A clearance: a level and compartments."""

    level: Annotated[int, Field(ge=0, le=999_999_999)] = 0
    compartments: Annotated[list[Annotated[str, Field(pattern=r"^\S{1,64}$")]], Field(max_length=32)] = []


ClearanceGiven = Annotated[int, Field(ge=0, le=999_999_999)] | ClearanceBody | None


class ContextItemBody(Body):
    """Something that the host wants in the context."""

    tier: Tier
    text: Spoken
    title: Name | None = None
    score: Annotated[float, Field(ge=0, le=1_000_000, allow_inf_nan=False)] = 0.0
    safety_critical: bool = False


class TurnBody(Body):
    """One message of a session."""

    role: Role
    content: Spoken | Annotated[list[TextPart | OtherPart], Field(min_length=1, max_length=200)]
    name: Name | None = None
    turn_id: str | None = None
    in_reply_to: str | None = None
    occurred_at: Milliseconds | None = None
    mode: Literal["context", "reply"] = "context"
    recall: RecallWish = RecallWish.AUTO
    model_profile: Annotated[str, Field(min_length=1, max_length=64)] = "default"
    context_items: Annotated[list[ContextItemBody], Field(max_length=MAX_ITEMS)] = []
    budget: Annotated[int, Field(ge=1, le=MAX_TOKENS)] | None = None
    system_prompt_tokens: TokenCount = 0
    reply_tokens: TokenCount = 0
    clearance: ClearanceGiven = None

    def command(self, session_id: str) -> TakeTurn:
        """The turn to take. Raises ModelNotConfiguredError, InvalidRequestError and TooLargeError."""
        if self.mode == "reply":
            raise ModelNotConfiguredError("no language model is configured; take the context and post the reply as a turn")
        if sum(len(item.text) for item in self.context_items) > MAX_ITEMS_CHARACTERS:
            raise TooLargeError(f"context_items hold at most {MAX_ITEMS_CHARACTERS} characters in all")
        return TakeTurn(
            session_id=session_id,
            role=self.role,
            text=_text_of(self.content),
            window=self._window(),
            turn_id=self.turn_id,
            name=self.name,
            in_reply_to=self.in_reply_to,
            occurred_at_ms=self.occurred_at,
            clearance=clearance_of(self.clearance),
            recall=self.recall,
        )

    def _window(self) -> WindowWish:
        return WindowWish(
            model_profile=self.model_profile,
            budget=self.budget,
            system_prompt_tokens=self.system_prompt_tokens,
            reply_tokens=self.reply_tokens,
            items=tuple(
                HostItem(item.tier, item.text, item.title, item.score, item.safety_critical) for item in self.context_items
            ),
        )


class ArtifactBody(Body):
    """An artifact of the scratch pad. `version` is the one that it replaces; 0 says that the name is new."""

    content: Storable
    kind: Name = "text"
    version: Annotated[int, Field(ge=0)] | None = None
    clearance: ClearanceGiven = None

    def command(self, session_id: str, name: str) -> PutArtifact:
        """The artifact to put."""
        return PutArtifact(session_id, name, self.kind, self.content, self.version, clearance_of(self.clearance))


class NamedEntry(BaseModel):
    """An entry of the profile as it is read; of what stands beside the name only a level can be set."""

    model_config = ConfigDict(extra="ignore", strict=True, frozen=True)
    name: str


class LevelledEntry(NamedEntry):
    """How much its owner knows of an area, from 0 to 1."""

    level: float


Names = list[str | NamedEntry] | None


class ProfileBody(Body):
    """The profile as its owner wants it: a part that is absent stays as it is. What was read may be sent back whole."""

    interests: Names = None
    expertise: dict[str, float] | list[LevelledEntry] | None = None
    preferences: Names = None
    frequently_used: Names = None
    version: Annotated[int, Field(ge=0)] | None = None
    last_topics: list[Any] | None = Field(None, description="As it was read; not changed by this call.")
    interactions: int | None = Field(None, description="As it was read; not changed by this call.")
    updated_at: str | None = Field(None, description="As it was read; not changed by this call.")

    def edit(self) -> ProfileEdit:
        """The edit to make."""
        return ProfileEdit(
            interests=_names(self.interests),
            expertise=_levels(self.expertise),
            preferences=_names(self.preferences),
            frequently_used=_names(self.frequently_used),
        )


class VerifyBody(Body):
    """Whose audit chains are to be followed (one's own without a user), and where an earlier call stopped."""

    user_id: str | None = None
    next: Annotated[int, Field(ge=0, le=1_000_000_000)] | None = None


B = TypeVar("B", bound=BaseModel)


def parsed(model: type[B], body: bytes) -> B:
    """The body as `model`. Raises InvalidRequestError, which names places and kinds of errors and repeats no value."""
    if len(body) > MAX_BODY_BYTES:
        raise TooLargeError(f"a request body has at most {MAX_BODY_BYTES} bytes")
    try:
        return model.model_validate_json(body or b"null")
    except ValidationError as error:
        found = error.errors(include_url=False, include_context=False, include_input=False)
        # Of a union every member complains: the first one that does stands for all.
        fields = {_place(each): each["msg"].removeprefix("Value error, ") for each in reversed(found)}
        raise InvalidRequestError(
            "the body does not fit this call: see fields", fields=tuple(fields.items())[:_MAX_FINDINGS]
        ) from None


def _place(error: Mapping[str, Any]) -> str:
    named = (part for part in error["loc"] if isinstance(part, int) or (_FIELD.fullmatch(part) and part not in _MEMBERS))
    return ".".join(map(str, named)) or "body"


def _text_of(content: str | list[TextPart | OtherPart]) -> str:
    """The text of a message; parts that are not text stand in it by their type."""
    if isinstance(content, str):
        return content
    text = "\n".join(part.text if isinstance(part, TextPart) else f"[{part.type}]" for part in content)
    if is_blank(text):
        raise InvalidRequestError("the content is blank", fields=(("content", "is blank"),))
    return text


def _names(given: Names) -> tuple[str, ...] | None:
    return None if given is None else tuple(entry if isinstance(entry, str) else entry.name for entry in given)


def _levels(given: dict[str, float] | list[LevelledEntry] | None) -> dict[str, float] | None:
    return {entry.name: entry.level for entry in given} if isinstance(given, list) else given


def clearance_of(given: ClearanceBody | int | None) -> Clearance:
    """The clearance that a body names; an open one where it names none."""
    if given is None:
        return OPEN
    if isinstance(given, int):
        return Clearance(given)
    return Clearance(given.level, frozenset(given.compartments))
