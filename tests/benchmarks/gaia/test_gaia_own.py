"""A set of your own: the template, the check, the example that comes with Proctor, and its figures."""

import csv
import json
from collections.abc import Callable, Iterable
from importlib.resources import files
from pathlib import Path
from typing import Any

import pytest

from proctor.core.errors import BadInput
from proctor.core.run import Estimate
from proctor.core.sample import Sample
from proctor.core.score import Score
from proctor.core.task import Task
from proctor.core.trajectory import Trajectory
from proctor.core.trial import Verdict
from proctor_benchmarks.gaia import dataset, own, summary, task
from proctor_benchmarks.gaia.scorer import gaia
from proctor_benchmarks.gaia.statistics import statistics

EXAMPLE = Path(str(files("proctor_benchmarks.gaia") / "example"))
ATTACHED = EXAMPLE / "2023" / "validation"


def record(id: str = "a", **changes: Any) -> dict[str, Any]:
    base = {"task_id": id, "Question": f"Question {id}?", "Level": 1, "Final answer": "Paris", "file_name": ""}
    return {**base, **changes}


def written(root: Path, *lines: dict[str, Any] | str, split: str = "validation") -> Path:
    place = root / "2023" / split
    place.mkdir(parents=True, exist_ok=True)
    text = "".join((line if isinstance(line, str) else json.dumps(line, ensure_ascii=False)) + "\n" for line in lines)
    (place / "metadata.jsonl").write_text(text, encoding="utf-8")
    return root


def samples(made: Task) -> list[Sample]:
    assert not callable(made.samples)
    return list(made.samples)


@pytest.fixture
def checked(tmp_path: Path) -> Callable[..., own.SetCheck]:
    return lambda *lines: own.check(written(tmp_path, *lines))


def test_the_template_is_right_and_its_answers_are_taken_for_right(tmp_path: Path) -> None:
    paths = own.write_template(tmp_path / "mine")
    assert all(path.is_file() for path in paths)
    assert (tmp_path / "mine" / "README.md") in paths
    found = own.check(tmp_path / "mine")
    assert (found.records, found.wrong) == (3, 0)
    made = task(data=str(tmp_path / "mine"))
    assert [sample.tags["level"] for sample in samples(made)] == ["1", "2", "3"]
    _all_right(made)


def test_the_template_does_not_write_over_anything(tmp_path: Path) -> None:
    (tmp_path / "notes.txt").write_text("mine", encoding="utf-8")
    with pytest.raises(BadInput, match="is not empty"):
        own.write_template(tmp_path)
    with pytest.raises(BadInput, match="is not empty"):
        own.write_template(tmp_path / "notes.txt")
    (tmp_path / "empty").mkdir()
    assert own.write_template(tmp_path / "empty")


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("{", "line 2"),
        ("[1]", "line 2"),
        (record("b", Question="  "), "the field 'Question' is missing"),
        (record("b", Level="hard"), "the level 'hard' is no whole number"),
        (record("b", Level=0), "levels start at 1, not at 0"),
        (record("a"), "the id 'a' was used already at"),
        (record("../b"), "the id '../b' has signs other than"),
        (record(""), "the field 'task_id' is missing"),
        (record("b", file_name="gone.csv"), "the attachment 'gone.csv' is not in"),
        (record("b", file_name="../../../secret.txt"), "lies outside the data folder"),
        (record("b", file_name="metadata.jsonl"), "holds the answers"),
        (record("b", **{"Final answer": "?"}), "there is no answer"),
        (record("b", **{"Final answer": " "}), "there is no answer"),
        (record("b", **{"Final answer": "nan"}), "does not accept 'nan' as its own answer"),
        (record("b", **{"Final answer": "[a, b]"}), "is read as 'a, b', which is wrong"),
        (record("b", **{"Final answer": "one\ntwo"}), "is read as 'one', which is wrong"),
        (record("b", **{"Final answer": "[YOUR FINAL ANSWER]"}), "which is wrong"),
        (record("b", **{"Final answer": "inf"}), "no answer at all would count as 'inf'"),
        (record("b", **{"Final answer": "None"}), "no answer at all would count as 'None'"),
        (record("b", **{"Final answer": "-"}), "no answer at all would count as '-'"),
    ],
)
def test_a_wrong_record_is_named_with_its_file_and_line(
    checked: Callable[..., own.SetCheck], tmp_path: Path, line: dict[str, Any] | str, message: str
) -> None:
    (tmp_path.parent / "secret.txt").write_text("secret", encoding="utf-8")
    found = checked(record("a"), line, record("c"))
    said = [str(finding.sentence) for finding in found.findings if finding.wrong]
    assert len(said) == 1
    assert message in said[0]
    assert "metadata.jsonl, line 2" in said[0]
    assert found.records == 3


def test_every_wrong_record_is_named_not_only_the_first(checked: Callable[..., own.SetCheck]) -> None:
    assert checked("{", record("b", Level="x"), record("c", Question=""), record("d")).wrong == 3


@pytest.mark.parametrize(
    ("answer", "message"),
    [
        ("1,234", "as a number write 1234"),
        ("-1,234,567.5", "as a number write -1234567.5"),
        ("a, b; c", "is a list of 3, compared in order"),
        ("August 3, 1987", "is a list of 2, compared in order"),
        ("50%", "compared as text; answer with the number alone"),
        ("$5", "compared as text; answer with the number alone"),
        ("12 km", "compared as text; answer with the number alone"),
        ("300 万元", "compared as text; answer with the number alone"),
        ("3/4", "'34' would be right too"),
        ("1:30", "'130' would be right too"),
        ("(Paris)", "is read as 'Paris'; write it so"),
    ],
)
def test_an_answer_that_is_read_otherwise_than_meant_is_noted(
    checked: Callable[..., own.SetCheck], answer: str, message: str
) -> None:
    found = checked(record("a", **{"Final answer": answer}))
    assert found.wrong == 0
    assert any(message in str(finding.sentence) for finding in found.findings)


@pytest.mark.parametrize(
    "answer", ["17", "-4", "1e3", "Paris", "St. Petersburg", "forty-two", "巴黎", "7 samurai films"]
)
def test_a_plain_answer_gives_no_finding(checked: Callable[..., own.SetCheck], answer: str) -> None:
    assert checked(record("a", **{"Final answer": answer})).findings == ()


def test_unused_files_odd_steps_and_the_placeholder_are_noted(tmp_path: Path) -> None:
    root = written(tmp_path, record("a", **{"Annotator Metadata": {"Number of steps": "many"}}), record("0-0-0-0-0"))
    (root / "2023" / "validation" / "left.csv").write_text("x", encoding="utf-8")
    found = own.check(root)
    assert found.wrong == 0
    said = " ".join(str(finding.sentence) for finding in found.findings)
    assert "the number of steps 'many' is no whole number" in said
    assert "left.csv: no question uses this file" in said
    assert "'0-0-0-0-0' is never asked" in said


def test_the_test_split_needs_no_answers_and_both_splits_are_checked(tmp_path: Path) -> None:
    written(tmp_path, record("a", **{"Final answer": "?"}), split="test")
    assert own.check(tmp_path).findings == ()
    written(tmp_path, record("a", **{"Final answer": "?"}))
    found = own.check(tmp_path)
    assert (found.records, found.wrong) == (2, 1)


def test_a_folder_that_holds_its_metadata_itself_is_checked_once(tmp_path: Path) -> None:
    (tmp_path / "metadata.jsonl").write_text(json.dumps(record()) + "\n", encoding="utf-8")
    assert own.check(tmp_path).records == 1


def test_a_folder_without_questions_is_wrong_and_one_without_layout_is_bad_input(tmp_path: Path) -> None:
    assert own.check(written(tmp_path / "empty")).wrong == 1
    with pytest.raises(BadInput, match="is no GAIA folder"):
        own.check(tmp_path / "elsewhere")


def test_the_example_has_ten_questions_on_three_levels_and_nothing_wrong() -> None:
    found = own.check(EXAMPLE)
    assert (found.records, found.wrong) == (10, 0)
    assert all("is a list of" in str(finding.sentence) for finding in found.findings)
    made = task(data="example")
    assert {sample.tags["level"] for sample in samples(made)} == {"1", "2", "3"}
    assert made.provenance["licence"] == "Apache-2.0"
    _all_right(made)


def test_the_answers_of_the_example_follow_from_its_attachments() -> None:
    given = {item.id: item.answer for item in dataset.items(EXAMPLE, "validation")}
    assert given == {
        "finance-01": f"{_profit():g}",
        "finance-02": f"{1200 * 0.05 * 4:g}",
        "finance-03": _approved_by("finance director"),
        "finance-04": _currencies()[1],
        "finance-05": ", ".join(_more_than_a_fifth()),
        "finance-06": f"{_interest():g}",
        "finance-07": f"{100 * (0.4 * 4_250_000 / 2_500_000 - 0.60):.0f}",
        "finance-08": _paid_twice(),
        "finance-09": "{}, {:.0f}".format(*_best_project()),
        "finance-10": f"{_realised('2024'):.2f}",
    }


def test_a_markdown_attachment_is_text_on_every_system() -> None:
    assert dataset.attachment_part(ATTACHED / "finance-07.md").media_type == "text/markdown"


def test_a_set_is_counted_by_level_attachment_steps_and_branch(tmp_path: Path) -> None:
    steps = {"Annotator Metadata": {"Number of steps": "4"}}
    root = written(
        tmp_path,
        record("a", file_name="x.CSV", **steps),
        record("b", **{"Final answer": "1,2"}),
        record("c", Level=4, **{"Final answer": "7", "Annotator Metadata": {"Number of steps": "6"}}),
    )
    (root / "2023" / "validation" / "x.CSV").write_text("1", encoding="utf-8")
    found = statistics(samples(task(data=str(root))))
    assert {level: one.questions for level, one in found.levels.items()} == {"1": 2, "4": 1}
    assert [found.levels["1"].steps, found.levels["4"].steps, found.whole.steps] == [4, 6, 5]
    assert found.attachments == {"csv": 1}
    assert found.answers == {"text": 1, "list": 1, "number": 1}
    none = statistics(
        samples(task("test", data=str(written(tmp_path, record("t", **{"Final answer": "?"}), split="test"))))
    )
    assert none.answers == {"none": 1}
    assert none.whole.steps is None


def verdict(
    id: str, steps: int | None, points: float, *, attempt: int = 0, scorer: str = "gaia"
) -> tuple[Sample, Verdict]:
    sample = Sample.ask(id, "?", target="x", meta={} if steps is None else {"steps": steps})
    return sample, Verdict(run_id="r", sample_id=id, attempt=attempt, scorer=scorer, result=Score(points=points))


def steps_of(*judged: tuple[Sample, Verdict]) -> Estimate:
    return summary.steps_of_correct(lambda: judged)


def test_the_steps_of_correct_answers_are_averaged_over_questions_answered_right() -> None:
    found = steps_of(
        verdict("a", 2, 1),
        verdict("b", 9, 0),
        verdict("c", 6, 0),
        verdict("c", 6, 1, attempt=1),
        verdict("c", 6, 1, attempt=2),
        verdict("d", None, 1),
        verdict("e", 50, 1, scorer="partial"),
    )
    assert (found.value, found.scored, found.planned, found.unit, found.slice) == (4, 2, 3, "number", "")
    assert found.low == 0  # 4 - 12.7 * 2, and no question has fewer steps than none
    assert found.high == pytest.approx(4 + 12.7062 * 2, rel=1e-4)


def test_steps_without_a_right_answer_have_no_value_and_one_has_no_interval() -> None:
    assert steps_of(verdict("a", 3, 0)).value is None
    one = steps_of(verdict("a", 3, 1))
    assert (one.value, one.low, one.high) == (3, None, None)


def test_the_drop_is_found_when_other_scorers_run_too() -> None:
    rates = [Estimate(name="gaia.accuracy", slice=f"level={level}", value=1 / level) for level in (1, 2)]
    assert [one.value for one in summary.summarise(rates, list) if one.name == "drop"] == [0.5]


def _all_right(made: Task) -> None:
    assert made.oracle is not None
    for sample in samples(made):
        score = gaia(sample, made.oracle(sample))
        assert isinstance(score, Score)
        assert score.points == 1
        nothing = gaia(sample, Trajectory.of(""))
        assert isinstance(nothing, Score)
        assert nothing.points == 0


def _rows(name: str) -> list[dict[str, str]]:
    with (ATTACHED / name).open(encoding="utf-8") as file:
        return list(csv.DictReader(file))


def _json(name: str) -> Any:
    return json.loads((ATTACHED / name).read_text(encoding="utf-8"))


def _profit() -> int:
    return sum(
        int(row["revenue"]) - int(row["cost_of_sales"]) - int(row["operating_expenses"])
        for row in _rows("finance-01.csv")
    )


def _approved_by(person: str) -> str:
    [rule] = [line for line in (ATTACHED / "finance-03.txt").read_text(encoding="utf-8").splitlines() if person in line]
    return rule.partition(". ")[2].partition(":")[0]


def _currencies() -> list[str]:
    data = _json("finance-04.json")
    total: dict[str, float] = {}
    for account in data["accounts"]:
        value = account["balance"] * data["euros_for_one"][account["currency"]]
        total[account["currency"]] = total.get(account["currency"], 0) + value
    return sorted(total, key=lambda currency: -total[currency])


def _more_than_a_fifth() -> list[str]:
    value = {row["ticker"]: int(row["shares"]) * float(row["price"]) for row in _rows("finance-05.csv")}
    return sorted(ticker for ticker, one in value.items() if one > sum(value.values()) / 5)


def _interest() -> float:
    loan = _json("finance-06.json")
    part = loan["amount"] / loan["months"]
    owed = [loan["amount"] - part * month for month in range(loan["months"])]
    return float(sum(owed) * loan["percent_a_month"] / 100)


def _paid_twice() -> str:
    paid = [(row["supplier"], row["invoice"]) for row in _rows("finance-08.csv")]
    [supplier] = {supplier for supplier, invoice in paid if paid.count((supplier, invoice)) > 1}
    return supplier


def _best_project() -> tuple[str, float]:
    data = _json("finance-09.json")
    rate = 1 + data["percent_a_year"] / 100
    worth = {name: _present(flows, rate) for name, flows in data["cash_flows_by_year"].items()}
    best = max(worth, key=lambda name: worth[name] / -data["cash_flows_by_year"][name][0])
    assert worth[best] < max(worth.values())  # the project with the highest value is not the answer
    return best, worth[best]


def _present(flows: Iterable[float], rate: float) -> float:
    return float(sum(flow / rate**year for year, flow in enumerate(flows)))


def _realised(year: str) -> float:
    """First in, first out, one share at a time."""
    costs: list[float] = []
    gain = 0.0
    for row in _rows("finance-10.csv"):
        count, price, fee = int(row["shares"]), float(row["price"]), float(row["fee"])
        if row["side"] == "buy":
            costs += [price + fee / count] * count
            continue
        sold, costs = costs[:count], costs[count:]
        if row["date"].startswith(year):
            gain += count * price - fee - sum(sold)
    return gain
