"""`eval.py` of the original: ask a model all questions, and keep its files in a folder that can be resumed.

Every model is reached through an OpenAI-compatible endpoint; models on this machine need a server of that kind.
"""

import argparse
import json
import os
import time
from collections import Counter
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING

from proctor.core.errors import BadInput
from proctor.core.run import Limits
from proctor.core.sample import JsonObject
from proctor.core.score import Score
from proctor.core.task import Agent, Task
from proctor.core.trajectory import Trajectory
from proctor.engine.input_size import InputSize
from proctor.runtime.json_file import read_json
from proctor_benchmarks.multi.export import prediction_of
from proctor_benchmarks.multi.predictions import objects, text_of
from proctor_benchmarks.multi.scorer import multi
from proctor_judging.generation.files import write

if TYPE_CHECKING:
    from proctor.api.run import Run

_NOT_KEPT = "api_key"
MOST_REASONS = 5
_FINISHED, _LAST = "prediction.json", "prediction_last.json"
SUPPORTED = """\
openai-compatible: any model at an OpenAI-compatible endpoint; docs/multi.md says where those of the original are
  --model NAME [--model_version VERSION] --api_url URL [--api_key KEY, else OPENAI_API_KEY]
  model_type: api, support_input: 0, 1, 2, 3, split_sys: yes
path.py:NAME: an object with generate_answer(question), given as --model ./path.py:NAME"""


def add_flags(flags: argparse.ArgumentParser) -> None:
    """Add the flags of the original's `eval.py`."""
    for name in (
        "problem_file",
        "knowledge_file",
        "caption_file",
        "output_name",
        "exp_name",
        "checkpoint_dir",
        "subset",
        "subject",
    ):
        flags.add_argument(f"--{name}")
    flags.add_argument("--output_dir", default="../results")
    flags.add_argument("--model", "-m")
    flags.add_argument("--model_version", "-v")
    flags.add_argument(
        "--model_dir", "-d", help="handed to the constructor of a class; other models: serve them, and give --api_url"
    )
    flags.add_argument("--cuda_device", "-c", default="auto", help="handed to the constructor of a class as device_map")
    flags.add_argument("--api_key", help="better in OPENAI_API_KEY; never written down")
    flags.add_argument("--api_url", default="https://api.openai.com/v1/chat/completions")
    flags.add_argument("--use_modelscope", action="store_true", help="not used")
    for name in ("in_turn", "cot", "no_background", "no_sys", "random", "cap_in_cnt", "blank_image", "debug"):
        flags.add_argument(f"--{name}", action="store_true")
    flags.add_argument("--few_shot", "-k", type=int, default=0)
    flags.add_argument("--questions_type", default="0,1,2")
    flags.add_argument("--image_type", default="0,1,2")
    flags.add_argument("--input_type", type=int, choices=range(4), default=0)
    flags.add_argument("--eval_num", type=int, default=-1)
    flags.add_argument("--seed", type=int, default=0, help="of --random; not in the original")
    flags.add_argument("--num_workers", "-n", type=int, default=1)
    flags.add_argument("--save_every", type=int, default=100, help="not used: every answer is saved as it comes")
    flags.add_argument("--lang", choices=("zh", "en"), default="zh")
    flags.add_argument("--model_list", "-l", action="store_true")


def run(args: argparse.Namespace) -> tuple[str, int]:
    """Ask what is not answered yet, and write `prediction.json`; `prediction_last.json` when it ends early.

    The lines to print, and the exit code: 3 when some questions have no answer.

    Raises:
        BadInput: a flag or file is wrong, or the endpoint refuses; what was answered is kept.
    """
    from proctor_benchmarks.multi import task

    if args.model_list:
        return SUPPORTED, 0
    folder = _folder(args)
    args = _with_stored(args, folder)
    if not args.problem_file or not args.model:
        raise BadInput("Asking a model needs --problem_file and --model.")
    loaded_task = task(args.questions_type if not args.subset else None, **_options(args))
    assert not callable(loaded_task.samples)
    ids = [sample.id for sample in loaded_task.samples]
    if args.debug:
        first = next(iter(loaded_task.samples)).turns[0]
        shown = [f"[{message.role}] {message.text}" for message in first.messages]
        size = InputSize()
        for sample in loaded_task.samples:
            size.add(sample, "text")
        return "\n".join([*shown, f"{len(ids)} questions", str(size.sentence())]), 0
    folder.mkdir(parents=True, exist_ok=True)
    stored = {key: value for key, value in vars(args).items() if key != _NOT_KEPT}
    write_json(folder / "args.json", stored)
    known = _read_answered(folder)
    rest = [id for id in ids if id not in known]
    if not rest:
        write_json(folder / _FINISHED, {id: known[id] for id in ids})
        return f"{len(ids)} questions were answered already: {folder / _FINISHED}", 0
    return _ask(loaded_task, args, folder, known, ids, rest)


def _ask(
    made: Task, args: argparse.Namespace, folder: Path, known: Mapping[str, object], ids: list[str], rest: list[str]
) -> tuple[str, int]:
    from proctor import api

    store = str(folder / "run.db")
    run_id = f"multi-{time.strftime('%Y%m%d-%H%M%S')}-{len(known)}"
    complete = False
    try:
        run = api.evaluate(
            made,
            agent=agent_of(args),
            ids=rest,
            order="official",
            concurrency=max(args.num_workers, 1),
            store=store,
            run_id=run_id,
            limits=Limits(seconds=3600),
        )
        complete = True
    finally:
        answered = {**known, **_read_answered(folder)}
        missing = [id for id in ids if id not in answered]
        name = _FINISHED if complete and not missing else _LAST
        write_json(folder / name, {id: answered[id] for id in ids if id in answered})
        if name == _FINISHED:
            (folder / _LAST).unlink(missing_ok=True)
    lines = [f"{len(ids) - len(missing)} of {len(ids)} questions answered: {folder / name}"]
    lines += _failure_lines(run)
    spent = run.usage
    lines.append(f"tokens: {spent.input_tokens} in, {spent.output_tokens} out")
    lines += [f"cost: {spent.cost:.4f}"] if spent.cost is not None else []
    lines += _score_line(made, {id: answered[id] for id in ids if id in answered})
    return "\n".join(lines), 3 if missing else 0


def _failure_lines(run: "Run") -> list[str]:
    """Return why questions have no answer: each reason with how many, the most frequent first."""
    reasons = Counter(
        str(trial.failure.reason) if trial.failure is not None else trial.outcome
        for trial in run.trials()
        if trial.outcome != "scored"
    )
    return [f"{count} not answered: {reason}" for reason, count in reasons.most_common(MOST_REASONS)]


def _score_line(made: Task, answered: JsonObject) -> list[str]:
    """Return the official score of all answers there are, those of earlier calls too."""
    score = total = 0.0
    for sample in made.samples() if callable(made.samples) else made.samples:
        line = answered.get(sample.id)
        result = multi(sample, Trajectory.of(text_of(line["prediction"]) or "")) if line is not None else None
        if isinstance(result, Score):
            score, total = score + result.points, total + result.out_of
    return [f"score: {score / total:.4f} ({score:g} of {total:g} points)"] if total else []


def agent_of(args: argparse.Namespace) -> Agent:
    """Return the agent of `--model`: a chat model by name, or an object with `generate_answer` by path."""
    from proctor import registry
    from proctor.agents import openai
    from proctor_compat.multi.adapter import Adapter

    if registry.is_path(args.model):
        given = {
            "model_dir": args.model_dir,
            "device_map": args.cuda_device,
            "api_url": args.api_url,
            "api_key": args.api_key or os.environ.get("OPENAI_API_KEY"),
            "model": args.model_version or args.model,
        }
        return Adapter(registry.load_object(args.model, "evaluator"), args.model, given)
    if args.api_key:
        os.environ["OPENAI_API_KEY"] = args.api_key  # options are stored with the run, so it goes no other way
    return openai.make(args.model_version or args.model, {"base_url": args.api_url})


def _options(args: argparse.Namespace) -> dict[str, object]:
    names = ("input_type", "lang", "few_shot", "cot", "in_turn", "cap_in_cnt", "blank_image", "no_background", "no_sys")
    options = {
        name: getattr(args, name) for name in (*names, "subset", "subject", "image_type", "random", "seed", "eval_num")
    }
    return {
        **options,
        "data": args.problem_file,
        "knowledge": args.knowledge_file or False,
        "captions": args.caption_file,
        "missing_image": "placeholder",  # as upstream
    }


def _folder(args: argparse.Namespace) -> Path:
    if args.checkpoint_dir:
        folder = Path(args.checkpoint_dir)
        if not folder.is_dir():
            raise BadInput("There is no folder {path}.", path=folder)
        return folder
    return Path(args.output_dir) / (args.output_name or _name(args))


def _name(args: argparse.Namespace) -> str:
    """`[exp_]<version or model>_input_<t>_shot_<k>[_it][_cot][_cic][_bi][_kn]_<time>`."""
    marks = {
        "it": args.in_turn,
        "cot": args.cot,
        "cic": args.cap_in_cnt,
        "bi": args.blank_image,
        "kn": args.knowledge_file,
    }
    model = str(args.model_version or args.model or "model").replace("/", "_")
    parts = [args.exp_name, model, "input", str(args.input_type), "shot", str(args.few_shot)]
    parts += [mark for mark, given in marks.items() if given]
    return "_".join([*filter(None, parts), time.strftime("%Y%m%d_%H%M%S")])


def _with_stored(args: argparse.Namespace, folder: Path) -> argparse.Namespace:
    """Return the arguments of a run that is resumed; they win over the command line, except for the key."""
    file = folder / "args.json"
    if not args.checkpoint_dir or not file.is_file():
        return args
    stored = read_json(file)
    if not isinstance(stored, dict):
        raise BadInput("{where}: expected settings with names and values.", where=file)
    own = {
        key: stored[key] for key in vars(args) if key in stored and key not in (_NOT_KEPT, "checkpoint_dir", "debug")
    }
    if isinstance(own.get("questions_type"), list):  # upstream writes these as lists
        own["questions_type"] = ",".join(map(str, own["questions_type"]))
    if isinstance(own.get("image_type"), list):
        own["image_type"] = ",".join(map(str, own["image_type"]))
    return argparse.Namespace(**{**vars(args), **own})


def _read_answered(folder: Path) -> dict[str, object]:
    """Return what is answered already: in the files of either tool, and in the store."""
    files = (folder / _FINISHED, folder / _LAST, *(folder / "checkpoints").glob("prediction_*.json"))
    lines = objects(folder) if any(file.is_file() for file in files) else {}
    known = {id: line for id, line in lines.items() if text_of(line.get("prediction")) is not None}
    store = folder / "run.db"
    return known | (_read_store(str(store)) if store.is_file() else {})


def _read_store(url: str) -> dict[str, object]:
    from proctor import api

    predictions: dict[str, object] = {}
    for record in api.runs(store=url):
        run = api.open_run(record.id, store=url)
        for trial in run.trials():
            sample = run.store.sample(run.id, trial.sample_id)
            if sample is not None and trial.outcome == "scored":  # what failed is asked again, as in the original
                predictions[sample.id] = prediction_of(sample, trial)
    return predictions


def write_json(path: Path, value: object) -> None:
    """Write a file in the original's format, all at once; missing folders are made."""
    write(path, json.dumps(value, ensure_ascii=False, indent=4) + "\n", replace=True)
