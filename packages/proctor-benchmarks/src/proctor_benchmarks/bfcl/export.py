"""Write a run as official result files, which `bfcl evaluate --partial-eval` accepts.

Layout: `<folder>/result/<model, "/" as "_">/<group>/BFCL_v4_<category>_result.json`, sorted by number. Only what counts
in the mean is written (first attempts that were scored, and failures of the agent), as the official accuracy is taken
over the lines that are there. A failed agent becomes `Error during inference: ...`, as upstream writes it; upstream
then counts it as right where no call is expected.

Source: bfcl-eval 2026.3.23, `bfcl_eval/model_handler/base_handler.py` (`write`), `bfcl_eval/utils.py` (`sort_key`).
"""

import json
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

from proctor.core.errors import BadInput
from proctor.core.sample import Sample
from proctor.core.trajectory import NOTHING, Trajectory
from proctor.core.trial import IN_THE_MEAN, Trial
from proctor.runtime.files import folder_name, write_whole
from proctor_benchmarks.bfcl.agentic import is_agentic
from proctor_benchmarks.bfcl.dataset import CATEGORIES, MULTI_TURN, WRITE_PHASE, result_path
from proctor_benchmarks.bfcl.replies import FAILED, SNAPSHOTS


def write(trials: Iterable[tuple[Sample, Trial]], folder: Path, model: str) -> list[Path]:
    """Write result files below `folder` and return their paths; files of the same categories and model are replaced.

    Raises:
        BadInput: a model name that is no folder name, a sample that is not of BFCL, or nothing to write.
    """
    lines: dict[str, list[dict[str, object]]] = {}
    memories: dict[str, list[tuple[Sample, Trajectory]]] = {}
    for sample, trial in trials:
        category = str(sample.meta.get("category"))
        if category.removesuffix(WRITE_PHASE) not in CATEGORIES:
            raise BadInput("The sample '{id}' is not of a category of BFCL.", id=sample.id)
        if trial.attempt == 0 and trial.outcome in IN_THE_MEAN:
            lines.setdefault(category, []).append(_line(sample, trial))
            if category.endswith(WRITE_PHASE) and trial.outcome == "scored":
                memories.setdefault(category, []).append((sample, trial.trajectory))
    if not lines:
        raise BadInput("The run holds no scored trial to export.")
    _spare_the_table(lines)
    known = [name for category in CATEGORIES for name in (category + WRITE_PHASE, category)]
    written = [_write(folder, model, category, lines[category]) for category in known if category in lines]
    for category, conversations in memories.items():
        _write_snapshots(result_path(result_folder(folder, model), category).parent, conversations)
    return written


def result_folder(folder: Path, model: str) -> Path:
    """Return where the results of a model are; the name cannot lead out of `folder`."""
    name = folder_name(model)
    return folder / "result" / name


def _line(sample: Sample, trial: Trial) -> dict[str, Any]:
    from proctor_benchmarks.bfcl.scorer import model_output_of

    if trial.outcome != "scored":
        result = f"{FAILED} {trial.failure.reason if trial.failure is not None else trial.outcome}"
    elif sample.meta["category"] in MULTI_TURN or is_agentic(sample):
        return _line_of_turns(sample, trial.trajectory)
    else:
        result = model_output_of(sample, trial.trajectory)
    return {
        "id": sample.id,
        "result": result,
        "input_token_count": trial.usage.input_tokens,
        "output_token_count": trial.usage.output_tokens,
        "latency": trial.seconds,
    }


def _line_of_turns(sample: Sample, trajectory: Trajectory) -> dict[str, object]:
    from proctor_benchmarks.bfcl.turn_scorer import replies_by_turn, result_of

    turns = replies_by_turn(trajectory)
    used = [[step.usage or NOTHING for step in steps] for steps in turns]
    return {
        "id": sample.id,
        "result": result_of(trajectory),
        "input_token_count": [[usage.input_tokens for usage in steps] for steps in used],
        "output_token_count": [[usage.output_tokens for usage in steps] for steps in used],
        "latency": [[step.seconds for step in steps] for steps in turns],
    }


def _spare_the_table(lines: dict[str, list[dict[str, object]]]) -> None:
    """With exactly one latency above 0 the official tool raises while it makes its table, so that one is left out."""
    latencies = [(line, _numbers(line["latency"])) for several in lines.values() for line in several]
    timed = [line for line, numbers in latencies for number in numbers if number > 0]
    if len(timed) == 1:
        timed[0]["latency"] = 0


def _numbers(latency: Any) -> list[float]:
    return [number for item in latency for number in _numbers(item)] if isinstance(latency, list) else [latency]


def _write(folder: Path, model: str, category: str, lines: list[dict[str, object]]) -> Path:
    path = result_path(result_folder(folder, model), category)
    return write_whole(path, "".join(json.dumps(line) + "\n" for line in sorted(lines, key=_number)))


def _write_snapshots(folder: Path, conversations: Sequence[tuple[Sample, Trajectory]]) -> None:
    """Write what was in memory after each conversation, and at the end of each scenario, as the official classes do."""
    for sample, trajectory in sorted(conversations, key=lambda pair: _number({"id": pair[0].id})):
        [name] = sample.meta["classes"]
        snapshot = json.dumps((trajectory.state or {}).get(name), indent=4)
        write_whole(folder / SNAPSHOTS / f"{sample.id}.json", snapshot)
        write_whole(folder / SNAPSHOTS.parent / f"{sample.meta['scenario']}_final.json", snapshot)


def _number(line: dict[str, Any]) -> int:
    """Return the number after the last `_`, cut at the first `-`; of format sensitivity, in what is left of the format."""
    number = line["id"].partition(":")[0].rpartition("_")[2].partition("-")[0]
    return int(number) if number.isdecimal() else 0
