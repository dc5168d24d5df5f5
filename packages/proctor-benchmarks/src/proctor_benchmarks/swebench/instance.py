"""Describe a SWE-bench instance as far as grading needs it, and the words of its test logs."""

from collections.abc import Callable
from typing import Literal

import msgspec

PASSED, FAILED, SKIPPED, ERROR, XFAIL = STATUSES = ("PASSED", "FAILED", "SKIPPED", "ERROR", "XFAIL")

EvalType = Literal["pass_and_fail", "fail_only"]


class SweInstance(msgspec.Struct, frozen=True, kw_only=True):
    """The tests that decide whether an instance is resolved.

    Attributes:
        eval_type: `fail_only` where the runner prints failures alone, so that a test without a line has passed.
        version: the release of the repository, by which some parsers choose their form.
    """

    instance_id: str
    log_parser: str
    eval_type: EvalType
    fail_to_pass: tuple[str, ...] = msgspec.field(name="FAIL_TO_PASS")
    pass_to_pass: tuple[str, ...] = msgspec.field(name="PASS_TO_PASS")
    version: str = ""


StatusByTest = dict[str, str]
LogParser = Callable[[str], StatusByTest]
ReleaseParser = Callable[[str, SweInstance], StatusByTest]  # of a repository whose runner changed
