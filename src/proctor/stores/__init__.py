"""Keep runs and their trials: one module for each kind of database."""

from proctor.core.task import Store


def open_store(url: str | None = None) -> Store:
    """Open the store at a path or address; None is `PROCTOR_STORE`, or a file in the user's data folder.

    `:memory:` is a store that goes away when it is closed.

    Raises:
        BadInput: it is no store, cannot be opened, or is of a kind that is not there.
    """
    from proctor.stores._locate import open_at

    return open_at(url)
