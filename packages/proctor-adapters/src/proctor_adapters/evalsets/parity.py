"""Our verdicts against recorded ones of google-adk.

A line: {"id": "adk-0", "metric": "tool_trajectory_avg_score", "match_type": "IN_ORDER", "threshold": 1.0,
"actual": [[{"name": "f", "args": {"x": 1}}]], "expected": [null], "scores": [1.0], "overall_score": 1.0,
"status": "PASSED"}; other metrics are `response_match_score` and `match_type_spelling`; an `error` in place of scores.
"""

import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import msgspec

from proctor.core.errors import BadInput
from proctor.core.parity import Checked
from proctor.core.sample import JsonObject
from proctor.core.sentence import Sentence, say
from proctor.runtime.json_file import read_json_lines
from proctor_judging.matching.adk_rules import AdkCall, calls_match, joined, match_type, mean, rouge_1

Invocations = list[list[AdkCall] | None]


def check_corpus(path: Path, data: str | None = None) -> Iterator[Checked]:  # noqa: ARG001 - the rules need no data
    """Check every line; a metric that needs a judge is skipped.

    Raises:
        BadInput: a line that cannot be read; names file and line.
    """
    for number, line in read_json_lines(path, dict[str, Any]):
        try:
            yield _check_line(line)
        except (ValueError, KeyError, TypeError, RecursionError) as error:
            raise BadInput("{path}, line {line}: {error}.", path=path, line=number, error=error) from None


def _check_line(line: Mapping[str, object]) -> Checked:
    metric = line["metric"]
    official = line["error"] if line.get("error") else {key: line[key] for key in _VERDICTS if key in line}
    match metric:
        case "tool_trajectory_avg_score":
            ours, rule = _trajectory(line)
        case "response_match_score":
            ours, rule = _response(line)
        case "match_type_spelling":
            ours, rule = {"resolved": _resolved(line["input"])}, say("the spelling of a match type")
        case _:
            return Checked.unknown({**line, "kind": metric})
    agrees = isinstance(official, str) if isinstance(ours, str) else ours == official
    return Checked(id=str(line["id"]), agrees=agrees, ours=_as_text(ours), official=_as_text(official), rule=rule)


_VERDICTS = ("scores", "overall_score", "score", "status", "resolved")


def _trajectory(line: Mapping[str, object]) -> tuple[dict[str, object] | str, Sentence]:
    rule = say("calls compared as {match_type}", match_type=line.get("match_type", "EXACT"))
    try:
        how = match_type(line.get("match_type", "EXACT"))
        calls, expected = (msgspec.convert(line[side], Invocations) for side in ("actual", "expected"))
    except (BadInput, msgspec.ValidationError):
        return "ValidationError", rule
    if len(calls) != len(expected):
        return "ValueError", rule
    pairs = zip(calls, expected, strict=True)
    names_only = line.get("ignore_args") is True
    scores = [float(calls_match(ours or [], theirs or [], how, names_only=names_only)) for ours, theirs in pairs]
    overall = mean(scores) if scores else None
    return {"scores": scores, "overall_score": overall, "status": _status(overall, line)}, rule


def _response(line: Mapping[str, object]) -> tuple[dict[str, object] | str, Sentence]:
    score = rouge_1(_text(line, "response"), _text(line, "reference"))
    return {"score": score, "status": _status(score, line)}, say("ROUGE-1 of the texts")


def _text(line: JsonObject, side: str) -> str:
    if side in line:
        return line[side] or ""
    return joined(line[f"{side}_parts"] or ())


def _status(score: float | None, line: JsonObject) -> str:
    if score is None:
        return "NOT_EVALUATED"
    return "PASSED" if score >= line["threshold"] else "FAILED"


def _resolved(value: object) -> str | None:
    try:
        return match_type(value)
    except BadInput:
        return None


def _as_text(value: object) -> str:
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
