"""Every public function takes each of its arguments by the name that its signature shows."""

import asyncio
import inspect
import re
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import pytest

import proctor
from proctor import Sample, Task, api
from proctor.core.errors import BadInput
from proctor.runtime.entry_points import entry_points

TASK = Task(name="sums", samples=[Sample.ask(id, "1 + 1?", target="2") for id in "ab"], scorers=["exact"])
QUESTIONS = '{"id": "a", "question": "1 + 1?", "target": "2"}\n'
REPLIES = '{"id": "a", "answer": "2"}\n'


def answer(question: str) -> str:
    return "2"


def functions_of_api() -> dict[str, Callable[..., Any]]:
    by_name = {name: getattr(module, name) for module in (api, proctor) for name in module.__all__}
    return {name: each for name, each in by_name.items() if inspect.isfunction(each)}


def parts(folder: Path) -> dict[str, dict[str, object]]:
    """Return what each function of the public interface requires, by its name, and where it finds it."""
    store = str(folder / "runs.db")
    (folder / "questions.jsonl").write_text(QUESTIONS, encoding="utf-8")
    (folder / "replies.jsonl").write_text(REPLIES, encoding="utf-8")
    run = proctor.evaluate(TASK, agent=answer, store=store, run_id="r")
    proctor.evaluate(str(folder / "questions.jsonl"), agent="baseline:echo", store=store, run_id="named")
    shards = [str(folder / f"shard{number}.db") for number in (1, 2)]
    for number, address in enumerate(shards, 1):
        proctor.evaluate(TASK, agent=answer, store=address, run_id="s", shard=f"{number}/2")
    return {
        "at": {"store": store},
        "compare": {"first": run, "second": run},
        "copy_run": {"run_id": "r", "source": run.store, "target": str(folder / "copy.db")},
        "evaluate": {"task": TASK, "agent": answer},
        "evaluate_async": {"task": TASK, "agent": answer},
        "merge_runs": {"stores": shards, "target": str(folder / "whole.db")},
        "open_run": {"run_id": "r", "store": store},
        "rescore": {"run": "r", "scorers": ["exact"], "store": store},
        "resumable": {"run_id": "named", "store": store},
        "run_task": {"task": TASK, "options": api.RunOptions(agent=answer, store=store)},
        "runs": {"store": store},
        "score": {"task": TASK, "replies": str(folder / "replies.jsonl")},
        "scorer": {},
    }


def call_by_name(function: Callable[..., Any], given: Mapping[str, object]) -> Any:
    """Call a function with all of its arguments by name: those that are not given have their defaults."""
    parameters = inspect.signature(function).parameters
    defaults = {name: each.default for name, each in parameters.items() if each.default is not each.empty}
    arguments = {**defaults, **given}
    assert {*parameters} == {*arguments}
    result = function(**arguments)
    return asyncio.run(result) if inspect.iscoroutine(result) else result


@pytest.mark.parametrize("name", functions_of_api())
def test_a_function_is_called_with_names_only(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    call_by_name(functions_of_api()[name], parts(tmp_path)[name])


@pytest.mark.parametrize("point", entry_points("proctor.names"), ids=lambda point: str(point.name))
def test_what_a_package_adds_shows_the_parameters_that_it_has(point: Any) -> None:
    function = point.load()
    shown, taken = (inspect.signature(function, follow_wrapped=follow) for follow in (True, False))
    passes_all_on = {each.kind.name for each in taken.parameters.values()} == {"VAR_POSITIONAL", "VAR_KEYWORD"}
    assert shown == taken or passes_all_on
    assert not any(each.kind is each.POSITIONAL_ONLY for each in shown.parameters.values())


@pytest.mark.parametrize(
    ("positional", "named", "complaint"),
    [
        ((), {"agent": answer}, "missing a required argument: 'task'"),
        ((TASK,), {"task": TASK, "agent": answer}, "multiple values for argument 'task'"),
        ((TASK, answer), {}, "too many positional arguments"),
    ],
)
def test_a_call_that_does_not_fit_says_what_is_wrong(
    positional: tuple[object, ...], named: dict[str, object], complaint: str
) -> None:
    evaluate: Any = proctor.evaluate
    with pytest.raises(TypeError, match=re.escape(complaint)):
        evaluate(*positional, **named)


def test_a_misspelt_option_next_to_a_named_task_names_the_nearest() -> None:
    evaluate: Any = proctor.evaluate
    with pytest.raises(BadInput, match="Did you mean 'attempts'"):
        evaluate(task=TASK, agent=answer, atempts=2)
