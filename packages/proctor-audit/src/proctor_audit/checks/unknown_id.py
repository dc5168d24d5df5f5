"""Find arguments that name what is not in the state."""

from collections.abc import Iterator, Mapping

from proctor.core.sample import Sample
from proctor.core.sentence import say
from proctor_audit.audit import Audit
from proctor_audit.calls import gold_calls
from proctor_audit.check import check
from proctor_audit.findings import AuditFinding
from proctor_audit.wording import context_of, question_of

LEAST_SIBLINGS = 2
SHARE = 0.8


@check(
    group="A4",
    cls="likely",
    title=say("An expected call names what is not in the state, while its siblings name keys of it."),
)
def unknown_id(audit: Audit) -> Iterator[AuditFinding]:
    """Yield samples whose argument is no key of the state and said by nobody, where the same argument elsewhere is a key."""
    values: dict[tuple[str, str], list[tuple[str, bool, bool]]] = {}
    for sample in audit.samples:
        state = _state_of(sample)
        if state is None:
            continue
        said = f"{question_of(sample)}\n{context_of(sample)}"
        for call in gold_calls(sample):
            for name, accepted in call.first.items():
                if isinstance(accepted, str):
                    in_state = _known_to(state, accepted)
                    values.setdefault((call.name, name), []).append((sample.id, in_state, accepted in said))
    by_id = {sample.id: sample for sample in audit.samples}
    for (tool, name), seen in sorted(values.items()):
        for id, in_state, is_said in seen:
            siblings = [known for other, known, _ in seen if other != id]
            if in_state or is_said or len(siblings) < LEAST_SIBLINGS or sum(siblings) < SHARE * len(siblings):
                continue
            yield audit.found(
                say("{tool}: no {name} of the state is the expected one", tool=tool, name=name),
                by_id[id],
                witness={"tool": tool, "argument": name, "siblings_in_state": sum(siblings)},
            )


def _state_of(sample: Sample) -> Mapping[str, object] | None:
    """Return the state that the sample brings; None without one."""
    for key in ("state", "environment", "start"):
        state = sample.meta.get(key)
        if isinstance(state, Mapping) and state:
            return state
    session = sample.known.session.get("state")
    return session if isinstance(session, Mapping) and session else None


def _known_to(state: object, value: str) -> bool:
    """True if a value is a key or a text anywhere in a state.

    >>> _known_to({"orders": {"W1": {"item": "lamp"}}}, "W1"), _known_to({"orders": ["W1"]}, "W2")
    (True, False)
    """
    if isinstance(state, Mapping):
        return value in state or any(_known_to(each, value) for each in state.values())
    if isinstance(state, list | tuple):
        return any(_known_to(each, value) for each in state)
    return isinstance(state, str | int) and str(state) == value
