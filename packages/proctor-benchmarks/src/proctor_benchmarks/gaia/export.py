"""Write the leaderboard's JSON lines and a guide for submitting them."""

from collections.abc import Iterable
from pathlib import Path

import msgspec

from proctor.core.errors import BadInput
from proctor.core.sample import Sample
from proctor.core.trial import IN_THE_MEAN, Trial
from proctor.runtime.files import draft_of, write_whole
from proctor_benchmarks.gaia.answer import final_answer

GUIDE = """# Submitting to the GAIA leaderboard

| | |
|---|---|
| model | {model} |
| file | {file} |
| questions | {lines} |

1. Open the leaderboard's page on the hub and sign in.
2. Fill in: split, model name, model family, system prompt example, address, organisation, contact e-mail.
3. Upload `{file}` and submit.

Each line is one object: `task_id` and `model_answer` (a string, never null), `reasoning_trace` if you like.
An unknown id or broken JSON makes the whole upload fail; the file may have 10 MB. Only the first attempt at a
question is in the file. Questions that never got a reply have an empty answer, so that no line is missing.
"""


def write(trials: Iterable[tuple[Sample, Trial]], folder: Path, model: str) -> list[Path]:
    """Write the first attempt at every question as a line, and the guide next to it.

    Raises:
        BadInput: no question has a result, so that every answer would be empty, and wrong.
    """
    lines = folder / "gaia_result.jsonl"
    count, is_measured = 0, False
    with draft_of(lines) as draft, draft.open("wb") as file:
        for sample, trial in trials:
            if trial.attempt == 0:
                file.write(msgspec.json.encode(_line(sample, trial)) + b"\n")
                count, is_measured = count + 1, is_measured or trial.outcome in IN_THE_MEAN
        if not is_measured:
            raise BadInput("The run holds no scored trial to export.")
    guide = folder / "SUBMISSION_GUIDE.md"
    return [lines, write_whole(guide, GUIDE.format(model=model, file=lines.name, lines=count))]


def _line(sample: Sample, trial: Trial) -> dict[str, str]:
    reply = trial.trajectory.answer
    answer = final_answer(reply, fallback=sample.meta.get("fallback", "none"))
    return {"task_id": sample.id, "model_answer": answer or "", "reasoning_trace": reply}
