"""Read and write the official result files of v0.2.

    <outputs>/<agent>/<task>/runs.jsonl      a line for each finished sample; of several with one index the first counts
    <outputs>/<agent>/<task>/error.jsonl     what broke and was tried again
    <outputs>/<agent>/<task>/overall.json    the aggregates; written only when the run has a result for every sample

    {"index": 3, "error": null, "info": null, "output": {"index": 3, "status": "completed", "result": {"answer": "[\\"5\\"]",
     "type": "counting", "error": ""}, "history": [{"role": "user", "content": "…"}, {"role": "agent", "content": "…"}]},
     "time": {"timestamp": 1690000000000, "str": "2023-07-22 04:26:40"}}

Source: THUDM/AgentBench, v0.2, commit 41e6807349f7, `src/assigner.py` (`finish_callback`).
"""

import json
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import msgspec

from proctor.core.errors import BadInput
from proctor.core.sample import Message, Sample
from proctor.core.sentence import say
from proctor.core.trajectory import Step, Trajectory
from proctor.core.trial import Trial, TrialFailure
from proctor.runtime.files import folder_name, write_whole
from proctor.runtime.json_file import read_json_lines
from proctor_benchmarks.agentbench import official
from proctor_benchmarks.agentbench.dataset import parts_of
from proctor_benchmarks.agentbench.official import Part, Status

RUNS, ERRORS = "runs.jsonl", "error.jsonl"
_NO_TEXT = "expected string or bytes-like object"  # a search in the answer that `finish` does not have


class HistoryMessage(msgspec.Struct, frozen=True):
    """A message of a history."""

    role: str
    content: str | None


class Output(msgspec.Struct, frozen=True):
    """How a sample ended."""

    status: Status
    result: Any = None
    history: tuple[HistoryMessage, ...] | None = None


class RunsFileLine(msgspec.Struct, frozen=True):
    """A line of `runs.jsonl` or `error.jsonl`."""

    index: int | str
    error: str | None = None
    info: str | None = None
    output: object = None


def read(path: Path, task_options: Mapping[str, Any]) -> Iterator[tuple[str, Trajectory | TrialFailure]]:
    """Yield what became of each sample of the parts and the split of the task.

    Args:
        path: the folder of one agent, of one of its tasks, or one `runs.jsonl`.

    Raises:
        BadInput: nothing to read, results of several agents, or a malformed line.
    """
    path = Path(path)
    parts = parts_of(task_options.get("category"), task_options.get("mind2web"))
    split = task_options.get("split", "std")
    other = "-dev" if split == "std" else "-std"
    files = [path] if path.is_file() else sorted({file for name in (RUNS, ERRORS) for file in path.rglob(name)})
    pairs = [
        (file, part)
        for file in files
        if (part := _part(file, parts)) and not file.resolve().parent.name.endswith(other)
    ]
    if not pairs:
        raise BadInput("{path} holds no {name} of {parts}.", path=path, name=RUNS, parts=", ".join(parts))
    folders = sorted({str(file.resolve().parent.parent) for file, _ in pairs})
    if len(folders) > 1:
        raise BadInput("{path} holds results of several models: {models}. Give the folder of one.", path=path, models=", ".join(folders))  # fmt: skip
    replies: dict[str, Trajectory | TrialFailure] = {}
    for file, part in sorted(pairs, key=lambda one: one[0].name == ERRORS):  # what was tried again has a result too
        for number, line in read_json_lines(file, RunsFileLine):
            replies.setdefault(f"{part}/{line.index}", _reply(file, number, part, line))
    yield from replies.items()


def write(trials: Iterable[tuple[Sample, Trial]], folder: Path, model: str) -> list[Path]:
    """Write the first attempts, in the order of the data, and the aggregates of each task; say where.

    Raises:
        BadInput: a model name that is no folder name, a sample that is not of AgentBench, or nothing to write.
    """
    name = folder_name(model)
    lines: dict[tuple[str, str], list[dict[str, object]]] = defaultdict(list)
    targets: dict[str, list[object]] = defaultdict(list)
    for sample, trial in trials:
        if "task" not in sample.meta or sample.tags.get("part") not in official.PARTS:
            raise BadInput("The sample '{id}' is not of AgentBench.", id=sample.id)
        if trial.attempt == 0:
            task, line = sample.meta["task"], _line(sample, trial)
            lines[task, RUNS if line["error"] is None else ERRORS].append(line)
            if line["error"] is None:
                targets[task].append(sample.target)
    if not lines:
        raise BadInput("The run holds no scored trial to export.")
    written = []
    for (task, file), rows in lines.items():
        text = "".join(json.dumps(row) + "\n" for row in rows)
        written.append(write_whole(folder / name / task / file, text))
    for task, of_task in targets.items():
        if (task, ERRORS) not in lines:  # officially there is none before every sample has a result
            overall = json.dumps(_overall(task, lines[task, RUNS], of_task), indent=4, ensure_ascii=False)
            written.append(write_whole(folder / name / task / "overall.json", overall))
    return written


def _part(file: Path, parts: Iterable[Part]) -> Part | None:
    try:
        part = official.part_of(file.resolve().parent.name)
    except BadInput:
        return None
    return part if part in parts else None


def _reply(file: Path, number: int, part: Part, line: RunsFileLine) -> Trajectory | TrialFailure:
    if line.error is not None:
        return TrialFailure(
            kind="recorded", reason=say("The result file says: {error}", error=f"{line.error}: {line.info}")
        )
    try:
        output = msgspec.convert(line.output, Output)
    except msgspec.ValidationError as error:
        raise BadInput("{path}, line {line}: {error}.", path=file, line=number, error=error) from None
    if output.status in official.BROKEN and not _is_about_the_agent(part, output):
        return TrialFailure(kind="recorded", reason=say("The result file says: {error}", error=output.status))
    steps, turn = [], 0
    for said in output.history or ():
        is_agent = said.role == "agent"
        message = Message.of("assistant" if is_agent else "user", said.content or "")
        steps.append(Step(message=message, turn=turn, author="agent" if is_agent else "user"))
        turn += is_agent
    return Trajectory(steps=tuple(steps), state={"status": output.status, "result": output.result})


def _is_about_the_agent(part: Part, output: Output) -> bool:
    """True for an `unknown` that nothing broken brought about: a page without an answer, or `finish` where a text is searched."""
    if part == "mind2web":
        return output.status == "unknown"
    error = output.result.get("error") if isinstance(output.result, dict) else None
    return part == "os" and output.status == "unknown" and _NO_TEXT in str(error)


def _line(sample: Sample, trial: Trial) -> dict[str, Any]:
    state = trial.trajectory.state or {}
    history = [
        {"role": "agent" if step.message.role == "assistant" else "user", "content": step.message.text}
        for step in trial.trajectory.steps
        if step.message.role in ("assistant", "user")
    ]
    index = sample.meta["index"]
    output = {"index": index, "status": state.get("status", "running"), "result": state.get("result"), "history": history}  # fmt: skip
    is_over = trial.outcome == "scored"
    when = datetime.fromtimestamp(trial.started, UTC)
    return {
        "index": index,
        "error": None if is_over else trial.outcome,
        "info": None if is_over or trial.failure is None else str(trial.failure.reason),
        "output": output,
        "time": {"timestamp": int(trial.started * 1000), "str": f"{when:%Y-%m-%d %H:%M:%S}"},
    }


def _overall(task: str, lines: list[dict[str, Any]], targets: list[object]) -> dict[str, object]:
    outputs = [line["output"] for line in lines]
    shares = official.validation(
        [output["status"] for output in outputs], [len(output["history"]) for output in outputs]
    )
    rows = [(output["result"], target) for output, target in zip(outputs, targets, strict=True)]
    return {"total": len(lines), "validation": shares, "custom": official.overall(official.part_of(task), rows)}
