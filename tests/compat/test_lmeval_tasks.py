"""Tasks of the real lm-eval with rows of our own: prompts, values by document and official figures are those of lm-eval alone."""

import json
import os
from pathlib import Path

import pytest
import throwaway

HERE = Path(__file__).parent
ROWS = HERE / "lmeval_rows-0.4.13.jsonl"
pytestmark = [pytest.mark.torture, pytest.mark.xdist_group("inspect")]


def test_tasks_are_played_as_lm_eval_plays_them(tmp_path: Path) -> None:
    known = [json.loads(line) for line in ROWS.read_text(encoding="utf-8").splitlines()]
    named = [row["task"] for row in known if "rows" in row]
    report = throwaway.run(
        "inspect", str(HERE / "in_lmeval_parity.py"), str(ROWS), folder=tmp_path, environment=offline(tmp_path)
    )
    checked = [json.loads(line) for line in report.splitlines() if line.startswith('{"task"')]
    assert [row for row in checked if "error" in row or row["differ"]] == []
    assert [row["task"] for row in checked] == named
    assert len(named) >= 40
    assert all(row.get("why") for row in known if "rows" not in row)


def offline(home: Path) -> dict[str, str]:
    return {**os.environ, "HF_HUB_OFFLINE": "1", "HF_DATASETS_OFFLINE": "1", "HF_HOME": str(home / "hf")}
