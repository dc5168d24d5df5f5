"""Read the screen of a Terminal-Bench 1 task on which pytest ran.

    =========== short test summary info ============
    PASSED tests/test_outputs.py::test_file_exists
    FAILED tests/test_outputs.py::test_content - assert 1 == 2

Source: terminal-bench 0.2.18, `terminal_bench/parsers/pytest_parser.py`.
"""

import re
from collections.abc import Mapping
from typing import Literal

PaneStatus = Literal["passed", "failed"]

_HEADER = re.compile(r"=\s*short test summary info\s*=+", re.IGNORECASE)
_STATUS: Mapping[str, PaneStatus] = {
    "PASSED": "passed", "XFAIL": "passed", "SKIPPED": "passed", "FAILED": "failed", "XPASS": "failed", "ERROR": "failed",
}  # fmt: skip


def read_pane(pane: str) -> dict[str, PaneStatus]:
    """Return the status of each test that the first summary on the screen, and what follows it, names.

    Raises:
        ValueError: the screen shows no summary.
    """
    parts = _HEADER.split(pane, maxsplit=1)
    if len(parts) < 2:
        raise ValueError("no short test summary info")
    results: dict[str, PaneStatus] = {}
    for line in parts[1].splitlines():
        text = line.rpartition(" - ")[0] or line if line.startswith("FAILED") else line
        words = text.split(maxsplit=1)
        status = _STATUS.get(words[0].strip(":")) if len(words) == 2 else None
        if status is not None and (name := words[1].strip().split("::", maxsplit=1)[-1]):
            results[name] = status
    return results


def all_passed(results: Mapping[str, PaneStatus]) -> bool:
    """True if no test failed; a summary without tests counts as resolved, as officially."""
    return all(status == "passed" for status in results.values())
