"""Read from the output of test runners which tests passed: pytest, TAP, go and cargo.

PASSED tests/test_outputs.py::test_file_exists
ok 1 - adds # time=12.3ms
--- PASS: TestAdds (0.00s)
test adds ... ok
"""

import re
from collections.abc import Iterator

_SHOWN = re.compile(
    r"^(?:(?:PASSED|XFAIL) (?P<pytest>\S.*)|ok \d+ (?:- )?(?P<tap>\S.*)|--- PASS: (?P<go>\S+).*|test (?P<cargo>\S+) \.\.\. ok)$",
    re.MULTILINE,
)
_TAP_TIME = re.compile(r"\s+(?:#\s*(?:time|duration)\b.*|#?\s*\(?(?:in\s+)?[\d.]+\s?(?:ms|us|µs|s|sec|seconds)\)?)\s*$", re.I)  # fmt: skip
_TAP_SKIPPED = re.compile(r"#\s*skip", re.I)


def find_shown_tests(output: str) -> tuple[str, ...]:
    """Return the names of the tests that passed, without their times, which differ from run to run.

    >>> find_shown_tests("ok 1 - adds # time=12.3ms\\nok 2 - halves (0.1 s)\\nok 3 - prints # SKIP no printer\\nnot ok 4 - x")
    ('adds', 'halves')
    """
    return tuple(dict.fromkeys(_names(output)))


def _names(output: str) -> Iterator[str]:
    for match in _SHOWN.finditer(output):
        if match["tap"] is None:
            yield next(filter(None, match.groups()))
        elif not _TAP_SKIPPED.search(match["tap"]):
            yield _TAP_TIME.sub("", match["tap"])
