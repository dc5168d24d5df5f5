"""Show a hostile text: Markdown without links, pictures and HTML, with its mathematics as MathML.

Nothing of a text is hidden, and nothing in it is fetched, followed or run: what is not plain Markdown is shown as it was
written. LaTeX becomes MathML here, so that the page needs neither a script nor a connection for it.
"""

import re
import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from functools import cache
from html import escape
from typing import TYPE_CHECKING, NamedTuple

from proctor.runtime.visible import visible

if TYPE_CHECKING:
    from markdown_it import MarkdownIt
    from markupsafe import Markup
    from math_core import LatexToMathML

MOST_CHARACTERS = 100_000
MOST_FORMULA_CHARACTERS = 5_000  # 3,000 levels deep need 8 MB of stack
STACK_BYTES = 64 << 20
TAGS = {
    "p", "br", "hr", "em", "strong", "s", "code", "pre", "blockquote", "ul", "ol", "li",
    "h1", "h2", "h3", "h4", "h5", "h6", "table", "thead", "tbody", "tr", "th", "td",
}  # fmt: skip
CLOSED_BY = {"$$": "$$", "\\[": "\\]", "\\(": "\\)", "$": "$"}
ENVIRONMENTS = "align|aligned|alignat|gather|gathered|equation|eqnarray|multline|split|cases|array|matrix|[bBpvV]matrix|smallmatrix"
OPENS = re.compile(
    rf"(?P<code>^ {{0,3}}(?:```+|~~~+)|`+)|(?P<escaped>\\[\\$])|(?P<display>\$\$|\\\[)|(?P<inline>\\\(|\$)"
    rf"|\\begin\{{(?P<name>(?:{ENVIRONMENTS})\*?)\}}",
    re.MULTILINE,
)
DEFINES = re.compile(r"\\(?:[gex]?def|let|global|(?:re)?newcommand|providecommand)(?![A-Za-z])")  # they multiply
MATH_IN_TEXT = re.compile(r"(\\(?:text|mbox|textrm)\{[^{}$]*)\$([^{}$]+)\$")
SAME = (  # what the converter lacks, and what says the same
    *[(MATH_IN_TEXT, r"\1} \2 \\text{")] * 3,
    (re.compile(r"\\(begin|end)\{(?:split|multlined)\}"), r"\\\1{aligned}"),
    (re.compile(r"\\begin\{alignat(\*?)\}\{\d+\}"), r"\\begin{align\1}"),
    (re.compile(r"\\end\{alignat(\*?)\}"), r"\\end{align\1}"),
)
MACROS = {
    "substack": r"\begin{matrix}#1\end{matrix}",
    "lcm": r"\operatorname{lcm}",
    "smallsetminus": r"\setminus",
    "centerdot": r"\cdot",
    "emph": r"\textit{#1}",
    "textsc": r"\text{#1}",
    "mbox": r"\text{#1}",
    "pmb": r"\boldsymbol{#1}",
    "arc": r"\overset{\frown}{#1}",
    "tag": r"\quad(\text{#1})",
    "label": "",
    "hfill": r"\quad",
    "sout": r"\cancel{#1}",
}
PLACE = re.compile("(<br>\\s*)?\ue000([0-9]+)\ue001(\\s*<br>)?")
PRIVATE = re.compile("[\ue000\ue001]")

MATH_TAGS = {
    "math", "mrow", "mi", "mn", "mo", "mtext", "mspace", "msup", "msub", "msubsup", "mfrac", "msqrt", "mroot", "mover",
    "munder", "munderover", "mtable", "mtr", "mtd", "mstyle", "mpadded", "mphantom", "merror", "menclose", "mmultiscripts",
    "mprescripts", "b", "i", "span",
}  # fmt: skip
MATH_ATTRIBUTES = {"*": {
    "display", "displaystyle", "scriptlevel", "mathvariant", "stretchy", "symmetric", "fence", "separator", "lspace", "rspace",
    "minsize", "maxsize", "largeop", "movablelimits", "form", "accent", "accentunder", "linethickness", "width", "height",
    "depth", "voffset", "columnspan", "rowspan", "notation",
}}  # fmt: skip
CLASS_BY_STYLE = {  # the content policy lets no style stand in the page
    "text-align: right": "right",
    "text-align: left": "left",
    "padding-left: 0": "close-left",
    "padding-right: 0": "close-right",
    "padding-left:1em": "wide-left",
    "width: 100%": "whole",
    "width: 50%": "half",
    "border-right: 0.05em solid currentcolor": "line-right",
    "border-left: 0.05em solid currentcolor": "line-left",
    "border-top: 0.05em solid currentcolor": "line-top",
    "border-bottom: 0.05em solid currentcolor": "line-bottom",
}
STYLE = re.compile(r' style="([^"<>]*)"')
MATH_CLASSES = {tag: set(CLASS_BY_STYLE.values()) for tag in MATH_TAGS}


class Formula(NamedTuple):
    """A formula: its source, its LaTeX, and whether it is on a line of its own."""

    written: str
    latex: str
    display: bool


def show(text: str) -> "Markup":
    """Return the text as HTML for a page."""
    from markupsafe import Markup
    from nh3 import clean

    cut = visible(PRIVATE.sub("�", text[:MOST_CHARACTERS]))
    formulas: list[Formula] = []

    def keep(formula: Formula) -> str:
        formulas.append(formula)
        return f"\ue000{len(formulas) - 1}\ue001"

    marked = "".join(piece if isinstance(piece, str) else keep(piece) for piece in pieces(cut))
    html = clean(_markdown().render(marked), tags=TAGS, attributes={}, link_rel=None)
    shown = _converter().submit(lambda: [mathml(formula) for formula in formulas]).result()

    def put(found: re.Match[str]) -> str:
        before, number, after = found.groups("")
        if formulas[int(number)].display:  # it makes lines of its own
            return shown[int(number)]
        return f"{before}{shown[int(number)]}{after}"

    done = PLACE.sub(put, html)
    rest = f"<p>… (+{len(text) - MOST_CHARACTERS:,})</p>" if len(text) > MOST_CHARACTERS else ""
    return Markup(done + rest)  # noqa: S704 - cleaned, and MathML of known tags


def pieces(text: str) -> Iterator[str | Formula]:
    """Separate the mathematics from a text; code stays text, and so does a dollar sign before an amount.

    >>> [*pieces("Half is $\\\\frac12$, or $5 and $6.")]
    ['Half is ', Formula(written='$\\\\frac12$', latex='\\\\frac12', display=False), ', or ', '$', '5 and ', '$', '6.']
    """
    never_closed: set[str] = set()
    at = 0
    while (match := OPENS.search(text, at)) is not None:
        if match.start() > at:
            yield text[at : match.start()]
        end = _end_of(text, match, never_closed)
        if end is None:
            yield match[0]
            at = match.end()
        elif match.lastgroup in ("code", "escaped"):
            yield text[match.start() : end]
            at = end
        else:
            yield _formula(text[match.start() : end], match)
            at = end
    if at < len(text):
        yield text[at:]


def _end_of(text: str, found: re.Match[str], never_closed: set[str]) -> int | None:
    """Return where a formula or code ends, None if it does not. A closing mark that was not found once is not looked for again."""
    mark = found[0].lstrip(" ")
    if found.lastgroup == "escaped":
        return found.end()
    if found["code"] is None and mark == "$":
        return _end_of_dollars(text, found.end())
    closing = f"\\end{{{found['name']}}}" if found["name"] else CLOSED_BY.get(mark, mark)
    if closing in never_closed:
        return None
    at = text.find(closing, found.end())
    if at < 0:
        never_closed.add(closing)
        return None
    return at + len(closing)


def _end_of_dollars(text: str, start: int) -> int | None:
    """Find the closing dollar as Pandoc does: no space inside the dollars, no digit after them, no empty line between them."""
    if start >= len(text) or text[start].isspace():
        return None
    limit = min(len(text), start + MOST_FORMULA_CHARACTERS)
    at = start
    while at < limit:
        character = text[at]
        if character == "\\":
            at += 2
            continue
        if character == "$":
            good = at > start and not text[at - 1].isspace() and not text[at + 1 : at + 2].isdigit()
            return at + 1 if good else None
        if character == "\n" and text[at + 1 : at + 2] in ("\n", ""):
            return None
        at += 1
    return None


def _formula(written: str, found: re.Match[str]) -> Formula:
    if found["name"]:
        return Formula(written, written, True)
    size = len(found[0])
    return Formula(written, written[size:-size].strip(), found["display"] is not None)


@cache
def _markdown() -> "MarkdownIt":
    """Return a Markdown parser that drops nothing: no links, pictures, references, HTML or entities."""
    from markdown_it import MarkdownIt

    made = MarkdownIt("commonmark", {"html": False, "breaks": True, "maxNesting": 20})
    made.enable(["table", "strikethrough"])
    made.disable(["link", "image", "autolink", "reference", "html_block", "html_inline", "entity", "code"])
    return made


@cache
def _converter() -> ThreadPoolExecutor:
    """Start a thread with a stack that formulas of the allowed length cannot overflow, however deep they nest."""
    pool = ThreadPoolExecutor(1, thread_name_prefix="proctor-latex")
    before = threading.stack_size(STACK_BYTES)
    try:
        pool.submit(_latex).result()
    finally:
        threading.stack_size(before)
    return pool


@cache
def _latex() -> "LatexToMathML":
    from math_core import LatexToMathML

    return LatexToMathML(fancy_error=False, allow_unreliable_rendering=True, macros=MACROS)


def mathml(formula: Formula) -> str:
    """Return the formula as MathML, or its source if it cannot be read."""
    from math_core import LatexError
    from nh3 import clean

    if len(formula.latex) <= MOST_FORMULA_CHARACTERS and not DEFINES.search(formula.latex):
        latex = formula.latex
        for pattern, same in SAME:
            latex = pattern.sub(same, latex)
        try:
            written = _latex().convert_with_local_state(latex, displaystyle=formula.display)
        except LatexError:
            pass
        else:
            written = STYLE.sub(_as_classes, written)
            return clean(written, tags=MATH_TAGS, attributes=MATH_ATTRIBUTES, allowed_classes=MATH_CLASSES)
    return f'<code class="latex">{escape(formula.written)}</code>'


def _as_classes(style: re.Match[str]) -> str:
    parts = (part.strip() for part in style[1].split(";"))
    names = " ".join(CLASS_BY_STYLE[part] for part in parts if part in CLASS_BY_STYLE)
    return f' class="{names}"' if names else ""
