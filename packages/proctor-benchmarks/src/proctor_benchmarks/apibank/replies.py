"""Read and write the official files of predictions, one JSON line for each sample:

    {"file": "AddAgenda-AddAlarm-GetUserToken-level-2-1.jsonl", "id": 0, "pred": "[GetUserToken(username='JaneSmith')]"}    levels 1 and 2
    {"sample_id": 0, "api_id": 2, "pred": "…"}                                                                        calls of level 3

Responses of level 3 have no numbers officially: they are in the order of `level-3-batch-inf-response.json`.
"""

import json
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from operator import itemgetter
from pathlib import Path
from typing import Any

import msgspec

from proctor.core.errors import BadInput
from proctor.core.sample import Sample
from proctor.core.trajectory import Trajectory
from proctor.core.trial import Trial, TrialFailure
from proctor.runtime.files import folder_name, write_whole
from proctor.runtime.json_file import read_json_lines
from proctor_benchmarks.apibank import dataset
from proctor_benchmarks.apibank.dataset import KINDS, PLANNED, Kind


class Prediction(msgspec.Struct, frozen=True, kw_only=True):
    """A line of a file of predictions."""

    pred: str
    file: str | None = None
    id: int | None = None
    sample_id: int | None = None
    api_id: int | None = None


def read(path: Path, task_options: Mapping[str, Any]) -> Iterator[tuple[str, Trajectory | TrialFailure]]:
    """Yield the predictions by sample; the last of several for one sample counts, as officially.

    A call that a dialogue asks for, and for which its file has no prediction, is an empty reply: officially it is wrong. Where
    nothing of a dialogue was predicted, the official code ends; here it is left out.

    Raises:
        BadInput: no such file, a line in another layout, or of a dialogue that the levels do not have.
    """
    root = dataset.locate(task_options.get("data"))
    levels = dataset.levels_of(task_options.get("category"), root)
    wanted = _wanted(levels, root, task_options)
    files = [path] if path.is_file() else sorted(one for one in path.glob("*.json*") if one.is_file())
    if not files:
        raise BadInput("{path} holds no files of predictions.", path=path)
    predictions: dict[str, str] = {}
    for file in files:
        responses = 0
        for number, line in read_json_lines(file, Prediction):
            if line.file is not None:
                if line.file not in wanted:
                    raise BadInput("{path}, line {line}: the dialogue {file} is not in {levels}.", path=file, line=number, file=line.file, levels=", ".join(levels))  # fmt: skip
                of_dialogue = wanted[line.file]
                if line.id in of_dialogue:
                    missing = {sample.id: "" for sample in of_dialogue.values() if "result" in sample.meta["apibank"]}
                    predictions = {**missing, **predictions, of_dialogue[line.id].id: line.pred}
            elif PLANNED not in levels:
                raise BadInput("{path}, line {line}: a prediction of level 3, which is not in {levels}.", path=file, line=number, levels=", ".join(levels))  # fmt: skip
            elif line.api_id is not None:
                predictions[f"{PLANNED}/{line.sample_id}/{line.api_id}"] = line.pred
            else:
                predictions[f"{PLANNED}/response/{responses}"] = line.pred
                responses += 1
    return ((sample, Trajectory.of(text)) for sample, text in predictions.items())


def _wanted(levels: Sequence[str], root: Path, options: Mapping[str, Any]) -> dict[str, dict[int | None, Sample]]:
    """Return the samples of levels 1 and 2 by the name of their file and their number."""
    samples: dict[str, dict[int | None, Sample]] = defaultdict(dict)
    kinds: Sequence[Kind] = KINDS if (ask := options.get("ask", "both")) == "both" else [ask]
    official = dataset.read_official(root)
    for level in levels:
        if level != PLANNED:
            for sample in dataset.samples(
                level, dataset.source(level, root, options.get("dialogues")), official, kinds
            ):
                samples[sample.meta["apibank"]["file"]][sample.meta["apibank"]["number"]] = sample
    return samples


def write(trials: Iterable[tuple[Sample, Trial]], folder: Path, model: str) -> list[Path]:
    """Write the first attempts that were scored, a file for the calls and the responses of each level, and say where.

    Raises:
        BadInput: a model name that is no folder name, a sample that is not of API-Bank, or nothing to write.
    """
    name = folder_name(model)
    lines: dict[str, list[tuple[tuple[str, int], dict[str, object]]]] = defaultdict(list)
    for sample, trial in trials:
        if "apibank" not in sample.meta:
            raise BadInput("The sample '{id}' is not of API-Bank.", id=sample.id)
        if trial.attempt == 0 and trial.outcome == "scored":
            facts = sample.meta["apibank"]
            level, file, number = facts["level"], facts["file"], facts["number"]
            kind = "api" if "result" in facts else "response"
            ids: dict[str, object] = {"file": file, "id": number}
            if level == PLANNED:
                ids = {"sample_id": int(file), "api_id": number} if kind == "api" else {}
                file = ""
            line = {**ids, "pred": trial.trajectory.answer or "", "output": sample.target}
            lines[f"{level}-{kind}.jsonl"].append(((file, number), line))
    if not lines:
        raise BadInput("The run holds no scored trial to export.")
    return [
        write_whole(folder / name / file, "".join(json.dumps(line) + "\n" for _, line in sorted(of, key=itemgetter(0))))
        for file, of in lines.items()
    ]
