"""What holds when a value in a JSON text is changed: it says what was wanted, and everything else is as it was written."""

import json
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from proctor_adapters.evalsets.json_edit import rewrite

SCALARS = (
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(max_size=6)
)
KEYS = st.sampled_from(["a", "b", "eval_id", "参数"]) | st.text(max_size=3)
VALUES = st.recursive(
    SCALARS, lambda inner: st.lists(inner, max_size=4) | st.dictionaries(KEYS, inner, max_size=4), max_leaves=12
)
LAYOUTS: list[dict[str, Any]] = [
    {"indent": 2, "ensure_ascii": False}, {"indent": 4}, {"indent": "\t"}, {}, {"separators": (",", ":")}, {"indent": 0},
]  # fmt: skip
LAYOUT = st.sampled_from(LAYOUTS)


def _said(value: object) -> str:
    return json.dumps(value, sort_keys=True)


@settings(max_examples=300)
@given(old=VALUES, new=VALUES, layout=LAYOUT, windows=st.booleans())
def test_the_text_says_what_was_wanted_and_is_itself_when_nothing_was(
    old: object, new: object, layout: dict[str, Any], windows: bool
) -> None:
    text = json.dumps(old, **layout)
    text = text.replace("\n", "\r\n") if windows else text
    assert rewrite(text, old) == text
    assert _said(json.loads(rewrite(text, new))) == _said(new)


@given(old=st.lists(VALUES, min_size=2, max_size=5), chosen=st.data(), layout=LAYOUT)
def test_an_element_that_is_moved_or_removed_takes_its_lines_with_it(
    old: list[object], chosen: st.DataObject, layout: dict[str, Any]
) -> None:
    text = json.dumps(old, **layout)
    index = chosen.draw(st.integers(0, len(old) - 1))
    rest = old[:index] + old[index + 1 :]
    assert rewrite(text, rest) == json.dumps(rest, **layout)
    to = chosen.draw(st.integers(0, len(rest)))
    moved = [*rest[:to], old[index], *rest[to:]]
    assert rewrite(text, moved) == json.dumps(moved, **layout)


@given(old=st.dictionaries(KEYS, VALUES, min_size=1, max_size=5), added=VALUES, layout=LAYOUT)
def test_a_new_member_is_written_like_the_others(old: dict[str, object], added: object, layout: dict[str, Any]) -> None:
    new = {**old, "new key": added}
    text = json.dumps(old, **layout)
    if text.isascii() and "\\u" not in text:  # then nothing says how other characters are written
        layout = {**layout, "ensure_ascii": False}
    try:
        wanted = json.dumps(new, **layout)
        wanted.encode()
    except UnicodeEncodeError:
        return
    got = rewrite(text, new)
    assert _said(json.loads(got)) == _said(new)
    if layout.get("indent") != 0 and not isinstance(added, (str, dict, list)):
        assert got == wanted


NUMBERS = """{
  "scores": [1.50, 1e3, 100000000000000000000000, -0.0, 1e400],
  "plan": {"b": 2, "a": 1},   "twice": 1, "twice": 2,
  "eval_cases": [
    {"eval_id": "a", "weight": 0.10},
    {"eval_id": "b", "weight": 2E-1}
  ]
}
"""


def test_numbers_keep_their_form_and_keys_their_order() -> None:
    value = json.loads(NUMBERS)
    value["plan"]["a"] = 3
    value["eval_cases"].insert(0, {"eval_id": "new"})
    value["eval_cases"].append({**value["eval_cases"][2], "eval_id": "copy of b"})
    assert rewrite(NUMBERS, value) == NUMBERS.replace('"a": 1}', '"a": 3}').replace(
        '    {"eval_id": "a", "weight": 0.10},\n    {"eval_id": "b", "weight": 2E-1}\n',
        '    {\n      "eval_id": "new"\n    },\n    {"eval_id": "a", "weight": 0.10},\n    {"eval_id": "b", "weight": 2E-1},\n'
        '    {"eval_id": "copy of b", "weight": 2E-1}\n',
    )
