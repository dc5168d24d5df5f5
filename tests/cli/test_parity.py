"""proctor data parity: lines of a kind that newer corpora have are skipped and named; the others are compared."""

import gzip
import json
from pathlib import Path

import pytest

from proctor.cli import app

DATA = Path(__file__).parents[1] / "data"
CORPORA = {
    "adk": ("metric", DATA / "adk_verdicts.jsonl"),
    "agentbench": ("kind", DATA / "agentbench" / "rules.jsonl.gz"),
    "chateval": ("kind", DATA / "chateval.jsonl.gz"),
    "sotopia": ("kind", DATA / "sotopia.jsonl.gz"),
}


def run(name: str, *lines: dict[str, object], folder: Path) -> int:
    path = folder / "corpus.jsonl"
    path.write_text("\n".join(map(json.dumps, lines)), encoding="utf-8")
    with pytest.raises(SystemExit) as ended:
        app.main(["data", "parity", name, str(path)])
    return int(ended.value.code or 0)


@pytest.mark.parametrize("name", CORPORA)
def test_a_line_of_an_unknown_kind_is_skipped_and_named(
    name: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    field, corpus = CORPORA[name]
    text = gzip.decompress(corpus.read_bytes()) if corpus.suffix == ".gz" else corpus.read_bytes()
    known = json.loads(text.splitlines()[0])
    newer = {**known, field: "of_tomorrow"}
    assert run(name, newer, known, newer, folder=tmp_path) == 0
    printed = capsys.readouterr().out
    assert "3 checked, 1 agree, 0 differ, 2 skipped" in printed
    assert "skipped: 2, no rule for lines of the kind 'of_tomorrow'" in printed
    assert run(name, newer, folder=tmp_path) == 1
