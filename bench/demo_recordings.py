"""Write the files of `proctor demo` from two stored runs of BFCL: `python -m bench.demo_recordings STORE FIRST SECOND`.

The replies are those of the runs. The questions carry what BFCL accepts in the words of the kernel's scorer
`trajectory:exact`, so that the kernel alone can score them; questions about lists of floats are left out. `tests/cli/test_demo_command.py` holds both to the same verdict.

    proctor run bfcl/simple_python --limit 100 --agent local:smollm2-135m --run greedy
    proctor run bfcl/simple_python --limit 100 --agent local:smollm2-135m --agent-set temperature=0.7 --run warm
"""

import json
import sys
from collections.abc import Iterable, Mapping, Sequence
from itertools import combinations, product
from pathlib import Path
from typing import Any

from msgspec import to_builtins

from proctor.api import open_run
from proctor.core.sample import Sample
from proctor.core.trial import Trial

FOLDER = Path(__file__).parents[1] / "packages" / "proctor" / "src" / "proctor" / "cli" / "demo"
MAY_BE_LEFT_OUT = ""


def question_of(sample: Sample) -> dict[str, object]:
    """Return a sample of `simple_python` as a line of a data file."""
    [(name, allowed)] = sample.target[0].items()
    values = {
        key: [one for each in options if each != MAY_BE_LEFT_OUT for one in plain(each)]
        for key, options in allowed.items()
    }
    values = {key: options for key, options in values.items() if options}  # what is left is only ever left out
    optional = [key for key in values if MAY_BE_LEFT_OUT in allowed[key]]
    shorter = (
        {key: one for key, one in values.items() if key not in left_out}
        for count in range(1, len(optional) + 1)
        for left_out in combinations(optional, count)
    )
    called = name.replace(".", "_")
    expected = expected_call(called, values)
    either = [expected_call(called, one) for one in shorter]
    return {
        "id": sample.id,
        "question": sample.question,
        "target": {"calls": [{**expected, **({"either": either} if either else {})}]},
    }


def _has_list_of_floats(sample: Sample) -> bool:
    """True if a list has to hold floats: there BFCL takes no 5 for 5.0, a rule that the kernel's scorer does not have."""
    [allowed] = sample.target[0].values()
    return any(
        isinstance(one, float)
        for each in allowed.values()
        for options in each
        if isinstance(options, list)
        for one in options
    )


def plain(value: Any) -> Iterable[object]:
    """Yield the plain values that an official answer stands for: inside of objects each value is a list of those allowed."""
    if isinstance(value, Mapping):
        keys = [*value]
        for chosen in product(*([one for each in value[key] for one in plain(each)] for key in keys)):
            yield {key: one for key, one in zip(keys, chosen, strict=True) if one != MAY_BE_LEFT_OUT}
    elif isinstance(value, list):
        yield from map(list, product(*map(plain, value)))
    else:
        yield value


def expected_call(name: str, values: Mapping[str, Sequence[object]]) -> dict[str, object]:
    match = {key: {"one_of": options} for key, options in values.items() if len(options) > 1}
    first = {key: options[0] for key, options in values.items()}
    return {"name": name, "arguments": first, **({"match": match} if match else {})}


def reply_of(trial: Trial) -> dict[str, object]:
    """Return a reply as a line for `replay:`, with its tokens and its time; what is empty is left out."""
    trajectory: Any = to_builtins(trial.trajectory)
    steps = [{name: _without_nothing(value) for name, value in step.items()} for step in trajectory["steps"]]
    for step in steps:
        step["message"]["parts"] = [_without_nothing(part) for part in step["message"]["parts"]]
        step["seconds"] = round(step["seconds"], 3)
    return {
        "id": trial.sample_id,
        "trajectory": {**_without_nothing(trajectory), "steps": [_without_nothing(step) for step in steps]},
    }


def _without_nothing(value: Any) -> Any:
    if not isinstance(value, dict):
        return value
    return {key: one for key, one in value.items() if key == "arguments" or one not in (None, 0, [], {}, "")}


def write(store: str, runs: Sequence[str]) -> None:
    from proctor.api import resolve

    task, _ = resolve.task("bfcl/simple_python", {})
    samples = {sample.id: sample for sample in (task.samples() if callable(task.samples) else task.samples)}
    trials = {name: {trial.sample_id: trial for trial in open_run(name, store=store).trials()} for name in runs}
    answered = (sample for sample in samples.values() if all(sample.id in of_run for of_run in trials.values()))
    ids = [sample.id for sample in answered if not _has_list_of_floats(sample)]
    _write("questions", (question_of(samples[id]) for id in ids))
    for name, of_run in trials.items():
        _write(name, (reply_of(of_run[id]) for id in ids))


def _write(name: str, rows: Iterable[Mapping[str, object]]) -> None:
    lines = (json.dumps(row, ensure_ascii=False, separators=(",", ":")) for row in rows)
    (FOLDER / f"{name}.jsonl").write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")


if __name__ == "__main__":
    write(sys.argv[1], sys.argv[2:])
