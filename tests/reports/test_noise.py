import json
from collections.abc import Sequence

import example_runs
import pytest
from memory_store import MemoryStore
from msgspec.structs import replace

from proctor.core.run import Estimate, RunRecord
from proctor.core.sample import Sample
from proctor.core.score import Score
from proctor.reports import render
from proctor.reports.build import build, json_summary
from proctor.reports.noise import noise, sections
from proctor.reports.words import ReportWords
from proctor.stats.repeats import cases, split_error


async def _run(
    values: Sequence[Sequence[float]], *, judged: Sequence[float] = (), target: str = "samples"
) -> tuple[RunRecord, MemoryStore, list[Estimate]]:
    """Store a run of samples with these values; with `judged`, each is the mean of three repeats with such a variance."""
    store = MemoryStore()
    provenance = {"judges": {"bfcl": {"model": "openai:judge", "rubric": "r"}}} if judged else {}
    run = example_runs.record("r", spec={"attempts": 3, "target": target}, provenance=provenance)
    played = []
    for at, row in enumerate(values):
        sample = Sample.ask(f"q{at}", "?", tags={"kind": "even" if at % 2 == 0 else "odd"})
        for attempt, value in enumerate(row):
            details = {"means": [value] * 3, "figures": {"judge_variance": judged[at]}} if judged else {}
            score = Score(points=value, details=details)
            played.append(example_runs.played(run.id, sample, score, attempt=attempt))
    found = await example_runs.fill(store, run, played, planned=len(played))
    samples = cases(store.values(run.id, "bfcl"), 3)[""]
    return run, store, [one if one.slice else split_error(one, samples) for one in found]


STEADY, NEVER, FLAKY = [1.0, 1.0, 1.0], [0.0, 0.0, 0.0], [1.0, 0.0, 1.0]
MIXED = [STEADY, NEVER, FLAKY, STEADY, FLAKY, STEADY, NEVER, STEADY, [0.0, 1.0, 0.0], STEADY]


async def test_a_run_with_one_attempt_says_nothing() -> None:
    store = MemoryStore()
    run, estimates = await example_runs.small_run(store)
    assert list(noise(run, store, estimates)) == []
    assert "noise" not in json_summary(run, store, estimates)
    assert build(run, store, estimates).noise == ()


async def test_samples_are_counted_by_how_often_they_pass() -> None:
    (found,) = noise(*await _run(MIXED))
    assert (found.always, found.never, found.sometimes, found.samples) == (5, 2, 3, 10)
    assert found.is_rate
    assert [(one.sample_id, one.passed, one.attempts) for one in found.unsteady] == [
        ("q2", 2, 3),
        ("q4", 2, 3),
        ("q8", 1, 3),
    ]


async def test_the_parts_of_the_error_add_up_to_that_of_the_estimate() -> None:
    run, store, estimates = await _run(MIXED)
    (found,) = noise(run, store, estimates)
    main = estimates[0]
    assert main.standard_error is not None
    assert found.standard_error == pytest.approx(main.standard_error)
    assert sum(source.error**2 for source in found.sources) == pytest.approx(main.standard_error**2)
    assert sum(source.share for source in found.sources) == pytest.approx(1)
    assert found.more_samples is not None
    assert found.sources[0].error < found.more_attempts < found.standard_error
    assert found.more_samples < found.more_attempts


async def test_about_the_suite_itself_there_are_no_further_samples() -> None:
    (found,) = noise(*await _run(MIXED, target="suite"))
    assert found.more_samples is None


async def test_the_repeats_of_a_judge_are_a_source_of_their_own() -> None:
    rows = [[0.2 + 0.05 * at, 0.3 + 0.05 * at, 0.25 + 0.05 * at] for at in range(10)]
    (found,) = noise(*await _run(rows, judged=[0.003] * 10))
    assert [source.name for source in found.sources] == ["samples", "attempts", "judge"]
    assert found.sources[2].variance.variance == pytest.approx(0.003)
    assert found.sources[1].variance.variance == pytest.approx(0.0025 - 0.001)
    assert not found.is_rate
    assert found.same == 0
    assert found.more_repeats is not None
    assert found.more_attempts < found.more_repeats < found.standard_error
    assert all(one.judge is not None and one.judge.variance == pytest.approx(0.003) for one in found.slices)
    (section,) = sections([found], ReportWords("en"))
    assert "One more repeat of each judgement" in str(section.blocks)


async def test_slices_have_their_own_variances() -> None:
    (found,) = noise(*await _run(MIXED))
    assert [(one.slice, one.count, one.sometimes) for one in found.slices] == [("kind=even", 5, 3), ("kind=odd", 5, 0)]
    assert found.slices[1].attempts.variance == 0


@pytest.mark.parametrize("lang", ["en", "zh"])
async def test_every_page_shows_it(lang: str) -> None:
    run, store, estimates = await _run(MIXED)
    report = build(run, store, estimates)
    (section,) = sections(report.noise, ReportWords(lang))
    for page in (render.html(report, lang), render.markdown(report, lang)):
        assert str(section.title) in page
        assert "q2 (2/3)" in page
    assert json.loads(json.dumps(json_summary(run, store, estimates)["noise"]))[0]["sometimes"] == 3


async def test_samples_of_hostile_names_stay_text() -> None:
    run, store, estimates = await _run(MIXED)
    (found,) = noise(run, store, estimates)
    hostile = replace(found.unsteady[0], sample_id=example_runs.HOSTILE)
    report = replace(build(run, store, estimates), noise=(replace(found, unsteady=(hostile,)),))
    assert "<script>alert(1)" not in render.html(report, "en")
