"""`proctor judge winrate`: sets of items against each other."""

import json
from pathlib import Path
from typing import Any

import pytest
from judged import names

from proctor import Sample, Task, api
from proctor.cli import app

PREFERS_LONGER = """
import json
from proctor.models.scripted import ScriptedModel

def say(messages, tools):
    first, second = (messages[-1].text.split(f" {name}\\n")[1].split("\\n")[0] for name in "AB")
    winner = "tie" if len(first) == len(second) else "A" if len(first) > len(second) else "B"
    return json.dumps({"reason": "longer", "winner": winner})

model = ScriptedModel(say)
"""


def run(*words: object) -> int:
    with pytest.raises(SystemExit) as ended:
        app.main([str(word) for word in words])
    return int(ended.value.code or 0)


@pytest.fixture
def store(tmp_path: Path) -> str:
    return str(tmp_path / "runs.db")


@pytest.fixture
def longer(tmp_path: Path) -> str:
    """A judge that prefers the longer text."""
    (tmp_path / "longer.py").write_text(PREFERS_LONGER, encoding="utf-8")
    return f"{tmp_path}/longer.py:model"


def items(path: Path, *lengths: int, ids: str = "", **more: str) -> Path:
    """Items whose texts have these lengths."""
    rows = [
        {"id": f"{ids}{n}", "question": "Say it.", "answer": "x" * length, **more} for n, length in enumerate(lengths)
    ]
    path.write_text(json.dumps(rows), encoding="utf-8")
    return path


def summary(capsys: pytest.CaptureFixture[str]) -> dict[str, Any]:
    found = json.loads(capsys.readouterr().out)
    return {f"{one['name']} {one['slice']}".strip(): one for one in found["estimates"]}


def test_items_with_the_same_id_meet_and_the_rates_sum_to_1(
    tmp_path: Path, longer: str, store: str, capsys: pytest.CaptureFixture[str]
) -> None:
    mine, theirs = items(tmp_path / "mine.json", 9, 9, 5, 1), items(tmp_path / "theirs.json", 2, 3, 5, 7)
    assert run("judge", "winrate", mine, theirs, "--judge", longer, "--store", store, "--json", "--quiet") == 0
    found = summary(capsys)
    rates = [found[name]["value"] for name in ("win_rate", "tie_rate", "loss_rate")]
    assert rates == [0.5, 0.25, 0.25]
    assert found["decisive_win_rate"]["value"] == pytest.approx(2 / 3)
    assert found["consistency"]["value"] == 1
    assert all("uncalibrated" in json.dumps(one["note"]) for one in found.values())
    [kept] = api.runs(store=store)
    run_ = api.open_run(kept.id, store=store)
    assert sum(len(one.result.details["comparisons"]) for one in run_.verdicts()) == 4


def test_sets_without_a_common_id_meet_by_lot_and_the_lot_is_the_same_again(
    tmp_path: Path, longer: str, store: str, capsys: pytest.CaptureFixture[str]
) -> None:
    mine, real = (
        items(tmp_path / "mine.json", *range(5, 15), ids="m"),
        items(tmp_path / "real.json", *range(8, 12), ids="r"),
    )
    asked = (
        "judge",
        "winrate",
        mine,
        real,
        "--judge",
        longer,
        "--store",
        store,
        "--references",
        "2",
        "--json",
        "--quiet",
    )
    values = []
    for name, seed in (("a", "1"), ("b", "1"), ("c", "2")):
        assert run(*asked, "--seed", seed, "--run", name) == 0
        values.append(summary(capsys)["win_rate"]["value"])
    drawn = [
        [one.result.details["comparisons"] for one in api.open_run(name, store=store).verdicts()]
        for name in ("a", "b", "c")
    ]
    assert drawn[0] == drawn[1] != drawn[2]
    assert all(len(comparisons) == 2 for comparisons in drawn[0])


def test_a_judge_that_always_says_a_gives_no_win_and_a_warning(
    tmp_path: Path, store: str, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "a.jsonl").write_text(names("Problem A") + "\n", encoding="utf-8")
    mine, real = items(tmp_path / "mine.json", *range(5, 25)), items(tmp_path / "real.json", *range(6, 26))
    asked = ("judge", "winrate", mine, real, "--judge", f"scripted:{tmp_path}/a.jsonl", "--store", store, "--quiet")
    assert run(*asked, "--json") == 0
    found = summary(capsys)
    assert (found["win_rate"]["value"], found["decisive_win_rate"]["value"], found["tie_rate"]["value"]) == (0, 0, 1)
    assert run(*asked, "--lang", "zh") == 0
    assert "警告" in capsys.readouterr().out


def test_more_than_two_sets_are_ranked_together_with_intervals(
    tmp_path: Path, longer: str, store: str, capsys: pytest.CaptureFixture[str]
) -> None:
    import random

    source = random.Random(3)
    sets = [
        items(tmp_path / f"{name}.json", *(max(1, round(source.gauss(middle, 6))) for _ in range(40)))
        for name, middle in (("low", 10), ("mid", 14), ("top", 18))
    ]
    asked = ("judge", "winrate", *sets, "--judge", longer, "--store", store, "--json", "--quiet")
    assert run(*asked) == 0
    found = summary(capsys)
    strengths = [found[f"strength system={name}"] for name in ("low", "mid", "top")]
    assert [one["value"] for one in strengths] == sorted(one["value"] for one in strengths)
    assert all(one["low"] < one["value"] < one["high"] and one["clusters"] == 40 for one in strengths)
    assert found["win_rate pair=low vs top"]["planned"] == 40
    assert "win_rate" not in found
    assert run(*asked, "--control", "length") == 0
    controlled = summary(capsys)
    apart = [max(one) - min(one) for one in ([found[f"strength system={n}"]["value"] for n in ("low", "top")],)]
    still = controlled["strength system=top"]["value"] - controlled["strength system=low"]["value"]
    assert still < apart[0]


def test_two_stored_runs_are_compared_on_their_answers(
    tmp_path: Path, longer: str, store: str, capsys: pytest.CaptureFixture[str]
) -> None:
    questions = tmp_path / "q.jsonl"
    questions.write_text('{"id": "a", "question": "How are you today?", "answer": "Well."}\n', encoding="utf-8")
    for agent in ("echo", "oracle"):
        assert run("run", questions, "--agent", f"baseline:{agent}", "--run", agent, "--store", store, "--quiet") == 0
    capsys.readouterr()
    assert run("judge", "winrate", "echo", "oracle", "--judge", longer, "--store", store, "--json", "--quiet") == 0
    assert summary(capsys)["win_rate"]["value"] == 1


def test_an_answer_that_a_run_lacks_is_lost_and_not_left_out(tmp_path: Path, longer: str, store: str) -> None:
    def careful(question: str) -> str:
        return "yes, " + question

    def lazy(question: str) -> str:
        if question == "2?":
            raise ValueError("no idea")
        return {"0?": "", "1?": "yes, this is a long answer"}[question]

    task = Task(name="t", samples=[Sample.ask(f"s{n}", f"{n}?") for n in range(3)], scorers=["exact"])
    for name, agent in (("lazy", lazy), ("careful", careful)):
        api.evaluate(task, agent=agent, store=store, run_id=name)
    options = {"sets": ["lazy", "careful"], "store": store}
    done = api.evaluate(
        "judged-pairs:", agent="recorded:", scorers=["pairwise"], judge=longer, options=options, store=store
    )
    assert (done.estimate("win_rate").value, done.estimate("win_rate").scored) == (1 / 3, 3)
    assert done.estimate("loss_rate").value == pytest.approx(2 / 3)


def test_a_solution_is_compared_only_where_both_sets_have_one(tmp_path: Path, store: str) -> None:
    from proctor_judging.tasks import pairs

    mine = items(tmp_path / "mine.json", 3, solution="Because.")
    theirs = items(tmp_path / "theirs.json", 4)
    [sample] = pairs.task(sets=[str(mine), str(theirs)]).samples()  # type: ignore[operator]  # a function
    assert sample.meta["recorded"] == "xxx"
    both = items(tmp_path / "both.json", 4, solution="So.")
    [sample] = pairs.task(sets=[str(mine), str(both)]).samples()  # type: ignore[operator]
    assert "Because." in sample.meta["recorded"]
    assert "So." in sample.meta["rivals"][0]["text"]


def test_a_stored_comparison_goes_on(tmp_path: Path, longer: str, store: str) -> None:
    mine, theirs = items(tmp_path / "mine.json", *range(2, 12)), items(tmp_path / "theirs.json", *range(3, 13))
    asked = ("judge", "winrate", mine, theirs, "--judge", longer, "--store", store, "--run", "mine", "--quiet")
    assert run(*asked, "--budget", "requests=4", "--concurrency", "1") == 3
    assert run("judge", "winrate", "--run", "mine", "--store", store, "--budget", "requests=1000", "--quiet") == 0
    assert api.open_run("mine", store=store).outcomes == {"scored": 10}
    assert run(*asked, "--budget", "requests=1000", "--pair", "random") == 2


@pytest.mark.parametrize(
    ("words", "told"),
    [
        ((), "Name the sets"),
        (("mine.json",), "at least two"),
        (("mine.json", "copy.json"), "hold the same items"),
        (("mine.json", "mine.json"), "hold the same items"),
        (("mine.json", "none.json"), "none.json"),
        (("mine.json", "norun"), "norun"),
        (("mine.json", "other.json", "--pair", "id"), "no id in common"),
        (("mine.json", "other.json", "third.json"), "no id in common"),
        (("mine.json", "other.json", "--references", "99"), "references"),
        (("mine.json", "empty.json"), "no items"),
    ],
)
def test_sets_that_cannot_be_compared_are_refused(
    words: tuple[str, ...],
    told: str,
    tmp_path: Path,
    store: str,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.chdir(tmp_path)
    items(tmp_path / "mine.json", 1, 2)
    items(tmp_path / "copy.json", 1, 2, ids="c")
    items(tmp_path / "other.json", 3, 4, ids="o")
    items(tmp_path / "third.json", 5, 6, ids="t")
    (tmp_path / "empty.json").write_text("[]", encoding="utf-8")
    assert run("judge", "winrate", *words, "--judge", "openai:never", "--store", store) == 2
    assert told in capsys.readouterr().err
