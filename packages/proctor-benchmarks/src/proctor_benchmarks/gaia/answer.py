"""Find the final answer in a reply; the official scorer leaves that to the harness."""

import re
from typing import Literal

Fallback = Literal["none", "markers", "last_line"]

FINAL = re.compile(r"final\s{1,5}answer[*_`\s]{0,8}[:：][*_` \t]{0,8}", re.IGNORECASE)
OTHER_MARKERS = re.compile(r"(?:最终答案|答案|answer)[*_`\s]{0,8}[:：][*_` \t]{0,8}", re.IGNORECASE)
TEMPLATE = re.compile(r"\[?\s*your\s+final\s+answer\s*\]?\.?", re.IGNORECASE)
BRACKETS = {"[": "]", "(": ")", "{": "}", "<": ">", "【": "】"}
EMPHASIS = "*_`"


def final_answer(reply: str, *, fallback: Fallback = "none") -> str | None:
    """Return the text after the last `FINAL ANSWER:`, on its line or the next one that is not empty; None without one.

    `fallback` may accept other markers (`答案：`, `Answer:`), or then the last line that is no heading.

    >>> final_answer("I think.\\n**FINAL ANSWER:** [17]"), final_answer("It is 17.")
    ('17', None)
    >>> final_answer("It is 17.", fallback="last_line")
    'It is 17.'
    """
    answer = _behind_last(FINAL, reply)
    if answer is None and fallback != "none":
        answer = _behind_last(OTHER_MARKERS, reply)
    if answer is None and fallback == "last_line":
        lines = [line.strip() for line in reply.splitlines()]
        answer = next((line for line in reversed(lines) if line and not line.startswith("#")), None)
    return answer


def _behind_last(marker: re.Pattern[str], reply: str) -> str | None:
    for match in reversed(list(marker.finditer(reply))):
        line = next((line.strip() for line in reply[match.end() :].splitlines() if line.strip()), "")
        if TEMPLATE.fullmatch(line):
            continue  # an echo of the instruction
        return _bare(line)
    return None


def _bare(line: str) -> str:
    text = line.strip(EMPHASIS).strip() if line[:1] in EMPHASIS or line[-1:] in EMPHASIS else line
    closing = BRACKETS.get(text[:1])
    if closing is not None and text.endswith(closing) and _encloses_all(text, text[0], closing):
        return text[1:-1].strip()
    return text


def _encloses_all(text: str, opening: str, closing: str) -> bool:
    depth = 0
    for index, char in enumerate(text):
        depth += (char == opening) - (char == closing)
        if depth == 0:
            return index == len(text) - 1
    return False
