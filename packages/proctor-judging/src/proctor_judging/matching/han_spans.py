"""The spans of a Chinese reply that may be what it claims, and the features by which a fitted model chooses among them.

Nothing here knows a target. No span comes from a question, from a guess and what follows it, from what others say, or from what is denied.
"""

from proctor_judging.matching.contradictions import contradicts, says_opposite
from proctor_judging.matching.han_answers import EARLIER
from proctor_judging.matching.han_atoms import pairs_of_borders
from proctor_judging.matching.han_span_features import features_left, features_right, features_whole, is_denied
from proctor_judging.matching.han_span_question import SpanQuestion, read_span_question
from proctor_judging.matching.han_span_sentences import ReplyLayout, read_layout, without_names
from proctor_judging.matching.patterns import compile_later
from proctor_judging.matching.span_model import ReplySpan
from proctor_judging.matching.text import negations

MOST_SPANS = 400
BOUND = compile_later(
    r"小于|大于|低于|高于|少于|多于|不到|不足|不超过|超过|至少|至多|最多|最少|以上|以下|之间|[\d年月日号点][之以][前后]|(?:便宜|贵|[涨跌升降多少]|[增减][加少])了?(?=\d)|比.{1,12}[多少大小高低长短重轻快慢贵便早晚]"
)


def read_han_spans(reply: str, question: str, *, only_sure: bool = False) -> list[ReplySpan]:
    """Return the spans that a Chinese reply may claim; none for a question for yes or no, or a reply that says nothing for certain.

    Args:
        reply: the reply.
        question: what was asked.
        only_sure: take none from clauses that deny, compare, give a bound or are about something else.

    >>> [span.text for span in read_han_spans("是贝尔。", "谁发明了电话？")]
    ['是', '是贝尔', '贝尔']
    >>> read_han_spans("可能是贝尔。", "谁发明了电话？")
    []
    """
    asked = read_span_question(question)
    if asked is None:
        return []
    layout = read_layout(reply, asked)
    spans = [
        span
        for index in range(len(layout.sentences))
        for span in _of_sentence(index, layout, asked, only_sure=only_sure)
    ]
    return spans[:MOST_SPANS]


def _of_sentence(index: int, layout: ReplyLayout, asked: SpanQuestion, *, only_sure: bool) -> list[ReplySpan]:
    sentence = layout.sentences[index]
    silent = [
        clause.is_silent
        or says_opposite(said := sentence.text[clause.start : clause.end], asked.clause)
        or (only_sure and _is_unsure(said, asked))
        for clause in sentence.clauses
    ]
    left: dict[int, tuple[str, ...]] = {}
    right: dict[int, tuple[str, ...]] = {}
    spans = []
    for first, last in pairs_of_borders(sentence.atoms, sentence.borders):
        if silent[sentence.clause_of[first]] or silent[sentence.clause_of[last]]:
            continue
        if not asked.denied and is_denied(first, sentence):
            continue
        if first not in left:
            left[first] = features_left(first, sentence, index, layout, asked)
        if last not in right:
            right[last] = features_right(last, sentence, asked)
        whole = features_whole(first, last, sentence, index, layout, asked)
        text = sentence.text[sentence.atoms[first].start : sentence.atoms[last].end]
        spans.append(ReplySpan(text, (*sentence.cues, *left[first], *right[last], *whole), index))
    return spans


def _is_unsure(clause: str, asked: SpanQuestion) -> bool:
    """True of a clause that denies, compares, gives a bound, or is about something else than the question."""
    denies = not asked.denied and negations(without_names(clause))
    is_earlier = EARLIER.search(clause) is not None and EARLIER.search(asked.clause) is None
    return bool(denies) or is_earlier or BOUND.search(clause) is not None or contradicts(clause, f"{asked.clause}？")
