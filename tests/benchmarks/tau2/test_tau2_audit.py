"""An audit of tau2: played with the official code and without a model."""

import json
from pathlib import Path
from typing import Any

from click.testing import CliRunner

from proctor.cli import app


def audited(task: str, *words: str) -> dict[str, Any]:
    result = CliRunner().invoke(app, ["audit-task", task, "--json", *words])
    report: dict[str, Any] = json.loads(result.stdout)
    return report


def test_an_agent_that_does_nothing_passes_where_only_reads_are_expected(tau2_data: Path) -> None:
    report = audited("tau2/airline", "--id", "airline/0", "--id", "airline/1", "--id", "airline/8")
    assert [(finding["id"], finding["class"]) for finding in report["findings"]] == [("idle-passes:airline/1", "look")]
    [floor] = report["floor"]  # of which airline/0 is one: it expects no call
    assert (floor["agent"], round(floor["value"] * floor["count"]), floor["count"]) == ("idle", 2, 3)


def test_what_officially_fails_as_expected_is_proved(tau2_data: Path) -> None:
    assert [finding["id"] for finding in audited("tau2/mock")["findings"]] == [
        "gold-fails:mock/update_task_with_history_and_env_assertions",
        "gold-fails:mock/update_task_with_user_tools",
    ]
