"""Try a model on a few questions that come along, and show its answers next to the right ones."""

import argparse
import tempfile
from collections import Counter
from importlib.resources import files
from pathlib import Path

from proctor.core.sample import Sample
from proctor.core.score import Score
from proctor_benchmarks.multi.scorer import multi
from proctor_compat.multi.running import agent_of

_EACH = 2  # of every question type and image class
_LINE = "-" * 60


def add_flags(flags: argparse.ArgumentParser) -> None:
    """Add the flags of the original's `model_tester.py`, whose letters are not those of `eval`, and the endpoint."""
    flags.add_argument("--model", "-m", default="viscpm", help="a model, or ./path.py:NAME with generate_answer")
    flags.add_argument("--model_dir", "-p", help="not used: serve the model, and give --api_url")
    flags.add_argument("--lang", "-l", choices=("en", "zh"), default="zh")
    flags.add_argument("--in_turn", action="store_true")
    flags.add_argument("--input_type", type=int, choices=range(4), default=0)
    flags.add_argument("--blank_image", action="store_true")
    flags.add_argument("--model_version", "-v")
    flags.add_argument("--use_modelscope", action="store_true", help="not used")
    flags.add_argument("--few_shot", "-k", type=int, default=0)
    flags.add_argument("--cot", action="store_true")
    flags.add_argument("--cuda_device", "-c", default="cpu", help="not used")
    flags.add_argument("--api_key", help="better in OPENAI_API_KEY")
    flags.add_argument("--api_url", default="https://api.openai.com/v1/chat/completions")


def run(args: argparse.Namespace) -> tuple[str, int]:
    """Return the questions with answers and scores; 3 when one has no answer.

    Raises:
        BadInput: no such model, or the endpoint refuses.
    """
    from proctor import api
    from proctor_benchmarks.multi import task

    english = str(files("proctor_compat.multi").joinpath("questions_en.json"))
    names = ("lang", "in_turn", "input_type", "blank_image", "few_shot", "cot")
    options: dict[str, object] = {name: getattr(args, name) for name in names}
    loaded_task = task("SA,MA,FB", data=english if args.lang == "en" else "sample", image_type="NI,SI,MI", **options)
    assert not callable(loaded_task.samples)
    shown = {sample.id: sample for sample in _few(list(loaded_task.samples))}
    with tempfile.TemporaryDirectory() as folder:
        store = str(Path(folder) / "run.db")
        done = api.evaluate(
            loaded_task, agent=agent_of(args), ids=list(shown), concurrency=1, order="official", store=store
        )
        trials = {trial.sample_id: trial for trial in done.trials()}
    lines = []
    for id, sample in shown.items():
        trial = trials.get(id)
        score = multi(sample, trial.trajectory) if trial else None
        points = f"{score.points:g}/{score.out_of:g}" if isinstance(score, Score) else "-"
        answer = trial.trajectory.answer if trial else ""
        lines += [_LINE, f"{id} ({sample.tags['type']}, {sample.tags['image']})", _question_text(sample)]
        lines += [f"answer: {answer}", f"right:  {sample.target}", f"points: {points}"]
    missing = sum(id not in trials or not trials[id].trajectory.answer for id in shown)
    lines += [_LINE, f"{len(shown) - missing} of {len(shown)} questions answered"]
    return "\n".join(lines), 3 if missing else 0


def _few(samples: list[Sample]) -> list[Sample]:
    """Return the first samples of every question type and image class."""
    counts: Counter[tuple[str, str]] = Counter()
    chosen = []
    for sample in samples:
        kind = (sample.tags["type"], sample.tags["image"])
        counts[kind] += 1
        if counts[kind] <= _EACH:
            chosen.append(sample)
    return chosen


def _question_text(sample: Sample) -> str:
    return "\n".join(message.text for turn in sample.turns for message in turn.messages if message.role == "user")
