"""Keep the garbage collector from scanning imports and data in flight, which are not garbage.

Searching both takes a tenth of the CPU of a run.
"""

import gc
import itertools
from collections.abc import Iterator
from contextlib import contextmanager

RELAXED_THRESHOLD = 10_000  # objects created, less those freed, before the youngest generation is collected
BETWEEN_SEARCHES = 256  # runs of a process between two full searches, which nothing else would start: what was unfrozen does not count as new
_ended = itertools.count(1)
_own: list[None] = []  # one for each block that has frozen objects
_of_others: list[
    None
] = []  # one if others have ever frozen objects: to ask again would count them, which takes 10 ms for a million


@contextmanager
def gc_paused() -> Iterator[None]:
    """Pause the collector in the block, then move every object into the oldest generation, as imports and data stay."""
    if not gc.isenabled():
        yield
        return
    gc.disable()
    try:
        yield
    finally:
        if not _is_frozen():
            gc.freeze()
            gc.unfreeze()  # moves all into the oldest generation, without a search
        gc.enable()


@contextmanager
def gc_relaxed() -> Iterator[None]:
    """Collect less often, and only objects created in the block; a collector that is off, or set higher, is unchanged.

    Where the caller has frozen objects, only the frequency changes: which of them were the caller's is not known afterwards.
    """
    before = gc.get_threshold()
    if not gc.isenabled() or not 0 < before[0] < RELAXED_THRESHOLD:
        yield
        return
    freezes = not _is_frozen()
    if freezes:
        _own.append(None)
        gc.freeze()
    gc.set_threshold(RELAXED_THRESHOLD, *before[1:])
    try:
        yield
    finally:
        gc.set_threshold(*before)
        if freezes:
            gc.unfreeze()
            _own.pop()
            if not next(_ended) % BETWEEN_SEARCHES:
                gc.collect()


def _is_frozen() -> bool:
    """True if a block that has not ended, or ever anybody else, has frozen objects."""
    if not _own and not _of_others and gc.get_freeze_count():
        _of_others.append(None)
    return bool(_own or _of_others)
