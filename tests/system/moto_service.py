"""moto's DynamoDB as a process: `python -m tests.system.moto_service [PORT]` prints its address and serves until killed.

Two things differ from `moto_server`. One request is answered at a time, since moto's transactions are not safe among threads.
And what a failed transaction puts back is kept as a list of items: moto itself copies every item of every table for every
transaction and never lets go of a copy, so that a few thousand turns take many minutes and all memory.
"""

import logging
import sys
from collections import defaultdict
from collections.abc import Callable, Iterable
from threading import Lock
from typing import Any

from moto.dynamodb.models.table import Table
from moto.moto_server.werkzeug_app import DomainDispatcherApplication, create_backend_app
from werkzeug.serving import make_server


def kept(table: Table, _memo: object) -> Table:
    """The table as it is. Its items can be shared, since puts and deletes exchange them whole; Keepsake sends no updates."""
    twin: Table = object.__new__(type(table))
    twin.__dict__.update(table.__dict__)
    twin.items = defaultdict(dict, {partition: dict(items) for partition, items in table.items.items()})
    return twin


class OneAtATime:
    """A WSGI application behind a lock."""

    def __init__(self) -> None:
        self._application = DomainDispatcherApplication(create_backend_app)
        self._lock = Lock()

    def __call__(self, environ: dict[str, Any], start_response: Callable[..., Any]) -> list[bytes]:
        """Answer whole, while nobody else is answered."""
        with self._lock:
            answer: Iterable[bytes] = self._application(environ, start_response)
            return list(answer)


if __name__ == "__main__":
    Table.__deepcopy__ = kept  # type: ignore[attr-defined]
    logging.getLogger("werkzeug").setLevel(logging.ERROR)
    server = make_server("127.0.0.1", int(sys.argv[1]) if sys.argv[1:] else 0, OneAtATime(), threaded=True)
    print(f"http://127.0.0.1:{server.server_port}", flush=True)
    server.serve_forever()
