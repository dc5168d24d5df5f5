"""What every simulated user promises, whatever kind it is. A new one joins with one line in USERS."""

import asyncio
import json
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pytest

import proctor
from proctor.core.errors import ProviderFailed
from proctor.core.sample import Message, Sample, Turn
from proctor.core.scenario import ScriptedLine
from proctor.core.score import Score
from proctor.core.task import Task, User
from proctor.core.trajectory import Trajectory
from proctor.core.trial import Trial
from proctor.models.scripted import ScriptedModel
from proctor.users import function, model, scripted
from proctor.users.conduct import MOST_TURNS
from proctor_adapters.users import adk

SCENARIO = {
    "goal": "Book a room in Rome.",
    "conversation_plan": "Book a room in Rome.",
    "script": ["For two.", "Thanks."],
}
ASKED = Sample.ask("asked", "A room, please.", meta={"scenario": SCENARIO})


class Says:
    """A model that says the lines of a script, then what ends the conversation."""

    def __init__(self, *lines: Any, end: str) -> None:
        self._lines = [*lines]
        self._end = end

    def __call__(self, messages: Sequence[Message], tools: object) -> Any:
        own = sum("For two." in one.text or "Thanks." in one.text for one in messages[1:] if one.role == "assistant")
        if "user: For two." in messages[-1].text:  # of ADK, whose conversation is one message
            own = messages[-1].text.count("user: ") - 1
        return self._lines[own] if own < len(self._lines) else self._end


def by_model(lines: Sequence[Any]) -> User:
    return model.ModelUser(ScriptedModel(Says(*lines, end="[DONE]")))


def by_adk(lines: Sequence[Any]) -> User:
    return adk.ScenarioUser(ScriptedModel(Says(*lines, end="</finished>")))


def by_function(lines: Sequence[Any]) -> User:
    def reply(sample: Sample, trajectory: Trajectory) -> str | None:
        said = sum(step.author == "user" for step in trajectory.steps)
        if said < len(lines) and isinstance(lines[said], Exception):
            raise lines[said]
        return lines[said] if said < len(lines) else None

    return function.wrap(reply, name="mine")


class Mine:
    def __init__(self, lines: Sequence[str]) -> None:
        self._lines = lines

    async def reply(self, sample: Sample, trajectory: Trajectory) -> Turn | None:
        said = sum(step.author == "user" for step in trajectory.steps)
        return Turn(messages=(Message.of("user", self._lines[said]),)) if said < len(self._lines) else None


USERS: dict[str, Callable[[Sequence[Any]], User]] = {
    "model": by_model,
    "adk": by_adk,
    "scripted": scripted.ScriptedUser,
    "function": by_function,
    "object": lambda lines: function.wrap(Mine(lines), name="mine"),
}


def _again(words: str) -> str:
    return f"And then? {words[-30:]}"


CAN_FAIL = ("model", "adk", "function")
WITH_RULES: dict[str, Callable[[], User]] = {  # of a user that never stops
    "model": lambda: model.ModelUser(ScriptedModel(lambda messages, _: f"And then {len(messages)}?")),
    "adk": lambda: adk.ScenarioUser(ScriptedModel(lambda messages, _: f"And then {len(messages[-1].text)}?")),
    "scripted": lambda: scripted.ScriptedUser([ScriptedLine(when="you", say="And then?")]),
    "function": lambda: function.wrap(_again, name="mine"),
}


async def echo(question: str) -> str:
    return f"You said: {question}"


def always(sample: Sample, trajectory: Trajectory) -> Score:
    return Score(points=1)


async def play(user: User | str, sample: Sample = ASKED, agent: Any = echo, **how: Any) -> Trial:
    task = Task(name="talk", samples=[sample], scorers=[always], user=user)
    run = await proctor.evaluate_async(task, agent=agent, store=":memory:", max_failed=1.0, **how)
    [trial] = run.trials()
    return trial


def outline(trial: Trial) -> list[tuple[int, str, str]]:
    return [(step.turn, step.author, step.message.text) for step in trial.trajectory.steps]


@pytest.mark.parametrize("kind", USERS)
async def test_it_speaks_after_the_turns_of_the_sample_until_it_is_done(kind: str) -> None:
    trial = await play(USERS[kind](["For two.", "Thanks."]))
    assert trial.outcome == "scored", trial.failure
    assert outline(trial) == [
        (0, "agent", "You said: A room, please."),
        (1, "user", "For two."),
        (1, "agent", "You said: For two."),
        (2, "user", "Thanks."),
        (2, "agent", "You said: Thanks."),
    ]


@pytest.mark.parametrize("kind", [kind for kind in USERS if kind != "adk"])
async def test_it_begins_where_the_sample_asks_nothing(kind: str) -> None:
    trial = await play(USERS[kind](["For two."]), Sample(id="a", turns=(), meta={"scenario": SCENARIO}))
    assert outline(trial) == [(0, "user", "For two."), (0, "agent", "You said: For two.")]


@pytest.mark.parametrize("kind", [kind for kind in USERS if kind != "adk"])
async def test_one_that_says_nothing_at_all_has_failed_as_the_agent_was_never_asked(kind: str) -> None:
    trial = await play(USERS[kind]([]), Sample(id="a", turns=(), meta={"scenario": {"goal": "Book a room in Rome."}}))
    assert trial.outcome == "user_failed"
    assert trial.failure is not None
    assert trial.failure.kind == "empty"


@pytest.mark.parametrize("kind", USERS)
async def test_samples_at_the_same_time_do_not_hear_of_each_other(kind: str) -> None:
    samples = [Sample.ask(f"s{number}", f"Room {number}?", meta={"scenario": SCENARIO}) for number in range(6)]
    task = Task(name="talk", samples=samples, scorers=[always], user=USERS[kind](["For two.", "Thanks."]))
    run = await proctor.evaluate_async(task, agent=echo, store=":memory:", attempts=2, concurrency=12)
    trials = list(run.trials())
    assert len(trials) == 12
    assert {tuple(text for _, _, text in outline(trial)[1:]) for trial in trials} == {
        ("For two.", "You said: For two.", "Thanks.", "You said: Thanks.")
    }


@pytest.mark.parametrize("kind", CAN_FAIL)
async def test_what_breaks_in_it_is_no_failure_of_the_agent(kind: str) -> None:
    trial = await play(USERS[kind]([RuntimeError("broken")]))
    assert trial.outcome == "user_failed"
    assert trial.trajectory.answer == "You said: A room, please."


@pytest.mark.parametrize("is_async", [True, False])
@pytest.mark.parametrize(
    "raised",
    [SystemExit("bye"), KeyboardInterrupt(), asyncio.CancelledError(), RecursionError(), MemoryError()],
    ids=repr,
)
async def test_whatever_a_user_raises_is_no_failure_of_the_agent(raised: BaseException, is_async: bool) -> None:
    def say(words: str) -> str:
        raise raised

    async def say_async(words: str) -> str:
        raise raised

    trial = await play(function.wrap(say_async if is_async else say, name="mine"))
    assert trial.outcome == "user_failed"


HOSTILE_WORDS = {
    "huge": ("x" * 50_000_000, "too_long"),
    "spaces": (" " * 5_000_000, "empty"),
    "labels": ("user:" * 4_000 + "assistant" * 2_000, "too_long"),
    "a number": (7, "type"),
}


@pytest.mark.parametrize("name", HOSTILE_WORDS)
async def test_words_that_nobody_says_are_the_failure_of_the_user(name: str) -> None:
    words, kind = HOSTILE_WORDS[name]
    trial = await play(function.wrap(lambda _: words, name="mine"))
    assert (trial.outcome, trial.failure and trial.failure.kind) == ("user_failed", kind)


@pytest.mark.parametrize("kind", CAN_FAIL)
async def test_saying_nothing_is_a_failure_of_its_own(kind: str) -> None:
    trial = await play(USERS[kind](["  "]))
    assert trial.outcome == "user_failed"
    assert trial.failure is not None
    assert trial.failure.kind == "empty"


@pytest.mark.parametrize("kind", WITH_RULES)
async def test_one_that_never_stops_ends_at_its_limit(kind: str) -> None:
    async def counting(messages: list[dict[str, Any]]) -> str:
        return f"I hear you, {len(messages)}."

    trial = await play(WITH_RULES[kind](), agent=counting)
    assert 1 + max(step.turn for step in trial.trajectory.steps) == MOST_TURNS
    if kind == "adk":  # as google-adk has it, such a conversation is over
        assert trial.outcome == "scored"
        return
    assert trial.outcome == "user_failed"
    assert trial.failure is not None
    assert trial.failure.kind == "endless"


@pytest.mark.parametrize("kind", WITH_RULES)
async def test_the_failure_of_a_model_keeps_its_kind(kind: str) -> None:
    if kind not in ("model", "adk"):
        return
    trial = await play(USERS[kind]([ProviderFailed("the endpoint is down", kind="http_503")]))
    assert trial.outcome == "user_failed"
    assert trial.failure is not None
    assert trial.failure.kind == "http_503"


def test_every_kind_has_its_line_here() -> None:
    from proctor import registry

    assert {*registry.USERS.names()} <= {*USERS}


def files(folder: Path) -> dict[str, str]:
    (folder / "script.json").write_text(json.dumps(["For two."]), encoding="utf-8")
    (folder / "replies.jsonl").write_text('"For two."\n"[DONE] </finished>"\n', encoding="utf-8")
    (folder / "mine.py").write_text(
        "def user(words):\n    return None if 'two' in words else 'For two.'\n", encoding="utf-8"
    )
    replies = folder / "replies.jsonl"
    return {
        "scripted": f"scripted:{folder / 'script.json'}",
        "model": f"model:scripted:{replies}",
        "adk": f"adk:scripted:{replies}",
        "function": f"{folder / 'mine.py'}",
    }


@pytest.mark.parametrize("kind", ["scripted", "model", "adk", "function"])
async def test_it_can_be_named_in_the_task_or_with_the_run(kind: str, tmp_path: Path) -> None:
    name = files(tmp_path)[kind]
    in_task = await play(name)
    task = Task(name="talk", samples=[ASKED], scorers=[always])
    run = await proctor.evaluate_async(task, agent=echo, user=name, store=":memory:")
    [with_run] = run.trials()
    assert outline(in_task) == outline(with_run)
    assert [text for _, author, text in outline(in_task) if author == "user"] == ["For two."]
    assert run.record.spec.user == name
