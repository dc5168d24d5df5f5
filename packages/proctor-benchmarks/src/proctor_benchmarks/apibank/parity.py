"""Our rules against recorded results of the official code.

A line has an `id`, a `kind` and what that kind needs, such as

    {"id": "call-00005", "kind": "call", "level": 1, "file": "AddAgenda-….jsonl", "sample": 0, "api": "GetUserToken",
     "pred": "[GetUserToken()]", "extracted": "[GetUserToken()]", "parsed": {"name": "GetUserToken", "params": {}},
     "status": "MISS_INPUT_ARGUMENT", "correct_live": false}

The tool search of the recorded runs compares words, and so does that of this comparison.
"""

import asyncio
import hashlib
import json
from collections.abc import Iterator, Sequence
from itertools import islice
from pathlib import Path

from proctor.core.errors import BadInput
from proctor.core.parity import Checked
from proctor.core.sample import JsonObject
from proctor.runtime.concurrent import run_together
from proctor.runtime.json_file import read_json_lines
from proctor_benchmarks.apibank import dataset, scorer
from proctor_benchmarks.apibank.calls import find_call, read_call

_AT_ONCE = 512  # lines; their workers are started again for the next ones

KINDS = ("slice", "input", "tool", "parse", "call", "check", "level3", "response", "level3_response", "rouge")

Line = JsonObject


def check_corpus(path: Path, source: str | None = None) -> Iterator[Checked]:
    """Check every line.

    Args:
        path: the corpus.
        source: the user's copy, see `dataset.locate`.

    Raises:
        BadInput: a line that cannot be read, or no copy.
    """
    root = dataset.locate(source)
    found = _Copy(root)
    lines = read_json_lines(path, dict)
    with asyncio.Runner() as runner:
        while several := list(islice(lines, _AT_ONCE)):
            yield from runner.run(_check(path, several, found))


class _Copy:
    """The copy with what is read of it once."""

    def __init__(self, root: Path) -> None:
        self.descriptions = {tools: dataset.describe(root / tools) for tools in set(dataset.TOOLS.values())}
        self.dialogues = {
            (int(level[-1]), file): lines
            for level, folder in dataset.FOLDERS.items()
            for file, lines in dataset.dialogues(root / folder)
        }
        self.calls = scorer.Calls(scorer.make_workers(root), None)

    def asked(self, line: Line) -> tuple[list[dataset.DialogueLine], dataset.DialogueSample]:
        lines = self.dialogues[line["level"], line["file"]]
        return lines, dataset.asked(lines)[line["sample"]]


async def _check(path: Path, lines: Sequence[tuple[int, Line]], copy: _Copy) -> list[Checked]:
    async with copy.calls.workers:
        return await run_together(*(check_line(path, number, line, copy) for number, line in lines))


async def check_line(path: Path, number: int, line: Line, copy: _Copy) -> Checked:
    """Check one line; every field that is a result has to be equal."""
    if "kind" in line and line["kind"] not in KINDS:
        return Checked.unknown(line)
    try:
        ours = await _find(line, copy)
        wrong = [name for name in ours if line.get(name) != ours[name]]
        return Checked(
            id=line["id"],
            agrees=not wrong,
            ours=_compact({name: ours[name] for name in wrong})[:400],
            official=_compact({name: line.get(name) for name in wrong})[:400],
            rule=str(line.get("how", line["kind"])),
        )
    except (KeyError, TypeError, IndexError, AttributeError) as error:
        raise BadInput("{path}, line {line}: no line of a corpus of {name}: {error}.", path=path, line=number, name="apibank", error=repr(error)) from None  # fmt: skip


async def _find(line: Line, copy: _Copy) -> dict[str, object]:
    """Return the results of a line as they are here."""
    match line["kind"]:
        case "slice":
            lines = copy.dialogues[line["level"], line["file"]]
            apis = sorted({dialogue_line.api_name for dialogue_line in lines if dialogue_line.role == "API"})
            return {"samples": [[sample.truth.role, sample.history] for sample in dataset.asked(lines)], "apis": apis}
        case "input":
            lines, sample = copy.asked(line)
            sent = [
                {"role": message.role, "content": message.text} for message in dataset.messages(lines[: sample.history])
            ]
            return {"role": sample.truth.role, "messages": len(sent), "messages_sha256": _sha256(_compact(sent))}
        case "tool":
            return {"description_sha256": _sha256(copy.descriptions[line["tools"]][line["api"]])}
        case "parse":
            parsed = _parsed(line["text"])
            whole = (
                {"raises": "AttributeError: 'NoneType' object has no attribute 'group'"} if parsed is None else parsed
            )
            return {"extracted": find_call(line["text"]), "parsed_whole": whole, "parsed_extracted": parsed}
        case "call":
            return await _call(line, copy)
        case "check":
            given = {
                "tools": line["tools"],
                "name": line["api"],
                "response": line["response"],
                "truth": line["groundtruth"],
            }
            return {"verdict": await copy.calls.workers.run("check", **given)}
        case "level3":
            return await _level3(line, copy)
        case "response":
            _, sample = copy.asked(line)
            if sample.kind != "response":  # nobody is asked for it
                return {"reference": None, "score": None}
            value = scorer.response_score(sample.truth.text, line["pred"])
            return {"reference": sample.truth.text, "score": _or_raised(value, line["score"])}
        case "level3_response":
            if line["reference"] is None:
                return {"score": None}
            return {"score": _or_raised(scorer.planned_score(line["reference"], line["pred"]), line["score"])}
        case "rouge":
            value = scorer.rouge(line["reference"], line["hypothesis"])
            empty = "Reference" if line["hypothesis"].strip(".") else "Hypothesis"
            return {"score": f"ValueError: {empty} is empty." if value is None else [value, round(value, 4)]}
    raise KeyError(line["kind"])


async def _level3(line: Line, copy: _Copy) -> dict[str, object]:
    result = await copy.calls.judge(line["pred"], dataset.PLANNED, line["api"], line["groundtruth"])
    is_right = result.status == scorer.CORRECT
    is_search = result.status == scorer.MISMATCH and line["api"] == dataset.SEARCHER
    counts = {"correct": int(is_right), "errored": [0] * (not is_right), "tool_search_errors": int(is_search)}
    return {"result": {"raises": result.raised} if result.status == "RAISES" else counts}


def _or_raised(value: float | None, official: object) -> object:
    """Return a score; where ROUGE is not defined, the official error if that is what was recorded."""
    return official if value is None and "is empty" in str(official) else value


async def _call(line: Line, copy: _Copy) -> dict[str, object]:
    _, sample = copy.asked(line)
    result = await copy.calls.judge(line["pred"], f"level-{line['level']}", sample.truth.api_name, sample.truth.result)
    return {
        "api": sample.truth.api_name,
        "extracted": find_call(line["pred"]),
        "parsed": _parsed(line["pred"]),
        "status": result.status,
        "correct_live": result.status == scorer.CORRECT,
        **({"raises": result.raised} if result.status == "RAISES" else {}),
    }


def _parsed(text: str) -> dict[str, object] | None:
    call = read_call(text)
    return None if call is None else {"name": call.name, "params": call.params}


def _compact(value: object) -> str:
    return json.dumps(value, sort_keys=True, ensure_ascii=False, separators=(",", ":"))


def _sha256(text: str) -> str:
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()
