"""AgentBench: recorded results of the official code are ours too. The lines were made by running v0.2 and main with stubs.

`entries.json.gz` holds the entries of the official data (Apache 2.0) that lines about tables name.
"""

import gzip
import json
from collections import Counter
from pathlib import Path

import agentbench_clone as clone
import pytest

from proctor.core.errors import BadInput
from proctor_benchmarks.agentbench.parity import check_corpus

DATA = Path(__file__).parents[1] / "data" / "agentbench"
CORPUS = DATA / "rules.jsonl.gz"
RESULTS = ("main", "correct", "own", "overall", "for_agent", "status", "parsed", "f1", "result", "count", "validation")


def official_clone(folder: Path) -> Path:
    """Write a clone with the official entries in their places, and others between them."""
    clone.write(folder)
    for name, entries in json.loads(gzip.decompress((DATA / "entries.json.gz").read_bytes())).items():
        filled = [entries.get(str(index), clone.ENTRIES[0]) for index in range(1 + max(map(int, entries)))]
        path = folder / "data" / "dbbench" / name
        path.write_text("".join(json.dumps(entry) + "\n" for entry in filled), encoding="utf-8")
    return folder


def test_every_line_of_the_corpus_agrees() -> None:
    checked = list(check_corpus(CORPUS))
    differing = [f"{line.id}: official {line.official}, ours {line.ours}" for line in checked if not line.agrees]
    assert len(Counter(line.rule for line in checked)) == 18
    assert not differing, differing[:5]


def test_tables_and_replies_of_the_database_agree(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PROCTOR_ISOLATED_WORKERS", "1")
    checked = list(check_corpus(DATA / "db.jsonl.gz", str(official_clone(tmp_path))))
    differing = [f"{line.id}: official {line.official}, ours {line.ours}" for line in checked if not line.agrees]
    assert Counter(line.rule for line in checked).keys() == {"db_state", "db_episode", "db_init"}
    assert not differing, differing[:5]


def test_an_altered_line_of_each_kind_differs(tmp_path: Path) -> None:
    by_kind = {line["kind"]: line for line in map(json.loads, gzip.decompress(CORPUS.read_bytes()).splitlines())}
    for line in by_kind.values():
        line[next(name for name in RESULTS if name in line)] = {"SELECT": "altered"}
    path = tmp_path / "altered.jsonl"
    path.write_text("\n".join(map(json.dumps, by_kind.values())), encoding="utf-8")
    assert [line.id for line in check_corpus(path) if line.agrees] == []


@pytest.mark.parametrize("line", [{"id": "x", "kind": "db_answer"}, {"kind": "segments"}, {"id": "x"}])
def test_a_line_without_what_its_kind_needs_is_named(line: dict[str, str], tmp_path: Path) -> None:
    path = tmp_path / "wrong.jsonl"
    path.write_text(json.dumps(line), encoding="utf-8")
    with pytest.raises(BadInput, match=r"wrong\.jsonl, line 1"):
        list(check_corpus(path))
