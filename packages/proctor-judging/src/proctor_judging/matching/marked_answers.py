"""Find what a reply marks as its answer, by a box or an announcement, and bring its characters into one form."""

import re

_FULL_WIDTH = {code: code - 0xFEE0 for code in range(0xFF01, 0xFF5F)} | {0x3000: 0x20}
_THOUGHT = "</think>"
_BOX = re.compile(r"\\(?:boxed|fbox)\s{0,3}\{")
_COMMAND = re.compile(r"\\(?:text|textbf|mathrm|mathbf|rm|bf)\s?\{?|[{}$]")
_ANNOUNCED = re.compile(
    r"(?:答案|结论|(?i:\b(?:answers?|conclusion)))(?:[*_`\s]{0,4}(?:应该是|应为|应是|就是|是|为|(?i:\b(?:is|are)\b))[*_`\s]{0,4}[:]?|[*_`\s]{0,4}:)"
)


def half_width(text: str) -> str:
    """Return the text with full-width letters, digits and punctuation as the usual ones.

    >>> half_width("Ａ：１")
    'A:1'
    """
    return text.translate(_FULL_WIDTH)


def without_thoughts(reply: str) -> str:
    """Return a reply in half-width characters, without the thoughts that precede it."""
    return half_width(reply.rpartition(_THOUGHT)[2]).strip()


def last_boxed(text: str) -> str | None:
    r"""Return the content of the last `\boxed{…}`; None without one.

    >>> last_boxed(r"So \boxed{\text{AC}}."), last_boxed("none")
    ('AC', None)
    """
    openings = list(_BOX.finditer(text))
    if not openings:
        return None
    start = openings[-1].end()
    depth = 1
    for index, character in enumerate(text[start:], start):
        depth += (character == "{") - (character == "}")
        if depth == 0:
            return _COMMAND.sub("", text[start:index]).strip()
    return None


def last_announced(text: str) -> str | None:
    """Return what follows the last `答案是`, `答案：`, `Answer:` or `the answer is`; None without one."""
    matches = list(_ANNOUNCED.finditer(text))
    return text[matches[-1].end() :].strip() if matches else None
