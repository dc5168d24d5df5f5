"""Split mathematics, LaTeX or plain, into the tokens that `syntax.py` parses."""

import re

from proctor_judging.matching.patterns import compile_later
from proctor_judging.matching.tree import NotMathematics

MOST_TOKENS = 8_000
LONGEST_NUMBER = 1_000
FUNCTION_NAMES = (
    "sin cos tan cot sec csc arcsin arccos arctan asin acos atan sinh cosh tanh ln log lg exp sqrt abs floor ceil max min "
    "gcd lcm"
)
FUNCTIONS = frozenset(FUNCTION_NAMES.split())
GREEK_NAMES = (
    "alpha beta gamma delta epsilon varepsilon zeta eta theta vartheta kappa lambda mu nu xi rho sigma tau phi varphi chi "
    "psi omega Gamma Delta Theta Lambda Xi Sigma Phi Psi Omega"
)
GREEK = frozenset(GREEK_NAMES.split())
GREEK_LETTERS = {"α": "alpha", "β": "beta", "γ": "gamma", "δ": "delta", "θ": "theta", "λ": "lambda", "μ": "mu"}
GREEK_LETTERS |= {"σ": "sigma", "φ": "phi", "ω": "omega", "Δ": "Delta", "ρ": "rho", "τ": "tau", "ε": "epsilon"}
SIGNS = {
    **dict.fromkeys(("cdot", "times", "ast", "×", "·", "∗", "⋅"), "*"),
    **dict.fromkeys(("div", "÷", "∶"), "/"),
    **dict.fromkeys(("leq", "le", "leqslant", "≤", "⩽"), "<="),
    **dict.fromkeys(("geq", "ge", "geqslant", "≥", "⩾"), ">="),
    **dict.fromkeys(("neq", "ne", "≠"), "!="),
    **dict.fromkeys(("lt",), "<"),
    **dict.fromkeys(("gt",), ">"),
    **dict.fromkeys(("pm", "±"), "±"),
    **dict.fromkeys(("cup", "∪"), "∪"),
    **dict.fromkeys(("in", "∈"), "∈"),
    **dict.fromkeys(("infty", "infin", "∞"), "∞"),
    **dict.fromkeys(("emptyset", "varnothing", "∅"), "∅"),
    **dict.fromkeys(("pi", "π"), "π"),
    **dict.fromkeys(("circ", "degree", "°"), "°"),
    **dict.fromkeys(("lbrace",), "{"),
    **dict.fromkeys(("rbrace",), "}"),
    **dict.fromkeys(("vert", "lvert", "rvert", "mid"), "|"),
    "√": "sqrt",
    "或": "or",
}
SPELLINGS = {"**": "^", "==": "=", "+/-": "±"}
WITHOUT_MEANING = "left right big Big bigl bigr displaystyle limits quad qquad , ; ! : ~"
IGNORED = frozenset(WITHOUT_MEANING.split()) | {" "}
TOKEN = compile_later(
    r"(?P<number>\d+(?:,\d{3}(?!\d))*(?:\.\d+)?|\.\d+)|(?P<command>\\(?:[a-zA-Z]+|.))|(?P<name>[a-zA-Z]+)"
    r"|(?P<sign>\*\*|<=|>=|!=|==|\+/-|\S)|(?P<blank>\s+)",
    re.DOTALL,
)
SPELLED = (("dfrac", "frac"), ("tfrac", "frac"), ("cfrac", "frac"), ("dbinom", "binom"), ("tbinom", "binom"))
CHOOSE = compile_later(r"(?<![A-Za-z\\])C(?:\(\s?(\d{1,3})\s?,\s?(\d{1,3})\s?\)|_\{?(\d{1,3})\}?\^\{?(\d{1,3})\}?)")
LEADING_ZERO = compile_later(r"0\d")
ENUMERATIONS = (("(", ")"), ("[", "]"), ("\\{", "\\}"))


def tokens_of(text: str) -> list[str]:
    """Return the tokens of a text, each in one spelling.

    Raises:
        NotMathematics: it holds words, codes such as H2O, or too much of everything.

    >>> tokens_of(r"\\sqrt{2}\\cdot x"), tokens_of("2πr")
    (['sqrt', '{', '2', '}', '*', 'x'], ['2', 'π', 'r'])
    """
    for plain, latex in SPELLED:
        text = text.replace("\\" + plain, "\\" + latex)
    text = CHOOSE.sub(r"\\binom{\1\3}{\2\4}", text)
    tokens: list[str] = []
    strong = re.search(r"[\^=+*(\\√π<>]", text) is not None
    blank = False
    for match in TOKEN.finditer(text):
        kind, mark = match.lastgroup, match[0]
        if kind == "blank":
            blank = True
            continue
        if kind == "number":
            if len(mark) > LONGEST_NUMBER or LEADING_ZERO.match(mark):  # with a zero in front it is a date or a code
                raise NotMathematics
            if tokens and tokens[-1][-1:].isdigit() and tokens[-2:-1] != ["_"]:  # `4 2`
                raise NotMathematics
            if (
                tokens
                and not blank
                and tokens[-1].isalpha()
                and tokens[-1].isascii()
                and tokens[-1] not in FUNCTIONS | {"e"}
            ):
                raise NotMathematics  # H2O, B12
            tokens.extend(re.split("(,)", mark) if "," in mark and _enumerates(tokens) else [mark.replace(",", "")])
        elif kind == "command":
            tokens.extend(_command(mark))
        elif kind == "name":
            tokens.extend(_names(mark, strong=strong))
        else:
            mark = GREEK_LETTERS.get(mark) or SIGNS.get(mark) or SPELLINGS.get(mark, mark)
            if not mark.isascii() and mark not in "±π∞∪∈∅°":
                raise NotMathematics
            tokens.append(mark)
        if len(tokens) > MOST_TOKENS:
            raise NotMathematics
        blank = False
    return tokens


def _enumerates(tokens: list[str]) -> bool:
    """True if a comma here parts elements: inside round, square or set brackets it is no thousands mark."""
    return any(tokens.count(opening) > tokens.count(closing) for opening, closing in ENUMERATIONS) or tokens[:1] == [
        "{"
    ]


def _command(mark: str) -> list[str]:
    name = mark[1:]
    if name in IGNORED:
        return []
    if name in ("frac", "binom", "{", "}"):
        return ["\\" + name]
    if name in ("|", "%"):
        return [name]
    if name in SIGNS:
        return [SIGNS[name]]
    if name in FUNCTIONS or name in GREEK:
        return [name]
    raise NotMathematics


def _names(mark: str, *, strong: bool) -> list[str]:
    if mark in FUNCTIONS or mark in GREEK or mark in ("or", "and"):
        return [mark]
    if mark == "pi":
        return ["π"]
    if mark in ("inf", "infinity"):
        return ["∞"]
    if len(mark) > (2 if strong else 1):
        raise NotMathematics  # a word
    return list(mark)
