"""Laws of the BFCL rule that hold for any output, not only for those on record."""

import copy
import json
from typing import Any

from hypothesis import example, given
from hypothesis import strategies as st

from proctor_benchmarks.bfcl import java_values, javascript_values, lenient, metrics
from proctor_benchmarks.bfcl.calls import Undecodable
from proctor_benchmarks.bfcl.checker import CheckerResult, CheckerRules, check
from proctor_benchmarks.bfcl.compare import fault_of, standard
from proctor_benchmarks.bfcl.declared_types import TYPES, Language, language_of
from proctor_benchmarks.bfcl.decode import Mode, decode

CATEGORIES = (
    "simple_python",
    "simple_java",
    "simple_javascript",
    "multiple",
    "parallel",
    "irrelevance",
    "live_relevance",
)
TYPED = {
    "simple_java": ("long", {"type": "Array", "items": {"type": "String"}}, "HashMap"),
    "simple_javascript": ("float", {"type": "array", "items": {"type": "integer"}}, "dict"),
}
PYTHON_TYPES = ("integer", {"type": "array", "items": {"type": "float"}}, "dict")

WORDS = """[ ] ( ) { } < > , . : ; = + - * ** % / ' " ` f g.h x y z 1 2.5 10L true null None not lambda new int[]
Arrays.asList ArrayList<> HashMap<>() put("a", {{ }} await // # => é 😀"""
pieces = st.sampled_from([*WORDS.split(), "\\", "\n", "\t", "\ud800", "\0"])
texts = st.one_of(st.text(), st.lists(pieces, max_size=30).map("".join), st.lists(pieces, max_size=30).map(" ".join))
values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | texts,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=3), inner, max_size=3),
    max_leaves=8,
)
arguments = st.dictionaries(st.sampled_from(["x", "y", "z", "w"]), values, max_size=4)
native_calls = st.lists(
    st.dictionaries(st.sampled_from(["f", "g_h", "g.h"]), arguments.map(json.dumps) | texts, max_size=2), max_size=3
)
numbers = st.integers(-3, 3)


def functions(category: str) -> list[dict[str, Any]]:
    kinds = dict(zip("xyz", TYPED.get(category, PYTHON_TYPES), strict=True))
    properties = {name: kind if isinstance(kind, dict) else {"type": kind} for name, kind in kinds.items()}
    return [{"name": name, "parameters": {"properties": properties, "required": ["x"]}} for name in ("f", "g.h")]


ANSWERS: list[dict[str, dict[str, list[Any]]]] = [{"f": {"x": [1, "x"], "y": [[1.0], ""], "z": [{"a": [1, ""]}, ""]}}]


def judged(category: str, output: Any, mode: Mode) -> CheckerResult:
    result = check(functions(category), ANSWERS, category, output, mode=mode, underscores=mode == "native")
    rules = CheckerRules(language_of(category), mode == "native")
    found = metrics.details(functions(category), ANSWERS, category, result, rules)
    assert all(0 <= found.get(name, 0) <= 1 for name in ("parameter_accuracy", "precision", "recall", "f1"))
    assert result.valid or (result.error_type and found["error_class"] and str(result.reason))
    if result.calls and "relevance" not in category:
        assert lenient.lenient(functions(category), result.calls, ANSWERS, rules) >= result.valid
    return result


@given(st.sampled_from(CATEGORIES), texts | values)
@example("simple_python", "[f(x='\\d')]")
@example("simple_java", "A.b(x=1")
def test_any_text_is_judged_the_same_twice(category: str, output: Any) -> None:
    before = copy.deepcopy(output)
    assert judged(category, output, "prompt").error_type == judged(category, output, "prompt").error_type
    assert repr(output) == repr(before)


@given(st.sampled_from(CATEGORIES), native_calls | values)
def test_any_native_output_is_judged(category: str, output: Any) -> None:
    judged(category, output, "native")


@given(texts, st.sampled_from(["python", "java", "javascript"]))
def test_decoding_gives_calls_or_says_why_not(text: str, language: Language) -> None:
    try:
        calls = decode(text, "prompt", language)
    except Undecodable as raised:
        reason = str(raised.reason)
        calls = []
    else:
        reason = "calls"
    assert reason
    assert all(len(call) == 1 and all(isinstance(given, dict) for given in call.values()) for call in calls)


@given(texts, st.sampled_from(sorted(TYPES["java"])), st.sampled_from([None, "integer", "String", "any"]))
def test_java_text_that_does_not_fit_stays_text(text: str, declared: str, element: str | None) -> None:
    try:
        found = java_values.convert(text, declared, element)
    except NotImplementedError:
        return
    assert type(found) is TYPES["java"][declared] or found == text


@given(texts, st.sampled_from(sorted(TYPES["javascript"])), st.sampled_from([None, "integer", "String", "any"]))
def test_javascript_text_that_does_not_fit_stays_text(text: str, declared: str, element: str | None) -> None:
    found = javascript_values.convert(text, declared, element)
    assert type(found) is TYPES["javascript"][declared] or found in (text, text.strip())


@given(st.dictionaries(st.sampled_from(["x", "y", "z"]), numbers, min_size=1), st.randoms(use_true_random=False))
def test_the_right_call_passes_in_any_order_of_its_parameters(given: dict[str, int], random: Any) -> None:
    document = {
        "name": "f",
        "parameters": {"properties": {name: {"type": "integer"} for name in given}, "required": []},
    }
    answers = [{"f": {name: [value] for name, value in given.items()}}]
    shuffled = list(given.items())
    random.shuffle(shuffled)
    text = f"[f({', '.join(f'{name}={value}' for name, value in shuffled)})]"
    assert check([document], answers, "simple_python", text, mode="prompt", underscores=False).valid
    native = [{"f": json.dumps(dict(shuffled))}]
    assert check([document], answers, "multiple", native, mode="native", underscores=True).valid


@given(st.lists(numbers, min_size=1, max_size=5), st.randoms(use_true_random=False))
def test_exact_parallel_calls_pass_in_any_order(wanted: list[int], random: Any) -> None:
    document = {"name": "f", "parameters": {"properties": {"x": {"type": "integer"}}, "required": ["x"]}}
    answers = [{"f": {"x": [value]}} for value in wanted]
    made = list(wanted)
    random.shuffle(made)
    output = [{"f": json.dumps({"x": value})} for value in made]
    assert check([document], answers, "parallel", output, mode="native", underscores=True).valid
    assert not check([document], answers, "parallel", output[1:], mode="native", underscores=True).valid


@given(values)
def test_a_value_of_the_declared_type_is_allowed_by_itself(value: Any) -> None:
    if isinstance(value, str | bool | int) or value is None:
        kind = str if value is None else type(value)
        assert fault_of(value, [value], kind, None) is None


@given(st.text())
def test_standardising_twice_changes_nothing(text: str) -> None:
    once = standard(text)
    assert standard(once) == once or not text.isascii()  # a letter may have a longer lower case
    assert not set(once) & set(" ,./-_*^'")


@given(texts)
def test_whether_there_is_a_call_has_one_answer(text: str) -> None:
    unwanted = check([], None, "irrelevance", text, mode="prompt", underscores=False)
    wanted = check([], None, "live_relevance", text, mode="prompt", underscores=False)
    assert unwanted.valid is not wanted.valid
