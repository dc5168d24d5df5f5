"""SWE-bench, `swebench:FILE`: resolve issues of repositories, graded as the official harness grades them."""

from pathlib import Path
from typing import Any

import msgspec

from proctor.config import converted
from proctor.core.errors import BadInput
from proctor.core.parts import TaskFilesPart
from proctor.core.sample import Sample
from proctor.core.score import Score, Unscored
from proctor.core.sentence import Sentence, say
from proctor.core.task import Task
from proctor_benchmarks.boxes.box_task import sample_of
from proctor_benchmarks.boxes.tasks import BoxTaskOptions, task_in_boxes
from proctor_benchmarks.swebench import parity
from proctor_benchmarks.swebench.grading import START, SweGrade, grade
from proctor_benchmarks.swebench.instance import SweInstance
from proctor_benchmarks.swebench.rows import read_rows
from proctor_benchmarks.swebench.scripts import WITHHELD

PREFIX = "swebench:"
META = "swebench"
MOST_WITHHELD = 100  # files that a verdict names


def task(name: str, **options: object) -> Task:
    """Return the task of a file of rows.

    Args:
        name: `swebench:FILE`, JSON or JSON lines.
        options: the fields of `BoxTaskOptions`.

    Raises:
        BadInput: there is no such file, a row cannot be read, or no engine here runs images.
    """
    how = converted(options, BoxTaskOptions, PREFIX.rstrip(":"))
    path = Path(name.removeprefix(PREFIX)).expanduser()
    if not path.is_file():
        raise BadInput("There is no file {path}.", path=path)
    samples: list[Sample] = []
    for row, instance, box_task in read_rows(path):
        sample = sample_of(row.instance_id, box_task, {"repo": row.repo} if row.repo else {})
        meta = {**sample.meta, META: msgspec.to_builtins(instance)}
        samples.append(msgspec.structs.replace(sample, meta=meta, cluster=row.repo or None))
    if not samples:
        raise BadInput("{path} has no rows.", path=path)
    return task_in_boxes(name, samples, how, provenance={"form": "swebench", "rows": len(samples)}, grade=grade_log)


def grade_log(sample: Sample, log: str) -> Score | Unscored:
    """Return the official verdict on a log; what no patch can have caused gives none."""
    instance = msgspec.convert(sample.meta[META], SweInstance)
    try:
        verdict = grade(instance, log)
    except parity.PARSER_ERRORS as error:
        return Unscored(why="scorer_failed", reason=say("The parser {parser} fails on this log ({error}).", parser=instance.log_parser, error=type(error).__name__), details={"kind": "parser"})  # fmt: skip
    details: dict[str, Any] = {"report": verdict.report(), "output": log[-4_000:]}
    before_tests = log.partition(START)[0].splitlines()
    if files := [line.removeprefix(WITHHELD) for line in before_tests if line.startswith(WITHHELD)]:
        details["withheld"] = dict.fromkeys(files[:MOST_WITHHELD], str(say("it steers test runners")))
    if verdict.is_environment:
        return Unscored(why="scorer_failed", reason=say("The tests could not run: {reason}.", reason=verdict.infra_reason), details={**details, "kind": verdict.infra_reason})  # fmt: skip
    return Score(points=int(verdict.resolved), reason=_reason(verdict), details=details)


def _reason(verdict: SweGrade) -> Sentence:
    if not verdict.found:
        return say("The log tells no results ({reason}).", reason=verdict.infra_reason or "-")
    fixed, kept = verdict.fail_to_pass, verdict.pass_to_pass
    return say(
        "{fixed} of {to_fix} failing tests pass now; {broken} of {others} others fail.",
        fixed=len(fixed.success),
        to_fix=len(fixed.success) + len(fixed.failure),
        broken=len(kept.failure),
        others=len(kept.success) + len(kept.failure),
    )


PART = TaskFilesPart(
    is_mine=lambda name: name.startswith(PREFIX),
    task=task,
    check_corpus=parity.check_corpus,
)
