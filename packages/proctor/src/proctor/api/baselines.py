"""Find the runs that others are compared with: one run of a store for each name."""

from proctor.api.run import Run
from proctor.core.errors import BadInput
from proctor.core.near import did_you_mean, near
from proctor.core.task import Store


def baselines(store: Store) -> dict[str, str]:
    run_ids = {
        annotation.name: annotation.run_id for annotation in store.annotations(kind="baseline")
    }  # of two set at once the newer counts
    return dict(sorted(run_ids.items()))


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
