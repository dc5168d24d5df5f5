"""Decide whether a run may ship, by the policy next to its store, or by the default one."""

from functools import partial
from pathlib import Path
from typing import Annotated

import msgspec

from proctor.api.baselines import baselines
from proctor.api.run import Run
from proctor.core.sentence import Sentence
from proctor_ci.changes import Change
from proctor_ci.gate import Decision, Gate, Ruling, gate
from proctor_ci.policy import FILE, GatePolicy, default_policy, read_policy
from proctor_web.comparing.background import Background
from proctor_web.workspace import Found, Workspace


class GateGiven(msgspec.Struct, frozen=True, kw_only=True):
    """A run and its baseline, as a run or by name; `accept` compares although what was measured changed."""

    run: Annotated[str, msgspec.Meta(min_length=1)]
    against: str = ""
    accept: bool = False


class Gated(msgspec.Struct, frozen=True, kw_only=True):
    """The decision of a gate, with that of each rule; `policy` is the name of its file, '' for the default one."""

    run: str
    against: str
    decision: Decision
    rules: tuple[Ruling, ...]
    changes: tuple[Change, ...]
    accepted: bool
    notes: tuple[Sentence, ...]
    policy: str


def decide_gate(workspace: Workspace, given: GateGiven) -> Gated:
    """Decide by the policy next to the store whether a run may ship."""
    decided = decide(workspace, given)
    return Gated(
        run=decided.run.id,
        against="" if decided.against is None else decided.against.id,
        decision=decided.decision,
        rules=decided.rulings,
        changes=decided.changes,
        accepted=decided.accepted,
        notes=decided.notes,
        policy=decided.policy.path,
    )


def decide(workspace: Workspace, given: GateGiven, *, seconds: float | None = None) -> Gate:
    """Return the decision with all that led to it.

    Raises:
        StillComputing: it takes longer than `seconds`.
        NotFound: an open store has no such run or baseline.
        BadInput: the policy is wrong, or cannot be decided by about this run.
    """
    run = workspace.find_run(given.run)
    policy = policy_of(run)
    name = given.against or policy.against
    runs = [run]
    if (id := baselines(run.store).get(name)) is not None:
        runs.append(Found(run.store, run.store.run(id), id))
    elif name:
        runs.append(workspace.find_run(name))
    key = ("gate", given.accept, *(each.reference for each in runs))
    make = partial(_decide, policy=policy, accept=given.accept)
    return workspace.kept(Background).result(key, runs, make, version=policy.digest, seconds=seconds)


def policy_of(run: Found) -> GatePolicy:
    """Return the policy next to the store of a run, by the name of its file alone; the default one if there is none.

    Raises:
        BadInput: it is wrong; names the line.
    """
    store = Path(run.store.url).expanduser()
    path = store.parent / FILE
    if not store.is_file() or not path.is_file():
        return default_policy()
    return msgspec.structs.replace(read_policy(path), path=FILE)


def _decide(runs: list[Found], *, policy: GatePolicy, accept: bool) -> Gate:
    run, *rest = [Run(each.record, each.store) for each in runs]
    return gate(
        run,
        against=rest[0] if rest else None,
        policy=msgspec.structs.replace(policy, against=""),
        accept_changes=accept,
    )
