"""Read the logs of JavaScript repositories: Mocha, Karma, Jest and runners of single projects.

Source: swebench 5.0.2, `swebench/harness/log_parsers/javascript.py`; odd rules are kept as they are there.
"""

import json
import re
from collections.abc import Iterator, Mapping
from itertools import pairwise

from proctor_benchmarks.swebench.instance import FAILED, PASSED, LogParser, ReleaseParser, StatusByTest, SweInstance
from proctor_benchmarks.swebench.line_logs import parse_jest, parse_jest_json

_ANSI = re.compile(r"\x1B(?:[@-Z\\-_]|\[[0-?]*[ -/]*[@-~])")
_STATUS = {"PASS": PASSED, "FAIL": FAILED}


class SuiteStack:
    """The suites that a line belongs to, by their indentation."""

    def __init__(self) -> None:
        self._names: list[str] = []
        self._indents: list[int] = []

    def enter(self, line: str) -> None:
        """Begin the suite that an indented line names; a line at the margin names none."""
        if (indent := len(line) - len(line.lstrip())) > 0:
            while self._indents and self._indents[-1] >= indent:
                self._names.pop()
                self._indents.pop()
            self._names.append(line.strip())
            self._indents.append(indent)

    def name(self, test: str) -> str:
        return " - ".join([*self._names, test])

    def dashed_name(self, test: str) -> str:
        """Return the name with a dash before the test even at the margin."""
        return " - ".join([" - ".join(self._names), test]).strip()


def _squeeze(text: str) -> str:
    return re.sub(r"\s+", " ", text).strip()


def parse_highlightjs(log: str) -> StatusByTest:
    """Read Mocha's list until its summary; a test is named with the last indented line, whatever its depth."""
    results: StatusByTest = {}
    suite: list[str] = []
    for line in re.split(r"\n[ \t]*\d+ passing", log)[0].split("\n"):
        text = line.strip()
        if text.startswith(("✓", "✔")):
            results[".".join([*suite, _without_time(line.split(text[0], 1)[1])])] = PASSED
        elif re.match(r"^\d+\)", text):
            results[".".join([*suite, _without_time(line.split(")", 1)[1])])] = FAILED
        elif line.startswith("  "):
            suite = [text]
    return results


def _without_time(name: str) -> str:
    return re.sub(r"\(\d+ms\)", "", name).strip()


def parse_prismjs(log: str) -> StatusByTest:
    """Read Mocha's JSON report after each command.

    Raises:
        ValueError, KeyError: what follows a command is no such report.
    """
    results: StatusByTest = {}
    for part in log.split("./node_modules/.bin/mocha tests/run.js --reporter json")[1:]:
        report = json.loads("{" + part.split("{", 1)[-1].rsplit("}", 1)[0] + "}")
        results.update({test["fullTitle"]: FAILED for test in report["failures"]})
        results.update({test["fullTitle"]: PASSED for test in report["passes"]})
    return results


def parse_eslint(log: str) -> StatusByTest:
    failures = re.findall(r"(\s{2}\d+\))([\s\S]*?)\s+(?:(.*)Error)", log)
    return {_squeeze(name): FAILED for _, name, _ in failures}


_BPMN = (
    r"2KPhantomJS\s[\d\.]+\s\(Linux\s[\d\.]+\)\s(?P<name>.*)FAILED\n",
    r"2KPhantomJS\s[\d\.]+\s\(Linux\sx86\_64\)\s(?P<name>.*)FAILED\n",
    r"Chrome\sHeadless\s(.*)\s\(Linux\sx86\_64\)\s(?P<name>.*)FAILED\n",
    r"HeadlessChrome\s[\d\.]+\s\(Linux\s[\d\.]+\)\s(?P<name>.*)FAILED\n",
)


def parse_bpmn_js(log: str) -> StatusByTest:
    return {match["name"]: FAILED for pattern in _BPMN for match in re.finditer(pattern, log)}


_OPENLAYERS = (
    r"Chrome\sHeadless\s[\d\.]+\s\(Linux\s[\d\.\_\S]+\)\s(.*)\sFAILED\n",
    r"Chrome\s[\d\.]+\s\(Linux\s[\d\.\_\S]+\)\s(.*)FAILED\n",
    r"^\s{2}\d+\)([\s\S]*?)Error:",
    r"^case\s(.*):\smismatch",
)


def parse_openlayers(log: str) -> StatusByTest:
    return {_squeeze(match[1]): FAILED for pattern in _OPENLAYERS for match in re.finditer(pattern, log, re.MULTILINE)}


def parse_grommet(log: str) -> StatusByTest:
    """Read Jest's lines about files, without their times; a file that also passed has passed."""
    names = ((word, match[1].strip()) for word in ("FAIL", "PASS") for match in re.finditer(rf"^{word}\s(.*)", log, re.MULTILINE))  # fmt: skip
    return {re.sub(r"\s\([\d\.]+\s?(?:ms|s)\)$", "", name): _STATUS[word] for word, name in names}


_FILE_LINE = re.compile(
    r"^(PASS|FAIL)\s(?:(.*)\s\([\d\.]+ms\)|(.*)\s\([\d\.]+\ss\)|(.*)\s\([\d\.]+s\)|(.*))"
)  # the first of these forms of a time that fits, officially by four searches


def parse_file_lines(log: str) -> StatusByTest:
    matches = map(_FILE_LINE.match, log.split("\n"))
    return {match[match.lastindex or 0]: _STATUS[match[1]] for match in matches if match}


def parse_next(log: str, instance: SweInstance) -> StatusByTest:
    return _parse_cypress_suites(log) if instance.version == "1.27" else _parse_karma_suites(log)


def _parse_karma_suites(log: str) -> StatusByTest:
    results: StatusByTest = {}
    log = re.sub(r"AssertionError:\s+#([\s\S]*?)\n\n", "", _ANSI.sub("", log))
    suites = SuiteStack()
    for part in log.split(" xvfb-run ")[1:]:
        for line in part.split("Starting browser Chrome")[-1].split("\n"):
            if line.startswith("TOTAL"):
                break
            if line.strip().startswith(("ERROR", "LOG", "WARN", "Check", "in")):
                continue
            if match := re.match(r".*?✗\s*(.*)", line):
                results[suites.name(match[1])] = FAILED
            elif match := re.match(r".*?✓\s*(.*)", line):
                results[suites.name(match[1])] = PASSED
            else:
                suites.enter(line)
    return results


def _parse_cypress_suites(log: str) -> StatusByTest:
    results: StatusByTest = {}
    parts = re.split(r"Running\:(.*)\)\n{3}\s{2}(.*)\n", log)
    for suite, part in zip(parts[2::3], parts[3::3], strict=True):
        for pattern, status in ((r"^\s{4}\d+\)\s(.*)", FAILED), (r"^\s{4}✓\s(.*)\(", PASSED)):
            names = re.findall(pattern, part, re.MULTILINE)
            results.update({f"{suite}: {name.strip()}": status for name in names})
    return results


def parse_lighthouse(log: str, instance: SweInstance) -> StatusByTest:
    """Read the log with the runner of that release.

    Raises:
        ValueError: the version is no number.
    """
    if instance.version in ("9.5", "10.0", "10.2"):
        return _parse_lighthouse_mocha(log)
    if float(instance.version) >= 3:
        return parse_file_lines(log)
    results: StatusByTest = {}
    for part in log.split("./node_modules/.bin/mocha --reporter json")[1:]:
        for key, end, status in (("passes", "]", PASSED), ("failures", "],", FAILED)):
            listed = part.split(f'"{key}": [')[-1].rsplit(end, 1)[0]
            results.update(dict.fromkeys(re.findall(r"\"fullTitle\"\:\s\"(.*)\",\n", listed), status))
    return results


_LIGHTHOUSE = (
    (re.compile(r"✔\s(?:(.*)\s\(\d+m+s\)|(.*))"), PASSED),
    (re.compile(r"\d+\)\s(?:(.*)\s\(\d+m+s\)|(.*))"), FAILED),
)


def _parse_lighthouse_mocha(log: str) -> StatusByTest:
    results: StatusByTest = {}
    for part in re.split(r"running\s\d+\stest\sfiles", log)[1:]:
        suites = SuiteStack()
        for line in re.split(r"\d+\spassing", part)[0].strip().split("\n"):
            matches = ((pattern.match(line.strip()), status) for pattern, status in _LIGHTHOUSE)
            name, status = next(
                ((match[match.lastindex or 0], status) for match, status in matches if match), (None, "")
            )
            if name is None:
                suites.enter(line)
            else:
                results[suites.name(name)] = status
    return results


_QUARTO_FILES = (r"/tmp/(\w+)\.qmd", r"/tmp/(\w+)/")  # noqa: S108 - in the text of a log


def parse_quarto_cli(log: str) -> StatusByTest:
    """Read `[smoke] NAME ... ok`; temporary files are numbered, and a test without a status has failed."""
    results: StatusByTest = {}
    number_by_file: dict[str, int] = {}
    for line in log.split("\n"):
        if "ERRORS" in line or "failures:" in line:
            break
        if not re.search(r"\[(smoke|unit)\]", line):
            continue
        for pattern in _QUARTO_FILES:
            if match := re.search(pattern, line):
                number = number_by_file.setdefault(match[0], len(number_by_file))
                line = re.sub(pattern, f"/tmp/{number}", line)  # noqa: PLW2901, S108 - the text of a log
        if line.startswith("test result:") or all(word in line for word in ("passed", "failed", "steps")) or "34mINFO" in line:  # fmt: skip
            continue
        name = line.split("...")[0].strip()
        if "32mok" in line:
            results[name] = PASSED
        elif "31mFAILED" in line:
            results[name] = FAILED
        else:
            results.setdefault(name, FAILED)
    return results


def parse_calypso(log: str) -> StatusByTest:
    results: StatusByTest = {}
    suites = SuiteStack()
    for part in log.split(" ./node_modules/.bin/jest ")[1:]:
        for line in part.split("\n"):
            if line.startswith(("Test Suites", "  ● ")):
                break
            mark = line.strip()[:1]
            if mark in ("✓", "✕"):
                results[suites.dashed_name(_calypso_name(line, mark))] = PASSED if mark == "✓" else FAILED
            else:
                suites.enter(line)
    return results


def _calypso_name(line: str, mark: str) -> str:
    """Return the name of a test without its time.

    Raises:
        AttributeError: the line is not indented, or its time is not at its end; as officially.
    """
    pattern = rf"^\s+{mark}\s(.*)\(\d+ms\)$" if re.search(r"\(\d+ms\)", line) else rf"^\s+{mark}\s(.*)"
    if (match := re.match(pattern, line)) is None:
        raise AttributeError(line)
    return match[1]


def parse_chart_js(log: str) -> StatusByTest:
    names = re.findall(r"Chrome\s[\d\.]+[^\S\r\n]\(.+?\)[^\S\r\n](.*)FAILED$", _ANSI.sub("", log), re.MULTILINE)
    return dict.fromkeys(names, FAILED)


def parse_marked(log: str) -> StatusByTest:
    matches = (re.match(r"^\d+\)\s(.*)", line) for line in log.split("\n"))
    return {match[1].strip(): FAILED for match in matches if match}


def parse_p5js(log: str) -> StatusByTest:
    """Read Mocha's failures, of which each line is indented further than the one above."""
    log = _without_xml("\n".join(_without_json(_ANSI.sub("", log))))
    failures = re.finditer(r"^\s*(\d+)\)(.{0,1000}?):", log, re.MULTILINE | re.DOTALL)
    return {":".join(map(str.strip, match[2].split("\n"))): FAILED for match in failures if _is_staircase(match[2])}


def _is_staircase(text: str) -> bool:
    indents = [0, *(len(line) - len(line.lstrip()) for line in text.split("\n"))]
    return all(low < high for low, high in pairwise(indents))


def _without_json(log: str) -> Iterator[str]:
    in_object = in_list = False
    for line in log.split("\n"):
        text = line.rstrip()
        if text.endswith("{"):
            in_object = True
        elif text.endswith("["):
            in_list = True
        elif text == "}" and in_object:
            in_object = False
        elif text == "]" and in_list:
            in_list = False
        elif not (in_object or in_list or (text[:1] + text[-1:]) in ("{}", "[]")):
            yield line


def _without_xml(log: str) -> str:
    """Remove elements; of tags that were opened twice inside of one, the others stay to meet their ends."""
    pattern = re.compile(r"<(\w+)>[\s\S]*?<\/\1>")
    while match := pattern.search(log):
        tag = f"<{match[1]}>"
        log = log[: match.start()] + tag * max(match[0].count(tag) - 1, 0) + log[match.end() :]
    return log


_KARMA = re.compile(r"^(\s*)?([✔✖])?\s(.*)$")


def parse_karma(log: str) -> StatusByTest:
    """Read Karma's list between the start of the browser and the summary.

    Raises:
        IndexError: a line is indented less than the outermost suite, as officially.
    """
    results: StatusByTest = {}
    depth, suites, has_started = -1, list[str](), False
    for line in log.split("\n"):
        if line.startswith("SUMMARY:"):
            break
        if "Starting browser" in line:
            has_started = True
            continue
        if not has_started or (match := _KARMA.match(line)) is None:
            continue
        indent, mark, name = match.groups()
        if mark:
            results[" > ".join([*suites, name])] = PASSED if mark == "✔" else FAILED
        elif indent and len(indent) > depth:
            depth = len(indent)
            suites.append(name)
        elif indent and len(indent) < depth:
            depth = len(indent)
            suites.pop()
    return results


def parse_immutable_js(log: str, instance: SweInstance) -> StatusByTest:
    """Read the log with the runner of that pull request.

    Raises:
        ValueError: no runner is known for it.
    """
    parsers = {"2006": parse_jest, "2005": parse_jest_json}
    if (parse := parsers.get(instance.instance_id.split("-")[-1])) is None:
        raise ValueError(instance.instance_id)
    return parse(log)


JAVASCRIPT_PARSERS: Mapping[str, LogParser] = {
    "parse_log_calypso": parse_calypso,
    "parse_log_bpmn_js": parse_bpmn_js,
    "parse_log_carbon": parse_file_lines,
    "parse_log_eslint": parse_eslint,
    "parse_log_grommet": parse_grommet,
    "parse_log_highlightjs": parse_highlightjs,
    "parse_log_openlayers": parse_openlayers,
    "parse_log_prismjs": parse_prismjs,
    "parse_log_quarto_cli": parse_quarto_cli,
    "parse_log_chart_js": parse_chart_js,
    "parse_log_marked": parse_marked,
    "parse_log_p5js": parse_p5js,
    "parse_log_react_pdf": parse_file_lines,
    "parse_log_karma": parse_karma,
}
JAVASCRIPT_RELEASE_PARSERS: Mapping[str, ReleaseParser] = {
    "parse_log_lighthouse": parse_lighthouse,
    "parse_log_next": parse_next,
    "parse_log_immutable_js": parse_immutable_js,
}
