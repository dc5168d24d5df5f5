"""Make the table of precisions that `proctor audit-task` prints for its ranking by consensus.

python bench/audit_consensus.py KEYS.jsonl.gz GOLDS.jsonl.gz: the corpora of questions and of expected calls.
"""

import sys
from pathlib import Path

import msgspec

from proctor.datasets.rows import rows
from proctor_audit.consensus import PrecisionBin, PrecisionTable, bins_of
from proctor_audit.outcome_corpora import rank_golds, rank_keys

TABLE = Path(__file__).parents[1] / "packages/proctor-audit/src/proctor_audit/consensus.json"


def main(keys: str, golds: str) -> None:
    """Write the table of both corpora."""
    questions = [row.cells for row in rows(Path(keys))]
    calls = [row.cells for row in rows(Path(golds)) if row.cells["gold_changed"] is not None]
    flawed = {line["id"]: bool(line["flawed"]) for line in questions}
    changed = {line["id"]: bool(line["gold_changed"]) for line in calls}
    tables = {
        "choice": _table("MMLU-Redux", flawed, bins_of(rank_keys(questions), flawed)),
        "calls": _table("BFCL (golds changed since)", changed, bins_of(rank_golds(calls), changed)),
    }
    TABLE.write_bytes(msgspec.json.format(msgspec.json.encode(tables), indent=1) + b"\n")


def _table(corpus: str, flawed: dict[str, bool], bins: tuple[PrecisionBin, ...]) -> PrecisionTable:
    return PrecisionTable(corpus=corpus, base=sum(flawed.values()) / len(flawed), bins=bins)


if __name__ == "__main__":
    main(*sys.argv[1:3])
