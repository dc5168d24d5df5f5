"""Our grading against recorded results of swebench.

    {"id": "swe-1317", "kind": "swebench", "log_parser": "parse_log_tap", "eval_type": "pass_and_fail", "FAIL_TO_PASS": […],
     "PASS_TO_PASS": […], "log": "…", "patch_is_none": false, "status_map": {…}, "found": true, "report": {…}}

Status map and `found` are those of the log, whether there was a patch or not; `raises` stands in their stead where the official
code raised.
"""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import msgspec

from proctor.core.parity import Checked
from proctor.runtime.json_file import read_json_lines
from proctor_benchmarks.swebench.grading import PARSER_NAMES, grade, read_log
from proctor_benchmarks.swebench.instance import EvalType, SweInstance

PARSER_ERRORS = (IndexError, ValueError, KeyError, AttributeError, SyntaxError, TypeError)


class SweGradingLine(msgspec.Struct, frozen=True, kw_only=True):
    """A recorded result."""

    id: str
    log_parser: str
    eval_type: EvalType
    fail_to_pass: tuple[str, ...] = msgspec.field(name="FAIL_TO_PASS")
    pass_to_pass: tuple[str, ...] = msgspec.field(name="PASS_TO_PASS")
    log: str
    patch_is_none: bool = False
    status_map: dict[str, str] | None = None
    found: bool | None = None
    report: dict[str, Any] | None = None
    raises: str | None = None
    kind: str = "swebench"
    fault: str = ""
    instance_id: str | None = None
    version: str = ""


def check_corpus(path: Path, _: str | None = None) -> Iterator[Checked]:
    """Check every line: status map, `found` and the whole report, or what was raised.

    Raises:
        BadInput: a line that cannot be read.
    """
    for _number, line in read_json_lines(path, SweGradingLine):
        if line.kind != "swebench" or line.log_parser not in PARSER_NAMES:
            yield Checked.unknown({"id": line.id, "kind": f"{line.kind}, {line.log_parser}"})
            continue
        if line.raises is None:
            official: dict[str, Any] = {"status_map": line.status_map, "found": line.found, "report": line.report}
        else:
            official = {"raises": line.raises.split(":")[0]}
        texts = [json.dumps(result, sort_keys=True, ensure_ascii=False) for result in (_grade(line), official)]
        yield Checked(id=line.id, agrees=texts[0] == texts[1], ours=texts[0][:400], official=texts[1][:400], rule=f"{line.log_parser}, {line.fault}")  # fmt: skip


def _grade(line: SweGradingLine) -> dict[str, object]:
    instance = SweInstance(
        instance_id=line.instance_id or line.id,
        log_parser=line.log_parser,
        eval_type=line.eval_type,
        fail_to_pass=line.fail_to_pass,
        pass_to_pass=line.pass_to_pass,
        version=line.version,
    )
    log = line.log.replace("\r\n", "\n").replace("\r", "\n")
    try:
        status_by_test = read_log(instance, log)
        report = grade(instance, log, patch_is_none=line.patch_is_none).report()
    except PARSER_ERRORS as error:
        return {"raises": type(error).__name__}
    return {"status_map": status_by_test or {}, "found": status_by_test is not None, "report": report}
