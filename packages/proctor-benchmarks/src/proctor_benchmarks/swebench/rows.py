"""Read SWE-bench rows: an issue, the image of its repository, and the tests that tell whether it is resolved.

    {"instance_id": "psf__requests-1142", "repo": "psf/requests", "base_commit": "22623bd8…", "problem_statement": "…",
     "patch": "diff --git …", "FAIL_TO_PASS": "[…]", "PASS_TO_PASS": "[…]", "version": "1.1", "image": "swebench/…",
     "eval_script": "#!/bin/bash …", "log_parser": "parse_log_requests", "eval_type": "pass_and_fail"}

The model's patch is what `git diff` tells of the agent's work tree. It is applied in a fresh container of the image, as the
official harness of swebench 5.0.2 does (`swebench/harness/run_evaluation.py`).
"""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import msgspec

from proctor.core.errors import BadInput
from proctor.core.sentence import Sentence, say
from proctor.runtime.json_file import read_json, read_json_lines
from proctor_benchmarks.boxes.archives import FileSet
from proctor_benchmarks.boxes.box_task import PUBLISHED, BoxTask
from proctor_benchmarks.swebench.grading import PARSER_NAMES
from proctor_benchmarks.swebench.instance import EvalType, SweInstance
from proctor_benchmarks.swebench.scripts import COLLECT, FOLDER, SOLVE, TEST

VERIFIER_SECONDS = 1_800.0  # as officially
NEEDED = ("image", "eval_script", "log_parser")


class SweRow(msgspec.Struct, frozen=True, kw_only=True):
    """A row of a data file; tests are lists, or JSON in a text."""

    instance_id: str
    problem_statement: str
    base_commit: str
    fail_to_pass: list[str] | str = msgspec.field(name="FAIL_TO_PASS")
    pass_to_pass: list[str] | str = msgspec.field(name="PASS_TO_PASS")
    repo: str = ""
    version: str = ""
    patch: str = ""
    image: str | None = None
    eval_script: str | list[str] | None = None
    log_parser: str | None = None
    eval_type: EvalType = "pass_and_fail"


def read_rows(path: Path) -> Iterator[tuple[SweRow, SweInstance, BoxTask]]:
    """Yield each row with what grades it and the task of its box.

    Raises:
        BadInput: a row that cannot be read, or of a release that does not say how it is run.
    """
    for where, value in _values(path):
        try:
            row = msgspec.convert(value, SweRow)
            tests = [_list(row.fail_to_pass), _list(row.pass_to_pass)]
        except (msgspec.ValidationError, ValueError) as error:
            raise BadInput("{path}, {where}: {error}.", path=path, where=where, error=error) from None
        missing = [name for name in NEEDED if getattr(row, name) is None]
        if missing:
            raise BadInput("{path}, {where}: {id} has no {missing}. Rows of releases before swebench 5 do not say how they are run; its newer data sets do.", path=path, where=where, id=row.instance_id, missing=", ".join(missing))  # fmt: skip
        if row.log_parser not in PARSER_NAMES:
            raise BadInput(
                "{path}, {where}: there is no log parser {name}.", path=path, where=where, name=row.log_parser
            )
        instance = SweInstance(
            instance_id=row.instance_id,
            log_parser=row.log_parser,
            eval_type=row.eval_type,
            fail_to_pass=tests[0],
            pass_to_pass=tests[1],
            version=row.version,
        )
        yield row, instance, _task(row)


def _values(path: Path) -> Iterator[tuple[str | Sentence, Any]]:
    if path.suffix == ".json":
        values = read_json(path)
        yield from (
            (f"[{index}]", value) for index, value in enumerate(values if isinstance(values, list) else [values])
        )
    else:
        yield from ((say("line {number}", number=number), value) for number, value in read_json_lines(path, dict))


def _list(value: list[str] | str) -> tuple[str, ...]:
    return msgspec.convert(json.loads(value) if isinstance(value, str) else value, tuple[str, ...])


def _task(row: SweRow) -> BoxTask:
    script = row.eval_script if isinstance(row.eval_script, str) else "\n".join(["#!/bin/bash", "set -uxo pipefail", *(row.eval_script or ())]) + "\n"  # fmt: skip
    return BoxTask(
        instruction=f"{row.problem_statement}\n\nThe repository is in {FOLDER}. Change its code so that this is resolved.",
        image=row.image,
        folder=FOLDER,
        variables={"BASE": row.base_commit},
        artefacts=(PUBLISHED,),
        tests=FileSet(texts={"test.sh": TEST, "eval.sh": script}),
        solution=FileSet(texts={"solve.sh": SOLVE, "patch.diff": row.patch}) if row.patch else FileSet(),
        verdict="log",
        collect=f"BASE={row.base_commit}; {COLLECT}",
        verifier_seconds=VERIFIER_SECONDS,
    )
