"""Find what a Chinese clause has where its question has the interrogative: `鄱阳湖` of `最大的淡水湖是鄱阳湖`."""

import re
from collections.abc import Sequence

from proctor_judging.matching.asked import QuestionForm
from proctor_judging.matching.contradictions import contradicts
from proctor_judging.matching.patterns import compile_later
from proctor_judging.matching.sentences import GUESS, OTHERS_SAY
from proctor_judging.matching.text import negations, tidy

HAN_GAP = compile_later(
    r"什么(?:样的?|[类种])?|哪(?:里|儿|[一两]?[个座条种类位家颗本部首项支国年月天款])?|谁|多少|几|何(?=[时地处])"
)
MEASURED = compile_later(r"[个座条种类位家颗本部首项支国款]$")  # its noun follows
HAN_FILLER = compile_later(r"^(?:了|着|过|的?是|为|指的是|叫做?|由|在|至|到|每年|主要是?)+")
HAN_DENIED = compile_later(r"(?:并|绝|也)?(?:不(?:是|在|为|会|能|属|用|叫|应)|没|未|非|无法)")
HAN_END = compile_later(r"[，。；！,;!]")
SHORTEST_ANCHOR = 4
LONGEST_HAN = 24


def new_han_words(sentences: Sequence[str], asked: QuestionForm) -> tuple[str, ...]:
    """Return what a Chinese clause has in the place of the interrogative of its question, also without the words after it; () unless the words before are those of the question.

    >>> from proctor_judging.matching.asked import read_asked
    >>> new_han_words(["绿茶属于不发酵茶"], read_asked("绿茶属于哪一类茶？"))
    ('不发酵茶',)
    >>> new_han_words(["绿茶不属于红茶"], read_asked("绿茶属于哪一类茶？"))
    ()
    """
    question = tidy(asked.clause).strip(" ？?。")
    gap = HAN_GAP.search(question)
    if gap is None or "是否" in question or len(sentences) != 1:
        return ()
    left = re.sub(r"(?:是|为|指的?是|叫|的)+$", "", question[: gap.start()])
    clause = HAN_END.split(sentences[0])[0]
    left = next((left[cut:] for cut in range(SHORTEST_ANCHOR + 1) if left[cut:] and left[cut:] in clause), "")
    at = clause.find(left)
    if (
        len(left) < SHORTEST_ANCHOR
        or at < 0
        or at > SHORTEST_ANCHOR
        or GUESS.search(clause)
        or OTHERS_SAY.search(clause)
        or contradicts(clause, asked.clause)
    ):
        return ()
    rest = HAN_FILLER.sub("", clause[at + len(left) :])
    denied = negations(clause[:at] + clause[at + len(left) : len(clause) - len(rest)]) or HAN_DENIED.match(rest)
    if denied or HAN_GAP.search(rest):
        return ()
    following = question[gap.end() + 2 * (MEASURED.search(gap[0]) is not None) :]
    ends = [
        at
        for at in range(1, len(rest) - 1)
        if rest[at : at + 2] in following and rest[at + 2 : at + 3] not in ("家", "者")
    ]
    forms = (rest, rest[: ends[0]]) if ends else (rest,)
    return forms if 0 < len(rest) <= LONGEST_HAN else ()
