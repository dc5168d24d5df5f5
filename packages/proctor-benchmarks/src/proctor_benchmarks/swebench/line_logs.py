"""Read logs whose runners print one line a test: TAP, Go, Cargo, JUnit, Jest, Vitest, RSpec and others.

    --- PASS: TestReload (0.02s)
    ok 3 - merges defaults
    test parse::empty ... FAILED

Source: swebench 5.0.2, `swebench/harness/log_parsers/`; the patterns are those of the official parsers, to the character.
"""

import re
from collections.abc import Mapping

from proctor_benchmarks.swebench.instance import FAILED, PASSED, SKIPPED, LogParser, StatusByTest


def line_parser(pattern: str, status_by_word: Mapping[str, str]) -> LogParser:
    """Return a parser for lines that, without outer whitespace, begin with `pattern`; it has the groups `word` and `name`."""
    compiled = re.compile(pattern)

    def parse(log: str) -> StatusByTest:
        matches = (compiled.match(line.strip()) for line in log.split("\n"))
        return {match["name"]: status_by_word[match["word"]] for match in matches if match and match["word"] in status_by_word}  # fmt: skip

    return parse


parse_jest = line_parser(
    r"^\s*(?P<word>✓|✕|○)\s(?P<name>.+?)(?:\s\((\d+\s*m?s)\))?$", {"✓": PASSED, "✕": FAILED, "○": SKIPPED}
)
parse_jest_json = line_parser(r"^\[(?P<word>PASSED|FAILED)\]\s(?P<name>.+)$", {"PASSED": PASSED, "FAILED": FAILED})
parse_minitest = line_parser(r"^(?P<name>.+)\. .*=.*(?P<word>\.|F|E).*$", {".": PASSED, "F": FAILED, "E": FAILED})
parse_cucumber = line_parser(r"^(?P<name>.*) \.+(?P<word>\.|F)", {".": PASSED, "F": FAILED})

LINE_PARSERS: Mapping[str, LogParser] = {
    "parse_log_jest": parse_jest,
    "parse_log_jest_json": parse_jest_json,
    "parse_log_vitest": line_parser(
        r"^\s*(?P<word>✓|×|↓)\s(?P<name>.+?)(?:\s(\d+\s*m?s?|\[skipped\]))?$", {"✓": PASSED, "×": FAILED, "↓": SKIPPED}
    ),
    "parse_log_tap": line_parser(r"^(?P<word>ok|not ok) (\d+) (?P<name>.+)$", {"ok": PASSED, "not ok": FAILED}),
    "parse_log_jq": line_parser(r"^\s*(?P<word>PASS|FAIL):\s(?P<name>.+)$", {"PASS": PASSED, "FAIL": FAILED}),
    "parse_log_micropython_test": line_parser(
        r"^(?P<word>pass|FAIL|skip)\s+(?P<name>.+)$", {"pass": PASSED, "FAIL": FAILED, "skip": SKIPPED}
    ),
    "parse_log_googletest": line_parser(
        r"^.*\[\s*(?P<word>OK|FAILED)\s*\]\s(?P<name>.*)\s\(.*\)$", {"OK": PASSED, "FAILED": FAILED}
    ),
    "parse_log_gotest": line_parser(
        r"^--- (?P<word>PASS|FAIL|SKIP): (?P<name>.+) \((.+)\)$", {"PASS": PASSED, "FAIL": FAILED, "SKIP": SKIPPED}
    ),
    "parse_log_ant": line_parser(
        r"^\s*\[junit\]\s+\[(?P<word>PASS|FAIL|ERR)\]\s+(?P<name>.*)$", {"PASS": PASSED, "FAIL": FAILED, "ERR": FAILED}
    ),
    "parse_log_minitest": parse_minitest,
    "parse_log_cucumber": parse_cucumber,
    "parse_log_ruby_unit": line_parser(
        r"^\s*(?:test: )?(?P<name>.+):\s+(?P<word>\.|E\b|F\b|O\b)",
        {".": PASSED, "E": FAILED, "F": FAILED, "O": SKIPPED},
    ),
    "parse_log_rspec_transformed_json": line_parser(
        r"(?P<name>.+) - (?P<word>passed|failed)", {"passed": PASSED, "failed": FAILED}
    ),
    "parse_log_cargo": line_parser(
        r"^test\s+(?P<name>\S+)\s+\.\.\.\s+(?P<word>\w+)$", {"ok": PASSED, "FAILED": FAILED}
    ),
}
