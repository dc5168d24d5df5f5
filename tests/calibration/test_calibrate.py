import json
import random
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import msgspec
import pytest

from proctor.api import evaluate, open_run
from proctor.api.run import Run
from proctor.core.annotation import Annotation
from proctor.core.errors import BadInput
from proctor.core.run import Estimate
from proctor.core.sample import Message, Sample, Tool
from proctor.core.score import Score
from proctor.core.task import Task
from proctor.models.scripted import ScriptedModel
from proctor.stores import open_store
from proctor_judging.judges import calibrate
from proctor_judging.judges.calibrate import AgreementRow, Rated, Scale
from proctor_judging.judges.rubric import RubricJudge, rubric
from proctor_judging.judges.rubric_file import BUNDLED, JudgeRubric
from proctor_judging.review.agree import Agreement, agree
from proctor_judging.review.items import items as review_items
from proctor_judging.review.queue import Review, Reviewers

DIMENSIONS = ("correctness", "clarity", "difficulty_match", "completeness")
FIVE = Scale()


def test_raters_who_say_the_same_are_reliable() -> None:
    rated = [_rated(f"p{i}", who, 1 + i % 5) for i in range(60) for who in ("ann", "bob")]
    [row] = calibrate.agree(rated, FIVE)
    assert (row.name, row.alpha.value, row.equal.value) == ("clarity", 1, 1)
    assert str(row.verdict) == "reliable"
    assert row.kappa is not None
    assert row.difference is not None
    assert row.difference.value == 0


def test_raters_who_guess_are_too_low_to_rely_on() -> None:
    source = random.Random(1)
    rated = [_rated(f"p{i}", who, source.randint(1, 5)) for i in range(100) for who in ("ann", "bob", "cy")]
    [row] = calibrate.agree(rated, FIVE)
    assert str(row.verdict) == "too low to rely on"
    assert row.kappa is None  # of three raters


def test_few_items_are_not_enough_evidence() -> None:
    rated = [_rated(f"p{i}", who, 1 + (i + (who == "bob" and i == 3)) % 5) for i in range(6) for who in ("ann", "bob")]
    [row] = calibrate.agree(rated, FIVE)
    assert str(row.verdict) == "not enough evidence"


def test_everybody_always_saying_five_cannot_be_told() -> None:
    [row] = calibrate.agree([_rated(f"p{i}", who, 5) for i in range(30) for who in ("ann", "bob")], FIVE)
    assert row.alpha.value is None
    assert row.equal.value == 1
    assert str(row.verdict) == "cannot be told"


def test_who_rated_alone_says_nothing_of_agreement() -> None:
    assert calibrate.agree([_rated("p1", "ann", 3), _rated("p2", "bob", 3)], FIVE) == []


def test_one_who_rates_an_item_twice_is_refused() -> None:
    with pytest.raises(BadInput, match="ann rated the item 'p1' twice"):
        calibrate.agree([_rated("p1", "ann", 3), _rated("p1", "ann", 4)], FIVE)


def test_the_one_who_disagrees_most_and_the_item_are_named() -> None:
    rated = [
        _rated(f"p{i}", who, 4 - (who == "cy") - (who == "cy" and i == 7))
        for i in range(10)
        for who in ("a", "b", "cy")
    ]
    assert calibrate.raters_apart(rated, FIVE)[0].name == "cy"
    assert calibrate.items_apart(rated, FIVE)[0].name == "p7"
    assert calibrate.items_apart(rated, FIVE)[0].distance == 0.5


def test_people_together_pass_what_all_of_them_pass() -> None:
    rated = [_rated("p", "ann", 5, passed=True), _rated("p", "bob", 2, passed=False)]
    assert calibrate.together(rated) == [_rated("p", "people", 3.5, passed=False)]


def test_the_average_follows_the_weights_of_the_rubric() -> None:
    one = Rated(item="p", rater="ann", points={"correctness": 5, "clarity": 1})
    assert calibrate.with_average(one, {"correctness": 0.75, "clarity": 0.25}).points["average"] == 4
    assert calibrate.with_average(one, {}).points["average"] == 3
    assert "average" not in calibrate.with_average(one, {"correctness": 0.5, "completeness": 0.5}).points


def test_the_corrected_figures_cover_what_people_would_say() -> None:
    """A judge that gives 0.8 points too much, and passes a third of what people fail."""
    source = random.Random(3)
    hits: dict[str, int] = {}
    rounds = 150
    for _ in range(rounds):
        human, judged = [], []
        for number in range(200):
            quality = min(max(source.gauss(3.4, 0.8), 1.0), 5.0)
            said = min(max(quality + 0.8 + source.gauss(0, 0.4), 1.0), 5.0)
            passes = quality >= 3.4
            human.append(_rated(f"p{number}", "people", quality, passed=passes))
            judged.append(_rated(f"p{number}", "judge", said, passed=source.random() < (0.95 if passes else 0.33)))
        found = {one.name: one for one in calibrate.corrected(judged, human[:80], FIVE)}
        hits["clarity"] = hits.get("clarity", 0) + _covers(found["clarity (corrected)"], (3.4 - 1) / 4, 0.004)
        hits["pass_rate"] = hits.get("pass_rate", 0) + _covers(found["pass_rate (corrected)"], 0.5)
    assert all(0.9 <= count / rounds <= 0.995 for count in hits.values()), hits


def test_a_judged_run_is_uncalibrated_until_it_is_held_against_people(tmp_path: Path) -> None:
    run, labels = _judged_run(tmp_path, gain=0.9)
    raw = run.estimate("average")
    assert "uncalibrated" in str(raw.note)
    found = agree([labels, run])
    again = open_run(run.id, store=run.store)
    assert "uncalibrated: checked against 50 items labelled by 2: alpha" in str(again.estimate("average").note)
    assert "not shown to reach 0.67" in str(again.estimate("average").note)
    corrected = again.estimate("average (corrected)")
    assert again.estimate("average").value == raw.value
    assert (corrected.method, corrected.scored, corrected.planned) == ("PPI++", 50, 80)
    assert corrected.unit == "number"
    assert (corrected.high or 0) < (raw.low or 0)
    assert again.estimate("pass_rate (corrected)").method == "labels alone, Wilson"  # 50 of 80: the judge adds nothing
    names = [one.name for one in again.estimates]
    assert names.index("average (corrected)") == names.index("average") + 1
    [held] = found.held
    assert (held.labels, held.judged) == (50, 80)
    assert {one.name for one in held.raw} >= {"average", "pass_rate", "clarity"}


def test_a_judge_is_calibrated_when_its_agreement_is_shown_to_be_enough(tmp_path: Path) -> None:
    run, labels = _judged_run(tmp_path, gain=0.9)
    [held] = agree([labels, run], least=0.0).held
    assert held.calibrated
    assert "uncalibrated" not in str(open_run(run.id, store=run.store).estimate("average").note)
    assert "at least 0" in str(held.calibration)


def test_the_least_agreement_is_a_setting(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    run, labels = _judged_run(tmp_path, gain=0.9)
    (tmp_path / "proctor.toml").write_text("least_agreement = 0.1\n")
    monkeypatch.chdir(tmp_path)
    assert agree([labels, run], keep=False).held[0].calibrated


def test_items_of_one_document_are_not_so_many_items() -> None:
    """Twenty documents of five items that share what is said of them."""
    source = random.Random(7)
    said = [(source.randint(1, 5), source.randint(-1, 1)) for _ in range(20)]
    values = {f"p{n}": (float(a), float(min(max(a + off, 1), 5))) for n, (a, off) in enumerate(said * 5)}
    documents = {f"p{n}": str(n % 20) for n in range(100)}
    people = [_rated(item, "people", first, passed=first > 2) for item, (first, _) in values.items()]
    judged = [_rated(item, "judge", second, passed=second > 2) for item, (_, second) in values.items()]
    for clusters in ({}, documents):
        rows = calibrate.agree([*people, *judged], FIVE, clusters=clusters)
        assert {row.alpha.clusters for row in rows} == {20 if clusters else 100}
    alone, together = (
        [
            one
            for row in calibrate.agree([*people, *judged], FIVE, clusters=clusters)
            for one in (row.alpha, row.equal, row.kappa, row.difference)
            if one is not None
        ]
        + calibrate.corrected(judged, people[:60], FIVE, clusters=clusters)
        for clusters in ({}, documents)
    )
    for one, other in zip(alone, together, strict=True):
        assert one.value == other.value
        assert (other.high or 0) - (other.low or 0) > 1.5 * ((one.high or 0) - (one.low or 0)), one.name


def test_the_judge_of_a_run_is_compared_with_what_people_say_together(tmp_path: Path) -> None:
    run, labels = _judged_run(tmp_path, gain=0.9)
    found = agree([labels, run], keep=False)
    assert found.people == ("ann", "bob")
    clarity = _row(found.held[0].rows, "clarity")
    assert clarity.difference is not None
    assert 0.5 < (clarity.difference.value or 0) < 1.2
    assert _row(found.between_people, "clarity").alpha.scored == 50
    assert "uncalibrated" in str(open_run(run.id, store=run.store).estimate("average").note)


def test_labels_of_the_web_app_are_compared_with_the_same_attempts_and_correct_no_figure(tmp_path: Path) -> None:
    samples = [Sample.ask(f"s{number}", str(number), target="yes") for number in range(12)]
    said = iter(("yes", "no") * 12)
    run = evaluate(
        Task(name="t", samples=samples, scorers=["exact"]),
        agent=lambda _: next(said),
        store=str(tmp_path / "runs.db"),
        attempts=2,
        concurrency=1,
    )
    labels = [
        Annotation(
            run_id=run.id,
            sample_id=verdict.sample_id,
            attempt=verdict.attempt,
            kind="label",
            name="exact",
            value=value,
            by=by,
        )
        for verdict in run.verdicts()
        if verdict.attempt == 0 and isinstance(verdict.result, Score)
        for by, value in (
            ("ann", verdict.result.value),
            ("", 1 - verdict.result.value if verdict.sample_id == "s3" else verdict.result.value),
        )
    ]
    run.store.annotate(labels)
    found = agree([run])
    [held] = found.held
    assert {*found.people} == {"ann", "labels"}
    assert (held.labels, held.judged, held.corrected, held.calibrated) == (12, 24, (), False)
    assert "the items were not drawn at random" in str(held.calibration)
    assert _row(found.between_people, "pass_rate").equal.value == pytest.approx(11 / 12)
    assert _row(held.rows, "pass_rate").equal.scored == 12


def test_two_runs_without_labels_tell_how_far_judges_agree(tmp_path: Path) -> None:
    run, _ = _judged_run(tmp_path, gain=0.9)
    other, _ = _judged_run(tmp_path, gain=0.0, name="other")
    found = agree([run, other])
    assert len(found.scorers) == 2
    assert _row(found.between_scorers, "clarity").alpha.scored == 80
    assert found.held == ()
    assert found.between_people == ()


def test_several_files_of_reviewers_without_names_are_called_after_their_files(tmp_path: Path) -> None:
    for name, shift in (("ann", 0), ("bob", 1)):
        entries = {
            f"p{i}": {"problem_id": f"p{i}", "scores": {"clarity": 1 + (i + shift) % 5}, "status": "approved"}
            for i in range(9)
        }
        (tmp_path / f"{name}.json").write_text(json.dumps(entries))
    found = agree([tmp_path / "ann.json", tmp_path / "bob.json"])
    assert found.people == ("ann", "bob")
    assert _row(found.between_people, "clarity").alpha.scored == 9


def test_what_an_adjudicator_decided_is_what_people_say(tmp_path: Path) -> None:
    run, labels = _judged_run(tmp_path, gain=0.0)
    records = json.loads(labels.read_text())
    for record in records.values():
        last = {**record["reviews"][-1], "number": 9, "reviewer": "chief", "decides": True, "status": "rejected"}
        record["reviews"].append(last | {"scores": dict.fromkeys(DIMENSIONS, 1)})
    labels.write_text(json.dumps(records))
    found = agree([labels, run], keep=False)
    assert found.people == ("ann", "bob")
    average = next(one for one in found.held[0].corrected if one.name == "average (corrected)")
    assert average.value == pytest.approx(1, abs=0.1)


def test_labels_of_other_items_are_refused(tmp_path: Path) -> None:
    run, labels = _judged_run(tmp_path, gain=0.0)
    records = json.loads(labels.read_text())
    one_reviewer = {f"x{item}": {**record, "reviews": record["reviews"][:1]} for item, record in records.items()}
    labels.write_text(json.dumps(one_reviewer))
    with pytest.raises(BadInput, match="labels of other data"):
        agree([labels, run])


def test_labels_of_other_texts_under_the_same_ids_are_refused(tmp_path: Path) -> None:
    run, labels = _judged_run(tmp_path, gain=0.0)
    records = json.loads(labels.read_text())
    for record in records.values():
        for entry in record["reviews"]:
            entry["item_digest"] = "0" * 16
    labels.write_text(json.dumps(records))
    with pytest.raises(BadInput, match="other texts"):
        agree([labels, run])


def test_a_label_of_a_text_that_was_changed_is_left_out(tmp_path: Path) -> None:
    run, labels = _judged_run(tmp_path, gain=0.0)
    records = json.loads(labels.read_text())
    for entry in next(iter(records.values()))["reviews"]:
        entry["item_digest"] = "0" * 16
    labels.write_text(json.dumps(records))
    [held] = agree([labels, run], keep=False).held
    assert (held.labels, held.corrected) == (49, ())
    assert [str(sentence) for sentence in held.left_out] == ["1 label is of a text that was changed; it is left out."]
    assert "1 of the 50 drawn items are not labelled yet" in str(held.calibration)


def _weighted_rubric(folder: Path, name: str, counted: str) -> JudgeRubric:
    """Return a rubric in a file in which only one of the four dimensions counts."""
    text = (BUNDLED / "math-problem.toml").read_text(encoding="utf-8")
    for dimension in DIMENSIONS:
        line = f'name = "{dimension}"\n'
        text = text.replace(line, f"{line}weight = {float(dimension == counted)}\n")
    path = folder / f"{name}.toml"
    path.write_text(text, encoding="utf-8")
    return rubric(str(path))


@pytest.mark.parametrize("order", [1, -1])
def test_people_are_averaged_by_the_weights_of_each_judge(tmp_path: Path, order: int) -> None:
    """Both judges say what the people say, whose average is another one by the rubric of each."""
    both = []
    for counted in ("clarity", "completeness"):
        run, labels = _judged_run(
            tmp_path, gain=0.0, name=counted, by=_weighted_rubric(tmp_path, f"by-{counted}", counted)
        )
        both.append(run)
    records = json.loads(labels.read_text())
    said = {item: record["reviews"][0] for item, record in records.items()}
    for number, entry in enumerate(said.values()):
        entry["scores"] = {name: 1 + (number * (at + 1)) % 5 for at, name in enumerate(DIMENSIONS)}
    for item, record in records.items():
        record["reviews"] = [said[item]]
    labels.write_text(json.dumps(records))
    held = agree([labels, *both[::order]], keep=False).held
    for scorer, counted in zip(held, ("clarity", "completeness")[::order], strict=True):
        average, dimension = _row(scorer.rows, "average"), _row(scorer.rows, counted)
        assert (average.alpha, average.equal) == (dimension.alpha, dimension.equal)


def test_people_get_no_average_where_the_weights_of_the_judge_are_not_known(tmp_path: Path) -> None:
    run, labels = _judged_run(tmp_path, gain=0.0, by=_weighted_rubric(tmp_path, "gone", "clarity"))
    record = run.store.run(run.id)
    (name,) = record.provenance["judges"]
    about = {**record.provenance["judges"][name], "weights": {}}  # as an earlier version kept it
    judges = {**record.provenance, "judges": {name: about}}
    old = Run(msgspec.structs.replace(record, provenance=judges), run.store)
    (scorer,) = agree([labels, old], keep=False).held
    assert "average" not in [row.name for row in scorer.rows]
    assert "clarity" in [row.name for row in scorer.rows]


def test_points_off_the_scale_are_refused_and_a_scale_can_be_named(tmp_path: Path) -> None:
    run, labels = _judged_run(tmp_path, gain=0.0)
    labels.write_text(labels.read_text().replace('"clarity": 4', '"clarity": 8'))
    with pytest.raises(BadInput, match="8 points; the scale goes from 1 to 5"):
        agree([labels, run])
    found = agree([labels, run], scale=Scale(low=0, high=10), keep=False)
    assert found.scale == Scale(low=0, high=10)


@pytest.mark.parametrize("name", ["missing.json", "no-such-run"])
def test_what_is_neither_file_nor_run_is_refused(tmp_path: Path, name: str) -> None:
    store = str(tmp_path / "runs.db")
    with pytest.raises(BadInput, match="missing.json" if name == "missing.json" else "There is no store"):
        agree([name], store=store)
    open_store(store).close()
    with pytest.raises(BadInput, match=name):
        agree([name], store=store)


def test_an_unknown_scorer_is_refused(tmp_path: Path) -> None:
    run, labels = _judged_run(tmp_path, gain=0.0)
    with pytest.raises(BadInput, match="no scorer 'exact'"):
        agree([labels, run], scorer="exact")


def test_the_agreement_is_json(tmp_path: Path) -> None:
    run, labels = _judged_run(tmp_path, gain=0.5)
    found = agree([labels, run])
    told: dict[str, Any] = json.loads(json.dumps(msgspec.to_builtins(found), allow_nan=False))
    assert msgspec.convert(told, Agreement).held[0].labels == 50


def _judged_run(folder: Path, *, gain: float, name: str = "items", by: JudgeRubric | None = None) -> tuple[Run, Path]:
    """80 items judged by a rubric, 50 of them drawn and labelled by two people; the judge gives `gain` points too much."""
    source = random.Random(7)
    quality = {f"p{i}": source.gauss(3.1, 0.9) for i in range(80)}
    data = folder / f"{name}.json"
    data.write_text(
        json.dumps(
            [{"id": item, "problem": f"Problem {item}?", "answer": item, "solution": f"So {item}."} for item in quality]
        )
    )
    digests = {item.id: item.digest for item in review_items(data)}

    def judge(messages: Sequence[Message], _: Sequence[Tool]) -> str:
        item = messages[-1].text.partition("So ")[2].partition(".")[0]
        noise = random.Random(f"{name}{item}")
        points = {one: _points(quality[item] + gain + noise.gauss(0, 0.5)) for one in DIMENSIONS}
        return json.dumps({"comment": "", **points})

    run = evaluate(
        f"judged-items:{data}",
        agent="recorded:",
        scorers=[RubricJudge(by or rubric("math-problem"), ScriptedModel(judge, name="judge-1"))],
        store=str(folder / "runs.db"),
        run_id=name,
    )
    path = folder / f"{name}_verifications.json"
    records = {}
    for item in sorted((each.id for each in Review(data, Reviewers(draw=50, seed=7)).items), key=list(quality).index):
        reviews = [
            _review(who, number, quality[item], digests[item], source) for number, who in enumerate(("ann", "bob"), 1)
        ]
        records[item] = {"problem_id": item, "scores": {}, "status": "approved", "reviews": reviews}
    path.write_text(json.dumps(records))
    return run, path


def _review(who: str, number: int, quality: float, digest: str, source: random.Random) -> Mapping[str, Any]:
    scores = {one: _points(quality + source.gauss(0, 0.4)) for one in DIMENSIONS}
    passes = sum(scores.values()) / 4 >= 3.5
    return {
        "number": number,
        "reviewer": who,
        "scores": scores,
        "status": "approved" if passes else "rejected",
        "verified_at": "2026-01-01T00:00:00",
        "item_digest": digest,
    }


def _points(value: float) -> int:
    return max(1, min(5, round(value)))


def _rated(item: str, rater: str, clarity: float, *, passed: bool | None = None) -> Rated:
    return Rated(item=item, rater=rater, points={"clarity": clarity}, passed=passed)


def _row(rows: Sequence[AgreementRow], name: str) -> AgreementRow:
    return next(row for row in rows if row.name == name)


def _covers(one: Estimate, truth: float, slack: float = 0.0) -> bool:
    assert one.low is not None
    assert one.high is not None
    return one.low - slack <= truth <= one.high + slack
