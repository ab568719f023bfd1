"""The story that the README tells, played against a running service and checked step by step.

Users and sessions are new each time, so it can be played on a service that holds other data. It puts that service's clock
46 minutes ahead, for good; so it leaves a mark in the data folder, and a start with the demo does not play it twice.
"""

import secrets
import textwrap
from dataclasses import dataclass, field

from local.client import TICK_READ_S, Client, Json, Reply
from local.folder import DataFolder, write_once
from local.tokens import TokenIssuer
from local.words import counted

ORDINARY_TURN = "store=2 index=0 model=0 embed=0"
# The second one where nothing was indexed yet, so that there is nothing to ask.
RECALLING_TURNS = ("store=3 index=1 model=0 embed=1", "store=3 index=0 model=0 embed=0")
A_RECALL = "store=2 index=1 model=0 embed=1"
AWAY_S = 46 * 60


class StoryError(Exception):
    """The service answered so that the story cannot go on."""


@dataclass(slots=True)
class Teller:
    """Prints the story and keeps what did not come out as told."""

    broken: list[str] = field(default_factory=list)

    def chapter(self, title: str) -> None:
        """A heading."""
        print(f"\n{title}", flush=True)

    def said(self, who: str, text: str) -> None:
        """Something somebody says."""
        print(textwrap.fill(f"{who}: {text}", width=100, initial_indent="  ", subsequent_indent="    "), flush=True)

    def shown(self, text: str) -> None:
        """Something the service answered, indented."""
        print(textwrap.indent(text.rstrip(), "    | ", lambda _line: True), flush=True)

    def check(self, told: str, *, holds: bool) -> None:
        """Something that must have come out."""
        print(f"  [{'ok' if holds else 'NO'}] {told}", flush=True)
        if not holds:
            self.broken.append(told)


@dataclass(frozen=True, slots=True)
class Cast:
    """Who plays: a researcher, somebody else, and the hand on the clock."""

    teller: Teller
    researcher: Client
    stranger: Client
    stage: Client
    session: str

    def turn(self, text: str, *, session: str | None = None, **more: object) -> Reply:
        """The researcher says something."""
        self.teller.said("Researcher", text)
        return self._taken(session or self.session, {"role": "user", "content": text, **more})

    def answer(self, text: str, in_reply_to: str) -> Reply:
        """The host's assistant answers; the host posts its words."""
        self.teller.said("Assistant", text)
        return self._taken(self.session, {"role": "assistant", "content": text, "in_reply_to": in_reply_to})

    def _taken(self, session: str, turn: Json) -> Reply:
        return expected(self.researcher.post_turn(session, turn), "a turn")


def expected(reply: Reply, what: str) -> Reply:
    """The reply if it is a 2xx. Raises StoryError, or LocalError when the service is foreign or has another data folder."""
    if not reply.recognised().ok:
        raise StoryError(f"{what} was answered {reply.status} {reply.code}: {reply.reason}")
    return reply


def play(client: Client, folder: DataFolder) -> int:
    """Play it against the folder's service; 0 when everything came out as told. Raises NoServiceError when nothing answers."""
    client.health().recognised()
    teller = Teller()
    _tell(_cast(client, TokenIssuer(folder.token_key), teller))
    write_once(folder.demo_mark, b"The demo was played here.\n")
    result = f"{len(teller.broken)} of the checks failed." if teller.broken else "All of it came out as told."
    ahead = "The demo puts the service's clock 46 minutes ahead, and there it stays: see `python -m local clock show`."
    print(f"\n{result}\n{ahead}\n", flush=True)
    return 1 if teller.broken else 0


def _cast(client: Client, issuer: TokenIssuer, teller: Teller) -> Cast:
    chance = secrets.token_hex(4)
    return Cast(
        teller=teller,
        researcher=client.as_user(issuer.issue(f"researcher-{chance}")),
        stranger=client.as_user(issuer.issue(f"stranger-{chance}")),
        stage=client.as_user(issuer.issue_control()).patient(TICK_READ_S),
        session=f"cohort-{chance}",
    )


def _tell(cast: Cast) -> None:
    try:
        _first_session(cast)
        _artifact(cast)
        _repeat(cast)
        _another_session(cast)
        _away(cast)
        _learned(cast)
        _known(cast)
        _stranger(cast)
        _audit(cast)
    except StoryError as stopped:
        cast.teller.check(f"the story goes on, but {stopped}", holds=False)


def _first_session(cast: Cast) -> None:
    cast.teller.chapter("A researcher's first session")
    first = cast.turn("I am building a cohort of patients with type 2 diabetes. What is the diabetes prevalence in our data?")
    cast.teller.check(
        "the session is new", holds=first.json["session"]["is_new"] and not first.json["session"]["previous_expired"]
    )
    cast.answer("About 9 percent of adults in the data have a diabetes diagnosis.", in_reply_to=first.json["turn"]["turn_id"])
    second = cast.turn("Now those who take metformin. Just give me the SQL.")
    context = second.json["context"]
    cast.teller.shown(context["text"])
    cast.teller.check("the next turn knows what was said", holds="About 9 percent" in context["text"])
    cast.teller.check(
        "it knows the topic", holds="Active conversation topics: " in context["text"] and "diabetes" in second.json["topics"]
    )
    cast.teller.check(
        f"{context['tokens']} tokens, within the budget of {context['budget']}", holds=context["tokens"] <= context["budget"]
    )
    calls = second.headers["x-keepsake-calls"]
    cast.teller.check(f"it cost {calls}", holds=calls == ORDINARY_TURN)


def _artifact(cast: Cast) -> None:
    cast.teller.chapter("An SQL draft on the scratch pad")
    draft = {"kind": "sql", "content": "SELECT person_id FROM drug_exposure WHERE drug = 'metformin'"}
    expected(cast.researcher.put_artifact(cast.session, "metformin-users", draft), "the draft")
    reply = cast.turn("Only adults, please.", budget=600)
    context = reply.json["context"]
    cast.teller.shown(context["text"])
    cast.teller.check(
        "the draft stands in the context", holds="metformin-users" in context["text"] and "drug_exposure" in context["text"]
    )
    cast.teller.check(f"{context['tokens']} tokens, within a budget of 600", holds=context["tokens"] <= context["budget"] <= 600)


def _repeat(cast: Cast) -> None:
    cast.teller.chapter("A turn that is sent twice, as after a lost answer")
    turn_id = f"turn-{secrets.token_hex(4)}"
    first = cast.turn("Break it down by age.", turn_id=turn_id)
    again = cast.turn("Break it down by age.", turn_id=turn_id)
    same = again.json["turn"]["replayed"] and again.json["turn"]["timestamp_ms"] == first.json["turn"]["timestamp_ms"]
    cast.teller.check("the second answer names the first turn", holds=same)
    logged = [turn["turn_id"] for turn in cast.researcher.all_turns(cast.session)]
    cast.teller.check(f"the log of {len(logged)} turns holds it once", holds=logged.count(turn_id) == 1)


def _another_session(cast: Cast) -> None:
    cast.teller.chapter("Told in one session, recalled in another, before any consolidation")
    cast.turn("I live in Oslo.", session=f"{cast.session}-january", occurred_at="2025-01-10T09:00:00Z")
    reply = cast.turn("Where do I live?", session=f"{cast.session}-question")
    recall, text = reply.json["recall"], reply.json["context"]["text"]
    cast.teller.shown(text)
    cast.teller.check(f"this turn searches ({recall['reason']}), and finds it", holds=recall["ran"] and "Oslo" in text)
    calls = reply.headers["x-keepsake-calls"]
    cast.teller.check(f"it cost {calls}", holds=calls in RECALLING_TURNS)
    cast.turn("I have moved to Rome.", session=f"{cast.session}-march", occurred_at="2025-03-10T09:00:00Z")


def _away(cast: Cast) -> None:
    cast.teller.chapter("46 minutes later")
    expected(cast.stage.call("POST", "/local/clock", {"advance_seconds": AWAY_S}), "the clock")
    reply = cast.turn("Where were we?")
    session, context = reply.json["session"], reply.json["context"]
    cast.teller.check("the session has started anew, and says so", holds=session["is_new"] and session["previous_expired"])
    cast.teller.check("the old turns are no part of it any more", holds="## Working Memory" not in context["text"])
    cast.teller.check("nothing is lost: the log has them all", holds=len(cast.researcher.all_turns(cast.session)) >= 5)


def _learned(cast: Cast) -> None:
    cast.teller.chapter("What was learned, once the schedule has run")
    outcome = expected(cast.stage.call("POST", "/local/tick", {"run": "consolidation"}), "consolidation").json["consolidation"]
    cast.teller.shown(f"consolidation: {counted(outcome['sent'], 'session')} put on the queue")
    reply = cast.turn("Good morning.", session=f"{cast.session}-next")
    text = reply.json["context"]["text"]
    cast.teller.shown(text)
    cast.teller.check("a new session is greeted", holds=reply.json["session"]["is_new"] and "Welcome back" in text)
    interests = [line for line in text.splitlines() if "Research interests: " in line]
    cast.teller.check("the research interests are known", holds=any("diabetes" in line for line in interests))


def _known(cast: Cast) -> None:
    cast.teller.chapter("What is known, and where it comes from")
    listed = expected(cast.researcher.list_memories(attribute="home", past="true"), "the list of memories").json["memories"]
    for memory in listed:
        cast.teller.shown(f"{memory['attribute']}: {memory['value']}, {_day(memory['valid_from'])} to {_day(memory['valid_to'])}")
    values = {memory["value"]: memory for memory in listed}
    cast.teller.check(
        "the move is history: Oslo until it, Rome since",
        holds=set(values) == {"Oslo", "Rome"} and values["Oslo"]["valid_to"] == values["Rome"]["valid_from"],
    )
    in_february = expected(cast.researcher.list_memories(attribute="home", as_of="2025-02-15"), "a past day").json["memories"]
    cast.teller.check("in February 2025 it was Oslo", holds=[memory["value"] for memory in in_february] == ["Oslo"])
    found = expected(cast.researcher.recall("In which city do I live?", kinds=["memory"]), "recall")
    hit = next(iter(found.json["hits"]), None) or {"text": "nothing", "parts": {}, "source": {}, "score": 0.0}
    parts = ", ".join(f"{name} {part:.2f}" for name, part in hit["parts"].items())
    cast.teller.said("Researcher", "(POST /v1/recall) In which city do I live?")
    cast.teller.shown(f"{hit['text']}\nscore {hit['score']:.2f} = {parts}\nfrom {hit['source']}")
    cast.teller.check(
        "the best hit is Rome, with its source and what its score is made of",
        holds="Rome" in hit["text"] and hit["source"].get("session_id") == f"{cast.session}-march" and len(hit["parts"]) > 1,
    )
    cast.teller.check(f"it cost {found.headers['x-keepsake-calls']}", holds=found.headers["x-keepsake-calls"] == A_RECALL)
    about = cast.turn("What do you know about me?", session=f"{cast.session}-about")
    text = about.json["context"]["text"]
    cast.teller.shown(text)
    cast.teller.check("the answer's context knows", holds="## User History" in text and "Rome" in text and "Oslo" not in text)


def _day(time: str | None) -> str:
    return time[:10] if time else "now"


def _stranger(cast: Cast) -> None:
    cast.teller.chapter("Somebody else")
    reply = expected(cast.stranger.post_turn(cast.session, {"role": "user", "content": "What do you know of me?"}), "a turn")
    text = reply.json["context"]["text"]
    alone = reply.json["session"]["is_new"] and "metformin" not in text and "diabetes" not in text
    cast.teller.check("under the same session id, finds a new session and nothing of the researcher's", holds=alone)
    foreign = cast.stranger.get_turns(f"{cast.session}-next")
    cast.teller.check("a guessed session id is 404, as one that never was", holds=foreign.status == 404)


def _audit(cast: Cast) -> None:
    cast.teller.chapter("The audit")
    found = expected(cast.researcher.verify_audit(), "verification").json
    cast.teller.check(
        f"{found['entries']} entries in {found['chains']} chains hold together", holds=found["valid"] and found["complete"]
    )
