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
        if not gc.get_freeze_count():
            gc.freeze()
            gc.unfreeze()  # moves all into the oldest generation, without a search
        gc.enable()


@contextmanager
def gc_relaxed() -> Iterator[None]:
    """Collect less often, and only objects created in the block; a collector that is off, or set higher, is unchanged.

    Where the caller has frozen objects, only the frequency changes: which of them were the caller's is not known afterwards.
    """
    before, is_frozen = gc.get_threshold(), bool(gc.get_freeze_count())
    if not gc.isenabled() or not 0 < before[0] < RELAXED_THRESHOLD:
        yield
        return
    if not is_frozen:
        gc.freeze()
    gc.set_threshold(RELAXED_THRESHOLD, *before[1:])
    try:
        yield
    finally:
        gc.set_threshold(*before)
        if not is_frozen:
            gc.unfreeze()
            if not next(_ended) % BETWEEN_SEARCHES:
                gc.collect()
