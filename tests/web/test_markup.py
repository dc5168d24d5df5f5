"""What a hostile text becomes on a page: nothing runs, nothing is fetched, nothing is hidden; mathematics is MathML."""

import re
import time

import pytest
import review_data
from hypothesis import given
from hypothesis import strategies as st

from proctor_web.markup import MATH_TAGS, TAGS, show

ALLOWED = TAGS | MATH_TAGS


def tags_of(html: str) -> list[tuple[str, str]]:
    return re.findall(r"<([a-zA-Z!/?][^\s>/]*)([^>]*)", html)


def is_harmless(html: str) -> bool:
    """Only known tags, and of attributes only those of mathematics and our classes."""
    return all(
        name.lstrip("/") in ALLOWED and not re.search(r"(?:^|\s)(?:on\w+|src|srcdoc|href|style|xlink)\s*=", attributes)
        for name, attributes in tags_of(html)
    )


@pytest.mark.parametrize(
    ("latex", "shown"),
    [
        (r"$\frac{1}{2}$", "<math><mfrac><mn>1</mn><mn>2</mn></mfrac></math>"),
        (r"\(x^2\)", "<math><msup><mi>x</mi><mn>2</mn></msup></math>"),
        (r"\[ a \le b \]", '<math display="block"><mi>a</mi><mo>≤</mo><mi>b</mi></math>'),
        ("$$\nx\n- y\n= z\n$$", '<math display="block"><mi>x</mi><mo>−</mo><mi>y</mi><mo>=</mo><mi>z</mi></math>'),
    ],
)
def test_mathematics_becomes_mathml(latex: str, shown: str) -> None:
    assert shown in show(f"Find {latex} now.")


@pytest.mark.parametrize(
    "latex",
    [
        r"\begin{align} a &= b \\ &= c \end{align}", r"\begin{align*} a &= b \end{align*}", r"\begin{cases} 1 & x \\ 2 & y \end{cases}",
        r"\begin{pmatrix} 1 & 2 \end{pmatrix}", r"\begin{alignat}{2} a &= b \end{alignat}", r"\[ \begin{split} a &= b \end{split} \]",
        r"$\binom{n}{k} \equiv 1 \pmod{1000}$", r"$\left\lfloor \frac{x}{2} \right\rfloor$", r"$\overline{AB} \parallel \overline{CD}$",
        r"$\angle ABC = 90^\circ$", r"$\boxed{204}$", r"$\text{if $x$ is odd, and $y$ too}$", r"$\sum_{\substack{i<n \\ j<n}} ij$",
        r"$\textbf{(A)}\ \tfrac12 \qquad \textbf{(B)}\ 2$", r"$\operatorname{lcm}(a,b) \bmod 7$", r"$\widehat{ABC}, \vec v, \hat x, \sqrt[3]{x}$",
        r"$\cancel{x} \ne \emptyset \setminus \varnothing \implies \ldots$", r"$\mathbb{Z} \mathcal{P} \mathfrak{S} \mathscr{A}$",
        r"\[ x = 1 \tag{3} \]", "$\\text{若} x > 0$", r"\begin{array}{c|c} a & b \\ \hline c & d \end{array}",
    ],
)  # fmt: skip
def test_the_latex_of_competitions_is_understood(latex: str) -> None:
    html = show(latex)
    assert "<math" in html
    assert 'class="latex"' not in html
    assert is_harmless(html)


@pytest.mark.parametrize(
    "text",
    ["It costs $5 and $6.", "$ 5 $", "a $5-$10 range", r"\$x\$", "100$", "$", "$$", r"\[ never closed", "$a\n\nb$"],
)
def test_money_and_what_is_never_closed_stays_text(text: str) -> None:
    html = show(text)
    assert "<math" not in html
    assert "$" in html or "[" in html


@pytest.mark.parametrize(
    "text", ["`$x$`", "``a ` $x$``", "```\n$x$ \\[y\\]\n```", "~~~python\ncost = '$5' + '$6'\n~~~"]
)
def test_mathematics_in_code_stays_code(text: str) -> None:
    html = show(text)
    assert "<math" not in html
    assert "<code>" in html


@pytest.mark.parametrize(
    "latex",
    [
        r"\frac{1}",
        "{",
        r"\left(",
        r"\begin{align}x\end{align",
        r"\unknown{x}",
        r"\def\a{\a\a}\a",
        r"\newcommand{\a}{\b}",
    ],
)
def test_what_cannot_be_read_is_shown_as_it_was_written(latex: str) -> None:
    assert latex in show(f"${latex}$")


def test_a_hostile_text_is_shown_and_harmless() -> None:
    html = show(review_data.HOSTILE)
    assert is_harmless(html)
    for seen in ("&lt;script&gt;", "onerror=", "javascript:", "![picture]", "[r]: https://evil.example/r"):
        assert seen in html


@pytest.mark.parametrize(
    "text",
    [
        '<div style="position:fixed">', "<!-- hidden -->", "&lt;script&gt;", "&#x202e;", "<?php ?>", "<![CDATA[x]]>", "</p></div><script>",
        '[a]: javascript:x\n[a]', "![a][b]\n\n[b]: http://x/y.png", "<http://x>", '``` " onload=x\ncode\n```', "~~~<b>\nx\n~~~", "|a|b|\n|:-|-:|\n|<b>|$x$|",
        "\ue000 0\ue001 \ue0000\ue001 $x$", '[$x$](http://a "$y$")', "# <b>\n> <i>", r"$\text{</mtext></math><script>}$", r'$\text{" onload="x}$', "$<b>$", "$&lt;b&gt;$",
        r"$\class{x}{y}\style{z}{w}\href{a}{b}\unicode{60}$", r"$\color{red}{x}$", r"$\char60$",
    ],
)  # fmt: skip
def test_tricks_are_harmless(text: str) -> None:
    html = show(text)
    assert is_harmless(html), html
    assert "javascript:" not in "".join(attributes for _, attributes in tags_of(html))


PIECES = [
    *"<>&\"'`$\\[](){}!#*_~|-=/:\n ab1",
    "\ue000",
    "\ue001",
    "\\frac",
    "\\text{",
    "$$",
    "\\[",
    "\\]",
    "<script>",
    "onload=",
]


@given(st.lists(st.sampled_from(PIECES), max_size=60).map("".join))
def test_no_text_becomes_anything_but_known_tags(text: str) -> None:
    assert is_harmless(show(text))


@pytest.mark.parametrize(
    "text",
    [
        "$" + "{" * 4_990 + "$", "$$" + r"\sqrt " * 800 + "x$$", "$$" + "x^{" * 1_600 + "}" * 100 + "$$", r"\[" + r"\frac1" * 800 + r"1\]",
        "$$" + r"\left(" * 500 + r"\right)" * 200 + "$$", "$$" + r"\begin{matrix}" * 180 + r"\end{matrix}" * 150 + "$$", "$$" + "{" * 2_400 + "}" * 2_400 + "$$",
        "$" * 100_000, "\\[" * 50_000, "`" * 99_999, "[](" * 30_000, "*_" * 40_000, "> " * 50_000, "- " * 50_000, "\\begin{align}" * 7_000, "$a$ " * 25_000, "(" * 300_000,
    ],
)  # fmt: skip
def test_a_text_made_to_exhaust_is_shown_in_a_moment(text: str) -> None:
    began = time.process_time()
    assert is_harmless(show(text)[:100_000].rpartition("<")[0])
    assert time.process_time() - began < 20  # a few tenths; a backtracking pattern would take hours


def test_a_very_long_text_is_cut_and_says_so() -> None:
    assert show("x" * 100_500).endswith("<p>… (+500)</p>")


def test_line_breaks_stay_and_display_formulas_bring_none() -> None:
    assert show("a\nb") == "<p>a<br>\nb</p>\n"
    assert "<br>" not in show("a\n\\[x\\]\nb")
