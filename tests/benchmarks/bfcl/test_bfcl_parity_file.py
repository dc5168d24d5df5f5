import gzip
import json
from pathlib import Path
from typing import Any

import pytest
from tiny_bfcl import write_data

from proctor.core.errors import BadInput
from proctor_benchmarks.bfcl.parity import check_corpus

LINE = {
    "id": "simple_python_0",
    "category": "simple_python",
    "mode": "prompt",
    "kind": "correct",
    "model_output": "[geo.area(base=3)]",
    "valid": True,
    "error_type": None,
}


@pytest.fixture
def data(tmp_path: Path) -> str:
    return str(write_data(tmp_path))


def corpus(tmp_path: Path, *changes: dict[str, Any]) -> Path:
    path = tmp_path / "corpus.jsonl"
    path.write_text("\n".join(json.dumps(LINE | change) for change in changes) + "\n\n")
    return path


def test_a_line_agrees_when_validity_and_error_type_do(tmp_path: Path, data: str) -> None:
    path = corpus(
        tmp_path,
        {},
        {"mode": "fc", "model_output": [{"geo_area": '{"base": 3}'}]},
        {"id": "irrelevance_0", "category": "irrelevance", "model_output": None},
        {"model_output": "x", "valid": False, "error_type": "ast_decoder:decoder_failed"},
        {"model_output": "x", "valid": False, "error_type": "value_error:string"},
        {"model_output": "[geo.area(base=4)]"},
    )
    lines = list(check_corpus(path, data))
    assert [line.agrees for line in lines] == [True, True, True, True, False, False]
    assert (lines[5].official, lines[5].ours) == ("valid", "value_error:others")
    assert str(lines[5].rule) == "geo.area: parameter 'base' is 4.0; allowed: 3.0."


def test_an_unknown_category_is_skipped(tmp_path: Path, data: str) -> None:
    path = corpus(tmp_path, {"category": "exec_simple", "id": "exec_simple_1"})
    assert [line.agrees for line in check_corpus(path, data)] == [None]


def test_an_unknown_sample_differs(tmp_path: Path, data: str) -> None:
    [line] = check_corpus(corpus(tmp_path, {"id": "simple_python_999"}), data)
    assert line.agrees is False
    assert "no sample 'simple_python_999'" in str(line.rule)


def test_a_corpus_may_be_gzipped(tmp_path: Path, data: str) -> None:
    path = tmp_path / "corpus.jsonl.gz"
    path.write_bytes(gzip.compress(json.dumps(LINE).encode()))
    assert [line.agrees for line in check_corpus(path, data)] == [True]


@pytest.mark.parametrize("text", ["{", "[1]", '{"id": "x"}', json.dumps(LINE | {"mode": "loud"})])
def test_a_bad_line_is_named(text: str, tmp_path: Path, data: str) -> None:
    path = tmp_path / "corpus.jsonl"
    path.write_text(json.dumps(LINE) + "\n" + text)
    with pytest.raises(BadInput, match=r"corpus\.jsonl, line 2: "):
        list(check_corpus(path, data))


@pytest.mark.parametrize("content", [b"no gzip", gzip.compress(b"{}" * 1000, mtime=0)[:20]])
def test_a_broken_file_is_named(content: bytes, tmp_path: Path) -> None:
    path = tmp_path / "corpus.jsonl.gz"
    path.write_bytes(content)
    with pytest.raises(BadInput, match=r"corpus\.jsonl\.gz cannot be read"):
        list(check_corpus(path))
