"""Every recorded verdict of GAIA's official scorer is ours too."""

from pathlib import Path

from proctor_benchmarks.gaia.parity import check_corpus

CORPUS = Path(__file__).parents[1] / "data" / "gaia_verdicts.jsonl"


def test_every_line_of_the_corpus_agrees() -> None:
    lines = list(check_corpus(CORPUS))
    assert len(lines) > 100
    assert [
        f"{line.id}: official {line.official}, ours {line.ours} ({line.rule})" for line in lines if not line.agrees
    ] == []
