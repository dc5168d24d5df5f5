"""The samples of a comparison: groups, both answers, in JSON and for the page."""

import json
from pathlib import Path

import pytest

import proctor
from proctor import Sample, Task
from proctor.api.files import write_comparison
from proctor.core.errors import ProviderFailed
from proctor.reports.both import SamplePair, compared_samples, listing_of_both, pair_samples
from proctor.reports.versus import html, markdown
from proctor.reports.words import ReportWords

OLD = {"a": "right", "b": "right", "c": "wrong", "d": "wrong", "e": "right"}
NEW = {"a": "right", "b": "wrong", "c": "right", "d": "wrong", "e": "lost"}
GROUPS = {"a": "both_right", "b": "broken", "c": "fixed", "d": "both_wrong", "e": "not_compared"}


def run(store: str, answers: dict[str, str], *, attempts: int = 1, only: str = "abcde") -> proctor.Run:
    async def agent(question: str) -> str:
        if answers[question] == "lost":
            raise ProviderFailed("Overloaded.", kind="http_503")
        return answers[question]

    task = Task(name="t", samples=[Sample.ask(one, one, target="right") for one in only], scorers=["exact"])
    return proctor.evaluate(task, agent=agent, store=store, attempts=attempts, max_failed=1.0)


@pytest.fixture
def runs(tmp_path: Path) -> tuple[proctor.Run, proctor.Run]:
    store = str(tmp_path / "runs.db")
    return run(store, OLD), run(store, NEW)


def found(runs: tuple[proctor.Run, proctor.Run]) -> list[SamplePair]:
    return list(pair_samples(*((one.record, one.store) for one in runs)))


def test_each_sample_is_in_its_group_and_what_broke_comes_first(runs: tuple[proctor.Run, proctor.Run]) -> None:
    assert {one.sample_id: one.group for one in found(runs)} == GROUPS
    assert [one.group for one in found(runs)][:2] == ["broken", "fixed"]


def test_both_answers_stand_with_the_question_and_what_was_expected(runs: tuple[proctor.Run, proctor.Run]) -> None:
    broken = next(one for one in compared_samples(found(runs)) if one.group == "broken")
    assert (broken.id, broken.question, broken.expected) == ("b", "b", "right")
    assert broken.first is not None
    assert broken.second is not None
    assert (broken.first.value, broken.first.answer) == (1.0, "right")
    assert (broken.second.value, broken.second.answer) == (0.0, "wrong")


def test_the_file_for_programs_holds_the_samples(runs: tuple[proctor.Run, proctor.Run], tmp_path: Path) -> None:
    path = write_comparison(proctor.compare(*runs), tmp_path / "compare.json", "en", runs)
    read = json.loads(path.read_text(encoding="utf-8"))
    assert read["first"]["id"] == runs[0].id
    assert {one["id"]: one["group"] for one in read["samples"]} == GROUPS


def test_a_sample_of_one_run_only_is_listed_without_the_other_side(tmp_path: Path) -> None:
    store = str(tmp_path / "runs.db")
    one, other = run(store, OLD), run(store, NEW, only="ab")
    rows = json.loads(listing_of_both(found((one, other)), 5, ReportWords("en")).data)["rows"]
    alone = next(row for row in rows if row["n"] == "c")
    assert alone["r"][1] is None
    assert alone["z"] == "not_compared"


def test_of_several_attempts_the_mean_is_compared_and_the_one_that_tells_most_shown(tmp_path: Path) -> None:
    made = iter(["wrong", "right", "right", "right", "wrong", "wrong"])
    task = Task(name="t", samples=[Sample.ask("b", "b", target="right")], scorers=["exact"])
    old, new = (
        proctor.evaluate(
            task, agent=lambda question: next(made), store=str(tmp_path / "r.db"), attempts=3, concurrency=1
        )
        for _ in range(2)
    )
    [one] = found((old, new))
    assert (one.group, one.values, one.attempts) == ("broken", (2 / 3, 1 / 3), (3, 3))
    assert one.shown == (1, 1)
    [told] = compared_samples([one])
    assert told.first is not None
    assert told.second is not None
    assert [(side.answer, side.attempt, side.attempts) for side in (told.first, told.second)] == [
        ("right", 1, 3),
        ("wrong", 1, 3),
    ]
    [row] = json.loads(listing_of_both([one], 1, ReportWords("en")).data)["rows"]
    assert row["a"] == [2, 2]
    assert "attempt 2 of 3: `right`" in markdown(proctor.compare(old, new), "en", [one])
    assert "attempt 2 of 3" in html(proctor.compare(old, new), "en", [one]).partition("<script")[0]
