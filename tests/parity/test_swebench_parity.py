"""Every recorded grading of swebench and every recorded reward of Harbor is ours too."""

import json
from pathlib import Path

import pytest

from proctor.core.errors import BadInput
from proctor_benchmarks.harbor.parity import check_corpus as check_rewards
from proctor_benchmarks.swebench.grading import PARSER_NAMES, grade
from proctor_benchmarks.swebench.instance import SweInstance
from proctor_benchmarks.swebench.parity import check_corpus as check_grading

DATA = Path(__file__).parents[1] / "data"


def test_every_recorded_grading_agrees() -> None:
    lines = list(check_grading(DATA / "swebench_grading.jsonl.gz"))
    assert len(lines) == 800
    assert [f"{line.id}: official {line.official}, ours {line.ours}" for line in lines if not line.agrees] == []


def test_every_recorded_reward_and_screen_agrees() -> None:
    lines = list(check_rewards(DATA / "harbor_rewards.jsonl.gz"))
    assert len(lines) == 293
    assert [f"{line.id}: official {line.official}, ours {line.ours}" for line in lines if not line.agrees] == []


def test_all_parsers_of_the_official_registry_are_known() -> None:
    assert len(PARSER_NAMES) == 57


def instance(parser: str, **changes: object) -> SweInstance:
    base = {"instance_id": "a__b-1", "log_parser": parser, "eval_type": "pass_and_fail", "fail_to_pass": ("t",), "pass_to_pass": ()}  # fmt: skip
    return SweInstance(**{**base, **changes})  # type: ignore[arg-type]  # from a table


def log(*lines: str, code: int = 0) -> str:
    return "\n".join((">>>>> Start Test Output", *lines, ">>>>> End Test Output", f">>>>> Test Exit Code: {code}"))


@pytest.mark.parametrize(
    ("parser", "lines", "statuses"),
    [
        ("parse_log_maven", ["mvn -Dtest=A", "mvn -Dtest=B", "[INFO] BUILD SUCCESS", "BUILD FAILURE"], {"A": "PASSED", "B": "FAILED"}),
        ("parse_log_gradle_custom", ["a.B > works", "warning", "PASSED"], {"a.B > works": "PASSED"}),
        ("parse_log_p5js", ["  1) draws", "       a line:", "     Error"], {"draws:a line": "FAILED"}),
        ("parse_log_quarto_cli", ["[smoke] x /tmp/ab.qmd ... \x1b[32mok"], {"[smoke] x /tmp/0": "PASSED"}),
        ("parse_log_next", [" xvfb-run x", "Starting browser Chrome", "  Menu", "    ✓ opens", "TOTAL"], {"Menu - opens": "PASSED"}),
        ("parse_log_ruby_unit", ["test: adds: .", "test: fails: F"], {"adds": "PASSED", "fails": "FAILED"}),
        ("parse_log_doctest", ["<doctest><TestCase name='a'><SubCase name='b'><Expression success='true'/></SubCase></TestCase></doctest>"], {"a > b": "PASSED"}),
    ],
)  # fmt: skip
def test_runners_outside_of_the_corpus_are_read(parser: str, lines: list[str], statuses: dict[str, str]) -> None:
    assert grade(instance(parser), log(*lines)).status_by_test == statuses


def test_a_runner_that_failed_without_a_failed_test_tells_nothing() -> None:
    assert grade(instance("parse_log_pytest"), log("PASSED t", code=0)).resolved
    assert not grade(instance("parse_log_pytest"), log("PASSED t", code=1)).found


def test_a_parser_that_fails_as_the_official_one_is_recorded_as_raising(tmp_path: Path) -> None:
    text = log("Starting browser", "    one", "   two", "  three")
    line = {"id": "x", "log_parser": "parse_log_karma", "eval_type": "pass_and_fail", "FAIL_TO_PASS": [], "PASS_TO_PASS": [], "log": text, "raises": "IndexError"}  # fmt: skip
    corpus = tmp_path / "corpus.jsonl"
    corpus.write_text(json.dumps(line), encoding="utf-8")
    assert [checked.agrees for checked in check_grading(corpus)] == [True]


def test_a_line_that_cannot_be_read_is_named(tmp_path: Path) -> None:
    corpus = tmp_path / "corpus.jsonl"
    corpus.write_text('{"id": "x", "kind": "harbor_reward"}\n', encoding="utf-8")
    with pytest.raises(BadInput, match="line 1"):
        list(check_rewards(corpus))
