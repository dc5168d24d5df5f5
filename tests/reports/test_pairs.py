from hypothesis import given
from hypothesis import strategies as st

from proctor.core.sample import ToolCall
from proctor.reports.pairs import ShownCall, calls_in, pairs, value_text


def test_a_call_with_unreadable_arguments_shows_them_as_they_came() -> None:
    assert calls_in([ToolCall.from_text("f", "[1")]) == (ShownCall("f", {"": ('"[1"',)}),)


def test_a_list_that_was_made_is_one_value_and_not_alternatives() -> None:
    assert calls_in([{"f": {"x": [1]}}]) == (ShownCall("f", {"x": ("[1]",)}),)


def test_calls_by_name_and_arguments_are_known() -> None:
    assert calls_in([{"name": "f", "args": {"x": 1}}, {"name": "g"}]) == (
        ShownCall("f", {"x": ("1",)}),
        ShownCall("g", {}),
    )


def test_what_is_no_list_of_calls_is_left_alone() -> None:
    for value in (None, [], "f(x=1)", 3, [1], [{"a": 1, "b": 2}], [{"f": 1}], {"f": {"x": 1}}):
        assert calls_in(value) is None


def test_calls_in_another_order_stand_beside_their_own_kind() -> None:
    expected = calls_in([{"play": {"artist": ["Bach"]}}, {"play": {"artist": ["Brahms"]}}], allowed=True) or ()
    made = calls_in([{"play": {"artist": "Brahms"}}]) or ()
    first, second = pairs(expected, made)
    assert (first.made, first.marked) == (None, True)
    assert (second.made, second.marked, second.rows[0].made) == ("play", False, '"Brahms"')


def test_only_the_parameter_the_scorer_names_is_marked() -> None:
    expected = calls_in([{"f": {"x": [1], "y": [2]}}], allowed=True) or ()
    made = calls_in([{"f": {"x": 1, "y": 3, "z": 4}}]) or ()
    (pair,) = pairs(expected, made, function="f", parameter="y")
    assert [(row.parameter, row.expected, row.made, row.marked) for row in pair.rows] == [
        ("x", "1", "1", False),
        ("y", "2", "3", True),
        ("z", None, "4", False),
    ]


def test_of_several_calls_only_the_wrong_one_has_its_parameter_marked() -> None:
    expected = calls_in(
        [{"f": {"x": [1], "y": [2]}}, {"f": {"x": [3], "y": [4]}}, {"f": {"x": [5], "y": [6]}}], allowed=True
    )
    made = calls_in([{"f": {"x": 5, "y": 6}}, {"f": {"x": 1, "y": 2}}, {"f": {"x": 3, "y": 9}}])
    found = pairs(expected or (), made or (), function="f", parameter="y")
    assert [[row.marked for row in pair.rows] for pair in found] == [[False, False], [False, True], [False, False]]


def test_calls_stand_together_so_that_most_is_alike() -> None:
    expected = calls_in([{"f": {"x": [1, 2], "y": [1]}}, {"f": {"x": [1], "y": [2]}}], allowed=True) or ()
    made = calls_in([{"f": {"x": 1, "y": 2}}, {"f": {"x": 2, "y": 1}}]) or ()
    assert [[row.made for row in pair.rows] for pair in pairs(expected, made)] == [["2", "1"], ["1", "2"]]


def test_a_call_of_another_function_is_marked() -> None:
    (pair,) = pairs((ShownCall("f", {}),), (ShownCall("g", {}),))
    assert (pair.expected, pair.made, pair.marked) == ("f", "g", True)


def test_a_value_that_cannot_be_written_has_its_type() -> None:
    loop: list[object] = []
    loop.append(loop)
    assert value_text(loop) == "<list>"
    assert len(value_text("a" * 5_000)) < 1_100


calls = st.lists(
    st.builds(
        ShownCall, st.sampled_from("fg"), st.dictionaries(st.sampled_from("xy"), st.tuples(st.sampled_from("12")))
    ),
    max_size=5,
)


@given(expected=calls, made=calls)
def test_every_call_is_shown_once_on_its_side(expected: list[ShownCall], made: list[ShownCall]) -> None:
    found = pairs(expected, made)
    assert [pair.expected for pair in found if pair.expected] == [call.name for call in expected]
    assert sorted(pair.made for pair in found if pair.made) == sorted(call.name for call in made)
