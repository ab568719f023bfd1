"""Puts the product together on one machine: stores and surroundings of the data folder, the template's routes and schedules."""

import importlib
import os
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from dataclasses import dataclass, replace

from keepsake import bootstrap
from keepsake.adapters.hash_keys import FileHashKeys
from keepsake.adapters.sqlite_store import SqliteItemStore
from keepsake.adapters.surroundings import RandomIds, SystemChance
from keepsake.adapters.tokens import load_tokens
from keepsake.config import SettingsError, settings_from
from keepsake.domain.errors import StoreError, StoreUnavailableError
from keepsake.ports.item_store import ItemStore
from local.backends import local_backends, searches_elsewhere
from local.calls import CountedStore
from local.clock import ShiftedClock
from local.control import Control
from local.cors import cors_of
from local.events import FunctionContext
from local.folder import DataFolder, LocalError
from local.gateway import THREADS, Doors, Gateway, Handler
from local.mending import INDEX, INDEX_MINUTES, free_leases, mending, note_loss
from local.queues import QueueRunner
from local.routing import RouteTable
from local.schedules import RETENTION, RETENTION_MINUTES, Schedule, Scheduler
from local.tables import create_tables
from local.template import Schedule as PlannedRun
from local.template import Template, read_template, template_of
from local.tokens import TokenIssuer

# What the functions say here is for the terminal of one person: no metrics or traces, and only what went wrong.
QUIET = {
    "POWERTOOLS_SERVICE_NAME": "keepsake",
    "POWERTOOLS_METRICS_NAMESPACE": "Keepsake",
    "POWERTOOLS_METRICS_DISABLED": "true",
    "POWERTOOLS_TRACE_DISABLED": "true",
    "POWERTOOLS_TRACER_CAPTURE_RESPONSE": "false",
    "POWERTOOLS_TRACER_CAPTURE_ERROR": "false",
    "POWERTOOLS_LOGGER_LOG_EVENT": "false",
    "LOG_LEVEL": "ERROR",
}
_LEASE_MS, _INDEX_CALL_MS = 30_000, 10_000
_MENDING = "put the file back from a copy, or start with --fresh, which forgets everything"
NOWHERE = {"AWS_ACCESS_KEY_ID": "local", "AWS_SECRET_ACCESS_KEY": "local"}  # an emulator asks for some, and checks none


@dataclass(frozen=True, slots=True)
class Stores:
    """The item store, and how expired items leave it. `embedded` is the item store where it is the embedded one."""

    items: ItemStore
    sweep: Callable[[Mapping[str, object]], object]
    embedded: SqliteItemStore | None = None


@dataclass(frozen=True, slots=True)
class Assembled:
    """What serves, and what runs beside it."""

    gateway: Gateway
    scheduler: Scheduler
    runners: Sequence[QueueRunner]
    clock: ShiftedClock
    issuer: TokenIssuer
    notices: Sequence[str]


def assemble(folder: DataFolder, endpoint: str | None, cors_origins: Sequence[str], closing: ExitStack) -> Assembled:
    """All of a service on this data folder, until `closing` closes it. `endpoint` is DynamoDB's, None for embedded stores."""
    for name, value in QUIET.items():
        os.environ.setdefault(name, value)
    document = read_template()
    template, clock, issuer = template_of(document), ShiftedClock(folder.clock), TokenIssuer(folder.token_key)
    _check_hash_key(folder, embedded=endpoint is None)
    try:
        stores = _embedded(folder, clock, closing) if endpoint is None else _dynamodb(endpoint, template, clock)
        lost = stores.embedded is not None and not searches_elsewhere() and note_loss(folder, stores.embedded)
        beside = local_backends(folder, template.feeds, _handler, clock, closing)
        runtime = _runtime(folder, stores.items, clock, beside.backends, kind="sqlite" if endpoint is None else "dynamodb")
    except SettingsError as error:
        raise LocalError(f"the service cannot start on {folder.path}: {error}") from None
    runtime.prime()
    bootstrap.use(runtime)
    schedules = [*_planned(template), Schedule(RETENTION, RETENTION_MINUTES, stores.sweep)]
    notices = list(beside.notices)
    if lost and stores.embedded is not None:
        schedules.append(_mended(folder, stores.embedded, runtime))
        notices.append(
            f"{folder.index} was lost: it is filled anew from the stores. Until then recall finds less; a tick waits for it."
        )
    scheduler = Scheduler(tuple(schedules), clock, beside.runners)
    doors = Doors(RouteTable(template.routes), _handlers(template), Control(issuer, clock, scheduler))
    threads = closing.enter_context(ThreadPoolExecutor(THREADS, thread_name_prefix="handler"))
    gateway = Gateway(doors, issuer, clock, cors_of(document, cors_origins), threads)
    return Assembled(gateway, scheduler, beside.runners, clock, issuer, notices)


def _runtime(
    folder: DataFolder, items: ItemStore, clock: ShiftedClock, backends: bootstrap.Backends, *, kind: str
) -> bootstrap.Runtime:
    return bootstrap.Runtime(
        # Calls of the embedded index are short, and who starts a killed service again wants to go on at once.
        settings=replace(settings_from(os.environ), store_kind=kind, lease_ms=_LEASE_MS, index_call_ms=_INDEX_CALL_MS),
        store=CountedStore(items),
        clock=clock,
        ids=RandomIds(),
        chance=SystemChance(),
        hash_keys=FileHashKeys(folder.hash_key),
        tokens=load_tokens(),
        backends=backends,
    )


def _check_hash_key(folder: DataFolder, *, embedded: bool) -> None:
    """Made, when it is new, before the database, which is therefore never there without it unless somebody removed it."""
    if embedded and folder.needs_hash_key():
        raise LocalError(
            f"{folder.hash_key} is missing, and nothing in {folder.database.name} can be found without it: "
            "put it back, or start with --fresh, which forgets everything"
        )
    try:
        FileHashKeys(folder.hash_key).current()
    except StoreError as error:
        raise LocalError(f"{folder.hash_key}: {error}: {_MENDING}") from None


def _embedded(folder: DataFolder, clock: ShiftedClock, closing: ExitStack) -> Stores:
    try:
        store = SqliteItemStore(folder.database)
    except StoreUnavailableError as error:
        raise LocalError(f"{folder.database}: {error}: see that it can be written and that the disk has room") from None
    except StoreError as error:
        raise LocalError(f"{folder.database}: {error}: {_MENDING}") from None
    closing.callback(store.close)
    free_leases(store)
    return Stores(store, lambda _: {"removed": store.sweep_expired(clock.now_ms() // 1000)}, store)


def _dynamodb(endpoint: str, template: Template, clock: ShiftedClock) -> Stores:
    # The embedded stores do without all of this.
    import boto3  # noqa: PLC0415
    from botocore.exceptions import BotoCoreError, ClientError  # noqa: PLC0415
    from botocore.parsers import ResponseParserError  # noqa: PLC0415

    from keepsake.adapters.dynamodb_store import DynamoDbItemStore, make_client  # noqa: PLC0415

    os.environ.setdefault("AWS_EC2_METADATA_DISABLED", "true")
    if boto3.Session().get_credentials() is None:
        os.environ.update(NOWHERE)
    region = boto3.Session().region_name or "us-east-1"
    try:
        # Emulators are slower than the real one, and slower with every item they hold.
        client = make_client(region=region, endpoint=endpoint, max_connections=THREADS + 10, read_timeout=20)
        if "TableNames" not in client.list_tables(Limit=1):  # a page of some web server, which reads as an empty answer
            raise _no_dynamodb(endpoint, "another kind of answer")
        names = create_tables(client, template)
    except (BotoCoreError, ClientError, ResponseParserError, ValueError) as error:
        raise _no_dynamodb(endpoint, type(error).__name__) from None
    store = DynamoDbItemStore(client, names, clock=clock, chance=SystemChance())
    return Stores(store, lambda _: {"left_to": "dynamodb"})


def _no_dynamodb(endpoint: str, why: str) -> LocalError:
    return LocalError(
        f"the tables could not be made at {endpoint} ({why}): see that a DynamoDB listens there, "
        "such as DynamoDB Local or moto, and that --endpoint has its scheme, host and port"
    )


def _mended(folder: DataFolder, store: SqliteItemStore, runtime: bootstrap.Runtime) -> Schedule:
    return Schedule(INDEX, INDEX_MINUTES, lambda _: mending(folder, store, lambda: runtime.learning.drift), at_start=True)


def _handlers(template: Template) -> Mapping[str, Handler]:
    return {route.function: _handler(route.module) for route in template.routes}


def _handler(module: str) -> Handler:
    handler: Handler = importlib.import_module(module).lambda_handler
    return handler


def _planned(template: Template) -> tuple[Schedule, ...]:
    return tuple(Schedule(planned.name, planned.minutes, _run_of(planned)) for planned in template.schedules)


def _run_of(planned: PlannedRun) -> Callable[[Mapping[str, object]], object]:
    handler = _handler(planned.module)
    return lambda more: handler({**planned.event, **more}, FunctionContext(planned.function, RandomIds().new(), timeout_s=300.0))
