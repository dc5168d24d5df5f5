"""The Python names, as the documentation gives them."""

import asyncio
from pathlib import Path

import pytest

import proctor
from proctor import BadInput, Sample, Score, Task, Trajectory, Unscored
from proctor.api import runs
from proctor.api.prepare import new_id
from proctor.core.run import Limits

SAMPLES = [
    Sample.ask("fr", "Capital of France?", target="Paris", tags={"level": "1"}),
    Sample.ask("it", "Capital of Italy?", target="Rome", tags={"level": "2"}),
]


def capitals() -> Task:
    return Task(name="capitals", version="1", samples=SAMPLES, scorers=["exact"])


def short(sample: Sample, trajectory: Trajectory) -> Score | Unscored:
    return Score(points=len(trajectory.answer) <= 4, reason="at most 4 characters")


def half(sample: Sample, trajectory: Trajectory) -> Score:
    return Score(points=1, out_of=2)


async def my_agent(question: str) -> str:
    return "Paris"


@pytest.fixture
def store(tmp_path: Path) -> str:
    return str(tmp_path / "runs.db")


def test_a_task_function_and_an_agent_function_give_a_run_with_its_numbers(store: str) -> None:
    run = proctor.evaluate(capitals, agent=my_agent, attempts=3, concurrency=4, store=store)
    assert run.outcomes == {"scored": 6}
    accuracy = run.estimate("accuracy")
    assert (accuracy.value, accuracy.scored, accuracy.planned, accuracy.clusters) == (0.5, 6, 6, 2)
    assert run.estimate("accuracy", slice="level=1").value == 1
    assert [trial.sample_id for trial in run.trials(outcome="scored", max_value=0.5)] == ["it"] * 3
    with pytest.raises(BadInput, match="has no estimate 'acuracy'"):
        run.estimate("acuracy")


def test_several_scorers_name_their_metrics(store: str) -> None:
    run = proctor.evaluate(capitals, agent=my_agent, scorers=["exact", short, half], store=store)
    assert run.estimate("exact.accuracy").value == 0.5
    assert run.estimate("short.accuracy").value == 0
    assert run.estimate("half.score").value == 0.5
    assert run.estimate("half.points").value == 0.5


def test_the_numbers_of_a_stored_run_do_not_read_its_file_again(
    store: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    rows = tmp_path / "rows.jsonl"
    rows.write_text('{"id": "fr", "question": "Capital of France?", "answer": "Paris"}\n')
    run = proctor.evaluate(str(rows), agent=my_agent, store=store)
    monkeypatch.setattr("proctor.api.resolve.task", lambda *_: pytest.fail("the task was read again"))
    assert proctor.open_run(run.id, store=store).estimate("accuracy").value == 1


async def test_evaluate_works_inside_a_running_loop_and_as_a_coroutine(store: str) -> None:
    inside = proctor.evaluate(capitals, agent=my_agent, store=store)
    awaited = await proctor.evaluate_async(capitals, agent=my_agent, store=store)
    assert inside.estimate("accuracy").value == awaited.estimate("accuracy").value == 0.5


def test_two_evaluations_at_once_share_a_store(store: str) -> None:
    async def both() -> list[proctor.Run]:
        return await asyncio.gather(*(proctor.evaluate_async(capitals, agent=my_agent, store=store) for _ in range(2)))

    first, second = asyncio.run(both())
    assert first.id != second.id
    assert first.outcomes == second.outcomes == {"scored": 2}


def test_a_run_is_opened_rescored_and_compared(store: str) -> None:
    run = proctor.evaluate(capitals, agent=my_agent, store=store)
    again = proctor.rescore(run, scorers=["exact", short])
    assert again.estimate("short.accuracy").value == 0
    opened = proctor.open_run(run.id, store=store)
    assert opened.estimate("exact.accuracy").value == 0.5
    other = proctor.evaluate(capitals, agent="baseline:oracle", store=store)
    comparison = proctor.compare(run, other)
    assert comparison.rows[0].difference.value == 0.5
    assert comparison.wins == ["it"]


def test_the_newest_verdict_counts_and_the_trial_stays(store: str) -> None:
    def strict(sample: Sample, trajectory: Trajectory) -> Score:
        return Score(points=0)

    strict.name = "exact"  # type: ignore[attr-defined]
    run = proctor.evaluate(capitals, agent=my_agent, store=store)
    before = list(run.trials())
    again = proctor.rescore(run, scorers=[strict])
    assert again.estimate("accuracy").value == 0
    assert list(again.trials()) == before


def test_recorded_replies_are_scored_without_an_agent(store: str, tmp_path: Path) -> None:
    (tmp_path / "replies.jsonl").write_text('{"id": "fr", "answer": "Paris"}\n', encoding="utf-8")
    run = proctor.score(capitals(), replies=tmp_path / "replies.jsonl", store=store)
    accuracy = run.estimate("accuracy")
    assert (accuracy.value, accuracy.scored, accuracy.planned) == (1, 1, 2)
    assert (accuracy.floor, accuracy.ceiling) == (0.5, 1)


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ('{"id": "xx", "answer": "?"}', "no such sample"),
        ('{"id": "fr", "answer": "a"}\n{"id": "fr", "answer": "b"}', "more than one reply"),
        ('{"id": "fr", "answer"', "line 1"),
    ],
)
def test_wrong_replies_leave_no_run_behind(store: str, tmp_path: Path, line: str, message: str) -> None:
    (tmp_path / "replies.jsonl").write_text(line, encoding="utf-8")
    with pytest.raises(BadInput, match=message):
        proctor.score(capitals(), replies=tmp_path / "replies.jsonl", store=store)
    assert runs(store=store) == []


def test_an_agent_that_fails_counts_as_zero_and_is_counted_apart(store: str) -> None:
    def shaky(question: str) -> str | None:
        if "Italy" in question:
            raise ValueError("no idea")
        return "Paris"

    run = proctor.evaluate(capitals, agent=shaky, store=store)
    assert run.outcomes == {"scored": 1, "agent_failed": 1}
    accuracy = run.estimate("accuracy")
    assert (accuracy.value, accuracy.scored) == (0.5, 2)


def test_a_scorer_that_breaks_is_unscored_and_widens_the_bounds(store: str) -> None:
    def broken(sample: Sample, trajectory: Trajectory) -> Score:
        if sample.id == "it":
            raise KeyError("oops")
        return Score(points=1)

    run = proctor.evaluate(capitals, agent=my_agent, scorers=[broken], store=store)
    accuracy = run.estimate("accuracy")
    assert (accuracy.value, accuracy.scored, accuracy.planned) == (1, 1, 2)
    assert (accuracy.floor, accuracy.ceiling) == (0.5, 1)


@pytest.mark.parametrize(
    "answer",
    [
        "[" * 100_000,
        "9**9**9",
        "a\x00b",
        "\x1b[2J\x1b]0;owned\x07",
        "\ud800 lone",
        "__import__('os').system('touch owned')",
        "<script>alert(1)</script>",
    ],
)
def test_hostile_answers_are_kept_and_scored_and_do_no_harm(store: str, tmp_path: Path, answer: str) -> None:
    run = proctor.evaluate(capitals, agent=lambda question: answer, store=store)
    assert run.outcomes == {"scored": 2}
    assert run.estimate("accuracy").value == 0
    for suffix in (".html", ".md", ".json", ".xml"):
        text = run.report(tmp_path / f"report{suffix}").read_text(encoding="utf-8")
        assert "<script>alert" not in text or suffix in (".json", ".md")  # in Markdown it stands in a fence
        assert "\x1b" not in text
        assert "\x00" not in text
    assert not Path("owned").exists()


def test_an_agent_that_never_returns_meets_its_limit(store: str) -> None:
    async def sleeper(question: str) -> str:
        await asyncio.sleep(3600)
        return ""

    run = proctor.evaluate(capitals, agent=sleeper, limits=Limits(seconds=0.1), store=store)
    assert run.outcomes == {"agent_failed": 2}


def test_a_run_made_of_python_objects_goes_on_from_python_only(store: str) -> None:
    agent = lambda question: "Paris"  # noqa: E731
    run = proctor.evaluate(capitals(), agent=agent, store=store, run_id="r")
    from proctor.api.prepare import resumable

    with pytest.raises(BadInput, match="from Python"):
        resumable("r", store)
    again = proctor.evaluate(capitals(), agent=agent, store=store, run_id="r")
    assert again.outcomes == run.outcomes


def test_bounds_may_be_given_as_plain_values(store: str) -> None:
    run = proctor.evaluate(capitals, agent=my_agent, store=store, limits={"seconds": 5}, budget={"requests": 100})
    assert (run.record.spec.limits.seconds, run.record.spec.budget.requests) == (5, 100)
    with pytest.raises(BadInput, match="Did you mean 'seconds'"):
        proctor.evaluate(capitals, agent=my_agent, store=store, limits={"secnds": 5})


@pytest.mark.parametrize(
    ("agent", "options", "named"),
    [
        ("openai:m", {"headers": {"X-Api-Key": "a-secret-of-mine"}}, "agent_options.headers.X-Api-Key"),
        ("openai:m", {"headers": {"Authorization": "Bearer abc.def.ghi"}}, "agent_options.headers.Authorization"),
        ("openai:m", {"base_url": "https://me:hunter2@bot.example/v1"}, "agent_options.base_url"),
        ("http:https://bot.example/ask?api_key=a-secret-of-mine", {}, "agent"),
    ],
)
def test_a_key_among_what_is_stored_is_refused_and_not_shown(
    store: str, agent: str, options: dict[str, object], named: str
) -> None:
    with pytest.raises(BadInput) as caught:
        proctor.evaluate(capitals(), agent=agent, agent_options=options, store=store)
    assert f"'{named}' holds a key" in str(caught.value)
    assert not any(secret in str(caught.value) for secret in ("a-secret-of-mine", "abc.def.ghi", "hunter2"))
    assert runs(store=store) == []


def test_a_header_from_the_environment_and_a_prompt_about_keys_are_no_keys(
    store: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("BOT_TOKEN", "a-secret-of-mine")
    options = {"headers": {"Authorization": "env:BOT_TOKEN"}, "extra_body": {"note": "The password: never tell it"}}
    with pytest.raises(BadInput, match="could not be run"):
        proctor.evaluate(
            capitals(), agent="openai:m", agent_options={**options, "base_url": "http://127.0.0.1:9/v1"}, store=store
        )


def test_a_store_that_is_not_there_is_named_and_not_made(tmp_path: Path) -> None:
    path = tmp_path / "typo.db"
    with pytest.raises(BadInput, match=r"There is no store .*typo\.db"):
        proctor.open_run("r", store=str(path))
    assert not path.exists()


def test_several_attempts_give_pass_at_k_and_say_where_the_error_comes_from(store: str) -> None:
    from proctor.reports import render
    from proctor.reports.build import build

    said: dict[str, int] = {}

    async def agent(question: str) -> str:
        said[question] = said.get(question, 0) + 1
        return "yes" if said[question] <= int(question) % 4 else "no"

    samples = [Sample.ask(str(n), str(n), target="yes", tags={"half": "ab"[n % 2]}) for n in range(12)]
    run = proctor.evaluate(Task(name="t", samples=samples, scorers=["exact"]), agent=agent, attempts=3, store=store)
    assert [one.name for one in run.estimates if not one.slice] == ["accuracy", "pass@2", "pass@3", "pass^2", "pass^3"]
    assert run.estimate("pass@3").value == 0.75
    assert run.estimate("pass^3").value == 0.25
    accuracy = run.estimate("accuracy")
    assert accuracy.error_from_samples is not None
    assert accuracy.error_from_attempts is not None
    page = render.markdown(build(run.record, run.store, run.estimates), "en")
    assert "pass^3" in page
    assert "points from samples" in page
    assert run.summary()["estimates"][0]["error_from_attempts"] == accuracy.error_from_attempts


def test_runs_that_begin_in_one_second_have_names_of_their_own() -> None:
    assert len({new_id("quiz") for _ in range(500)}) == 500
