import base64
import json
from typing import Any

import example_runs
import pytest
from memory_store import MemoryStore

from proctor.core.sample import File, Message, Sample, ToolResult
from proctor.core.score import Score
from proctor.core.trajectory import Step, Trajectory, Usage
from proctor.core.trial import Trial, Verdict
from proctor.reports import listing as listing_module
from proctor.reports import render
from proctor.reports.build import build
from proctor.reports.listing import ErrorRule, listing, state, stories
from proctor.reports.story import Story, story
from proctor.reports.words import ReportWords


def data_of(found: listing_module.TrialListing) -> dict[str, Any]:
    read: dict[str, Any] = json.loads(found.data)
    return read


def told(id: str, answer: str, score: Score | None = None, *, question: str = "What is it?") -> Story:
    sample = Sample.ask(id, question, target="x")
    trial = Trial(run_id="r", sample_id=id, outcome="scored", trajectory=Trajectory.of(answer))
    return story(trial, sample, [Verdict(run_id="r", sample_id=id, scorer="exact", result=score)] if score else [])


async def test_every_trial_is_listed_the_passed_ones_too() -> None:
    store = MemoryStore()
    run, _ = await example_runs.small_run(store)
    found = listing(stories(run, store), [ErrorRule("wrong_param_value", "value_error:others")], 6, ReportWords("en"))
    rows = data_of(found)["rows"]
    assert found.listed == len(rows) == sum(store.outcomes(run.id).values())
    assert {row["z"] for row in rows} == {"passed", "failed", "unscored", "lost"}
    wrong = next(row for row in rows if row["n"] == "simple_python_1")
    assert wrong["c"] == 1  # the rule that the page counts first
    assert data_of(found)["rules"][0] == ["wrong parameter value", "value_error:others"]


def test_a_text_that_several_samples_share_is_there_once() -> None:
    question = "the same long question of all " * 9
    one = listing([told(str(n), "no", question=question) for n in range(50)], [], 50, ReportWords("en"))
    assert one.data.count(question) == 1


def test_a_long_answer_is_cut_and_its_length_told(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(listing_module, "LEAST", 100)
    monkeypatch.setattr(listing_module, "MOST", 100)
    long = Score(points=0, reason="y" * 500)
    texts = data_of(listing([told("a", "short", long)], [], 1, ReportWords("en")))["texts"]
    assert "y" * 100 + " … (+400)" in texts


def test_a_page_ends_where_it_is_full_and_says_how_many_it_lists(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(listing_module, "MOST_BYTES", 5_000)
    found = listing((told(str(n), f"{n} " * 200) for n in range(1_000)), [], 1_000, ReportWords("en"))
    assert 1 < found.listed < 20
    assert len(found.data) < 10_000
    assert found.total == 1_000


def test_what_a_judge_gave_is_told_by_dimension() -> None:
    details = {"dimensions": {"clarity": 4.0, "depth": None}, "scale": [1, 5], "passed": True}
    row = data_of(listing([told("a", "b", Score(points=3, out_of=4, details=details))], [], 1, ReportWords("en")))[
        "rows"
    ][0]
    assert row["f"] == [[0, 0.75, "3 / 4", "", 1, [["clarity", 4.0, 1, 5], ["depth", None, 1, 5]]]]
    assert row["z"] == "passed"


@pytest.mark.parametrize("dimensions", [5, {"a": "x"}, {"a": [1]}])
def test_dimensions_that_mean_something_else_break_nothing(dimensions: object) -> None:
    found = told("a", "b", Score(points=1, details={"dimensions": dimensions, "scale": "abc"}))
    assert found.findings[0].marks == ()
    assert state(found) == "passed"


async def test_a_report_of_questions_has_no_empty_sections_and_no_folder() -> None:
    store = MemoryStore()
    run = example_runs.record("r", planned=1, agent="/srv/ann/secret/bot.py:answer", scorers=("exact",))
    sample = Sample.ask("q1", "Why?", target="x")
    one = example_runs.played("r", sample, Score(points=0), scorer="exact", answer="y", usage=Usage())
    estimates = await example_runs.fill(store, run, [one])
    report = build(run, store, estimates)
    for text in (render.html(report, "en", stories(run, store)), render.markdown(report, "en")):
        assert "/srv/ann" not in text
        assert "bot.py:answer" in text
        assert "Errors by class" not in text
        assert "Input tokens" not in text


@pytest.mark.parametrize("write", [render.html, render.markdown])
async def test_judged_items_are_told_with_their_points_without_scripts_too(write: Any) -> None:
    store = MemoryStore()
    run = example_runs.record("r", planned=1, scorers=("rubric:x",))
    details = {"dimensions": {"clarity": 4.5, "depth": None}, "scale": [1, 5], "passed": True}
    score = Score(points=3.5, out_of=4, reason="Clear <b>enough</b>.", details=details)
    one = example_runs.played("r", Sample.ask("q1", "Why?"), score, scorer="rubric:x", answer="y")
    text = write(build(run, store, await example_runs.fill(store, run, [one])), "en")
    for shown in ("Judged items", "q1", "3.5 / 4", "clarity", "4.5", "Clear &lt;b&gt;enough&lt;/b&gt;."):
        assert shown in text, shown


def pictured(id: str, *pictures: bytes) -> Story:
    files = tuple(File(name=f"{id}{n}.png", media_type="text/plain", data=data) for n, data in enumerate(pictures))
    result = ToolResult(name="shoot", content="Done.", files=files)
    steps = (Step(message=Message(role="tool", parts=(result,)), author="tool"),)
    trial = Trial(run_id="r", sample_id=id, outcome="scored", trajectory=Trajectory(steps=steps))
    return story(trial, Sample.ask(id, "Look.", target="x"), [])


def test_pictures_are_there_once_up_to_a_limit_and_every_file_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(listing_module, "MEDIA_BYTES", 100)
    monkeypatch.setattr(listing_module, "MOST_MEDIA_BYTES", 60)
    small, large = (b"\x89PNG\r\n\x1a\n" + bytes(count) for count in (42, 60))
    stories = [
        pictured("a", small, large, b"<svg onload='alert(1)'/>"),
        pictured("b", small, small + b"1", small[:-1] + b"2"),
    ]
    data = data_of(listing(stories, [], 2, ReportWords("en")))
    assert data["media"] == [
        "data:image/png;base64," + base64.b64encode(known).decode() for known in (small, small[:-1] + b"2")
    ]
    assert [[line[2:] for line in row["l"][2:]] for row in data["rows"]] == [[[0], [], []], [[0], [], [1]]]


def test_sound_is_in_the_page_by_its_bytes_and_a_pdf_is_named() -> None:
    wav, pdf = b"RIFF\x24\x00\x00\x00WAVEfmt ", b"%PDF-1.7"
    data = data_of(listing([pictured("a", wav, pdf)], [], 1, ReportWords("en")))
    assert data["media"] == ["data:audio/wav;base64," + base64.b64encode(wav).decode()]
    assert [line[2:] for line in data["rows"][0]["l"][2:]] == [[0], []]
    assert "a1.png (text/plain, 8 bytes)" in str(data["texts"]) + str(data["rows"])
