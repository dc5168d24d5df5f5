"""Read the state that a sample starts with."""

from collections.abc import Mapping

from proctor.core.sample import Sample


def state_of(sample: Sample) -> Mapping[str, object] | None:
    """Return the state that the sample brings; None without one."""
    for key in ("state", "environment", "start"):
        state = sample.meta.get(key)
        if isinstance(state, Mapping) and state:
            return state
    session = sample.known.session.get("state")
    return session if isinstance(session, Mapping) and session else None


def known_to(state: object, value: str) -> bool:
    """True if a value is a key or a text anywhere in a state.

    >>> known_to({"orders": {"W1": {"item": "lamp"}}}, "W1"), known_to({"orders": ["W1"]}, "W2")
    (True, False)
    """
    if isinstance(state, Mapping):
        return value in state or any(known_to(each, value) for each in state.values())
    if isinstance(state, list | tuple):
        return any(known_to(each, value) for each in state)
    return isinstance(state, str | int) and str(state) == value
