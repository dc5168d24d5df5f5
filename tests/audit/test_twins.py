"""Twins of questions: other names, numbers and orders of options, with answers that follow."""

import json
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result

from proctor.cli import app

EXAM: list[dict[str, Any]] = [
    {"id": "sum", "question": "How much is 12 * 3 + 4?", "answer": 40},
    {"id": "word", "question": "Alice has 3 apples and Bob has 4. How many have Alice and Bob?", "answer": "7"},
    {"id": "where", "question": "Tom went home. Tom slept. Who slept?", "answer": "Tom"},
    {"id": "choice", "question": "Which is a colour?", "options": ["red", "dog", "cup"], "answer": "A"},
    {"id": "text", "question": "Which?", "options": ["ten", "red", "dog"], "answer": "red"},
    {"id": "above", "question": "Which?", "options": ["ten", "red", "all of the above"], "answer": "C"},
    {"id": "legs", "question": "How many legs has a spider?", "answer": "8"},
    {"id": "king", "question": "How many wives had King James in 1600? King James had?", "answer": "1"},
    {"id": "bond", "question": "In which year was James Bond born? James was 40.", "answer": "1920"},
    {"id": "book", "question": "In 1865 Alice in Wonderland was new. How old was Alice?", "answer": "7"},
    {"id": "two", "question": "In 2020 it was 3 + 4. How much is 3 + 4?", "answer": "7"},
]


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    write("exam.jsonl", EXAM)


def write(name: str, rows: list[dict[str, Any]]) -> None:
    Path(name).write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")


def proctor(*words: str) -> Result:
    return CliRunner().invoke(app, [*words])


def twins() -> dict[str, dict[str, Any]]:
    result = proctor("data", "twins", "exam.jsonl", "-o", "twins")
    assert result.exit_code == 0, result.output
    rows = map(json.loads, Path("twins/exam.jsonl").read_text(encoding="utf-8").splitlines())
    return {row["id"]: row for row in rows}


def test_the_answer_of_a_twin_follows_its_question() -> None:
    made = twins()
    assert {id: row["twin"] for id, row in made.items()} == {
        "sum": "numbers",
        "word": "names",
        "where": "names",
        "choice": "options",
        "text": "options",
    }
    first, second, third = (int(word) for word in made["sum"]["question"][:-1].split() if word.isdigit())
    assert made["sum"]["answer"] == first * second + third != 40
    assert made["where"]["answer"] in made["where"]["question"]
    assert "Tom" not in json.dumps(made["where"])
    assert made["word"]["answer"] == "7"
    assert not {"Alice", "Bob"} & {*made["word"]["question"].split()}
    for id, right in (("choice", "red"), ("text", "red")):
        row = made[id]
        assert row["options"]["ABC".index(row["answer"])] == right
        assert sorted(row["options"]) == sorted(next(each for each in EXAM if each["id"] == id)["options"])
    assert made["choice"]["answer"] != "A"
    assert made["text"]["answer"] != "B"


UNSURE: list[dict[str, Any]] = [
    {"question": "What is 12 + 8 rounded to the nearest ten?", "answer": 20},
    {"question": "What is the largest prime that is at most 3 + 4?", "answer": 7},
    {"question": "How much is √1 + 5?", "answer": 6},
    {"question": "How much is 2 * 1!", "answer": 2},
    {"question": "12 + 8 四舍五入到十位是多少？", "answer": "20"},
    {"question": "TOM has 3 pens. Tom has 4. How many have they?", "answer": "7"},
    {"question": "Tom has 3 pens, Mary 2. Tom gives 1. Who has more?", "answer": "tom"},
    {"question": "How many letters has Tom, times 3?", "answer": "9"},
    {"question": 'What is len("Tom") + 1?', "answer": "4"},
    {"question": "Tom and Jerry had 2 fights in each of 3 films. How many?", "answer": "6"},
    {"question": "小李子演了 3 部电影，又演了 2 部，一共几部？", "answer": "5"},
    {"question": "小红书有 3 页，撕了 1 页，还剩几页？", "answer": "2"},
    {"question": "大小明暗各 2 种，小明选了 1 种，剩几种？", "answer": "3"},
    {"question": "小明的名字乘 3 有几个字？", "answer": "6"},
    {"question": "Which?", "options": ["one", "two", "A、B"], "answer": "C"},
    {"question": "Which?", "options": ["one", "two", "A & B"], "answer": "C"},
    {"question": "Which?", "options": ["one", "two", "the previous two"], "answer": "C"},
    {"question": "Which?", "options": ["一", "二", "前两项都是"], "answer": "C"},
    {"question": "Which? A. one B. two", "options": ["one", "two"], "answer": "A"},
    {"question": "Which fits option B?", "options": ["one", "two"], "answer": "A"},
]


@pytest.mark.parametrize("row", UNSURE, ids=[" ".join(map(str, row.values())) for row in UNSURE])
def test_where_the_answer_may_not_follow_there_is_no_twin(row: dict[str, Any]) -> None:
    write("exam.jsonl", [EXAM[0], {"id": "unsure", **row}])
    assert [*twins()] == ["sum"]


def test_a_new_name_is_in_no_column_that_the_agent_or_the_scorer_sees() -> None:
    others = "Betty Carol Diana Ellen Emily Emma Helen Jane Janet Julia Karen Laura Linda Lisa Lucy Maria Mary Nancy Natalia Nina Sally"
    row = {"id": "who", "system": f"Alice met {others}.", "question": "Alice ran. Did Alice walk? Who ran?"}
    write("exam.jsonl", [{**row, "answer": {"winner": "Alice", "Alice": 1}}])
    twin = twins()["who"]
    name = twin["question"].split()[0]
    assert name not in (*others.split(), "Alice")
    assert twin["system"].startswith(name)
    assert twin["answer"] == {"winner": name, name: 1}


def test_a_person_that_the_system_message_knows_keeps_the_name() -> None:
    row = {"id": "who", "system": "Tom Sawyer ran.", "question": "Tom ran. Did Tom walk? Who ran?", "answer": "Tom"}
    write("exam.jsonl", [EXAM[0], row])
    assert [*twins()] == ["sum"]


def test_options_in_columns_of_which_some_are_empty() -> None:
    Path("exam.csv").write_text("id,question,A,B,C,D,answer\none,Which is red?,rose,sky,grass,,A\n", encoding="utf-8")
    assert proctor("data", "twins", "exam.csv", "-o", "twins").exit_code == 0
    [row] = map(json.loads, Path("twins/exam.jsonl").read_text(encoding="utf-8").splitlines())
    assert row[row["answer"]] == "rose"
    assert sorted((row["A"], row["B"], row["C"])) == ["grass", "rose", "sky"]
    assert row["answer"] != "A"
    assert not row["D"]


def test_what_has_no_twin_is_counted() -> None:
    report = json.loads(proctor("data", "twins", "exam.jsonl", "-o", "twins", "--json").stdout)
    assert (report["rows"], report["twins"], report["without"]) == (11, 5, 6)
    assert report["kinds"] == {"names": 2, "numbers": 1, "options": 2}


def test_the_same_seed_makes_the_same_twins_and_nothing_is_written_over() -> None:
    first = twins()
    again = proctor("data", "twins", "exam.jsonl", "-o", "twins")
    assert again.exit_code == 2
    Path("twins/exam.jsonl").unlink()
    assert twins() == first


def test_the_runs_of_both_are_compared_sample_by_sample() -> None:
    made = twins()
    answers = {row["id"]: row["answer"] for row in EXAM}
    Path("agent.py").write_text(
        f"ANSWERS = { ({row['question']: str(answers[row['id']]) for row in EXAM})!r}\n\n\n"
        "def answer(question):\n    return ANSWERS.get(question.splitlines()[0], 'A')\n",
        encoding="utf-8",
    )
    for name, run in (("exam.jsonl", "original"), ("twins/exam.jsonl", "twins")):
        proctor("run", name, "--agent", "./agent.py:answer", "--store", "r.db", "--run", run, "--quiet")
    compared = json.loads(proctor("compare", "original", "twins", "--store", "r.db", "--json").stdout)
    row = compared["comparison"]["rows"][0]
    assert row["difference"]["pairs"] == len(made)
    assert row["difference"]["value"] < 0


def test_a_file_without_a_column_of_questions_is_refused() -> None:
    result = proctor("data", "twins", "exam.jsonl", "-o", "twins", "--set", "prompt={question}")
    assert result.exit_code == 2
