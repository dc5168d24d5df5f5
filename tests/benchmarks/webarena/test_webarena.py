"""WebArena: recorded verdicts of the official evaluators come out the same, and answers are scored, written and read.

`tests/data/webarena` was made by running the evaluators of web-arena-x/webarena, commit f62e0b99bc7d (Apache-2.0): 22 of its
tasks, and answers, addresses and contents of pages with the official verdicts on them.
"""

import gzip
import json
from collections import Counter
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from proctor.api import Run, evaluate
from proctor.core.errors import BadInput
from proctor.core.trajectory import Trajectory
from proctor.models.scripted import ScriptedModel
from proctor_benchmarks import webarena
from proctor_benchmarks.webarena import dataset, rules
from proctor_benchmarks.webarena.parity import ADDRESSES, check_corpus
from proctor_benchmarks.webarena.scorer import WebArenaScorer
from proctor_benchmarks.webarena.words import words_of

DATA = Path(__file__).parents[2] / "data" / "webarena"
TASKS, CORPUS = str(DATA / "tasks.json"), DATA / "verdicts.jsonl.gz"


def run(store: Path, agent: Any = None, **more: Any) -> Run:
    sites = {} if agent else {"shopping": ADDRESSES["shopping"]}  # with an address, an agent would be given a browser
    options = {"data": TASKS, "sites": sites, **more.pop("options", {})}
    if agent is not None:
        more["agent"] = agent
    return evaluate("webarena", options=options, store=str(store / "runs.db"), **more)


def file_of(folder: Path, *tasks: Mapping[str, Any]) -> str:
    path = folder / "tasks.json"
    path.write_text(json.dumps(tasks), encoding="utf-8")
    return str(path)


def own_task(**evaluation: Any) -> dict[str, Any]:
    return {"task_id": 7, "sites": ["shopping"], "intent": "How many?", "start_url": "__SHOPPING__", "eval": evaluation}


def test_every_line_of_the_corpus_agrees() -> None:
    checked = list(check_corpus(CORPUS, TASKS))
    differing = [f"{line.id}: official {line.official}, ours {line.ours}" for line in checked if not line.agrees]
    assert len(checked) == 236
    assert len({line.rule for line in checked}) == 69
    assert not differing, differing[:5]


def test_an_altered_line_differs_whatever_was_altered(tmp_path: Path) -> None:
    lines = [json.loads(line) for line in gzip.decompress(CORPUS.read_bytes()).splitlines()]
    scored = next(line for line in lines if line.get("score") == 1)
    raised = next(line for line in lines if line.get("raises") == "AssertionError")
    judged = next(line for line in lines if "score" in line and line.get("judge_messages_sha256"))
    opened = next(line for line in lines if line.get("visited"))
    scored["score"] = 0.0
    raised["raises"] = "TypeError"
    judged["judge_messages_sha256"].append("0" * 16)
    opened["visited"] = []
    path = tmp_path / "altered.jsonl"
    path.write_text("\n".join(map(json.dumps, (scored, raised, judged, opened))), encoding="utf-8")
    assert [line.agrees for line in check_corpus(path, TASKS)] == [False] * 4


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("it is 6. of those", ["it", "is", "6.", "of", "those"]),  # no word in lower case begins a sentence here
        ("it is 6. administrators", ["it", "is", "6", ".", "administrators"]),
        ("(6) or $6, not 6-fold", ["(", "6", ")", "or", "$", "6", ",", "not", "6-fold"]),
        ("see no. 6! 5 or 4.", ["see", "no", ".", "6", "!", "5", "or", "4", "."]),
        ("of corp. 6. 7", ["of", "corp.", "6", ".", "7"]),
        ("wait . . . 6", ["wait", ".", ".", ".", "6"]),
    ],
)
def test_words_are_split_as_by_the_official_tokenizer(text: str, expected: list[str]) -> None:
    assert words_of(text) == expected


def test_a_reference_of_one_character_is_a_word_only_where_it_is_alone() -> None:
    assert rules.includes("6", "there are 6, or 7", alone=True)
    assert not rules.includes("6", "there are 16", alone=True)
    assert rules.includes("6", "there are 16")


def test_an_address_matches_as_a_part_and_values_of_alternatives_mix() -> None:
    references = "http://a.test/x?k=1 |OR| http://a.test/y?k=2&l=3"
    assert rules.is_expected_url("https://mirror.test/a.test/x/more?k=2&l=3&z=9#top", references)
    assert not rules.is_expected_url("http://a.test/x?k=1", references)
    assert not rules.is_expected_url("http://A.test/x?k=1&l=3", references)


def test_a_function_of_the_data_is_read_and_never_run() -> None:
    assert rules.helper_call("func:__import__('os').system('true')") is None
    assert not rules.is_locator("func:open('x')")
    assert rules.page_to_open("func:reddit_get_post_url('__last_url__')", "http://f.test/f/a/12/t/-/comment/1") == "http://f.test/f/a/12/"  # fmt: skip
    with pytest.raises(rules.Broken):
        rules.page_to_open("func:exec('1')", "http://f.test")


def test_what_is_right_earns_all_and_nothing_earns_nothing(tmp_path: Path) -> None:
    best = run(tmp_path, "baseline:oracle", judge=ScriptedJudge.name)
    assert best.estimate("accuracy").value == 1
    assert best.estimate("accuracy").scored == 22
    worst = run(tmp_path, "baseline:null")
    assert worst.estimate("accuracy").value == 0
    assert Counter(verdict.result.details.get("kind") for verdict in worst.verdicts())["no_judge"] > 0


class ScriptedJudge:
    name = f"{Path(__file__).resolve()}:strict_judge"


strict_judge = ScriptedModel(lambda messages, _: "Correct." if "teacher" in messages[-1].text else "same")
vague_judge = ScriptedModel(lambda messages, _: "I cannot tell.")


def test_a_reply_of_the_judge_that_decides_nothing_is_no_score(tmp_path: Path) -> None:
    found = run(tmp_path, "baseline:oracle", judge=f"{Path(__file__).resolve()}:vague_judge")
    failed = [verdict.result for verdict in found.verdicts() if verdict.result.details.get("kind") == "unreadable"]
    assert failed
    assert {result.why for result in failed} == {"judge_failed"}  # type: ignore[union-attr]


def test_answers_in_lines_are_scored_and_pages_nobody_saw_are_not(tmp_path: Path) -> None:
    path = tmp_path / "answers.jsonl"
    data = file_of(
        tmp_path,
        own_task(eval_types=["string_match"], reference_answers={"must_include": ["6"]}),
        own_task(eval_types=["url_match"], reference_url="__SHOPPING__/cart") | {"task_id": 8},
    )
    path.write_text('{"task_id": 7, "answer": "There are 6."}\n{"task_id": 8}\n', encoding="utf-8")
    found = run(tmp_path, replies=str(path), options={"data": data})
    results = {verdict.sample_id: verdict.result for verdict in found.verdicts()}
    assert [id for id, _ in webarena.PART.replies(path, {"data": data, "category": "shopping"})] == ["7", "8"]  # type: ignore[misc]
    assert not list(webarena.PART.replies(path, {"data": TASKS, "category": "map"}))  # type: ignore[misc]
    assert results["7"].points == 1  # type: ignore[union-attr]
    assert results["8"].details["kind"] == "no_site"


@pytest.mark.asyncio
async def test_what_a_time_limit_ended_holds_nothing(tmp_path: Path) -> None:
    evaluation = {"eval_types": ["program_html"], "program_html": [{"url": "last", "locator": "", "required_contents": {"must_include": ["x"]}}]}  # fmt: skip
    task = webarena.task(data=file_of(tmp_path, own_task(**evaluation)))
    sample = next(iter(task.samples))  # type: ignore[arg-type]
    cut = Trajectory(state={"url": "http://shop.test", "held": [False]}, stop="time_limit")
    score = await WebArenaScorer()(sample, cut)
    assert score.points == 0  # type: ignore[union-attr]


def test_an_official_folder_is_read_with_the_verdicts_of_its_log(tmp_path: Path) -> None:
    folder = tmp_path / "results"
    (folder / "log_files").mkdir(parents=True)
    page = "<h3 class='url'><a href={url}>URL: {url}</a></h3>\n<div class='parsed_action' style='x'><pre>{action}</pre></div>\n"  # fmt: skip
    pages = [("http://shop.test:7770", "click [12] where [12] is link 'Cart'"), ("http://shop.test:7770/cart?a=1&b=2", "stop [\"6\" <b>]")]  # fmt: skip
    (folder / "render_7.html").write_text("".join(page.format(url=url, action=action) for url, action in pages))
    (folder / "log_files" / "log_1.log").write_text("[Result] (PASS) config_files/7.json\n")
    data = file_of(tmp_path, own_task(eval_types=["program_html", "url_match"], reference_url="__SHOPPING__/cart?b=2", program_html=[{"url": "last", "locator": "", "required_contents": {"must_include": ["x"]}}]))  # fmt: skip
    found = run(tmp_path, replies=str(folder), options={"data": data})
    trial, verdict = next(found.trials()), next(found.verdicts())
    assert trial.trajectory.answer == '"6" <b>'
    assert verdict.result.points == 1  # type: ignore[union-attr]
    assert verdict.result.details["from_log"] == ["program_html"]
    assert verdict.result.details["evaluators"]["url_match"] is True


def test_a_run_is_written_as_official_pages_and_read_again(tmp_path: Path) -> None:
    first = run(tmp_path, "baseline:oracle", run_id="r")
    trials = [(first.store.sample("r", trial.sample_id), trial) for trial in first.trials()]
    written = webarena.PART.export(trials, tmp_path / "out", "m")  # type: ignore[misc, arg-type]
    again = run(tmp_path, replies=str(tmp_path / "out"))
    assert len(written) == first.outcomes["scored"]
    after = {trial.sample_id: trial.trajectory for trial in again.trials()}
    for trial in first.trials():
        if trial.outcome == "scored":
            read, known = after[trial.sample_id], trial.trajectory.state or {}
            assert read.answer == trial.trajectory.answer
            assert (read.state or {})["url"] == known["url"] or not known["url"]


@pytest.mark.parametrize(
    ("evaluation", "said"),
    [
        ({"eval_types": ["string_match"]}, "string_match without reference_answers"),
        ({"eval_types": ["string_match"], "reference_answers": {"exact_match": ["a"]}}, "exact_match"),
        ({"eval_types": ["string_match"], "reference_answers": {"fuzzy_match": "none"}}, "fuzzy_match"),
        ({"eval_types": ["url_match"]}, "without reference_url"),
        ({"eval_types": ["url_match"], "reference_url": "x", "url_note": "EXACT"}, "url_note"),
        ({"eval_types": ["smell"]}, "none of the values it may have"),
        (
            {"eval_types": ["program_html"], "program_html": [{"url": "last", "locator": "func:exec('1')", "required_contents": {"must_include": []}}]},
            "locator",
        ),
        ({"eval_types": ["program_html"], "program_html": [{"url": "last", "locator": "", "required_contents": {}}]}, "required_contents"),
    ],
)  # fmt: skip
def test_a_task_that_cannot_be_scored_is_named_before_anything_is_asked(
    evaluation: dict[str, Any], said: str, tmp_path: Path
) -> None:
    with pytest.raises(BadInput, match=said):
        webarena.task(data=file_of(tmp_path, own_task(**evaluation)))


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"sites": {"shoping": "http://x"}}, "Did you mean 'shopping'"),
        ({"sites": {"shopping": "x"}}, "begins with http"),
        ({"data": "/nowhere"}, "neither a file of tasks"),
        ({"category": "wikipedia-x"}, "No task of WebArena is on the site"),
    ],
)
def test_a_wrong_option_is_named(options: dict[str, Any], said: str) -> None:
    with pytest.raises(BadInput, match=said):
        webarena.task(**{"data": TASKS, **options})


def test_the_tasks_of_a_site_are_a_part_and_addresses_are_put_into_their_slots() -> None:
    task = webarena.task("shopping", data=TASKS, sites=ADDRESSES)
    samples = list(task.samples)  # type: ignore[arg-type]
    assert {"shopping"} <= {site for sample in samples for site in sample.tags["site"].split("+")}
    assert not any("__SHOPPING__" in json.dumps(sample.meta) for sample in samples)
    assert dataset.addresses_of({"map": "http://m.test/"})["map"] == "http://m.test"
