"""Name runs that others are compared with: one run of a store for each name."""

import time

from proctor.api.baselines import baselines
from proctor.core.annotation import Annotation
from proctor.core.errors import BadInput
from proctor.core.task import Store
from proctor.registry import unknown

MOST_CHARACTERS = 100


def set_baseline(store: Store, name: str, run_id: str, *, by: str = "") -> None:
    """Make a run the baseline of this name, in place of the run that was it until now.

    Raises:
        BadInput: there is no such run, or it is no name.
    """
    if not name.isprintable() or name != name.strip() or not 0 < len(name) <= MOST_CHARACTERS:
        raise BadInput("'{name}' cannot name a baseline: give 1 to {most} characters.", name=name, most=MOST_CHARACTERS)
    added = Annotation(run_id=run_id, kind="baseline", name=name, by=by, created=time.time())
    store.annotate([added], _named(store, name))


def find_baseline(store: Store, name: str) -> str:
    """Return the run that is the baseline of this name.

    Raises:
        BadInput: there is none; the nearest name is suggested.
    """
    known = baselines(store)
    if name not in known:
        raise unknown("baseline", name, list(known), paths=False)
    return known[name]


def remove_baseline(store: Store, name: str) -> None:
    """Remove a name; the run stays."""
    store.annotate([], _named(store, name))


def _named(store: Store, name: str) -> list[Annotation]:
    return [annotation for annotation in store.annotations(kind="baseline") if annotation.name == name]
