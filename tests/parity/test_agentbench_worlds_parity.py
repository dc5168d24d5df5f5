"""AgentBench: the parts that act end as they do officially, with recorded replies and worlds that say what was recorded.

The lines were made by running v0.2 with stubs; the prompts are parts of its sources.
"""

import gzip
import json
from pathlib import Path

import agentbench_clone as clone
import pytest

from proctor_benchmarks.agentbench.parity import check_corpus

CORPUS = Path(__file__).parents[1] / "data" / "agentbench" / "worlds.jsonl.gz"


@pytest.fixture(scope="module")
def root(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return clone.write_sources(clone.write(tmp_path_factory.mktemp("AgentBench")))


def test_every_line_of_the_parts_that_act_agrees(root: Path) -> None:
    checked = list(check_corpus(CORPUS, str(root)))
    differing = [f"{line.id}: official {line.official}, ours {line.ours}" for line in checked if not line.agrees]
    assert len({line.rule for line in checked}) == 7
    assert not differing, differing[:5]


def test_an_altered_line_of_each_part_differs(root: Path, tmp_path: Path) -> None:
    by_kind = {line["kind"]: line for line in map(json.loads, gzip.decompress(CORPUS.read_bytes()).splitlines())}
    for line in by_kind.values():
        name = next(name for name in ("status", "parsed", "action", "shown") if name in line)
        line[name] = {"action": "altered", "content": None} if name == "parsed" else "altered"
    path = tmp_path / "altered.jsonl"
    path.write_text("\n".join(map(json.dumps, by_kind.values())), encoding="utf-8")
    assert [line.id for line in check_corpus(path, str(root)) if line.agrees] == []
