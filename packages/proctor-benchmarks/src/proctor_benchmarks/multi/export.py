"""Write a run as the files of the original: prediction.json, score.json, detail.json, statistics.csv, summary.md with its
pictures (extra `plots`).

Only what counts in the mean is written (first attempts that were scored, and failures of the agent, as ''). The score
files are left out for questions without a recorded answer. `leaderboard.json` is an entry for the leaderboard,
`submission.zip` what its scoring service takes.
"""

import json
import zipfile
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

from proctor.core.errors import BadInput
from proctor.core.sample import File, Sample, Text
from proctor.core.score import Score
from proctor.core.trial import IN_THE_MEAN, Trial
from proctor.runtime.files import write_whole
from proctor_benchmarks.multi.figures import can_draw, draw
from proctor_benchmarks.multi.scorer import multi
from proctor_benchmarks.multi.tables import Scored, leaderboard_file, statistics, summary

Json = dict[str, object]


def write(trials: Iterable[tuple[Sample, Trial]], folder: Path, model: str) -> list[Path]:
    """Write the files into `folder` and say which; those of an earlier export are replaced.

    Raises:
        BadInput: a sample that is not of MULTI, or nothing to write.
    """
    predictions: dict[str, Json] = {}
    details: dict[str, Json] = {}
    rows: list[Scored] = []
    for sample, trial in sorted(trials, key=lambda pair: pair[0].id.split("_")[0]):
        if "type" not in sample.meta or "images" not in sample.meta:
            raise BadInput("The sample '{id}' is not of MULTI.", id=sample.id)
        if trial.attempt or trial.outcome not in IN_THE_MEAN:
            continue
        predictions[sample.id] = prediction_of(sample, trial)
        if sample.target is not None:
            row = score_row(sample, trial)
            rows.append(row)
            details[sample.id] = {**predictions[sample.id], **_detail(sample, row)}
    if not predictions:
        raise BadInput("The run holds no scored trial to export.")
    folder.mkdir(parents=True, exist_ok=True)
    text = _json(predictions)
    written = [
        write_whole(folder / "prediction.json", text),
        *(score_files(folder, details, rows, model) if rows else ()),
    ]
    return [*written, _zip(folder, text)]


def score_files(
    folder: Path, details: Mapping[str, Json], rows: Sequence[Scored], model: str, *, summarised: bool = True
) -> list[Path]:
    """Write score.json and detail.json; where they are `summarised`, the tables, the leaderboard entry and the pictures."""
    scores = {row.id: {"question_id": row.id, "score": row.score, "total_score": row.total} for row in rows}
    texts = {"score.json": _json(scores), "detail.json": _json(details)}
    if summarised:
        texts |= {
            "statistics.csv": statistics(rows),
            "summary.md": summary(rows, pictures=can_draw()),
            "leaderboard.json": leaderboard_file(rows, model),
        }
    written = [write_whole(folder / name, text) for name, text in texts.items()]
    return [*written, *(draw(rows, folder, model) if summarised and can_draw() else ())]


def prediction_of(sample: Sample, trial: Trial) -> Json:
    """Return what the original writes of an answered question."""
    messages = ["".join(map(_part_as_text, turn.messages[-1].parts)) for turn in sample.turns]
    line: Json = {"question_id": sample.id, "question_image_number": sample.meta["images"]}
    if "image_list" in sample.meta:
        line["image_list"] = list(sample.meta["image_list"]) + [""] * (len(messages) - len(sample.meta["image_list"]))
    system = [message.text for message in sample.turns[0].messages if message.role == "system"]
    if system:
        line["prompted_system_content"] = system[0]
    line |= {"input_message": messages[0]} if len(messages) == 1 else {"input_message_list": messages}
    line |= {
        "prediction": trial.trajectory.answer,
        "prompt_tokens": trial.usage.input_tokens,
        "completion_tokens": trial.usage.output_tokens,
    }
    if trial.trajectory.stop in ("filtered", "refused"):
        line["feedback"] = trial.trajectory.stop
    return line


def score_row(sample: Sample, trial: Trial) -> Scored:
    """Return the official verdict as a row of the tables; what is worth no points is 0 of 0, as upstream."""
    result = multi(sample, trial.trajectory)
    made = isinstance(result, Score)
    return Scored(
        id=sample.id,
        problem=sample.cluster or sample.id,
        education=sample.tags["education"],
        subject=sample.meta["subject"],
        type=sample.tags["type"],
        image=sample.tags["image"],
        score=result.points if isinstance(result, Score) else 0,
        total=result.out_of if isinstance(result, Score) else 0,
        rejected=made and result.known.rejected,
    )


def _detail(sample: Sample, row: Scored) -> Json:
    return {
        "analysis": sample.meta.get("analysis", ""),
        "answer": sample.target,
        "score": row.score,
        "total_score": row.total,
        "type": sample.meta["type"],
        "education": sample.meta["education"],
        "subject": sample.meta["subject"],
    }


def _part_as_text(part: object) -> str:
    if isinstance(part, Text):
        return part.text
    return f"<image {part.name}>" if isinstance(part, File) else ""


def _json(value: object) -> str:
    return json.dumps(value, ensure_ascii=False, indent=4) + "\n"


def _zip(folder: Path, predictions: str) -> Path:
    """Write what the scoring service takes: a zip with the predictions alone."""
    path = folder / "submission.zip"
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("prediction.json", predictions.encode("utf-8", "replace"))
    return path
