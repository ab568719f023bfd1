"""Reading a list to its end, page by page."""

from collections.abc import Callable, Iterator
from typing import Any, Protocol, TypeVar


class Page(Protocol):
    """Part of a list."""

    @property
    def next(self) -> object:
        """Where the next page begins, in the words of the list it is of; None: this was the last."""


P = TypeVar("P", bound=Page)


def all_pages(page_after: Callable[[Any], P], *, after: object = None) -> Iterator[P]:
    """Each page in turn, read when it is asked for; the first is the one after `after`."""
    while True:
        page = page_after(after)
        yield page
        after = page.next
        if after is None:
            return
