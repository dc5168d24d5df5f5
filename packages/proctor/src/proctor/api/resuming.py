"""Check that a stored run is resumed under its conditions and with its code."""

from collections.abc import Collection, Iterator, Mapping, Sequence
from functools import reduce
from pathlib import Path
from typing import Any

import msgspec

from proctor.api.sources import changed_files
from proctor.core.errors import BadInput
from proctor.core.judge import PROVENANCE
from proctor.core.run import MOVABLE, RunRecord
from proctor.core.sentence import Sentence, say

MOST_SHOWN = 4
CODE = "code"  # in the provenance: digests of the user's files by part; `files` are those of a benchmark's data
SOURCES = {"agent": "agent_source", "task": "task_source"}  # of a function or class alone, where it has no file
PARTS = {
    "agent": "agent",
    "task": "task",
    "scorers": "scorers",
    "judge": "judge",
    "user": "simulated user",
    "environment": "environment",
}
FLAGS = {
    "task": "TASK",
    "agent": "--agent",
    "attempts": "--attempts",
    "seed": "--seed",
    "judge": "--judge",
    "scorers": "--scorer",
    "task_options": "--set",
    "agent_options": "--agent-set",
    "environment": "--environment",
    "environment_options": "--environment-set",
    "judge_options": "--judge-set",
    "user": "--user",
    "user_options": "--user-set",
    "order": "--order",
    "until": "--until",
    "perturb": "--perturb",
    "approve": "--approve",
    "on_agent_error": "--on-agent-error",
    "shard": "--shard",
    "selection.limit": "--limit",
    "selection.first": "--first",
    "selection.ids": "--id",
    "selection.tags": "--tag",
}


def check_conditions(stored: RunRecord, asked: RunRecord) -> None:
    """Refuse to resume a run under other conditions: its numbers would mix two things.

    Raises:
        BadInput: says which option was what, and is what now.
    """
    told = differences(stored, asked)
    if told and set(asked.spec.scorers) < set(stored.spec.scorers):
        raise BadInput(
            "The run '{run}' is scored by {scorers}, and --scorer names only some of them. Leave --scorer out: what is left to run is scored by all of them.",
            run=stored.id,
            scorers=", ".join(stored.spec.scorers),
        )
    if told:
        raise BadInput(
            "The run '{run}' was made under other conditions: {changed}. Choose another name for a new run (--run).",
            run=stored.id,
            changed=_join(told[:MOST_SHOWN]),
        )


def differences(stored: RunRecord, asked: RunRecord) -> list[Sentence]:
    """Describe what differs in the conditions of two runs."""
    files = _rubric_files(stored)
    before, now = (_conditions(record, movable(stored), files) for record in (stored, asked))
    if before["task"] != now["task"]:  # all else differs with it
        before, now = {"task": before["task"]}, {"task": now["task"]}
    changed = [_difference(key, before.get(key), now.get(key)) for key in {**before, **now}]
    return [sentence for sentence in changed if sentence is not None]


def check_code(stored: RunRecord, asked: RunRecord, *, accept: bool) -> RunRecord:
    """Return the stored run, updated to the present code.

    Raises:
        BadInput: that code is not the one it was made with, and this was not accepted; says which files changed.
    """
    told = [*code_changes(stored.provenance, asked.provenance)]
    if not told:
        return stored
    changed = _join(told[:MOST_SHOWN])
    if not accept:
        raise BadInput(
            "The run '{run}' was made with other code: {changed}. Nothing was run and its numbers are those of the old code. Choose another name for a new run (--run), or go on with this one and mix both (--accept-changes).",
            run=stored.id,
            changed=changed,
        )
    code = {key: asked.provenance[key] for key in (CODE, "git", *SOURCES.values()) if key in asked.provenance}
    if judges := _judges(stored, asked):
        code[PROVENANCE] = judges
    warning = say("The run went on after a change of its code: {changed}. Its numbers mix both.", changed=changed)
    return msgspec.structs.replace(
        stored, provenance={**stored.provenance, **code}, warnings=(*stored.warnings, warning)
    )


def with_code(provenance: Mapping[str, Any], parts: Mapping[str, Mapping[str, str]]) -> dict[str, object]:
    """Add digests of files, by part, to a provenance."""
    known = dict(provenance.get(CODE, {}))
    for part, files in parts.items():
        if files:
            known[part] = {**known.get(part, {}), **files}
    return {**provenance, CODE: known} if known else dict(provenance)


def code_changes(before: Mapping[str, object], now: Mapping[str, object]) -> Iterator[Sentence]:
    """Describe what changed, a sentence for each part; a run of an earlier release has digests of functions only."""
    seen: set[str] = set()
    for part, word in PARTS.items():
        old, new = (_digests(fields, part) for fields in (before, now))
        source = SOURCES.get(part, "")
        if old is not None and new is not None:
            names = [name for name in changed_files(old, new) if name not in seen]
            seen.update(names)
            if names:
                yield say("{files} ({part})", files=", ".join(names[:MOST_SHOWN]), part=say(word))
        elif before.get(source) != now.get(source):
            yield say("the source of the {part}", part=say(word))


def _digests(provenance: Mapping[str, Any], part: str) -> Mapping[str, str] | None:
    """Return the digests of a part's files; None for runs of releases that kept none."""
    kept = provenance.get(CODE, provenance.get("files", {})).get(part)  # for a while they were among the data's `files`
    return kept if isinstance(kept, Mapping) else None


def movable(stored: RunRecord) -> Sequence[str]:
    """Return the options that may differ when a run is resumed; a run of a version without strata recorded no order."""
    return MOVABLE if stored.strata is not None else (*MOVABLE, "order")


def _judges(stored: RunRecord, asked: RunRecord) -> dict[str, object]:
    """Return the record of each judge; its calibration is kept only if the judge did not change."""
    before, now = (record.provenance.get(PROVENANCE, {}) for record in (stored, asked))
    is_other = _digests(stored.provenance, "judge") != _digests(asked.provenance, "judge")
    return {
        name: before[name]
        if not is_other and before.get(name, {}).get("rubric_digest") == about["rubric_digest"]
        else about
        for name, about in now.items()
    }


def _rubric_files(record: RunRecord) -> Collection[str]:
    """Return the scorers whose rubric is a file, which is compared among the code."""
    known = {Path(name).name for name in _digests(record.provenance, "scorers") or ()}
    return [name for name in record.provenance.get(PROVENANCE, {}) if Path(name.partition(":")[2]).name in known]


def _conditions(record: RunRecord, movable: Sequence[str], rubric_files: Collection[str]) -> dict[str, object]:
    spec = msgspec.to_builtins(record.spec)
    for bound in movable:
        del spec[bound]
    spec["shard"] = None if record.spec.shard is None else str(record.spec.shard)
    selection = spec.pop("selection")
    judges = {
        name: (about["model"], None if name in rubric_files else about["rubric_digest"])
        for name, about in record.provenance.get(PROVENANCE, {}).items()
    }
    return {
        **spec,
        **{f"selection.{key}": value for key, value in selection.items()},
        "task_version": record.task_version,
        "judges": judges,
    }


def _difference(key: str, before: object, now: object) -> Sentence | None:
    """Return an option's old and new value; of a mapping, only the keys that differ."""
    if before == now:
        return None
    if key == "task_version":
        return say("version of the task: {before} → {now}", before=_shown(before), now=_shown(now))
    if key == "judges":
        return say("the model or the rubric of a judge")
    if isinstance(before, Mapping) and isinstance(now, Mapping):
        names = [name for name in {**before, **now} if before.get(name) != now.get(name)]
        before = {name: before[name] for name in names if name in before}
        now = {name: now[name] for name in names if name in now}
    return say("{option}: {before} → {now}", option=FLAGS[key], before=_shown(before), now=_shown(now))


def _shown(value: object) -> str | Sentence:
    match value:
        case None | "" | () | []:
            return say("not set")
        case Mapping() if not value:
            return say("not set")
        case Mapping():
            return ", ".join(f"{name}={item}" for name, item in value.items())
        case list() | tuple():
            return ", ".join(map(str, value))
    return str(value)


def _join(sentences: list[Sentence]) -> Sentence:
    return reduce(lambda one, other: say("{one}; {other}", one=one, other=other), sentences)
