"""ToolEval: recorded results of the official code of both editions come out the same.

`tests/data/tooleval/verdicts.jsonl.gz` was made by running StableToolBench at aa4ed9f4737a and ToolBench at d56fdd89faf8 with
scripted judges.
"""

import gzip
import json
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from proctor.core.errors import BadInput
from proctor_benchmarks.tooleval.answers import finish, is_finished, steps
from proctor_benchmarks.tooleval.conversion import Unconvertible, alternatives, convert
from proctor_benchmarks.tooleval.parity import check_corpus

CORPUS = Path(__file__).parents[2] / "data" / "tooleval" / "verdicts.jsonl.gz"


def lines() -> list[dict[str, Any]]:
    return [json.loads(line) for line in gzip.decompress(CORPUS.read_bytes()).splitlines()]


def test_every_line_of_the_corpus_agrees(clone: Path) -> None:
    checked = list(check_corpus(CORPUS, str(clone)))
    differing = [
        f"{line.id}: official {line.official}, ours {line.ours}" for line in checked if line.agrees is not True
    ]
    assert not differing, differing[:5]
    assert len(checked) == len(lines())
    assert len(Counter(line.rule for line in checked)) == 14


ALTERED: dict[str, tuple[str, Any]] = {
    "steps": ("finished", "?"),
    "not_hallucinate": ("result", "?"),
    "is_passed": ("result", "?"),
    "is_solved": ("asked", [["check_answer_status", "0"]]),
    "task_solvable": ("result", "?"),
    "preference_one": ("preferred", 7),
    "pass_rate": ("printed", ["?"]),
    "preference": ("judge_log", [["check_answer_status", {}]]),
    "convert": ("converted_one_of", [{"query": "?"}]),
    "convert_recorded": ("answer_sha256", ["0"]),
    "fac_reply": ("score", 7),
    "fac_rate": ("rate", 7),
    "fac_prompt": ("final_answer", "It is 6."),
    "test_set": ("ids", 7),
}


def test_an_altered_line_of_each_kind_differs(clone: Path, tmp_path: Path) -> None:
    by_kind = {line["kind"]: line for line in lines()}
    assert by_kind.keys() == ALTERED.keys()
    for kind, (field, value) in ALTERED.items():
        by_kind[kind][field] = value
    path = tmp_path / "altered.jsonl"
    path.write_text("\n".join(map(json.dumps, by_kind.values())), encoding="utf-8")
    assert {line.id: line.agrees for line in check_corpus(path, str(clone))} == {
        line["id"]: False for line in by_kind.values()
    }


def test_an_answer_that_no_clone_has_is_of_an_unsupported_part(clone: Path, tmp_path: Path) -> None:
    line = next(line for line in lines() if line["kind"] == "convert_recorded") | {"file": "data_example/answer/x.json"}
    path = tmp_path / "one.jsonl"
    path.write_text(json.dumps(line), encoding="utf-8")
    assert [one.agrees for one in check_corpus(path, str(clone))] == [None]


def test_a_corpus_needs_a_clone_and_skips_unknown_kinds(
    clone: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("PROCTOR_TOOLEVAL_DATA", raising=False)
    with pytest.raises(BadInput, match="git clone"):
        list(check_corpus(CORPUS))
    path = tmp_path / "one.jsonl"
    path.write_text('{"id": "x", "kind": "other"}', encoding="utf-8")
    assert [one.agrees for one in check_corpus(path, str(clone))] == [None]


def raw_tree(*children: dict[str, Any]) -> dict[str, Any]:
    given = {"valid_data": False, "final_answer": "", "function": [], "query": "q"}
    return {"answer_generation": given, "tree": {"tree": {"children": list(children)}}}


def node(kind: str, text: str, *children: dict[str, Any]) -> dict[str, Any]:
    return {"node_type": kind, "description": text, "observation": f"saw {text}", "children": list(children)}


def test_an_unfinished_search_is_a_path_with_its_chance() -> None:
    call = node("Action", "search", node("Thought", "aside"), node("Action Input", "{}", node("Thought", "then")))
    found = alternatives(raw_tree(node("Thought", "a"), call), "DFS", "stable")
    assert [chance for chance, _ in found] == [0.5, 0.25, 0.25]
    texts = [steps(one.answer["answer_details"])[0] for _, one in found if not isinstance(one, Unconvertible)]
    assert texts == ["", *["Step 1: {'name': 'search', 'arguments': '{}', 'response': 'saw {}'}"] * 2]
    assert len({str(convert(raw_tree(node("Thought", "a"), call), "DFS", "stable", 7)) for _ in range(5)}) == 1


@pytest.mark.parametrize(
    "raw",
    [
        {},
        {"answer_generation": None},
        raw_tree({"node_type": "Thought"}),
        raw_tree(node("Dream", "x")),
        {**raw_tree(), "tree": {"tree": {"children": 7}}},
    ],
)
def test_a_malformed_search_cannot_be_converted(raw: dict[str, Any]) -> None:
    with pytest.raises(Unconvertible):
        alternatives(raw, "DFS", "stable")


def test_a_tree_as_deep_as_the_stack_cannot_be_converted() -> None:
    deep = node("Thought", "x")
    for _ in range(5_000):
        deep = node("Thought", "x", deep)
    with pytest.raises(Unconvertible):
        alternatives(raw_tree(deep), "DFS", "stable")


def test_a_finish_that_another_call_follows_does_not_finish() -> None:
    assert is_finished("Final step: {'name': 'Finish', 'arguments': ''}")
    assert not is_finished('Final step: {"name": "Finish"}')


@pytest.mark.parametrize(
    ("arguments", "ends", "is_answer"),
    [
        ('{"return_type": "give_answer", "final_answer": "5"}', True, True),
        ('{"return_type": "give_answer"}', False, False),
        ('{"return_type": "give_up_and_restart"}', True, False),
        ('{"return_type": "other"}', False, False),
        ('{"return_type": "give_answer", "final_answer": "cut', True, True),
        ('{"return_type": "give_up_and_restart", ', True, False),
        ('{"return_type": "other", ', False, False),
        ("[1]", False, False),
        ("", False, False),
    ],
)
def test_a_call_of_finish_ends_the_task_where_it_says_how(arguments: str, *, ends: bool, is_answer: bool) -> None:
    made = finish(arguments)
    assert (made.ends, made.is_answer) == (ends, is_answer)
