"""Comparing two runs: what moved, whether it could be chance, and what is left out."""

import random
from collections.abc import Iterator
from pathlib import Path

import pytest
from msgspec.structs import asdict

import proctor
from proctor import BadInput, Sample, Score, Task, Trajectory, Unscored
from proctor.core.errors import ProviderFailed
from proctor.reports import versus
from proctor.reports.both import SamplePair, pair_samples
from proctor.reports.compare import Side, compare_several
from proctor.reports.verdicts import Untested, decide_in_order
from proctor.runtime.visible import visible
from proctor.stats import paired
from proctor.stats.multiple import holm

HOSTILE = "s<script>alert(1)</script>\x1b[31m|x"


@pytest.fixture
def store(tmp_path: Path) -> str:
    return str(tmp_path / "runs.db")


def run(
    store: str, right: set[int], *, count: int = 40, attempts: int = 1, name: str = "t", **more: object
) -> proctor.Run:
    samples = [
        Sample.ask(f"{HOSTILE}{n}" if n == 25 else str(n), str(n), target="yes", tags={"half": "ab"[n % 2]})
        for n in range(count)
    ]

    async def agent(question: str) -> str:
        if question in more.get("failing", ()):  # type: ignore[operator]
            raise ProviderFailed("Overloaded.", kind="http_503")
        return "yes" if int(question) in right else "no"

    task = Task(name=name, samples=samples, scorers=["exact"])
    return proctor.evaluate(task, agent=agent, attempts=attempts, store=store, max_failed=1.0)


Runs = tuple[proctor.Run, proctor.Run]


@pytest.fixture
def runs(store: str) -> Runs:
    return run(store, set(range(20))), run(store, set(range(30)) - {0})


def samples_of(runs: Runs) -> Iterator[SamplePair]:
    return pair_samples(*((one.record, one.store) for one in runs))


def test_a_real_difference_is_found_with_its_interval_and_the_samples_that_moved(store: str) -> None:
    comparison = proctor.compare(run(store, set(range(20))), run(store, set(range(30)) - {0}))
    row = comparison.rows[0]
    assert (row.first, row.second) == (0.5, 0.725)
    assert row.difference.value == pytest.approx(0.225)
    assert row.difference.low is not None
    assert 0 < row.difference.low < 0.225
    assert (row.difference.wins, row.difference.losses, row.difference.ties) == (10, 1, 29)
    assert row.difference.test == "unconditional exact"
    assert comparison.losses == ["0"]
    assert len(comparison.wins) == 10
    assert {one.slice for one in comparison.rows} == {"", "half=a", "half=b"}


def test_no_difference_says_how_many_samples_find_the_one_asked_for(store: str) -> None:
    first, second = run(store, set(range(20))), run(store, set(range(2, 24)))
    comparison = proctor.compare(first, second, detect=0.05)
    row = comparison.rows[0]
    assert (str(row.verdict), row.outcome) == ("no significant difference", "inconclusive")
    assert comparison.needed is not None
    assert comparison.needed.low <= comparison.needed.samples <= comparison.needed.high
    assert "To find a difference of 5 points" in versus.markdown(comparison, "en")
    plain = versus.markdown(proctor.compare(first, second), "en")
    assert "four times in five" not in plain
    assert "would decide" not in plain
    with pytest.raises(BadInput, match="between 0 and 100 points"):
        proctor.compare(first, second, detect=1.5)


def test_the_whole_is_tested_first_and_slices_by_holm_after_it(store: str) -> None:
    rows = proctor.compare(run(store, set(range(20))), run(store, set(range(36)))).rows
    assert [row.slice for row in rows] == ["", "half=a", "half=b"]
    assert rows[0].p_adjusted == rows[0].difference.p_value
    assert all(row.p_adjusted is not None and row.p_adjusted >= row.difference.p_value for row in rows[1:])
    assert [row.difference.level for row in rows] == [0.95, 0.975, pytest.approx(0.95)]
    assert {row.outcome for row in rows} == {"better"}


def test_slices_are_not_tested_where_the_whole_shows_nothing(store: str) -> None:
    comparison = proctor.compare(run(store, set(range(20))), run(store, set(range(1, 22))))
    assert [row.p_adjusted is None for row in comparison.rows] == [False, True, True]
    assert "hints for a new comparison" in versus.markdown(comparison, "en")


def test_a_tag_that_all_samples_have_costs_nothing(store: str) -> None:
    def tagged(right: set[int], tags: dict[str, str]) -> proctor.Run:
        samples = [Sample.ask(str(n), str(n), target="yes", tags=tags) for n in range(100)]
        task = Task(name="t", samples=samples, scorers=["exact"])
        return proctor.evaluate(task, agent=lambda question: "yes" if int(question) in right else "no", store=store)

    for tags in ({}, {"category": "simple_python", "group": "non_live"}):
        comparison = proctor.compare(tagged(set(range(51)), tags), tagged(set(range(1, 60)), tags))
        assert [(row.slice, row.outcome) for row in comparison.rows] == [("", "better")]


def test_a_verdict_that_missing_samples_could_reverse_is_not_given(store: str) -> None:
    failing = tuple(str(n) for n in range(10))
    comparison = proctor.compare(run(store, set(range(20))), run(store, set(range(30)), failing=failing))
    row = comparison.rows[0]
    assert row.difference.p_value <= 0.05
    assert (row.missing, row.floor, row.ceiling) == (10, 0.0, 0.25)
    assert (row.outcome, str(row.verdict)) == ("inconclusive", "inconclusive: 10 samples are missing")
    assert "Missing scores: 10 samples" in versus.markdown(comparison, "en")
    few = proctor.compare(run(store, set(range(20))), run(store, set(range(32)), failing=failing[:2])).rows[0]
    assert (few.outcome, few.missing) == ("better", 2)
    assert few.floor == pytest.approx(10 / 40)


def test_a_further_scorer_without_a_score_in_common_is_told_and_the_rest_compared(store: str) -> None:
    def scored(sample: Sample, trajectory: Trajectory) -> Unscored:
        return Unscored(why="judge_failed", reason="Overloaded.")

    samples = [Sample.ask(str(n), "?", target="yes") for n in range(10)]
    task = Task(name="t", samples=samples, scorers=["exact", scored])
    runs = [proctor.evaluate(task, agent=lambda question: "yes", store=store) for _ in range(2)]
    comparison = proctor.compare(*runs)
    assert [row.metric for row in comparison.rows] == ["exact.accuracy"]
    assert any("no sample has a score in both runs" in str(note) for note in comparison.notes)


def test_five_clusters_are_told_that_they_can_show_nothing(store: str) -> None:
    def clustered(right: bool) -> proctor.Run:
        samples = [Sample.ask(str(n), "?", target="yes", cluster=str(n % 5)) for n in range(50)]
        task = Task(name="t", samples=samples, scorers=["exact"])
        return proctor.evaluate(task, agent=lambda question: "yes" if right else "no", store=store)

    comparison = proctor.compare(clustered(False), clustered(True), detect=0.05)
    assert comparison.rows[0].outcome == "inconclusive"
    assert comparison.rows[0].difference.low is not None
    assert comparison.rows[0].difference.low <= 0
    assert "no difference could be significant here" in versus.markdown(comparison, "en")


def test_samples_without_a_score_on_one_side_are_left_out_and_counted(store: str) -> None:
    comparison = proctor.compare(run(store, set(range(20))), run(store, set(range(20)), failing=("5", "30")))
    assert comparison.rows[0].difference.pairs == 38
    assert comparison.not_comparable == {"provider_failed": 2}
    shorter = proctor.compare(run(store, set(range(20))), run(store, set(range(20)), count=30))
    assert shorter.not_comparable == {"only in the first run": 10}


def test_attempts_are_paired_by_sample_with_another_test(store: str) -> None:
    comparison = proctor.compare(run(store, set(range(10)), attempts=3), run(store, set(range(30)), attempts=3))
    assert comparison.rows[0].difference.test == "sign flips by cluster"
    assert comparison.rows[0].metric == "accuracy"
    assert comparison.rows[0].difference.pairs == 40


def test_the_same_points_in_another_order_are_no_difference(store: str) -> None:
    def told(words: str) -> proctor.Run:
        said: dict[str, list[str]] = {}

        async def agent(question: str) -> str:
            return said.setdefault(question, words.split()).pop(0)

        samples = [Sample.ask(str(n), str(n), target="") for n in range(20)]
        task = Task(name="t", samples=samples, scorers=[points_said])
        return proctor.evaluate(task, agent=agent, attempts=3, concurrency=1, store=store)

    comparison = proctor.compare(told("0.1 0.2 0.3"), told("0.3 0.2 0.1"))
    row = comparison.rows[0]
    assert (row.difference.value, row.p_adjusted, str(row.outcome)) == (0.0, 1.0, "inconclusive")
    assert (comparison.wins, comparison.losses, comparison.ties) == ([], [], 20)


def points_said(sample: Sample, trajectory: Trajectory) -> Score:
    return Score(points=float(trajectory.answer))


def test_a_scorer_that_changed_between_the_runs_is_told(store: str, tmp_path: Path) -> None:
    def scored_by(value: str) -> proctor.Run:
        file = tmp_path / value / "mine.py"
        file.parent.mkdir()
        file.write_text(f"def strict(sample, trajectory):\n    return {value}\n")
        task = Task(name="t", samples=[Sample.ask("0", "0", target="yes")], scorers=[f"{file}:strict"])
        return proctor.evaluate(task, agent=lambda question: "yes", store=store)

    first, second = scored_by("True"), scored_by("False")
    notes = [str(note) for note in proctor.compare(first, second).notes]
    assert any("versions of the scorer strict differ" in note for note in notes)
    assert not proctor.compare(first, first).notes


def test_why_samples_are_not_compared_is_said_in_the_language(store: str) -> None:
    comparison = proctor.compare(run(store, {1}), run(store, {1}, failing=("5",), count=30))
    english, chinese = (versus.markdown(comparison, lang) for lang in ("en", "zh"))
    assert "1 samples are not compared: provider failed (not counted)" in english
    assert "10 samples are not compared: only in the first run" in english
    assert "有 1 个样本未参与比较：服务商故障（不计）" in chinese
    assert "有 10 个样本未参与比较：只在第一次运行中" in chinese


@pytest.mark.parametrize("suffix", [".html", ".md", ".json"])
def test_a_page_that_cannot_be_written_is_bad_input(runs: Runs, tmp_path: Path, suffix: str) -> None:
    comparison = proctor.compare(*runs)
    from proctor.api.files import write_comparison

    (tmp_path / "file").write_text("x")
    with pytest.raises(BadInput, match="cannot be written"):
        write_comparison(comparison, tmp_path / "file" / f"page{suffix}", "en")
    assert write_comparison(comparison, tmp_path / "new" / f"page{suffix}", "en").exists()


def test_runs_that_have_nothing_in_common_are_refused(store: str) -> None:
    first = run(store, {1})
    with pytest.raises(BadInput, match="different tasks"):
        proctor.compare(first, run(store, {1}, name="other"))
    task = Task(name="t", samples=[Sample.ask("0", "0", target="yes")], scorers=[nothing])
    other = proctor.evaluate(task, agent=lambda question: "yes", store=store)
    with pytest.raises(BadInput, match="no scorer in common"):
        proctor.compare(first, other)


def nothing(sample: Sample, trajectory: Trajectory) -> Score:
    return Score(points=0)


def test_equal_systems_are_called_different_about_one_time_in_twenty() -> None:
    from proctor.stats import paired

    draw = random.Random(3)
    rounds, found = 400, 0
    for _ in range(rounds):
        pairs = []
        for number in range(120):
            hard = draw.random()
            first, second = float(draw.random() < hard), float(draw.random() < hard)
            pairs.append(paired.PairedSample(cluster=str(number), first=first, second=second))
        found += paired.compare(pairs).p_value <= 0.05
    assert 0.02 <= found / rounds <= 0.08


@pytest.mark.parametrize("lang", ["en", "zh"])
def test_the_pages_are_harmless_and_in_both_languages(runs: Runs, lang: str) -> None:
    comparison = proctor.compare(*runs)
    page, text = versus.html(comparison, lang, samples_of(runs)), versus.markdown(comparison, lang, samples_of(runs))
    for written in (page, text):
        assert "+22.5" in written
        assert "<script>alert" not in written
        assert "\x1b" not in written
        assert ("显著" in written or "更好" in written) is (lang == "zh")
    assert "http" not in page.replace("http-equiv", "")
    assert visible(HOSTILE).replace("<", "&lt;").replace(">", "&gt;") in page


def test_several_runs_are_tested_together_by_holm_and_their_slices_are_not(store: str) -> None:
    first = run(store, set(range(20)))
    others = [run(store, set(range(29))), run(store, set(range(27))), run(store, set(range(1, 21)))]
    alone = [proctor.compare(first, other).rows[0] for other in others]
    several = compare_several(*sides(first, others))
    mains = [one.rows[0] for one in several]
    assert [one.second.id for one in several] == [one.id for one in others]
    assert [row.p_adjusted for row in mains] == holm([row.difference.p_value for row in alone])
    assert [row.outcome for row in mains] == ["better", "better", "inconclusive"]
    assert [round(row.difference.level, 4) for row in mains] == [0.9833, 0.975, 0.95]
    assert {str(row.verdict) for one in several for row in one.rows[1:]} == {"not tested"}
    for row in mains:
        assert row.difference.low is not None
        assert (row.difference.low > 0) == (row.outcome == "better")


def test_one_of_several_is_compared_as_it_is_alone(store: str) -> None:
    first, second = run(store, set(range(20))), run(store, set(range(36)))
    [among_several] = compare_several(*sides(first, [second]))
    assert asdict(among_several) == asdict(proctor.compare(first, second))


def sides(first: proctor.Run, others: list[proctor.Run]) -> tuple[Side, list[Side]]:
    return (first.record, first.store), [(other.record, other.store) for other in others]


def test_in_a_fixed_order_each_row_is_tested_at_the_full_level_until_one_shows_nothing() -> None:
    def row(wins: int, losses: int) -> Untested:
        pairs = [paired.PairedSample(cluster=str(n), first=float(n < wins), second=0.0) for n in range(100 - losses)]
        pairs += [paired.PairedSample(cluster=f"-{n}", first=0.0, second=1.0) for n in range(losses)]
        difference = paired.compare(pairs)
        return Untested(
            metric="accuracy", slice="", pairs=pairs, difference=difference, floor=0.1, ceiling=0.1, missing=0
        )

    rows = decide_in_order([row(9, 0), row(9, 1), row(4, 4), row(30, 0)], 0.05)
    assert [one.outcome for one in rows] == ["better", "better", "inconclusive", "inconclusive"]
    assert [one.p_adjusted is None for one in rows] == [False, False, False, True]
    assert decide_in_order([], 0.05) == []
