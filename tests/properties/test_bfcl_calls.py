"""Calls that are parsed come out as those that the official code hands to `eval`, whatever the order and the arguments."""

import sys
from collections.abc import Sequence
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from proctor_benchmarks.bfcl import dataset, dataset_turns, worker_program
from proctor_benchmarks.bfcl.environment import described
from proctor_benchmarks.bfcl.turns import sample_of

FOLDER = dataset.locate()
SAMPLES = [
    described(sample_of(entry, "multi_turn_base"))
    for entry in dataset_turns.read(FOLDER, "multi_turn_base").entries[::9]
]
WORDS = [
    "final_report.pdf",
    "document",
    "temp",
    "AAPL",
    "USR001",
    "sort(x)",
    "LDL (bad)",
    "ls  (x",
    "a'b\"c",
    "漢",
    "\\n",
    "",
    ".",
    "engage",
    "START",
]

literals = st.recursive(
    st.sampled_from(WORDS) | st.integers(-3, 10**6) | st.floats(allow_nan=True) | st.booleans() | st.none(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from(WORDS), inner, max_size=2),
    max_leaves=4,
)
odd_calls = st.sampled_from(
    [
        "nope(x=1)", "len(x=[1])", "kill(x=1)", "a.run(x=1)", "cd(folder=pwd())", "cd(folder=nope(x=1))", "cd(None={})",
        "cd(folder='a', folder='b')", "cd(folder='a'", "cd('document')", " pwd()", "\tpwd()", "pwd() x", "pwd()()", "x.y.pwd()",
        "GorillaFileSystem.pwd()", "cd(folder=-1)", "cd(folder=-inf)", "cd(folder=-'a')", "cd(folder=1+2j)", "cd(folder={'a': (1, 2)})", "cd(folder={1, 2})", "pwd(1)",
        "max([1, 2])", "dict(a=1)", "str(object='x')", "sum([1, 2])", "cd (folder='document')", "",
    ]
)  # fmt: skip


@st.composite
def sequences(draw: st.DrawFn) -> tuple[dict[str, Any], list[str]]:
    sample = draw(st.sampled_from(SAMPLES))
    documents = dataset_turns.documents(FOLDER, sample["classes"], {}).offered
    answers = [call for turn in sample["answers"] for call in turn]

    def call(document: dict[str, Any]) -> st.SearchStrategy[str]:
        names = [*document["parameters"]["properties"], "other"]
        given_names = st.lists(st.sampled_from(names), unique=True, max_size=3)
        return given_names.flatmap(
            lambda chosen: st.lists(literals, min_size=len(chosen), max_size=len(chosen)).map(
                lambda values: _written(document["name"], chosen, values)
            )
        )

    calls = st.sampled_from(documents).flatmap(call) | st.sampled_from(answers) | odd_calls
    return sample, draw(st.lists(calls, min_size=1, max_size=8))


def _written(name: str, names: Sequence[str], values: Sequence[object]) -> str:
    return f"{name}({', '.join(f'{key}={value!r}' for key, value in zip(names, values, strict=True))})"


@pytest.fixture(scope="module", autouse=True)
def official_classes() -> Any:
    sys.path.insert(0, str(FOLDER.parents[1]))
    yield
    sys.path.remove(str(FOLDER.parents[1]))
    for name in [name for name in sys.modules if name.partition(".")[0] == "bfcl_eval"]:
        del sys.modules[name]  # or a later test takes it for an installed package


@settings(max_examples=120, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(sequences())
def test_parsed_calls_come_out_as_evaluated_ones(case: tuple[dict[str, Any], list[str]]) -> None:
    sample, calls = case
    parsed, evaluated = worker_program.begin(sample), worker_program.begin(sample, exact=True)
    assert parsed.run(calls) == evaluated.run(calls)
    assert parsed.state() == evaluated.state()


@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(sequences())
def test_the_verdict_is_that_of_evaluated_calls(case: tuple[dict[str, Any], list[str]]) -> None:
    sample, calls = case
    steps = [[list(turn)] if turn else [] for turn in sample["answers"]]
    steps[-1] = [*steps[-1], calls]
    assert worker_program.check(sample, steps) == worker_program.check(sample, steps, exact=True)
