"""Find the final answer in a longer reply."""

import re

from proctor_judging.matching.patterns import compile_later

TAIL = 50_000  # characters at the end of a reply that are looked at
SHORT = 300  # a reply up to this length is an answer as a whole
THOUGHT = "</think>"
MARKER = compile_later(
    r"(?:final\s{1,5}(?:answer|result|output)|\banswer)[*_`\s]{0,5}(?:is\b|was\b|[:=：])[*_`\s:：]{0,8}"
    r"|(?:^|\n)[*_`\s]{0,5}(?:result|ans|output|solution|conclusion)[*_`\s]{0,5}[.:=：][*_`\s:：]{0,8}|(?:^|\n)####\s{0,3}(?=[-+$\d])"
    r"|(?:^|\n)#{1,4}\s(?:final\s)?(?:answer|答案)[*_:：]{0,4}\s{0,3}\n\s{0,3}|(?:答案|结果|结论)[*_`\s]{0,5}(?:应该是|应为|应是|就是|是|为|[:：])[*_`\s:：]{0,8}|<answer>\s{0,8}"
    r"|\b(?:that|this|which)\s(?:makes|leaves)\s(?:the\s)?answer\s|\bthe one you(?:['’]re| are)\s(?:after|looking for|thinking of)\sis\s"
    r"|^\s{0,8}\{\s{0,8}\"(?:final_?)?answer\"\s{0,8}:\s{0,8}",
    re.IGNORECASE,
)
DOUBTED = compile_later(
    r"\b(?:whether|wrong|incorrect|intuitive|instinctive|tempting|na[iï]ve|gut|doubt|asked|asks?|claims?|claimed|said|says|thought|if|n['’]t (?:say|think|believe|mean)|"
    r"not (?:say|think|true|mean|believe|(?:\w+ )?(?:sure|certain))|unsure|might|maybe|perhaps|possibly|"
    r"(?:many|most|some|others|people|everyone|they)(?: people)? (?:might |may |would |often )?(?:say|think|believe|assume|guess))\b(?:(?!\b(?:so|therefore|thus|hence|but|however|yet)\b)[^.!?。！？\n]){0,80}$|(?:是否|不认为|并不是说|怀疑|有人说|以为|直觉)(?:(?!所以|因此)[^。！？\n]){0,40}$",
    re.IGNORECASE,
)
CLOSING = compile_later(r"\s*</answer>.*|\s*\}\s*$", re.DOTALL | re.IGNORECASE)
BOXED = "\\boxed{"
BOXES_TRIED = 3
TEMPLATE = compile_later(r"\[?\s*your\s+(?:final\s+)?answer\s*\]?\.?", re.IGNORECASE)
PAIRED_EMPHASIS = compile_later(r"\*\*(?=\S)([^*\n]{1,200}?)(?<=\S)\*\*")
LOOSE_EMPHASIS = compile_later(r"\s*(?:\*\*|__|`)\s*[.。]?\s*$")


def final_answer(reply: str) -> str | None:
    r"""Return the answer after the last marker (`final answer is …`, `答案是…`, `\boxed{…}`); all of a short reply without one.

    None when a long reply has no marker, because any choice would be a guess.

    >>> final_answer("So **the answer is** 17.\n"), final_answer("因此，答案是：北京。"), final_answer("Paris")
    ('17.', '北京。', 'Paris')
    >>> print(final_answer(r"$$\boxed{\frac{1}{2}}$$"))
    \frac{1}{2}
    """
    tail = reply[-TAIL:].rpartition(THOUGHT)[2]
    boxed_at, boxed = _boxed(tail)
    for match in reversed(list(MARKER.finditer(tail))):
        if match.end() <= boxed_at:
            break  # the box came later
        if DOUBTED.search(tail[max(0, match.start() - 120) : match.start()]):
            continue
        line = next((line.strip() for line in tail[match.end() :].splitlines() if line.strip()), "")
        if match[0].lstrip()[:1] in ("<", "{"):
            line = CLOSING.sub("", line).strip('" ')
        if line and not TEMPLATE.fullmatch(line):
            unpaired = line.count("**") % 2 or line.count("`") % 2
            return LOOSE_EMPHASIS.sub("", line) if unpaired else PAIRED_EMPHASIS.sub(r"\1", line)
    if boxed is not None:
        return boxed
    text = tail.strip()
    return text if len(text) <= SHORT and len(reply) <= TAIL else None


def _boxed(text: str) -> tuple[int, str | None]:
    """Return the place and content of the last balanced `\\boxed{…}`."""
    end = len(text)
    for _ in range(BOXES_TRIED):
        at = text.rfind(BOXED, 0, end)
        if at < 0:
            break
        depth = 0
        for index in range(at + len(BOXED) - 1, len(text)):
            depth += (text[index] == "{") - (text[index] == "}")
            if depth == 0:
                return at, text[at + len(BOXED) : index].strip()
        end = at
    return -1, None
