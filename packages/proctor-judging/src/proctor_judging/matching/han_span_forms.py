"""Say what a span of a Chinese reply claims: the span, and the shorter names, spellings and other names that the reply gives with it."""

from proctor_judging.matching.asked import read_asked
from proctor_judging.matching.claims import HAN_ANNOUNCED, read_statements
from proctor_judging.matching.han_names import aliases_of, forms_of, other_names
from proctor_judging.matching.han_question import read_han_question
from proctor_judging.matching.han_span_sentences import sentence_texts
from proctor_judging.matching.han_words import words_of
from proctor_judging.matching.span_model import ReplySpan
from proctor_judging.matching.text import without_gaps

NOUNS, LONGEST_END = "ns", 6  # the classes and the length of what may follow a name as a part of it


def span_forms(span: ReplySpan, reply: str, question: str) -> tuple[str, ...]:
    """Return what a span says, the shorter names and other spellings of it, and the other names that follow it.

    >>> span = ReplySpan("唐代诗人李白", (), 0)
    >>> span_forms(span, "作者是唐代诗人李白。", "《静夜思》的作者是谁？")
    ('唐代诗人李白', '诗人李白', '李白')
    """
    sentence = sentence_texts(without_gaps(reply))[span.sentence]
    following = sentence.partition(span.text)[2]
    kind, forms = read_asked(question).kind, [span.text]
    asked = read_han_question(question)
    if kind in ("amount", "moment"):
        claims = read_statements(HAN_ANNOUNCED.format(given=span.text), question)
        forms += claims[0].forms if len(claims) == 1 else ()
    elif asked is not None:
        forms += forms_of(span.text.strip(' "'), asked, sentence)
        end = 0
        for word in words_of(following[:LONGEST_END]):
            if word.start == end and word.kind in NOUNS:
                end = word.end
                forms.append(span.text + following[:end])  # 长孙皇后 of 长孙
    return tuple(dict.fromkeys([*forms, *aliases_of(sentence, span.text), *other_names(following)]))
