"""The command line: `python -m local serve|token|tick|clock|replay|recall|reindex|demo`.

What the person at the keyboard can mend is said in one line, with exit code 1.
"""

import argparse
import re
import sys
import threading
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path

from local.client import DEFAULT_URL, QUICK_READ_S, TICK_READ_S, Client, NoServiceError, Reply, service_url
from local.clock import parse_duration
from local.folder import DEFAULT_FOLDER, DataFolder, LocalError, known_folder, open_folder
from local.tokens import Grant, TokenIssuer
from local.words import counted

SAID_EVERY_S, POLLED_EVERY_S = 5.0, 1.0
_CONTROL = dict.fromkeys([*range(0x20), *range(0x7F, 0xA0)], " ")


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one command; the exit code."""
    try:
        wishes = _wishes(sys.argv[1:] if arguments is None else arguments)
        code: int = wishes.command(wishes)
    except (LocalError, NoServiceError) as error:
        print(f"keepsake: {error}", file=sys.stderr)
        return 1
    except BrokenPipeError:  # the reader of our output has seen enough
        sys.stderr.close()
        return 1
    except OSError as error:  # a full disk, a folder that may not be read
        print(f"keepsake: {error.filename or 'a file'} cannot be used: {error.strerror}", file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        return 130
    return code


def _wishes(arguments: Sequence[str]) -> argparse.Namespace:
    # argparse would take such a time for an option, and say that the time is missing.
    if any(re.fullmatch(r"-\d+[dhms]\w*", argument) for argument in arguments):
        raise LocalError("a time is longer than nothing, and the clock only goes forward: write 5m, not -5m")
    return _parser().parse_args(arguments)


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="python -m local", description="Keepsake on one machine: the real handlers behind an HTTP gateway."
    )
    commands = parser.add_subparsers(required=True, metavar="COMMAND")
    _add_serve(commands)
    _add_token(commands)
    _add_tick(commands)
    _add_clock(commands)
    _add_replay(commands)
    _add_recall(commands)
    reindex = _command(
        commands, "reindex", "fill a new search index, as another embedding model needs it, and wait for it", _reindex, talks=True
    )
    reindex.description = "Reads go on meanwhile, on the index that is there. What is said meanwhile is consolidated afterwards."
    demo = _command(
        commands, "demo", "play the story of the README against a running service and check each step", _demo, talks=True
    )
    demo.description = (
        "Exits 0 when every step came out as told. Makes its own users, so it can be played again and again. "
        "Each time, it puts the service's clock 46 minutes ahead, where it stays."
    )
    return parser


def _add_serve(commands: "argparse._SubParsersAction[argparse.ArgumentParser]") -> None:
    serve = _command(commands, "serve", "start the service; stop it with Ctrl-C", _serve)
    serve.add_argument("--port", type=int, default=3000, help="port on 127.0.0.1; 0 takes a free one (default: 3000)")
    serve.add_argument("--fresh", action="store_true", help="forget everything in the data folder first, keys and clock too")
    serve.add_argument(
        "--stores",
        choices=("sqlite", "dynamodb"),
        default="sqlite",
        help="where items are kept (default: sqlite, in the data folder)",
    )
    serve.add_argument(
        "--endpoint", metavar="URL", help="the DynamoDB endpoint for --stores dynamodb, such as http://127.0.0.1:5000"
    )
    serve.add_argument(
        "--demo",
        action="store_true",
        help="play the demo if the data folder has not seen it yet, show how to call the API, and keep serving",
    )
    serve.add_argument(
        "--cors-origin",
        metavar="ORIGIN",
        action="append",
        default=[],
        help="a web page's origin that may call the API (repeatable)",
    )


def _add_token(commands: "argparse._SubParsersAction[argparse.ArgumentParser]") -> None:
    token = _command(commands, "token", "print a bearer token for a user and nothing else", _token)
    token.add_argument("user", metavar="USER", help="the user's id, in any script")
    token.add_argument("--admin", action="store_true", help="make the user an admin")
    token.add_argument("--clearance", type=int, default=0, metavar="N", help="clearance level, 0 or more (default: 0)")
    token.add_argument(
        "--compartment", action="append", default=[], metavar="X", help="a compartment the user is cleared for (repeatable)"
    )
    token.add_argument(
        "--ttl", default="12h", metavar="TIME", help="how long it is valid, in real time: 90s, 30m, 12h, 7d (default: 12h)"
    )


def _add_tick(commands: "argparse._SubParsersAction[argparse.ArgumentParser]") -> None:
    tick = _command(commands, "tick", "run the schedules now and wait for them", _tick, talks=True)
    tick.add_argument(
        "run",
        nargs="?",
        default="all",
        metavar="SCHEDULE",
        choices=("consolidation", "retention", "all"),
        help="which one: consolidation, retention or all (default: all)",
    )


def _add_clock(commands: "argparse._SubParsersAction[argparse.ArgumentParser]") -> None:
    clock = commands.add_parser("clock", help="show the service's clock or put it forward")
    ways = clock.add_subparsers(required=True, metavar="COMMAND")
    _command(ways, "show", "what time the service takes it to be", _clock_show, talks=True)
    advance = _command(
        ways, "advance", "put the clock forward, so that expiry and schedules can be tried", _clock_advance, talks=True
    )
    advance.add_argument("duration", metavar="TIME", help="46m, 2h, 7d, 90s or 1h30m")


def _add_recall(commands: "argparse._SubParsersAction[argparse.ArgumentParser]") -> None:
    recall = _command(commands, "recall", "search a user's past, as POST /v1/recall does", _recall, talks=True)
    recall.add_argument("user", metavar="USER", help="whose past")
    recall.add_argument("query", metavar="QUERY", help="what is looked for")
    recall.add_argument("--limit", type=int, default=5, metavar="N", help="at most so many hits, up to 50 (default: 5)")


def _add_replay(commands: "argparse._SubParsersAction[argparse.ArgumentParser]") -> None:
    replay = _command(commands, "replay", "feed a JSON Lines conversation through the API", _replay, talks=True)
    replay.add_argument(
        "file",
        type=Path,
        metavar="FILE",
        help="a turn a line: user_id, session_id, turn_id, role, content and, if any, name, in_reply_to, occurred_at, clearance",
    )
    replay.description = (
        "Each user's turns go in the file's order, under a token of that user which is cleared for all of them. "
        "Safe to repeat: a turn that is known already is not written again."
    )


def _command(
    commands: "argparse._SubParsersAction[argparse.ArgumentParser]", name: str, does: str, run: object, *, talks: bool = False
) -> argparse.ArgumentParser:
    command: argparse.ArgumentParser = commands.add_parser(name, help=does, description=f"{does[0].upper()}{does[1:]}.")
    command.add_argument(
        "--data", type=_folder, metavar="DIR", help=f"the data folder, with keys and stores (default: {DEFAULT_FOLDER})"
    )
    if talks:
        command.add_argument("--url", type=service_url, default=DEFAULT_URL, help=f"the running service (default: {DEFAULT_URL})")
    command.set_defaults(command=run)
    return command


def _folder(text: str) -> Path:
    if not text.strip():
        raise LocalError("--data names a folder; it is empty here")
    return Path(text)


def _serve(wishes: argparse.Namespace) -> int:
    from local.service import ServiceWishes, serve  # noqa: PLC0415 - loads handlers and vendors, which no other command needs

    return serve(
        ServiceWishes(
            data=wishes.data or DEFAULT_FOLDER,
            port=wishes.port,
            fresh=wishes.fresh,
            stores=wishes.stores,
            endpoint=wishes.endpoint,
            demo=wishes.demo,
            cors_origins=tuple(wishes.cors_origin),
        )
    )


def _token(wishes: argparse.Namespace) -> int:
    path = wishes.data or DEFAULT_FOLDER
    if not path.exists():  # a token may be wanted before the first start; or the name is misspelt
        print(f"keepsake: {path} is a new data folder; the token is for a service that is started on it", file=sys.stderr)
    folder = open_folder(path)
    issuer = TokenIssuer(folder.token_key)
    grant = Grant(wishes.admin, wishes.clearance, tuple(wishes.compartment))
    print(issuer.issue(wishes.user, grant, ttl_s=parse_duration(wishes.ttl)))
    return 0


def _tick(wishes: argparse.Namespace) -> int:
    control = _control(wishes)
    with _waiting(control):
        reply = _told(control.patient(TICK_READ_S).call("POST", "/local/tick", {"run": wishes.run}))
    needs_reindex = False
    for name, outcome in reply.json.items():
        print(f"{name}: {_counts(outcome) or 'done'}")
        needs_reindex |= isinstance(outcome, dict) and outcome.get("needs_reindex") is True
    if needs_reindex:
        raise LocalError("nothing was consolidated, since the index is of another embedding model: `python -m local reindex`")
    return 0


@contextmanager
def _waiting(control: Client) -> Iterator[None]:
    """Says every few seconds what the queues hold, while the block waits."""
    done = threading.Event()

    def tell() -> None:
        while not done.wait(SAID_EVERY_S):
            with suppress(NoServiceError, ValueError):
                queues = control.call("GET", "/local/queues").json
                print("; ".join(f"{name}: {_counts(counts)}" for name, counts in queues.items()), file=sys.stderr, flush=True)

    teller = threading.Thread(target=tell, name="progress", daemon=True)
    teller.start()
    try:
        yield
    finally:
        done.set()


def _counts(outcome: object) -> str:
    if not isinstance(outcome, dict):
        return str(outcome)
    return " ".join(f"{name}={str(count).lower() if isinstance(count, bool) else count}" for name, count in outcome.items())


def _recall(wishes: argparse.Namespace) -> int:
    client = Client(wishes.url, TokenIssuer(_known(wishes).token_key).issue(wishes.user))
    found = _told(client.recall(wishes.query, limit=wishes.limit)).json
    for hit in found["hits"]:
        print(f"{hit['score']:.2f} {hit['kind']}, {hit['occurred_at'][:10]}: {_in_one_line(hit['text'])}")
    if found["degraded"]:
        print(f"keepsake: this is not all that recall could find: {found['reason']}", file=sys.stderr)
    return 0


def _in_one_line(text: str) -> str:
    """Without what a terminal would obey."""
    return " ".join(text.translate(_CONTROL).split())


def _reindex(wishes: argparse.Namespace) -> int:
    issuer = TokenIssuer(_known(wishes).token_key)
    admin = Client(wishes.url, issuer.issue("local-admin", Grant(admin=True)))
    job = _told(admin.start_reindex()).json
    while job["status"] == "running":
        time.sleep(POLLED_EVERY_S)
        job = _told(admin.get_reindex(job["job_id"])).json
        print(f"{job['progress']['done']} of {job['progress']['total']} documents", file=sys.stderr, flush=True)
    print(f"{job['to_index']}: {job['status']}, {_counts(job['progress'])}")
    return 0


def _clock_show(wishes: argparse.Namespace) -> int:
    return _print_time(_told(_control(wishes).call("GET", "/local/clock")))


def _clock_advance(wishes: argparse.Namespace) -> int:
    seconds = parse_duration(wishes.duration)
    return _print_time(_told(_control(wishes).call("POST", "/local/clock", {"advance_seconds": seconds})))


def _replay(wishes: argparse.Namespace) -> int:
    from local.replay import progress, read_lines, replay  # noqa: PLC0415 - tqdm is needed here only

    lines = read_lines(wishes.file)
    issuer = TokenIssuer(_known(wishes).token_key)
    bar = progress(len(lines))
    try:
        summary = replay(lines, Client(wishes.url, repeats=12), issuer.issue, on_turn=bar)
    finally:
        bar.close()
    print(summary)
    return 1 if summary.refused else 0


def _demo(wishes: argparse.Namespace) -> int:
    from local.demo import play  # noqa: PLC0415 - needed here only

    return play(Client(wishes.url, repeats=8), _known(wishes))


def _control(wishes: argparse.Namespace) -> Client:
    issuer = TokenIssuer(_known(wishes).token_key)
    return Client(wishes.url, issuer.issue_control(), read_s=QUICK_READ_S)


def _known(wishes: argparse.Namespace) -> DataFolder:
    return known_folder(wishes.data or DEFAULT_FOLDER)


def _told(reply: Reply) -> Reply:
    if not reply.recognised().ok:
        raise LocalError(f"the service answered {reply.status}: {reply.reason}")
    return reply


def _print_time(reply: Reply) -> int:
    time = reply.json
    print(f"{time['now']}, {counted(time['ahead_seconds'], 'second')} ahead of the real time")
    return 0
