"""Grade the log of a test run as SWE-bench does.

    `>>>>> Start Test Output`
    `PASSED tests/test_io.py::test_read`
    `>>>>> End Test Output`
    `>>>>> Test Exit Code: 0`

Source: swebench 5.0.2, `swebench/harness/grading.py` and `infra_failure.py`.
"""

import re
from collections.abc import Mapping, Sequence
from typing import Any

import msgspec

from proctor_benchmarks.swebench.instance import (  # fmt: skip
    ERROR,
    FAILED,
    PASSED,
    SKIPPED,
    XFAIL,
    LogParser,
    ReleaseParser,
    StatusByTest,
    SweInstance,
)
from proctor_benchmarks.swebench.javascript_logs import JAVASCRIPT_PARSERS, JAVASCRIPT_RELEASE_PARSERS
from proctor_benchmarks.swebench.line_logs import LINE_PARSERS
from proctor_benchmarks.swebench.other_logs import OTHER_PARSERS, RUBY_RELEASE_PARSERS
from proctor_benchmarks.swebench.python_logs import PYTHON_PARSERS

LOG_PARSERS: Mapping[str, LogParser] = {**PYTHON_PARSERS, **JAVASCRIPT_PARSERS, **LINE_PARSERS, **OTHER_PARSERS}
RELEASE_PARSERS: Mapping[str, ReleaseParser] = {**JAVASCRIPT_RELEASE_PARSERS, **RUBY_RELEASE_PARSERS}
PARSER_NAMES = frozenset({*LOG_PARSERS, *RELEASE_PARSERS})
START, END = ">>>>> Start Test Output", ">>>>> End Test Output"
BROKEN = (
    ">>>>> Patch Apply Failed",
    ">>>>> Reset Failed",
    ">>>>> Tests Errored",
    ">>>>> Tests Timed Out",
)
EXIT_CODE = ">>>>> Test Exit Code"
_EXIT_CODE = re.compile(rf"{EXIT_CODE}:\s*(-?\d+)")
_SUITE_RAN = re.compile(  # an empty list of failures tells a clean run only where a runner said that it ran something
    r"Executed [1-9]\d* of \d+|TOTAL: [1-9]\d* (?:SUCCESS|FAILED)|[1-9]\d* passing|Tests:\s+[1-9]\d*"
    r"|Test Suites:\s+(?:\d+ \w+, )*[1-9]\d* total|^# tests [1-9]\d*|[1-9]\d* specs?, \d+ failures?|': ok$",
    re.MULTILINE,
)
_FAULTS = tuple(
    (reason, is_environment, re.compile(pattern, re.MULTILINE))
    for reason, is_environment, pattern in (
        ("browser_launch_failed", True, r"Failed to launch|Failed to connect to the bus"),
        ("display_unavailable", True, r"cannot open display|Missing X server|unable to open X display"),
        ("out_of_memory", True, r"Cannot allocate memory|OutOfMemoryError|^Killed$"),
        ("container_unavailable", True, r"Error response from daemon|Cannot connect to the Docker daemon"),
        ("network_unreachable", True, r"Could not resolve host|Temporary failure in name resolution"),
        ("missing_module", False, r"Cannot find module|MODULE_NOT_FOUND|ModuleNotFoundError"),
        ("no_tests_collected", False, r"no tests ran|collected 0 items"),
        ("tests_timed_out", False, r"Timeout error: \d+ seconds exceeded"),
    )
)


class TestLists(msgspec.Struct, frozen=True, kw_only=True):
    """The tests of one list of an instance, by what became of them; a status that is neither is in neither."""

    __test__ = False

    success: list[str] = []
    failure: list[str] = []


class SweGrade(msgspec.Struct, frozen=True, kw_only=True):
    """The verdict on a run.

    Attributes:
        found: True if the log tells results; `status_by_test` are these.
        infra_reason: what kept a run without results from running, where the log shows it.
        is_environment: True if no patch can be the cause of that.
    """

    patch_is_none: bool
    found: bool = False
    status_by_test: Mapping[str, str] = {}
    resolved: bool = False
    fail_to_pass: TestLists = TestLists()
    pass_to_pass: TestLists = TestLists()
    infra_reason: str | None = None
    is_environment: bool = False

    def report(self) -> dict[str, object]:
        """Return the official report."""
        report: dict[str, Any] = {
            "patch_is_None": self.patch_is_none,
            "patch_exists": not self.patch_is_none,
            "patch_successfully_applied": self.found,
            "resolved": self.resolved,
            "infra_failure": self.is_environment,
        }
        if self.infra_reason is not None:
            report["infra_failure_reason"] = self.infra_reason
        if self.found:
            lists = {"FAIL_TO_PASS": self.fail_to_pass, "PASS_TO_PASS": self.pass_to_pass}
            unused = {"FAIL_TO_FAIL": TestLists(), "PASS_TO_FAIL": TestLists()}
            report["tests_status"] = msgspec.to_builtins({**lists, **unused})
        return report


def grade(instance: SweInstance, log: str, *, patch_is_none: bool = False) -> SweGrade:
    """Return the verdict on a run from its log.

    Raises:
        IndexError, ValueError, KeyError, AttributeError, SyntaxError: the parser fails on the log, as the official one does.
    """
    if patch_is_none:
        return SweGrade(patch_is_none=True)
    status_by_test = read_log(instance, log)
    if status_by_test is None:
        reason, is_environment = classify(log)
        return SweGrade(patch_is_none=False, infra_reason=reason, is_environment=is_environment)
    fixed = _sort(instance.fail_to_pass, status_by_test, instance, allow_skipped=False)
    kept = _sort(instance.pass_to_pass, status_by_test, instance, allow_skipped=True)
    return SweGrade(
        patch_is_none=False,
        found=True,
        status_by_test=status_by_test,
        resolved=not fixed.failure and not kept.failure,
        fail_to_pass=fixed,
        pass_to_pass=kept,
    )


def read_log(instance: SweInstance, log: str) -> StatusByTest | None:
    """Return the status of each test; None if the log does not tell what happened.

    Results outside of the markers count where there are none inside, as officially.
    """
    if any(mark in log for mark in BROKEN) or START not in log or END not in log:
        return None
    inside = log.split(START, 2)[1].split(END, 1)[0]
    status_by_test = parse_log(instance, inside) or parse_log(instance, log)
    if not status_by_test and not _SUITE_RAN.search(log):
        return None
    code = _EXIT_CODE.search(log)
    has_failure = any(status in (FAILED, ERROR) for status in status_by_test.values())
    if code and int(code[1]) != 0 and status_by_test and not has_failure:
        return None  # the runner failed, and no test says so
    return status_by_test


def parse_log(instance: SweInstance, log: str) -> StatusByTest:
    """Return the status of each test that a log tells, by the parser of the instance."""
    if (parse := LOG_PARSERS.get(instance.log_parser)) is not None:
        return parse(log)
    return RELEASE_PARSERS[instance.log_parser](log, instance)


def classify(log: str) -> tuple[str | None, bool]:
    """Return the fault that a log shows, and True if no patch can be its cause."""
    hits = ((reason, is_environment) for reason, is_environment, pattern in _FAULTS if pattern.search(log))
    return next(hits, (None, False))


def _sort(tests: Sequence[str], status_by_test: Mapping[str, str], instance: SweInstance, *, allow_skipped: bool) -> TestLists:  # fmt: skip
    success: list[str] = []
    failure: list[str] = []
    for test in tests:
        if instance.eval_type == "fail_only":
            (failure if status_by_test.get(test) == FAILED else success).append(test)
            continue
        status = _status_of(test, status_by_test)
        if status in (PASSED, XFAIL) or (allow_skipped and status == SKIPPED):
            success.append(test)
        elif status in (None, FAILED, ERROR, SKIPPED):
            failure.append(test)
    return TestLists(success=success, failure=failure)


def _status_of(test: str, status_by_test: Mapping[str, str]) -> str | None:
    """Return the status of a test; an id that was cut in its parameters is that of all it begins, if they agree."""
    if test in status_by_test:
        return status_by_test[test]
    if test.count("[") <= test.count("]"):
        return None
    statuses = [status for name, status in status_by_test.items() if name.startswith(test)]
    return statuses[0] if len({status in (PASSED, XFAIL) for status in statuses}) == 1 else None
