"""The quality of data: every part of the evidence, each part failing alone, and what is concluded from intervals."""

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
from writers import data_file, item, text

from proctor.core.errors import BadInput
from proctor.core.run import Budget, Estimate
from proctor.core.sentence import Sentence
from proctor_judging.generation import advice
from proctor_judging.generation.evidence import JudgeEvidence, WinRateEvidence
from proctor_judging.generation.generator import generator
from proctor_judging.generation.quality import Quality, Wish, assess
from proctor_judging.generation.report import write_report
from proctor_judging.review.queue import Review, Reviewers

FAKES = Path(__file__).parents[1] / "fakes"
JUDGE = f"{FAKES / 'marking.py'}:model"


def problems(
    folder: Path, count: int, *, word: str = "splendid", name: str = "aime_generated_1.json", first: int = 0
) -> str:
    made = [
        {"id": f"gen_aime_{seed + 1}", **item(seed, problem=f"{item(seed)['problem']} {word}")}
        for seed in range(first, first + count)
    ]
    return str(data_file(folder / name, made))


def labels(
    folder: Path, data: str, statuses: Sequence[str], points: Sequence[int] = (), drawn: Sequence[str] = ()
) -> None:
    ids = drawn or [one["id"] for one in json.loads(Path(data).read_text(encoding="utf-8"))]
    scores = [*points, *[5] * len(statuses)]
    told = {
        id: {
            "problem_id": id,
            "scores": dict.fromkeys(("correctness", "clarity", "difficulty_match", "completeness"), score),
            "total_score": score,
            "status": status,
            "comments": "",
            "verified_at": "2025-01-10T12:00:00",
        }
        for id, status, score in zip(ids, statuses, scores, strict=False)
    }
    path = Path(data)
    (folder / f"{path.stem}_verifications.json").write_text(json.dumps(told), encoding="utf-8")


def verdicts(found: Quality) -> list[str]:
    return [check.verdict for check in found.checks]


def test_without_judge_and_people_there_is_not_enough_evidence(tmp_path: Path) -> None:
    found = assess(Wish(data=problems(tmp_path, 3)))
    assert verdicts(found) == ["unknown"] * 4 + ["met"]
    assert found.verdict == "open"
    assert "nobody has judged" in str(advice.conclusion(found))
    assert found.topics == [("Algebra", 2), ("Geometry", 1)]


def test_with_all_evidence_and_wide_margins_the_data_is_good(tmp_path: Path) -> None:
    data = problems(tmp_path, 60)
    reference = problems(tmp_path, 20, word="shabby", name="real.json", first=500)
    labels(tmp_path, data, ["approved"] * 60)
    found = assess(Wish(data=data, judge=JUDGE, reference=reference))
    assert found.failures == {}
    assert found.judged is not None
    assert found.judged.estimates["average"].value == 5
    assert found.compared is not None
    assert found.compared.estimates["win_rate"].value == 1
    assert verdicts(found) == ["met"] * 5
    assert str(advice.conclusion(found)).startswith("The data is good")


def test_a_judge_that_decides_nothing_says_nothing_of_the_win_rate(tmp_path: Path) -> None:
    data = problems(tmp_path, 30, word="plain")
    reference = problems(tmp_path, 20, word="simple", name="real.json", first=500)
    found = assess(Wish(data=data, judge=JUDGE, reference=reference))
    assert found.compared is not None
    assert found.compared.estimates["tie_rate"].value == 1
    check = found.checks[2]
    assert check.verdict == "open"
    assert "ties" in str(check.why)


def test_items_with_full_points_are_not_called_weak(tmp_path: Path) -> None:
    found = assess(Wish(data=problems(tmp_path, 3), judge=JUDGE))
    assert found.judged is not None
    assert found.judged.weakest == []
    assert not any("Weakest" in str(one) or "Lowest" in str(one) for one in advice.suggestions(found, "en"))


def test_bad_data_misses_its_thresholds_at_95_percent(tmp_path: Path) -> None:
    data = problems(tmp_path, 30, word="dreadful")
    reference = problems(tmp_path, 20, word="splendid", name="real.json", first=500)
    labels(tmp_path, data, ["rejected"] * 30, [2] * 30)
    found = assess(Wish(data=data, judge=JUDGE, reference=reference))
    assert verdicts(found) == ["missed"] * 4 + ["met"]
    assert "not good enough" in str(advice.conclusion(found))
    suggestions = " ".join(map(str, advice.suggestions(found, "en")))
    assert "Weakest items: gen_aime_1 (2.00)" in suggestions


def test_few_items_leave_the_pass_rate_open(tmp_path: Path) -> None:
    found = assess(Wish(data=problems(tmp_path, 6), judge=JUDGE))
    assert found.best("pass_rate") is not None
    assert verdicts(found)[1] == "open", "6 of 6 does not show that 80 % would pass"
    assert "cannot be decided" in str(advice.conclusion(found))
    assert found.is_uncalibrated
    assert any("uncalibrated" in str(reason) for reason in advice.reasons(found))
    [more] = [str(one) for one in advice.next_steps(found) if "more items" in str(one)]
    assert "pass rate of the judge" in more
    assert "win rate" not in more


def test_more_items_are_advised_only_where_they_decide_something(tmp_path: Path) -> None:
    reference = problems(tmp_path, 20, name="real.json", first=500)
    found = assess(Wish(data=problems(tmp_path, 30), judge=f"{FAKES / 'marking.py'}:first", reference=reference))
    assert found.checks[2].needs == "", "its judge follows the order, however many there are"
    data = problems(tmp_path, 40, name="labelled.json")
    labels(tmp_path, data, ["approved", "approved", "approved", "approved", "rejected"] * 4)
    by_people = assess(Wish(data=data))
    assert (by_people.checks[3].verdict, by_people.checks[3].needs) == ("open", "labels")
    steps = " ".join(map(str, advice.next_steps(by_people)))
    assert "Have people verify items" in steps
    assert "more items" not in steps


def test_the_report_speaks_chinese_and_shows_the_text_of_weak_items(tmp_path: Path) -> None:
    found = assess(Wish(data=problems(tmp_path, 6, word="dreadful"), judge=JUDGE))
    page = write_report(tmp_path / "zh", found, "zh")[0].read_text(encoding="utf-8")
    assert page.startswith("# AIME 风格的题目")
    weakest = page.partition("最弱的条目")[2]
    assert "Let " in weakest
    assert "清晰" in weakest
    assert "clarity" not in weakest
    assert "参考集（0" not in page


def test_a_judge_that_follows_the_order_decides_nothing(tmp_path: Path) -> None:
    reference = problems(tmp_path, 20, name="real.json", first=500)
    found = assess(Wish(data=problems(tmp_path, 30), judge=f"{FAKES / 'marking.py'}:first", reference=reference))
    check = found.checks[2]
    assert found.compared is not None
    assert found.compared.estimates["win_rate"].value == 0, "not 50 %"
    assert check.verdict == "open"
    assert "follows the order" in str(check.why)


def test_too_few_judgements_decide_nothing(tmp_path: Path) -> None:
    data = problems(tmp_path, 40)
    mute = problems(tmp_path, 4, word="mute", name="mute.json", first=900)
    both = [*json.loads(Path(data).read_text()), *json.loads(Path(mute).read_text())]
    found = assess(Wish(data=str(data_file(tmp_path / "both.json", both)), judge=JUDGE))
    assert found.judged is not None
    assert found.judged.failed == 4
    assert found.judged.estimates["average"].scored == 40
    assert verdicts(found)[:2] == ["open", "open"]
    assert "only 40 of 44" in str(found.checks[0].why)


def test_each_part_fails_alone(tmp_path: Path) -> None:
    data = problems(tmp_path, 12)
    told: list[Sentence] = []
    (tmp_path / "aime_generated_1_verifications.json").write_text("{", encoding="utf-8")
    found = assess(
        Wish(data=data, judge=JUDGE, reference=str(tmp_path / "none.json"), solver="./none.py:solve"), tell=told.append
    )
    assert set(found.failures) == {"novelty", "judge", "win_rate", "solver", "people"}
    assert len(told) == 5
    [path, _] = write_report(tmp_path / "report", found, "en")
    page = path.read_text(encoding="utf-8")
    assert page.count("\n## ") == 7
    assert "none.json" in page
    good = assess(Wish(data=data, judge=JUDGE))
    assert good.judged is not None, "the judge stands without the rest"
    assert set(good.failures) == {"people"}


@pytest.mark.parametrize(
    ("items", "message"),
    [([], "holds no items"), ([{"id": "a", "problem": "x"}, {"id": "a", "problem": "y"}], "was used already")],
)
def test_data_that_cannot_be_read_at_all_is_refused(tmp_path: Path, items: list[Any], message: str) -> None:
    with pytest.raises(BadInput, match=message):
        assess(Wish(data=str(data_file(tmp_path / "d.json", items))))


def test_items_that_do_not_fit_are_named(tmp_path: Path) -> None:
    made = [
        {"id": "a", **item(1, answer=1234)},
        {"id": "b", "problem": "no answer here, only a problem"},
        {"id": "c", **item(3)},
    ]
    found = assess(Wish(data=str(data_file(tmp_path / "d.json", made))))
    assert [one.id for one in found.faulty] == ["a", "b"]
    assert "maximum 999" in str(found.faulty[0].reason)
    assert "'answer' is missing" in str(found.faulty[1].reason)


def test_columns_of_ones_own_generator_keep_their_names(tmp_path: Path) -> None:
    (tmp_path / "quiz.toml").write_text(
        'main = ["question"]\nprompt = "Write."\n[schema]\ntype = "object"\nrequired = ["question"]\n'
        '[schema.properties.question]\ntype = "string"\n',
        encoding="utf-8",
    )
    data = data_file(tmp_path / "d.json", [{"question": "Which river flows through Rome and into the sea?"}] * 2)
    found = assess(Wish(data=str(data), generator=str(tmp_path / "quiz.toml")))
    assert found.faulty == []
    assert found.new is not None
    assert [id for id, _ in found.new.repeated] == ["row-2"]


def test_a_document_is_compared_with_all_of_its_text(tmp_path: Path) -> None:
    made = {"problem": "How to install it", "answer": f"# Install\n\n{text(1)} {text(2)} {text(3)}", "topic": "How-to"}
    reference = data_file(
        tmp_path / "r.json", [{"id": "r", "problem": "How to install it", "answer": f"# Other\n\n{text(9)}"}]
    )
    data = data_file(tmp_path / "d.json", [{"id": "a", **made}])
    found = assess(Wish(data=str(data), generator="document", reference=str(reference)))
    assert found.new is not None
    assert found.new.copies == [], "only the title is the same"
    again = assess(
        Wish(data=str(data), generator="document", reference=str(data_file(tmp_path / "s.json", [{"id": "r", **made}])))
    )
    assert again.new is not None
    assert len(again.new.copies) == 1


def test_data_that_is_its_own_reference_is_all_copies(tmp_path: Path) -> None:
    data = problems(tmp_path, 12)
    found = assess(Wish(data=data, reference=problems(tmp_path, 12, name="same.json"), judge=JUDGE))
    assert found.new is not None
    assert found.new.share.value == 0
    assert len(found.new.copies) == 12
    assert verdicts(found)[4] == "missed"
    assert found.verdict == "missed"
    assert "same" in str(found.failures["judge"])
    assert any("copies of the reference set" in str(one) for one in advice.suggestions(found, "en"))


def test_repeats_within_the_data_are_found(tmp_path: Path) -> None:
    made = [{"id": "a", **item(1)}, {"id": "b", **item(2)}, {"id": "c", **item(1)}]
    found = assess(Wish(data=str(data_file(tmp_path / "d.json", made))))
    assert found.new is not None
    assert [(id, like.id) for id, like in found.new.repeated] == [("c", "a")]
    assert verdicts(found)[4] == "missed"


def test_a_verification_file_of_other_data_is_refused_and_costs_only_itself(tmp_path: Path) -> None:
    data = problems(tmp_path, 12)
    labels(tmp_path, data, ["approved"] * 12)
    other = problems(tmp_path, 12, name="other.json", first=100)
    found = assess(Wish(data=other, verifications=str(tmp_path / "aime_generated_1_verifications.json")))
    assert "no label of these items" in str(found.failures["people"])


def test_labels_of_the_items_that_people_chose_meet_no_threshold(tmp_path: Path) -> None:
    data = problems(tmp_path, 60)
    labels(tmp_path, data, ["approved"] * 40)
    found = assess(Wish(data=data))
    assert found.people is not None
    approved = found.people.approved
    assert (approved.value, approved.scored, approved.planned) == (1, 40, 60)
    assert approved.floor == pytest.approx(2 / 3)
    assert approved.ceiling == 1
    check = found.checks[3]
    assert (check.verdict, str(check.why), check.needs) == ("open", "only 40 of 60 have a verdict", "labels")


def test_labels_of_items_that_people_chose_leave_the_figure_of_a_judge_open(tmp_path: Path) -> None:
    data = problems(tmp_path, 60)
    labels(tmp_path, data, ["approved"] * 40)
    found = assess(Wish(data=data, judge=JUDGE))
    assert found.held is not None
    assert found.held.corrected == ()
    check = found.checks[0]
    assert (check.verdict, str(check.why)) == ("open", "what people labelled is no random draw that is labelled whole")


def test_people_correct_a_judge_that_is_too_kind(tmp_path: Path) -> None:
    data = problems(tmp_path, 60)
    ids = [item.id for item in Review(data, Reviewers(draw=40)).items]
    labels(tmp_path, data, ["rejected", "approved"] * 20, [2, 4] * 20, ids)
    found = assess(Wish(data=data, judge=JUDGE))
    assert found.failures == {}
    assert found.held is not None
    assert found.judged is not None
    assert found.judged.estimates["average"].value == 5
    corrected = found.best("average")
    assert corrected is not None
    assert corrected.low is not None
    assert corrected.high is not None
    assert corrected.low < 3 < corrected.high < 4
    assert found.checks[0].verdict == "missed"
    assert found.is_uncalibrated  # corrected, but it agrees with people less than by chance
    assert "uncalibrated: checked against 40" in " ".join(map(str, advice.caveats(found)))


def test_the_win_rate_stays_uncalibrated_when_people_checked_the_judge_of_items(tmp_path: Path) -> None:
    data = problems(tmp_path, 40)
    labels(tmp_path, data, ["approved"] * 40)
    reference = problems(tmp_path, 20, word="shabby", name="real.json", first=500)
    found = assess(Wish(data=data, judge=JUDGE, reference=reference))
    assert found.held is not None
    assert found.is_uncalibrated
    assert "win rate is uncalibrated" in " ".join(str(one) for one in advice.caveats(found))
    page = write_report(tmp_path, found, "en")[0].read_text(encoding="utf-8")
    assert "uncalibrated" in page.partition("## 4")[2].partition("## 5")[0]


def test_a_solver_confirms_answers_by_the_majority_of_its_tries(tmp_path: Path) -> None:
    data = problems(tmp_path, 4)
    (tmp_path / "solver.py").write_text(
        "import json, pathlib\n"
        f"known = {{one['problem']: one['answer'] for one in json.loads(pathlib.Path({data!r}).read_text())}}\n"
        "calls = {}\n"
        "def solve(question):\n"
        "    answer = next(value for text, value in known.items() if text in question)\n"
        "    n = calls[answer] = calls.get(answer, 0) + 1\n"
        "    if answer == 3: return f'FINAL ANSWER: {n}'\n"  # never the same
        "    if answer == 2: return 'FINAL ANSWER: 77'\n"
        "    return f'I think so. FINAL ANSWER: {answer}.0' if n % 3 else 'FINAL ANSWER: 1000'\n",
        encoding="utf-8",
    )
    found = assess(Wish(data=data, solver=f"{tmp_path / 'solver.py'}:solve", votes=3))
    assert found.failures == {}
    assert found.solved is not None
    assert [(one.id, one.stated, one.found) for one in found.solved.doubts] == [("gen_aime_3", "2", "77")]
    assert found.solved.unsolved == ["gen_aime_4"]
    confirmed = found.solved.confirmed
    assert (confirmed.scored, confirmed.planned) == (3, 4)
    assert confirmed.value == pytest.approx(2 / 3)
    assert confirmed.low is not None


def test_a_solution_that_ends_in_another_answer_is_doubted(tmp_path: Path) -> None:
    made = [
        {"id": "a", **item(17)},
        {"id": "b", **item(18, solution=r"So it is $\boxed{19}$.")},
        {"id": "c", **item(19, solution=r"So it is $\boxed{\frac{38}{2}}$.")},
        {"id": "d", **item(20, solution="No mark at all, only words.")},
    ]
    found = assess(Wish(data=str(data_file(tmp_path / "d.json", made))))
    assert [(one.id, one.stated, one.found) for one in found.doubts] == [("b", "18", "19")]


def test_one_budget_is_for_all_parts(tmp_path: Path) -> None:
    reference = problems(tmp_path, 20, name="real.json", first=500)
    found = assess(Wish(data=problems(tmp_path, 12), judge=JUDGE, reference=reference), budget=Budget(requests=12))
    assert found.judged is not None
    assert "budget is spent" in str(found.failures["win_rate"])


def made_up(**estimates: Estimate) -> Quality:
    kind = generator("aime")
    judged = JudgeEvidence(
        run="r",
        judge="j",
        rubric="math-problem",
        scale=(1, 10),
        dimensions=(),
        estimates=estimates,
        weakest=(),
        failed=0,
    )
    compared = WinRateEvidence(run="r", judge="j", estimates=estimates, notes=(), failed=0)
    return Quality(
        wish=Wish(data="d"), kind=kind, created=0, data="d", reference=None, items=9, topics=(), faulty=(), doubts=(),
        judged=judged, compared=compared,
    )  # fmt: skip


@pytest.mark.parametrize(
    ("low", "high", "verdict"),
    [(0.45, 0.6, "met"), (0.3, 0.4499, "missed"), (0.4, 0.5, "open"), (0.3, 0.45, "open"), (None, None, "open")],
)
def test_a_threshold_is_decided_by_the_whole_interval(low: float | None, high: float | None, verdict: str) -> None:
    found = made_up(win_rate=Estimate(name="win_rate", value=0.45, low=low, high=high, scored=50, planned=50))
    assert found.checks[2].verdict == verdict


def test_the_mean_of_another_scale_is_put_on_that_of_the_threshold() -> None:
    mean = Estimate(name="average", value=7.75, low=7.75, high=10, scored=50, planned=50, unit="number")
    check = made_up(average=mean).checks[0]
    assert check.number is not None
    assert (check.number.value, check.verdict) == (4.0, "met")


@pytest.mark.parametrize("lang", ["en", "zh"])
def test_the_report_has_seven_sections_and_hostile_text_is_harmless(tmp_path: Path, lang: str) -> None:
    made = [{"id": f"<script>{seed}", **item(seed, topic="<img src=x>|`", answer=5000)} for seed in range(3)]
    found = assess(Wish(data=str(data_file(tmp_path / "d.json", made)), judge=JUDGE))
    markdown, html = write_report(tmp_path / "out", found, lang)
    assert (markdown.name, html.name) == ("comprehensive_report.md", "comprehensive_report.html")
    text, page = markdown.read_text(encoding="utf-8"), html.read_text(encoding="utf-8")
    assert text.count("\n## ") == 7 == page.count("<h2>")
    assert "<script>" not in page
    assert "<img" not in page
    assert "<script>" not in text
    assert ("结论" in text) == (lang == "zh")
    assert "http" not in page.partition("</style>")[2]
    write_report(tmp_path / "out", found, lang)  # a second time replaces it
    assert len(list((tmp_path / "out").iterdir())) == 2
