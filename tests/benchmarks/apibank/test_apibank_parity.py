"""Recorded verdicts, samples, prompts and scores of the official code come out the same here.

`tests/data/apibank/corpus.jsonl.gz` was made by running api-bank at commit 483554eae102 of DAMO-ConvAI.
"""

import gzip
import json
import re
import time
from collections import Counter
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rouge import Rouge  # type: ignore[import-untyped]

from proctor.core.errors import BadInput
from proctor_benchmarks.apibank.calls import find_call, read_call
from proctor_benchmarks.apibank.parity import check_corpus
from proctor_benchmarks.apibank.scorer import rouge

CORPUS = Path(__file__).parents[2] / "data" / "apibank" / "corpus.jsonl.gz"
OFFICIAL_CALL = re.compile(r"\[(\w+)\((.*)\)\]")
OFFICIAL_PARAMS = re.compile(r"(\w+)\s*=\s*['\"](.+?)['\"]|(\w+)\s*=\s*(\[.*\])|(\w+)\s*=\s*(\w+)")
PIECES = st.sampled_from([*"[()]='\" \n,.-", "a", "b1", "é", "[A(", ")]", "a=", "a='", "x = [", "\u2028", "\r", "''"])


def test_every_line_of_the_corpus_agrees(apibank_root: Path) -> None:
    checked = list(check_corpus(CORPUS, str(apibank_root)))
    differing = [f"{line.id}: official {line.official}, ours {line.ours}" for line in checked if not line.agrees]
    assert Counter(line.id.split("-")[0] for line in checked) == {
        "call": 324,
        "check": 84,
        "response": 78,
        "level3": 68,
        "rouge": 62,
        "parse": 60,
        "slice": 24,
        "input": 24,
        "tool": 21,
        "level3_response": 1,
    }
    assert not differing, differing[:5]


def test_an_altered_line_of_each_kind_differs(apibank_root: Path, tmp_path: Path) -> None:
    lines = [json.loads(line) for line in gzip.decompress(CORPUS.read_bytes()).splitlines()]
    by_kind: dict[str, dict[str, Any]] = {line["kind"]: line for line in lines}
    results = ("samples", "messages_sha256", "description_sha256", "extracted", "status", "verdict", "result", "score")
    for line in by_kind.values():
        line[next(field for field in results if field in line)] = "another"
    path = tmp_path / "altered.jsonl"
    path.write_text("\n".join(map(json.dumps, by_kind.values())), encoding="utf-8")
    checked = list(check_corpus(path, str(apibank_root)))
    assert [line.agrees for line in checked] == [False] * len(by_kind)
    assert all("another" in line.official for line in checked)


def test_where_nobody_is_asked_for_a_response_there_is_no_score(apibank_root: Path, tmp_path: Path) -> None:
    lines = [json.loads(line) for line in gzip.decompress(CORPUS.read_bytes()).splitlines()]
    call = next(line for line in lines if line["kind"] == "call")  # at this place another call is asked for
    place = {name: call[name] for name in ("level", "file", "sample")}
    nothing = {"pred": "Hi", "reference": None, "score": None}
    given = [{"id": "a", "kind": "response", **place, **nothing}, {"id": "b", "kind": "level3_response", **nothing}]
    path = tmp_path / "none.jsonl"
    path.write_text("\n".join(map(json.dumps, given)), encoding="utf-8")
    assert [line.agrees for line in check_corpus(path, str(apibank_root))] == [True, True]


@pytest.mark.parametrize("line", ['{"id": "x", "model_output": []}', '{"id": "x", "kind": "call", "level": 7}'])
def test_a_line_of_another_corpus_is_refused(line: str, apibank_root: Path, tmp_path: Path) -> None:
    (tmp_path / "one.jsonl").write_text(line, encoding="utf-8")
    with pytest.raises(BadInput, match="line 1: no line of a corpus of apibank"):
        list(check_corpus(tmp_path / "one.jsonl", str(apibank_root)))


@given(st.lists(PIECES, max_size=16).map("".join), st.booleans())
def test_calls_are_read_as_the_official_patterns_do(text: str, is_call: bool) -> None:
    text = f"[A({text})]" if is_call else text
    found = OFFICIAL_CALL.search(text)
    call = read_call(text)
    assert find_call(text) == (found and found[0])
    if found is None:
        assert call is None
        return
    params: dict[str, str] = {}
    for match in OFFICIAL_PARAMS.finditer(found[2]):
        quoted, value, listed, values, plain, word = match.groups()
        params[quoted or listed or plain] = value or values or word
    assert call is not None
    assert (call.name, call.params) == (found[1], params)


@given(*[st.lists(st.sampled_from([*" .\n", "a", "b", "c ", "b a", ". "]), max_size=9).map("".join)] * 2)
def test_rouge_is_that_of_the_package(reply: str, reference: str) -> None:
    try:
        official = Rouge().get_scores(reply, reference)[0]["rouge-l"]["f"]
    except ValueError:
        official = None
    assert rouge(reference, reply) == official


@pytest.mark.parametrize("pump", ["[a(", "[A(a", "[A(a=[", "[A(a='", "[A(a ", "[A(\n", ")]", "[", "a = "])
def test_a_long_hostile_reply_is_read_at_once(pump: str) -> None:
    began = time.thread_time()
    read_call("[A(" + pump * 100_000 + ")]")
    assert time.thread_time() - began < 2
