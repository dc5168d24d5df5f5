"""The policy of a gate: what it may say, and where it is wrong."""

from pathlib import Path

import pytest

from proctor.core.errors import BadInput
from proctor_ci.policy import MOST_BYTES, default_policy, parse_policy, read_policy

GOOD = """
error = 0.025
against = "release"

[[rule]]
metric = "accuracy"
at_least = 0.85

[[rule]]  # each language
metric = "accuracy"
each = "language"
not_worse_by = 0.05
error = 0.1

[[rule]]
metric = "latency"
quantile = 0.95
at_most = 20
"""


def test_a_policy_is_read_with_the_lines_of_its_rules(tmp_path: Path) -> None:
    path = tmp_path / "gate.toml"
    path.write_text(GOOD)
    policy = read_policy(path)
    assert (policy.against, policy.error) == ("release", 0.025)
    assert [(rule.kind, rule.bound, rule.line) for rule in policy.rules] == [
        ("at_least", 0.85, 5),
        ("not_worse_by", 0.05, 9),
        ("at_most", 20, 15),
    ]
    assert [policy.error_of(rule) for rule in policy.rules] == [0.025, 0.1, 0.025]
    assert policy.digest


def test_two_looks_share_the_error_of_a_rule_and_one_has_all_of_it() -> None:
    twice = parse_policy(f"looks = 2\n{GOOD}".encode(), "gate.toml")
    for policy in (twice, default_policy()):
        for rule in policy.rules:
            whole = policy.error if rule.error is None else rule.error
            first, second = policy.error_of(rule, is_last=False), policy.error_of(rule, look=1)
            assert first + second == pytest.approx(whole)
            assert first > second > 0
            assert policy.error_of(rule, is_last=True) == whole  # no sample is left for a second look
    with pytest.raises(BadInput, match="'looks' is 1 or 2"):
        parse_policy(f"looks = 3\n{GOOD}".encode(), "gate.toml")


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("erorr = 0.1", "gate.toml:1 has no option 'erorr'. Did you mean 'error'?"),
        (
            "[[rule]]\nmetric = 'a'\nat_lest = 0.5",
            "gate.toml:3 has no option 'at_lest'. Did you mean 'at_least', 'at_most'?",
        ),
        ("[[rule]]\nmetric = 'a'\nline = 5\nat_least = 0.5", "gate.toml:3 has no option 'line'."),
        ("[[rule]]\nmetric = 'a'", "gate.toml:1: a rule takes one of"),
        ("[[rule]]\nmetric = 'a'\nat_least = 0.5\nat_most = 0.6", "gate.toml:1: a rule takes one of"),
        ("[[rule]]\nmetric = 'a'\nat_least = nan", "gate.toml:3: 'at_least' cannot be nan."),
        ("[[rule]]\nmetric = 'a'\nat_least = true", "gate.toml:3: 'at_least' cannot be True."),
        ("[[rule]]\nmetric = 'a'\nat_least = 'much'", "gate.toml:1: "),
        ("[[rule]]\nmetric = ' '\nat_least = 0.5", "'metric' is empty."),
        ("[[rule]]\nmetric = 'a'\nat_least = -0.5", "a threshold of 'a' cannot be -0.5."),
        ("[[rule]]\nmetric = 'failed'\nat_most = 5", "a threshold of 'failed' cannot be 5.0."),
        ("[[rule]]\nmetric = 'failed'\nat_least = 0.5", "less failed is better, so it takes 'at_most'."),
        ("[[rule]]\nmetric = 'a'\nnot_worse_by = 0", "the margin of 'not_worse_by' is above 0"),
        ("[[rule]]\nmetric = 'a'\nnot_worse_by = 5", "the margin of 'not_worse_by' is above 0 and at most 1"),
        ("[[rule]]\nmetric = 'a'\nbetter_by = 1.0", "the margin of 'better_by' is 0 or more"),
        ("[[rule]]\nmetric = 'a'\nquantile = 0.5\nat_least = 0.5", "'quantile' lies between 0 and 1, and is for"),
        ("[[rule]]\nmetric = 'a'\nslice = 'zh'\nat_least = 0.5", "a slice is written as key=value, not 'zh'."),
        ("[[rule]]\nmetric = 'a'\nslice = 'l=zh'\neach = 'l'\nat_least = 0.5", "'slice' and 'each' contradict"),
        ("[[rule]]\nmetric = 'a'\nerror = 0.7\nat_least = 0.5", "'error' lies between 0 and 0.5, as 0.05; it is 0.7."),
        ("error = 0\n[[rule]]\nmetric = 'a'\nat_least = 0.5", "'error' lies between 0 and 0.5, as 0.05; it is 0."),
        ("", "gate.toml has 0 rules; it takes 1 to 200."),
        ("[rule]\nmetric = 'a'", "a rule begins with [[rule]]."),
        ("rule = 5", "a rule begins with [[rule]]."),
        ("[[rule]\n", "gate.toml is no valid TOML"),
        ("\n".join(["[[rule]]\nmetric = 'a'\nat_least = 0.5"] * 2), "gate.toml:4: the rule of line 1 says the same"),
        (
            "[[rule]]\nmetric = 'a'\nat_least = 0.5\n[[rule]]\nmetric = 'a'\nat_most = 0.4",
            "gate.toml:4: 'a' cannot be at least 0.5 and at most 0.4.",
        ),
    ],
)
def test_what_is_wrong_is_told_with_its_line(text: str, told: str) -> None:
    with pytest.raises(BadInput) as caught:
        parse_policy(text.encode(), "gate.toml")
    assert told in str(caught.value)


@pytest.mark.parametrize("data", [b"\xff\xfe", b"x" * (MOST_BYTES + 1), b"a = " + b"[" * 100_000])
def test_hostile_files_are_refused(data: bytes) -> None:
    with pytest.raises(BadInput):
        parse_policy(data, "gate.toml")


def test_a_file_that_is_not_there_is_told(tmp_path: Path) -> None:
    with pytest.raises(BadInput, match="cannot be read"):
        read_policy(tmp_path / "gate.toml")
