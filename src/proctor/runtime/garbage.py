"""Look for cyclic garbage where there may be some: what was imported and what is under way is none.

Looking through both takes a tenth of the CPU of a run.
"""

import gc
from collections.abc import Iterator
from contextlib import contextmanager

SELDOM = 10_000  # more objects made than let go of, before the youngest are looked through


@contextmanager
def unsought() -> Iterator[None]:
    """Look for none meanwhile, and take all that is there at the end for old: imports and data are there to stay."""
    if not gc.isenabled():
        yield
        return
    gc.disable()
    try:
        yield
    finally:
        if not gc.get_freeze_count():
            gc.freeze()
            gc.unfreeze()  # into the oldest generation, without a look at anything
        gc.enable()


@contextmanager
def sought_seldom() -> Iterator[None]:
    """Look seldom, and only through what is made meanwhile; a collector that is off, or set higher, stays as it is."""
    before = gc.get_threshold()
    if not gc.isenabled() or not 0 < before[0] < SELDOM or gc.get_freeze_count():
        yield
        return
    gc.freeze()
    gc.set_threshold(SELDOM, *before[1:])
    try:
        yield
    finally:
        gc.set_threshold(*before)
        gc.unfreeze()
