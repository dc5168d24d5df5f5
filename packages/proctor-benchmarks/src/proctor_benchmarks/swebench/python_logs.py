"""Read the logs of Python repositories: pytest in its forms, and the runners of Django, SymPy and seaborn.

    PASSED tests/test_io.py::test_read[fits]
    FAILED tests/test_io.py::test_write - OSError: disk
    test_add (math.tests.AddTest) ... ok

Source: swebench 5.0.2, `swebench/harness/log_parsers/python.py`.
"""

import re
from collections.abc import Mapping

from proctor_benchmarks.swebench.instance import (  # fmt: skip
    ERROR,
    FAILED,
    PASSED,
    SKIPPED,
    STATUSES,
    LogParser,
    StatusByTest,
)

_SKIP_COUNT = re.compile(r"^\[\d+\]$")  # in pytest's summary of skipped tests, where it is no test
_OPTION = re.compile(r"(.*?)\[(.*)\]")
_COLOUR = re.compile(r"\[(\d+)m")
_CONTROL = dict.fromkeys(range(1, 32))
_SYMPY_FAILURE = re.compile(r"(_*) (.*)\.py:(.*) (_*)")
_SYMPY_END = {" E": ERROR, " F": FAILED, " ok": PASSED}
_DJANGO_INTERRUPTED = [
    re.compile(pattern, re.MULTILINE)
    for pattern in (
        r"^(.*?)\s\.\.\.\sTesting\ against\ Django\ installed\ in\ ((?s:.*?))\ silenced\)\.\nok$",
        r"^(.*?)\s\.\.\.\sInternal\ Server\ Error:\ \/(.*)\/\nok$",
        r"^(.*?)\s\.\.\.\sSystem check identified no issues \(0 silenced\)\nok$",
    )
]
_DJANGO_VERSION = "--version is equivalent to version"
_DJANGO_7188 = "Applying sites.0002_alter_domain_unique...test_no_migrations"


def _words_of(line: str) -> list[str]:
    """Return the words of a pytest line that reports a test, beginning with its status; none for any other line."""
    if not line.startswith(STATUSES):
        return []
    words = (line.replace(" - ", " ") if line.startswith(FAILED) else line).split()
    return [] if len(words) <= 1 or (words[0] == SKIPPED and _SKIP_COUNT.match(words[1])) else words


def parse_pytest(log: str) -> StatusByTest:
    lines = map(_words_of, log.split("\n"))
    return {words[1]: words[0] for words in lines if words}


def parse_matplotlib(log: str) -> StatusByTest:
    """Read pytest's lines, with the numbers that mouse buttons had when the tests were listed."""
    return parse_pytest(log.replace("MouseButton.LEFT", "1").replace("MouseButton.RIGHT", "3"))


def parse_pytest_options(log: str) -> StatusByTest:
    """Read pytest's lines; of a parameter that is a path, only its last part counts."""
    lines = map(_words_of, log.split("\n"))
    return {_shorten(words[1]): words[0] for words in lines if words}


def _shorten(name: str) -> str:
    if (match := _OPTION.search(name)) is None:
        return name
    main, option = match.groups()
    if option.startswith("/") and not option.startswith("//") and "*" not in option:
        option = "/" + option.split("/")[-1]
    return f"{main}[{option}]"


def parse_pytest_v2(log: str) -> StatusByTest:
    """Read pytest's lines without colours, with spaces in names; older releases print the status last."""
    results: StatusByTest = {}
    for line in log.split("\n"):
        text = _COLOUR.sub("", line).translate(_CONTROL)
        if text.startswith(STATUSES):
            words = (text.split(" - ", 1)[0] if text.startswith(FAILED) else text).split()
            if len(words) >= 2 and not (words[0] == SKIPPED and _SKIP_COUNT.match(words[1])):
                results[" ".join(words[1:])] = words[0]
        elif text.endswith(STATUSES):
            words = text.split()
            if len(words) >= 2:
                results[" ".join(words[:-1])] = words[-1]
    return results


def parse_seaborn(log: str) -> StatusByTest:
    results: StatusByTest = {}
    for line in log.split("\n"):
        words = line.split()
        if len(words) < 2:
            continue
        if line.startswith(FAILED):
            results[words[1]] = FAILED
        elif f" {PASSED} " in line:
            if words[1] == PASSED:
                results[words[0]] = PASSED
        elif line.startswith(PASSED):
            results[words[1]] = PASSED
    return results


def parse_sympy(log: str) -> StatusByTest:
    results = {f"{file}.py:{test}": FAILED for _, file, test, _ in _SYMPY_FAILURE.findall(log)}
    for line in map(str.strip, log.split("\n")):
        if line.startswith("test_"):
            results.update({line.split()[0]: status for end, status in _SYMPY_END.items() if line.endswith(end)})
    return results


def parse_django(log: str) -> StatusByTest:
    """Read `TEST ... STATUS`, where output of the test may stand between name and status."""
    results: StatusByTest = {}
    last: str | None = None
    for line in map(str.strip, log.split("\n")):
        if _DJANGO_VERSION in line:
            results[_DJANGO_VERSION] = PASSED
        if " ... " in line:
            last = line.split(" ... ")[0]
        _read_django_line(line, results)
        if last is not None and line.startswith("ok"):
            results[last] = PASSED
    for pattern in _DJANGO_INTERRUPTED:
        results.update({match[1]: PASSED for match in pattern.finditer(log)})
    return results


def _read_django_line(line: str, results: StatusByTest) -> None:
    for suffix in (" ... ok", " ... OK", " ...  OK"):
        if line.endswith(suffix):
            if line.startswith(_DJANGO_7188):
                line = line.split("...", 1)[-1].strip()
            results[line.rsplit(suffix, 1)[0]] = PASSED
            break
    if " ... skipped" in line:
        results[line.split(" ... skipped")[0]] = SKIPPED
    for ending, beginning, status in ((" ... FAIL", "FAIL:", FAILED), (" ... ERROR", "ERROR:", ERROR)):
        if line.endswith(ending):
            results[line.split(ending)[0]] = status
        if line.startswith(beginning):
            results[line.split()[1]] = status


_SAME_AS_PYTEST = ("astroid", "flask", "marshmallow", "pvlib", "pyvista", "sqlfluff", "xarray")
PYTHON_PARSERS: Mapping[str, LogParser] = {
    "parse_log_pytest": parse_pytest,
    "parse_log_django": parse_django,
    "parse_log_seaborn": parse_seaborn,
    "parse_log_sympy": parse_sympy,
    "parse_log_matplotlib": parse_matplotlib,
    **{f"parse_log_{name}": parse_pytest for name in _SAME_AS_PYTEST},
    **{f"parse_log_{name}": parse_pytest_options for name in ("pytest_options", "pydicom", "requests", "pylint")},
    **{f"parse_log_{name}": parse_pytest_v2 for name in ("pytest_v2", "astropy", "scikit", "sphinx")},
}
