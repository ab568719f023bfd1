"""Which context items come into a tier: the safety-critical ones all, the others by relevance per token, none twice."""

from collections.abc import Iterable

from keepsake.domain.context.blocks import item_as_block
from keepsake.domain.context.duplicates import NearDuplicates
from keepsake.domain.context.sections import LeftOut, Order, Section, Slot
from keepsake.domain.context.values import ContextItem, Reason


def ranked(items: Iterable[ContextItem]) -> list[ContextItem]:
    """In the order in which they ask for room: relevance per token, then relevance, then ref."""
    return sorted(items, key=lambda item: (-item.score / max(1, item.tokens), -item.score, *_by_ref(item)))


def put_safety_critical(section: Section, items: Iterable[ContextItem], seen: NearDuplicates) -> None:
    """Places items that are never left out, whatever they cost."""
    for item in items:
        section.put(Slot.ITEMS, _order(item), item_as_block(item))
        seen.remember(item.ref, item.text)


def fill_items(section: Section, waiting: Iterable[ContextItem], seen: NearDuplicates) -> list[ContextItem]:
    """Places those that fit and say something new; gives those that wait for more room, in the same order."""
    still_waiting: list[ContextItem] = []
    for item in waiting:
        if item.tokens > section.room:
            still_waiting.append(item)
            continue
        block = item_as_block(item)
        price = section.measure.price(block)
        if price > section.room:
            still_waiting.append(item)
        elif twin := seen.admit(item.ref, item.text):
            section.left_out.append(LeftOut(item.ref, item.tokens, Reason.DUPLICATE, twin))
        else:
            section.put(Slot.ITEMS, _order(item), block, price)
    return still_waiting


def _order(item: ContextItem) -> Order:
    """In print: what is safety-critical first, then by relevance."""
    return (not item.safety_critical, -item.score, *_by_ref(item))


def _by_ref(item: ContextItem) -> tuple[int, str]:
    """So that the tenth comes after the ninth."""
    return len(item.ref), item.ref
