"""Read the logs of C, Java, PHP and Ruby repositories that a line alone does not explain.

Source: swebench 5.0.2, `swebench/harness/log_parsers/`.
"""

import re
from collections import deque
from collections.abc import Mapping
from xml.etree import ElementTree

from proctor_benchmarks.swebench.instance import (
    FAILED,
    PASSED,
    SKIPPED,
    LogParser,
    ReleaseParser,
    StatusByTest,
    SweInstance,
)
from proctor_benchmarks.swebench.line_logs import parse_cucumber, parse_minitest

_REDIS = re.compile(r"^\[(ok|err|skip|ignore)\]:\s(.+?)(?:\s\((\d+\s*m?s)\))?$")
_REDIS_STATUS = {"ok": PASSED, "err": FAILED, "skip": SKIPPED, "ignore": SKIPPED}
_MAVEN_TEST, _MAVEN_BUILD = re.compile(r"^.*-Dtest=(\S+).*$"), re.compile(r"^.*BUILD (SUCCESS|FAILURE)$")
_GRADLE_BOTH = re.compile(r"^([^>].+)\s+(PASSED|FAILED)$")
_GRADLE_NAME = re.compile(r"^([^>]\S*\s+>\s+\S+)$")
_PHP_SUITE, _PHP_TEST = re.compile(r"^(\w.+) \(.+\)$"), re.compile(r"^\s*([✔✘↩])\s*(.*)$")
_PHP_STATUS = {"✔": PASSED, "✘": FAILED, "↩": SKIPPED}
JEKYLL = {"9141": parse_minitest, "8047": parse_minitest, "8167": parse_minitest, "8761": parse_cucumber, "8771": parse_cucumber}  # fmt: skip


def parse_redis(log: str) -> StatusByTest:
    results: StatusByTest = {}
    for line in log.split("\n"):
        if match := _REDIS.match(line.strip()):
            word, name, _ = match.groups()
            results[re.sub(r"\s+in\s+\S+$", "", name) if word == "err" else name] = _REDIS_STATUS[word]
    return results


def parse_doctest(log: str) -> StatusByTest:
    """Read the XML report that doctest prints; a test case without sub-cases is not reported, as officially."""
    start = log.find("<doctest")
    # Without an end tag the text reaches to its tenth character, as officially: this is no XML, and raises.
    end = log.find("</doctest>", start) + len("</doctest>")
    if start < 0:
        return {}
    results: StatusByTest = {}
    for case in ElementTree.fromstring(log[start:end]).findall(".//TestCase"):  # noqa: S314 - expat bounds entities
        for part in case.findall(".//SubCase"):
            has_passed = all(check.get("success") == "true" for check in part.findall(".//Expression"))
            results[f"{case.get('name')} > {part.get('name')}"] = PASSED if has_passed else FAILED
    return results


def parse_maven(log: str) -> StatusByTest:
    """Pair each `-Dtest=NAME` with a `BUILD` line, first come first served: Maven does not name what passed."""
    results: StatusByTest = {}
    waiting: deque[str] = deque()
    early: deque[str] = deque()
    status = {"SUCCESS": PASSED, "FAILURE": FAILED}
    for line in map(str.strip, log.split("\n")):
        if match := _MAVEN_TEST.match(line):
            waiting.append(match[1])
        if match := _MAVEN_BUILD.match(line):
            if waiting:
                results[waiting.popleft()] = status[match[1]]
            else:
                early.append(match[1])
    results.update({name: status[word] for name, word in zip(waiting, early, strict=False)})
    return results


def parse_gradle(log: str) -> StatusByTest:
    """Read `test > method STATUS`, where other output may stand between name and status."""
    results: StatusByTest = {}
    name: str | None = None
    for line in map(str.strip, log.split("\n")):
        if match := _GRADLE_BOTH.match(line):
            results[match[1]], name = match[2], None
        elif match := _GRADLE_NAME.match(line):
            name = match[1]
        elif name and line in (PASSED, FAILED):
            results[name], name = line, None
    return results


def parse_phpunit(log: str) -> StatusByTest:
    results: StatusByTest = {}
    suite: str | None = None  # a test before the first suite belongs to "None", as officially
    for line in log.split("\n"):
        if match := _PHP_SUITE.match(line):
            suite = match[1]
        elif match := _PHP_TEST.match(line):
            results[f"{suite} > {match[2]}"] = _PHP_STATUS[match[1]]
    return results


def parse_jekyll(log: str, instance: SweInstance) -> StatusByTest:
    """Read the log with the runner of that pull request.

    Raises:
        ValueError: no runner is known for it.
    """
    if (parse := JEKYLL.get(instance.instance_id.split("-")[1])) is None:
        raise ValueError(instance.instance_id)
    return parse(log)


OTHER_PARSERS: Mapping[str, LogParser] = {
    "parse_log_redis": parse_redis,
    "parse_log_doctest": parse_doctest,
    "parse_log_maven": parse_maven,
    "parse_log_gradle_custom": parse_gradle,
    "parse_log_phpunit": parse_phpunit,
}
RUBY_RELEASE_PARSERS: Mapping[str, ReleaseParser] = {"parse_log_jekyll": parse_jekyll}
