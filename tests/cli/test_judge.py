"""`proctor judge items`: the items of a file by a rubric, as a run like any other; and judges beside other scorers."""

import asyncio
import json
from pathlib import Path
from typing import Any

import pytest
from endpoint import Endpoint, chat, data
from judged import said

from proctor import api
from proctor.api.loop import run_in_loop
from proctor.cli import app
from proctor.core.errors import BadInput
from proctor_judging.tasks.probing import ProbeSet, probe

GOOD = {"correctness": 5, "clarity": 4, "difficulty_match": 4, "completeness": 5, "comments": "fine"}
ANSWERED = {"correctness": 4, "relevance": 4, "completeness": 4, "clarity": 4}


def run(*words: object) -> int:
    with pytest.raises(SystemExit) as ended:
        app.main([str(word) for word in words])
    return int(ended.value.code or 0)


def lines(path: Path, *values: Any) -> Path:
    path.write_text("".join(json.dumps(value, ensure_ascii=False) + "\n" for value in values), encoding="utf-8")
    return path


@pytest.fixture(autouse=True)
def own_reply_cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Keep replies apart: an endpoint at a port that another test had would be answered out of that one's cache."""
    monkeypatch.setenv("PROCTOR_CACHE", str(tmp_path / "cache"))


@pytest.fixture
def items(tmp_path: Path) -> Path:
    """Problems as a generator writes them."""
    path = tmp_path / "generated.json"
    problems = [
        {
            "id": f"gen_{n}",
            "problem": f"Find $\\frac{{{n}}}{{2}}$.",
            "answer": n,
            "solution": None,
            "topic": f"topic {n % 2}",
        }
        for n in range(6)
    ]
    path.write_text(json.dumps(problems), encoding="utf-8")
    return path


@pytest.fixture
def judge(tmp_path: Path) -> str:
    return f"scripted:{lines(tmp_path / 'judge.jsonl', GOOD)}"


@pytest.fixture
def store(tmp_path: Path) -> str:
    return str(tmp_path / "runs.db")


def found(capsys: pytest.CaptureFixture[str]) -> dict[str, Any]:
    """The estimates of the whole, by name, out of what `--json` printed."""
    summary = json.loads(capsys.readouterr().out)
    return {one["name"]: one for one in summary["estimates"] if not one["slice"]}


def test_a_file_is_judged_and_every_number_has_interval_denominator_and_its_mark(
    items: Path, judge: str, store: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert (
        run(
            "judge", "items", items, "--rubric", "math-problem", "--judge", judge, "--store", store, "--json", "--quiet"
        )
        == 0
    )
    estimates = found(capsys)
    assert estimates["average"]["value"] == 4.5
    assert estimates["average"]["unit"] == "number"
    assert (estimates["pass_rate"]["value"], estimates["excellent_rate"]["value"]) == (1, 1)
    assert estimates["correctness"]["value"] == 5
    for one in estimates.values():
        assert (one["scored"], one["planned"]) == (6, 6)
        assert one["low"] <= one["value"] <= one["high"]
        assert "uncalibrated" in json.dumps(one["note"])


@pytest.mark.parametrize("language", ["en", "zh"])
@pytest.mark.parametrize("kind", [".md", ".html", ".json"])
def test_every_report_is_marked_as_uncalibrated(
    items: Path, judge: str, store: str, tmp_path: Path, kind: str, language: str, capsys: pytest.CaptureFixture[str]
) -> None:
    out = tmp_path / f"report{kind}"
    asked = ("judge", "items", items, "--rubric", "math-problem", "--judge", judge, "--store", store, "-o", out)
    assert run(*asked, "--lang", language) == 0
    mark = "uncalibrated" if language == "en" or kind == ".json" else "未校准"
    assert mark in out.read_text(encoding="utf-8")
    assert ("uncalibrated" if language == "en" else "未校准") in capsys.readouterr().out


def test_what_is_stored_tells_the_judge_and_can_be_gone_on_with(
    items: Path, judge: str, store: str, capsys: pytest.CaptureFixture[str]
) -> None:
    start = (
        "judge",
        "items",
        items,
        "--rubric",
        "math-problem",
        "--judge",
        judge,
        "--store",
        store,
        "--run",
        "mine",
        "--quiet",
    )
    assert run(*start, "--budget", "requests=3", "--concurrency", "1") == 3
    record = api.open_run("mine", store=store).record
    assert (record.spec.judge, record.agent) == (judge, "recorded")
    assert record.provenance["judges"]["rubric:math-problem"]["model"] == judge
    assert run("judge", "items", "--run", "mine", "--store", store, "--budget", "requests=100", "--quiet") == 0
    assert api.open_run("mine", store=store).outcomes == {"scored": 6}
    assert run(*start, "--budget", "requests=100") == 0
    assert run(*start, "--judge-set", "repeats=2") == 2
    assert "other conditions" in capsys.readouterr().err


def test_what_passes_the_rubric_is_no_failure_in_reports_and_junit(
    items: Path, judge: str, store: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    out = tmp_path / "junit.xml"
    asked = ("judge", "items", items, "--rubric", "math-problem", "--store", store, "--quiet", "--judge")
    assert run(*asked, judge, "--run", "good", "-o", out) == 0
    assert 'failures="0"' in out.read_text(encoding="utf-8")
    poor = f"scripted:{lines(tmp_path / 'poor.jsonl', dict.fromkeys(GOOD, 2))}"
    assert run(*asked, poor, "--run", "poor", "-o", out) == 0
    assert 'failures="6"' in out.read_text(encoding="utf-8")
    capsys.readouterr()
    for name, told in (("good", "No sample failed"), ("poor", "below the pass mark")):
        assert run("show", name, "--failures", "--store", store) == 0
        assert told in capsys.readouterr().out


def test_another_judge_is_a_part_of_its_own_and_asked_again_only_when_that_is_wanted(
    items: Path, judge: str, store: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    poor = f"scripted:{lines(tmp_path / 'poor.jsonl', dict.fromkeys(GOOD, 2))}"
    for name, model in (("good", judge), ("poor", poor)):
        asked = ("judge", "items", items, "--rubric", "math-problem", "--judge", model, "--run", name)
        assert run(*asked, "--store", store, "--quiet") == 0
    capsys.readouterr()
    explain = ("ci", "delta", "good", "poor", "--store", store, "--json", "--quiet")
    assert run(*explain) == 0
    found = json.loads(capsys.readouterr().out)
    assert {one["cause"] for one in found["causes"] if one["value"]} == {"unknown"}
    assert all("--ask-judge" in note for note in found["notes"])
    assert run(*explain, "--ask-judge") == 0
    found = json.loads(capsys.readouterr().out)
    by_cause = {one["cause"]: one["value"] for one in found["causes"]}
    assert by_cause == {"agent": 0, "scorer": pytest.approx(found["after"] - found["before"])}
    assert found["notes"] == []


def test_a_run_does_not_go_on_with_a_rubric_that_was_changed(
    items: Path, store: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    mine = tmp_path / "mine.toml"
    mine.write_text(
        '[en]\ntask = "Judge."\n[[dimensions]]\nname = "right"\n[dimensions.en]\ntext = "?"\n', encoding="utf-8"
    )
    judge = f"scripted:{lines(tmp_path / 'right.jsonl', {'right': 4})}"
    asked = ("judge", "items", items, "--rubric", mine, "--judge", judge, "--store", store, "--run", "mine", "--quiet")
    assert run(*asked, "--budget", "requests=2", "--concurrency", "1") == 3
    mine.write_text(mine.read_text().replace('"?"', '"Is it?"'), encoding="utf-8")
    assert run(*asked) == 2
    assert "made with other code: mine.toml (scorers)" in capsys.readouterr().err


def test_a_stored_run_is_judged(judge: str, store: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    questions = lines(tmp_path / "q.jsonl", *({"id": str(n), "question": f"{n}?", "answer": str(n)} for n in range(4)))
    assert run("run", questions, "--agent", "baseline:oracle", "--run", "answers", "--store", store, "--quiet") == 0
    capsys.readouterr()
    answers = f"scripted:{lines(tmp_path / 'answers.jsonl', ANSWERED)}"
    asked = ("judge", "items", "--run", "answers", "--rubric", "answer-quality", "--judge", answers, "--store", store)
    assert run(*asked, "--json", "--quiet") == 0
    estimates = found(capsys)
    assert estimates["rubric:answer-quality.average"]["value"] == 4
    assert estimates["answer.accuracy"]["note"] == ""
    assert run("show", "answers", "--store", store) == 0
    assert "uncalibrated" in capsys.readouterr().out
    assert run("runs", "explain", "answers", "2", "--store", store) == 0
    assert "rubric:answer-quality: judged by" in capsys.readouterr().out


def test_runs_that_were_judged_say_so_when_they_are_compared(
    items: Path, judge: str, store: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    other = f"scripted:{lines(tmp_path / 'other.jsonl', {**GOOD, 'clarity': 1})}"
    for name, model in (("one", judge), ("two", other)):
        asked = ("judge", "items", items, "--rubric", "math-problem", "--judge", model, "--store", store, "--run", name)
        assert run(*asked, "--quiet") == 0
    capsys.readouterr()
    assert run("compare", "one", "two", "--store", store) == 0
    shown = " ".join(capsys.readouterr().out.split())
    assert "uncalibrated" in shown
    assert "judged in different ways" in shown


def test_a_rubric_is_a_scorer_beside_others_and_in_files(
    judge: str, store: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    questions = lines(tmp_path / "q.jsonl", {"id": "a", "question": "1?", "answer": "1"})
    answers = f"scripted:{lines(tmp_path / 'answers.jsonl', ANSWERED)}"
    (tmp_path / "scorers.toml").write_text(
        f'[scorers.quality]\nkind = "rubric"\nrubric = "answer-quality"\njudge = "{answers}"\n'
        '[scorers.both]\nkind = "combine"\nparts = [{ scorer = "quality" }, { scorer = "exact" }]\n',
        encoding="utf-8",
    )
    asked = ("run", questions, "--agent", "baseline:oracle", "--store", store, "--json", "--quiet")
    scorers = ("--scorer", "rubric:math-problem", "--scorer", tmp_path / "scorers.toml", "--scorer", "exact")
    assert run(*asked, *scorers, "--judge", judge) == 0
    estimates = found(capsys)
    assert estimates["rubric:math-problem.average"]["value"] == 4.5
    assert estimates["quality.average"]["value"] == 4
    assert estimates["both.score"]["value"] == pytest.approx(0.875)
    assert "uncalibrated" in json.dumps(estimates["both.score"]["note"])
    assert estimates["exact.accuracy"]["note"] == ""


def test_the_judge_comes_from_the_environment_or_the_settings_of_the_project(
    items: Path, judge: str, store: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked = ("judge", "items", items, "--rubric", "math-problem", "--store", store, "--quiet", "--run")
    monkeypatch.chdir(tmp_path)
    assert run(*asked, "none") == 2
    (tmp_path / "proctor.toml").write_text(f'judge = "{judge}"\n[judge_options]\nrepeats = 2\n', encoding="utf-8")
    assert run(*asked, "settings") == 0
    assert api.open_run("settings", store=store).record.spec.judge_options == {"repeats": 2}
    other = f"scripted:{lines(tmp_path / 'env.jsonl', GOOD)}"
    monkeypatch.setenv("PROCTOR_JUDGE", other)
    assert run(*asked, "environment") == 0
    assert api.open_run("environment", store=store).record.spec.judge == other
    assert run(*asked, "flag", "--judge", judge) == 0
    assert api.open_run("flag", store=store).record.spec.judge == judge


def test_three_judges_are_a_jury(items: Path, judge: str, store: str, capsys: pytest.CaptureFixture[str]) -> None:
    asked = ("judge", "items", items, "--rubric", "math-problem", "--store", store, "--json", "--quiet")
    assert run(*asked, *("--judge", judge) * 3) == 0
    estimates = json.loads(capsys.readouterr().out)["estimates"]
    names = {one["name"] for one in estimates}
    assert names >= {"average", "alpha", "kappa", "leaning", "outlier_rate", "abstained_rate", "tokens", "confidence"}
    assert run(*asked, *("--judge", judge) * 2) == 2
    assert "at least 3" in capsys.readouterr().err


def test_examples_of_a_reference_set_are_shown_the_same_ones_again(items: Path, store: str, tmp_path: Path) -> None:
    reference = lines(
        tmp_path / "real.jsonl", *({"id": f"r{n}", "problem": f"Real {n}", "answer": n} for n in range(20))
    )
    (tmp_path / "spy.py").write_text(
        "import json, re\nfrom proctor.models.scripted import ScriptedModel\nseen = []\n"
        "def say(messages, tools):\n    seen.append(re.findall(r'Real \\d+', messages[-1].text))\n"
        f"    return {json.dumps(json.dumps(GOOD))}\nmodel = ScriptedModel(say)\n",
        encoding="utf-8",
    )
    asked = (
        "judge",
        "items",
        items,
        "--rubric",
        "math-problem",
        "--judge",
        f"{tmp_path}/spy.py:model",
        "--store",
        store,
    )
    for _ in range(2):
        assert run(*asked, "--reference", reference, "--seed", "7", "--quiet") == 0
    from proctor import registry

    seen = registry.load_object(f"{tmp_path}/spy.py:seen", "seen")
    assert len(seen) == 12
    assert all(len(shown) == 2 for shown in seen)
    assert sorted(seen[:6]) == sorted(seen[6:])
    assert len({tuple(shown) for shown in seen}) > 1


@pytest.mark.parametrize(
    ("content", "words"),
    [
        ("[]", "no items"),
        ("", "no"),
        ("{", "JSON"),
        ('[{"id": "a", "problem": ""}]', "empty"),
        ('[{"id": "a", "problem": "x"}, {"id": "b"}]', "empty"),
        ('[{"id": "a", "problem": "x"}, {"id": "a", "problem": "y"}]', "used already"),
        ('[{"id": null, "problem": "x"}]', "empty"),
        ('[{"colour": "red"}]', "--map"),
        ('["just text"]', "object"),
        (json.dumps([{"id": "a", "problem": "x" * 5_000_000}]), "characters"),
    ],
)
def test_a_file_that_cannot_be_judged_is_refused_before_a_model_is_asked(
    content: str, words: str, store: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "items.json"
    path.write_text(content, encoding="utf-8")
    assert run("judge", "items", path, "--rubric", "math-problem", "--judge", "openai:never", "--store", store) == 2
    shown = capsys.readouterr().err
    assert words in shown
    assert "items.json" in shown


def test_columns_are_understood_in_english_and_chinese_or_said(
    judge: str, store: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "items.csv"
    path.write_text("题目,答案,解答,主题\n1+1?,2,因为。,算术\n", encoding="utf-8")
    asked = ("--rubric", "math-problem", "--judge", judge, "--store", store, "--json", "--quiet")
    assert run("judge", "items", path, *asked) == 0
    assert any(one["slice"] == "topic=算术" for one in json.loads(capsys.readouterr().out)["estimates"])
    path.write_text("Aufgabe,Lösung\n1+1?,2\n", encoding="utf-8")
    assert run("judge", "items", path, *asked) == 2
    assert run("judge", "items", path, *asked, "--map", "Aufgabe=question", "--map", "Lösung=answer") == 0
    assert run("judge", "items", path, *asked, "--map", "Aufgabe=questoin") == 2
    assert "Did you mean 'question'" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (("--judge", "openai:a"), "--rubric"),
        (("--rubric", "math-problems", "--judge", "openai:a"), "Did you mean 'math-problem'"),
        (("--rubric", "code", "--scorer", "x.toml:y", "--judge", "openai:a"), "either"),
        (("--rubric", "code", "--judge", "openai:a", "--repeats", "0"), "repeats"),
        (("--rubric", "code", "--judge", "openai:a", "--judge-set", "api_key=1"), "key"),
        (("--rubric", "code", "--judge", "openai:a", "--judge-set", "temprature=1"), "Did you mean 'temperature'"),
    ],
)
def test_wrong_words_are_told(
    items: Path, words: tuple[str, ...], told: str, store: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run("judge", "items", items, "--store", store, *words) == 2
    assert told in capsys.readouterr().err


def test_a_reference_set_that_is_the_same_is_refused(
    items: Path, judge: str, store: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    same = tmp_path / "same.json"
    same.write_text(
        json.dumps([{**one, "id": n} for n, one in enumerate(json.loads(items.read_text()))]), encoding="utf-8"
    )
    asked = ("judge", "items", items, "--rubric", "math-problem", "--judge", judge, "--store", store)
    assert run(*asked, "--reference", same) == 2
    assert "the same as the items" in capsys.readouterr().err


def test_no_judge_is_asked_where_a_judge_is_named_but_no_scorer_asks_one(
    tmp_path: Path, store: str, capsys: pytest.CaptureFixture[str]
) -> None:
    questions = lines(tmp_path / "q.jsonl", {"id": "a", "question": "1?", "answer": "1"})
    assert run("run", questions, "--agent", "baseline:oracle", "--judge", "openai:a", "--store", store) == 2
    assert "No scorer asks a judge" in capsys.readouterr().err


def test_a_judge_that_answers_in_prose_leaves_a_run_without_numbers_and_code_3(
    items: Path, store: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    prose = f"scripted:{lines(tmp_path / 'prose.jsonl', 'Lovely! 5/5.')}"
    asked = (
        "judge",
        "items",
        items,
        "--rubric",
        "math-problem",
        "--judge",
        prose,
        "--store",
        store,
        "--json",
        "--quiet",
    )
    assert run(*asked) == 3
    average = found(capsys)["average"]
    assert (average["value"], average["scored"], average["floor"], average["ceiling"]) == (None, 0, 1, 5)


async def test_items_are_judged_side_by_side_and_a_refused_key_stops_the_run(
    items: Path, store: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "k")
    slow = chat(json.dumps(GOOD), seconds=0.2)
    async with Endpoint(slow) as server:
        options = {"base_url": f"{server.url}/v1"}
        how: dict[str, Any] = {"scorers": ["rubric:math-problem"], "judge_options": options, "store": store}
        done = await api.evaluate_async(f"judged-items:{items}", agent="recorded:", judge="openai:j", **how)
        assert done.estimate("average").value == 4.5
        assert server.most_at_once > 2
        assert done.usage.requests == 6
        assert done.usage.input_tokens == 42
    async with Endpoint(data({"error": {"message": "no"}}, 401)) as server:
        how["judge_options"] = {"base_url": f"{server.url}/v1"}
        from proctor.core.errors import EndpointRefused

        with pytest.raises(EndpointRefused):
            await api.evaluate_async(f"judged-items:{items}", agent="recorded:", judge="openai:k", **how)
        assert len(server.requests) == 1


def test_a_budget_in_money_needs_the_price_of_the_judge(
    items: Path, store: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    asked = ("judge", "items", items, "--rubric", "math-problem", "--judge", "openai:costly", "--store", store)
    assert run(*asked, "--budget", "money=1") == 2
    assert 'prices."costly"' in capsys.readouterr().err


async def test_what_a_judge_costs_is_counted_at_its_price(
    items: Path, store: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("OPENAI_API_KEY", "k")
    (tmp_path / "proctor.toml").write_text('[prices."j"]\ninput = 1000000\noutput = 0\n', encoding="utf-8")
    async with Endpoint(chat(said(**GOOD))) as server:
        done = await api.evaluate_async(
            f"judged-items:{items}",
            agent="recorded:",
            scorers=["rubric:math-problem"],
            judge="openai:j",
            judge_options={"base_url": f"{server.url}/v1"},
            concurrency=1,
            store=store,
            budget={"money": 20},
        )
    assert done.record.state == "inconclusive"
    assert done.usage.cost is not None
    assert 20 <= done.usage.cost <= 28


@pytest.mark.parametrize("way", ["score", "rescore", "probe"])
async def test_a_budget_in_money_holds_judges_wherever_they_judge(
    way: str, store: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("OPENAI_API_KEY", "k")
    (tmp_path / "questions.jsonl").write_text('{"id": "q", "question": "1 + 1?", "target": "2"}\n', encoding="utf-8")
    (tmp_path / "replies.jsonl").write_text('{"id": "q", "answer": "2"}\n', encoding="utf-8")
    api.score("questions.jsonl", replies="replies.jsonl", store=store, run_id="plain")

    def judged(url: str) -> api.Run:
        how: dict[str, Any] = {"judge": "openai:j", "judge_options": {"base_url": f"{url}/v1"}, "store": store}
        how["budget"] = {"money": 20}
        if way == "probe":
            return probe(how.pop("judge"), ProbeSet(limit=1, kinds=["points"], probes=["length"]), **how).run
        scorers = ["rubric:answer-quality"]
        if way == "rescore":
            return api.rescore("plain", scorers=scorers, **how)
        return api.score("questions.jsonl", replies="replies.jsonl", scorers=scorers, **how)

    async with Endpoint(chat(said(**ANSWERED))) as server:
        with pytest.raises(BadInput, match=r'prices\."j"'):
            await asyncio.to_thread(judged, server.url)
        assert server.requests == []
        (tmp_path / "proctor.toml").write_text('[prices."j"]\ninput = 1000000\noutput = 0\n', encoding="utf-8")
        done = await asyncio.to_thread(judged, server.url)
    assert done.usage.cost == 7 * done.usage.requests > 0


def test_a_stopped_judgement_tells_how_it_goes_on(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def stopped(*_: object, **__: object) -> None:
        raise api.Stopped("r")

    monkeypatch.setattr(api, "rescore", stopped)
    assert run("judge", "items", "--run", "r", "--rubric", "code", "--judge", "openai:j", "--quiet") == 130
    assert "the same command and --run r" in capsys.readouterr().err


def test_labels_that_cannot_be_read_are_told_before_anything_is_judged(
    items: Path, judge: str, store: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    asked = ("judge", "items", items, "--rubric", "math-problem", "--judge", judge, "--store", store)
    assert run(*asked, "--labels", tmp_path / "none.json") == 2
    assert "none.json cannot be read" in capsys.readouterr().err
    assert api.runs(store=store) == []


def test_list_names_the_judges(capsys: pytest.CaptureFixture[str]) -> None:
    assert run("list", "scorers", "--json") == 0
    assert {"rubric", "pairwise", "jury"} <= set(json.loads(capsys.readouterr().out)["scorers"])


def test_judging_from_several_processes_gives_the_same(items: Path, judge: str, store: str) -> None:
    done = run_in_loop(
        lambda _: api.evaluate_async(
            f"judged-items:{items}",
            agent="recorded:",
            scorers=["rubric:math-problem"],
            judge=judge,
            workers=2,
            store=store,
        )
    )
    assert done.estimate("average").value == 4.5
