"""Name runs that others are compared with: one run of a store for each name."""

import time

from proctor.api.run import Run
from proctor.core.annotation import Annotation
from proctor.core.errors import BadInput
from proctor.core.near import did_you_mean, near
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


def baselines(store: Store) -> dict[str, str]:
    run_ids = {
        annotation.name: annotation.run_id for annotation in store.annotations(kind="baseline")
    }  # of two set at once the newer counts
    return dict(sorted(run_ids.items()))


def find_baseline(store: Store, name: str) -> str:
    """Return the run that is the baseline of this name.

    Raises:
        BadInput: there is none; the nearest name is suggested.
    """
    known = baselines(store)
    if name not in known:
        raise unknown("baseline", name, list(known), paths=False)
    return known[name]


def find_against(store: Store, name: str) -> Run:
    """Return the run of a named baseline, or of this id.

    Raises:
        BadInput: there is neither; suggests the nearest.
    """
    named = baselines(store)
    if name in named:
        return Run(store.run(named[name]), store)
    known = [record.id for record in store.runs()]
    if name in known:
        return Run(store.run(name), store)
    raise BadInput(
        "'{name}' is neither a baseline nor a run of this store.{near} Baselines: {known}.",
        name=name,
        near=did_you_mean(near(name, [*named, *known])),
        known=", ".join(named) or "-",
    )


def remove_baseline(store: Store, name: str) -> None:
    """Remove a name; the run stays."""
    store.annotate([], _named(store, name))


def _named(store: Store, name: str) -> list[Annotation]:
    return [annotation for annotation in store.annotations(kind="baseline") if annotation.name == name]
