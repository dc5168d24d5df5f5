"""Laws of the reader of replies: correct JSON comes back equal; what models write wrongly comes back equal or is refused."""

import json
import re
from collections.abc import Callable
from contextlib import suppress
from random import Random
from typing import Any

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from proctor_judging.replies.latex_commands import COMMANDS as KNOWN
from proctor_judging.replies.loose_json import Unreadable, read

COMMANDS = [
    *(r"\frac{a}{b}", r"\beta", r"\theta", r"\times", r"\nabla", r"\rho", r"\left( x \right)", r"\underline{x}"),
    *(
        r"\binom{n}{k}",
        r"\text{ cm}",
        r"\neq",
        r"\forall",
        r"\bar{x}",
        r"\tan",
        r"\to",
        r"\nu",
        r"\rangle",
        r"\uparrow",
    ),
    *(r"\sqrt{2}", r"\alpha", r"\{1,2\}", r"\,", r"x\;y", r"\(x\)", r"\[x=1\]", r"50\%", r"\ni", r"\ne", r"\notin"),
    *(r"\bmod 7", r"\flat", r"\natural", r"\upsilon", r"\tilde{y}", r"\top", r"\mid", r"\nmid", r"\pi", r"\tau"),
    r"\begin{cases} a \\ b \end{cases}",
    r"\begin{pmatrix}1&2\\3&4\end{pmatrix}",
    r"\begin{aligned}x&=1\\[2pt]y&=2\end{aligned}",
]
WORDS = [
    "Let",
    "Find",
    "the value",
    "of",
    "x",
    "n",
    "12",
    "= 3",
    ".",
    '"quoted"',
    "it's",
    "设",
    "求值。",
    "a/b",
    "<b>",
    "{",
    "[1]",
    "//",
]
pieces = st.one_of(
    st.sampled_from(WORDS),
    st.sampled_from(COMMANDS).map("${}$".format),
    st.sampled_from(COMMANDS).map("$x {} y$".format),
    st.sampled_from(COMMANDS),
)
gaps = st.sampled_from([" ", " ", " \n", "\n", "\n\n"])
problems = st.lists(st.tuples(pieces, gaps).map("".join), min_size=1, max_size=8).map("".join)
LIKE_A_COMMAND = re.compile(
    "[\b\f\r][A-Za-z]|[\n\t](?:{})(?![A-Za-z])|\\\\[A-Za-z\\[\\\\]".format(
        "|".join(sorted(name[1:] for name in KNOWN if name[0] in "nt" and len(name) > 1))
    )
)
texts = st.text().filter(lambda text: LIKE_A_COMMAND.search(text) is None)
plain = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-(10**30), 10**30)
    | st.floats(allow_nan=False, allow_infinity=False)
    | texts,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(texts, inner, max_size=3),
    max_leaves=8,
)


def raw(text: str, draw: Random) -> str:
    """Quotes and line breaks as JSON wants them, backslashes as they are."""
    return text.replace('"', '\\"').replace("\n", "\\n")


def half(text: str, draw: Random) -> str:
    """Every backslash doubled or not, by chance."""
    doubled = "".join(sign * draw.choice((1, 2)) if sign == "\\" else sign for sign in text)
    return raw(doubled, draw)


def half_of_the_commands(text: str, draw: Random) -> str:
    """All backslashes in a row doubled or not, by chance."""
    return raw(re.sub(r"\\+", lambda found: found[0] * draw.choice((1, 2)), text), draw)


def twice(text: str, draw: Random) -> str:
    """Every backslash four times."""
    return raw(text.replace("\\", "\\" * 4), draw)


WRONG = [raw, half, half_of_the_commands, twice]
FRAMES: list[Callable[[str], str]] = [
    str,
    "```json\n{}\n```".format,
    "Sure, here it is:\n```JSON\n{}\n```\nI hope it helps.".format,
    "答案如下：{}".format,
]


@pytest.mark.parametrize("encode", WRONG, ids=[encode.__name__ for encode in WRONG])
@settings(max_examples=60)
@given(problem=problems, solution=problems, frame=st.sampled_from(FRAMES), chance=st.integers(0, 2**32))
@example(problem="$x\\ne 0$", solution="1", frame=str, chance=0)
@example(problem="\\nu", solution="\\frac12", frame=str, chance=1)
def test_what_is_encoded_wrongly_is_never_silently_altered(
    encode: Callable[[str, Random], str], problem: str, solution: str, frame: Callable[[str], str], chance: int
) -> None:
    draw = Random(chance)
    reply = f'{{"problem": "{encode(problem, draw)}", "answer": 5, "solution": "{encode(solution, draw)}",}}'
    try:
        found = read(frame(reply))
    except Unreadable:
        return
    assert found == {"problem": problem, "answer": 5, "solution": solution}


@settings(max_examples=100)
@given(problem=problems, frame=st.sampled_from(FRAMES), ascii_only=st.booleans(), indent=st.sampled_from([None, 2]))
def test_a_problem_that_is_encoded_rightly_comes_back_equal(
    problem: str, frame: Callable[[str], str], ascii_only: bool, indent: int | None
) -> None:
    reply = json.dumps({"problem": problem, "answer": 5}, ensure_ascii=ascii_only, indent=indent)
    assert read(frame(reply)) == {"problem": problem, "answer": 5}


@settings(max_examples=100)
@given(value=plain, ascii_only=st.booleans())
def test_any_json_without_what_looks_like_a_command_comes_back_equal(value: Any, ascii_only: bool) -> None:
    assert read(json.dumps({"value": value}, ensure_ascii=ascii_only)) == {"value": value}


@pytest.mark.parametrize(
    "text",
    [
        "Let $x\\neq 0$.\nFind\n\nnot, the\n\tthen right\nnumber",
        "col\ttotal\ttext",
        r"C:\new\table",
        r"the class [^\n]+ of signs",
        'print("a\\n")\nto = 3',
        "\"Hello,\nworld\" and 'so\non'",
        "def f(x):\n\treturn x\n",
        "Q:\n5\n\nA:\nNo.",
        r"\\server\share",
    ],
)
@pytest.mark.parametrize("literal_lines", [False, True])
def test_correct_json_with_lines_paths_and_programs_comes_back_equal(text: str, literal_lines: bool) -> None:
    reply = json.dumps({"text": text})
    if literal_lines:
        reply = re.sub(r"(?<!\\)\\([nt])", lambda found: {"n": "\n", "t": "\t"}[found[1]], reply)
    assert read(reply) == {"text": text}


@pytest.mark.parametrize(
    "reply",
    [
        r'{"a": "1.\tan apple"}',
        r'{"a": "$$\n\tan x\n$$\tunder"}',
        r'{"a": "$x\not\equiv 1$\tt hen"}',
        r'{"a": "$5 and\tr it costs $7"}',
        r'{"code": "print(\"a\n\")\nx = 1"}',
        r"""{'code': 'f(\'a\n\')\nx = 1'}""",
        r'{"code": "s = \"a\tb\"\nreturn s"}',
        r'{"a": "Sum.\\nfind the rest, it is 5"}',
        r'{"a": "Sum.\\n\\nFind \"x\""}',
        r'{"a": "^\\\\s*\\\\w+$"}',
        r"""{"a": "print('x\\\\n')"}""",
    ],
)
def test_what_may_be_a_tab_a_line_or_a_backslash_is_refused(reply: str) -> None:
    with pytest.raises(Unreadable, match="two ways"):
        read(reply)


@pytest.mark.parametrize("command", [r"\tan x = 1", r"x \to 0", r"\tau"])
def test_a_command_that_is_no_word_behind_a_tab_is_read_beside_others(command: str) -> None:
    assert read(f'{{"a": "As $\\frac12$, {command}"}}') == {"a": rf"As $\frac12$, {command}"}


@pytest.mark.parametrize("text", ["\rA", "\fChapter", "\bR"])
def test_a_control_sign_before_a_word_is_refused_because_it_may_be_a_command(text: str) -> None:
    with pytest.raises(Unreadable, match="two ways"):
        read(json.dumps({"value": text}))


@given(problem=problems)
def test_python_writes_what_is_read(problem: str) -> None:
    assert read(repr({"problem": problem, "is_hard": True, "hint": None})) == {
        "problem": problem,
        "is_hard": True,
        "hint": None,
    }


@settings(max_examples=100)
@given(text=st.text() | st.text(alphabet="{}[]\",:\\/nurtbf' \n0a“”：*", max_size=40))
def test_any_text_is_read_or_refused(text: str) -> None:
    with suppress(Unreadable):
        read(text)


@settings(max_examples=100)
@given(value=st.dictionaries(st.text(min_size=1, max_size=5), texts, min_size=1, max_size=3), cut=st.data())
def test_a_reply_that_is_cut_off_never_alters_a_value(value: dict[str, str], cut: st.DataObject) -> None:
    whole = json.dumps(value, ensure_ascii=False)
    try:
        found = read(whole[: cut.draw(st.integers(1, len(whole) - 1))])
    except Unreadable:
        return
    assert found.items() <= value.items()
