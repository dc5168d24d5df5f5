"""Read which of the alternatives that a question offers a reply chooses: `a fruit or a vegetable?`, `铁和铝哪个密度更大？`"""

import re
from collections.abc import Sequence

from proctor_judging.matching.asked import TRUTH_OR, QuestionForm
from proctor_judging.matching.noun_phrases import noun_phrases, read_tokens
from proctor_judging.matching.patterns import compile_later
from proctor_judging.matching.question_words import HAN
from proctor_judging.matching.sentences import CONCLUDES, CONTRAST, GUESS, OTHERS_SAY
from proctor_judging.matching.text import negations

OFFERED = compile_later(
    r"(?:\b(?:is|are|was|were|it)\b[^,;:?]{0,60}?\s|[,:]\s?|\b(?:between|which|who)\b[^,;:?]{0,60}?[,:]\s?)(?P<one>(?:an? |the )?[\w'’-]+(?: (?!an?\b|the\b)[\w'’-]+){0,2}?) or (?P<other>(?:an? |the )?[\w'’-]+(?: [\w'’-]+){0,2}?)(?=\s?[,?.]|$)",
    re.IGNORECASE,
)
HAN_OFFERED = compile_later(
    rf"(?:^|[，,。：:是])(?P<one>[{HAN}A-Za-z]{{1,8}}?)[和与跟、](?P<other>[{HAN}A-Za-z]{{1,8}}?)(?:相比)?[，,]?(?:哪[一]?[个种位座条里家]|谁|哪儿)|"
    rf"(?:是|属于|^|[，,])(?P<first>[{HAN}A-Za-z]{{1,8}})(?:，|,)?还是(?P<second>[{HAN}A-Za-z]{{1,8}}?)[?？]"
)
LISTED = compile_later(
    r":\s?((?:(?:an? |the )?[\w'’-]+(?: [\w'’-]+)?,\s?)+(?:or |and )?(?:an? |the )?[\w'’-]+(?: [\w'’-]+)?)\s?\?\s*$",
    re.IGNORECASE,
)
OF_BOTH = compile_later("(.{1,6})两([队人组班校厂个])")
COMMA_OR = compile_later(r",\s?(?:or\s|and\s)?|\sor\s")
CLAUSE = compile_later(
    r"[,，;；:：。(（]\s?|\s[–—-]\s|(?<!even)\s(?=(?:but|while|whereas|although|though|even though|because|since)\s)",
    re.IGNORECASE,
)
CONCEDES = compile_later(
    r"\s?(?:although|though|even though|while|whereas|even if|despite|unlike|not\b|rather than)|虽然?|尽管|而不是|并非|日常|通常被?误",
    re.IGNORECASE,
)
COMPARED = compile_later(
    rf"(?P<one>[{HAN}A-Za-z]{{1,12}})比(?P<other>[{HAN}A-Za-z]{{1,12}}?)(?:的[{HAN}]{{1,4}})?(?:要|更|还)?(?P<word>[大高多长早快重贵强远宽厚深轻小矮少短晚慢便冷热硬软])"
)
DEGREE = compile_later(r"[更最较]?([大高多长早快重贵强远宽厚深轻小矮少短晚慢冷热硬软])[?？。]?$")
OR = compile_later(r",?\s(?:or|vs\.?)\s", re.IGNORECASE)
NEITHER = compile_later(r"(neither|both)\b(?! (?!(?:one|of|are|is|the)\b)[A-Z])", re.IGNORECASE)
ARTICLE = compile_later(r"^(?:an?|the) ", re.IGNORECASE)
LONGEST = 400


def chosen_alternative(sentences: Sequence[str], asked: QuestionForm, question: str) -> str | None:
    """Return the one alternative of a question that the concluding sentence of a reply, else its first, says for certain.

    >>> from proctor_judging.matching.asked import read_asked
    >>> question = "Is a tomato a fruit or a vegetable?"
    >>> chosen_alternative(["It is a fruit, although cooks call it a vegetable"], read_asked(question), question)
    'fruit'
    """
    offered = _offered(question[-LONGEST:])
    if not offered or asked.kind == "truth" or TRUTH_OR.search(question):
        return None
    concluding = [sentence for sentence in sentences if CONCLUDES.match(sentence)][-1:] or sentences
    if any(len(sentence) > LONGEST or GUESS.search(sentence) for sentence in concluding):
        return None
    if (neither := NEITHER.match(concluding[0])) is not None and question.isascii():
        return neither[1].lower()
    chosen = {_chosen(sentence, offered, question) for sentence in concluding} - {None}
    return chosen.pop() if len(chosen) == 1 else None


def _offered(question: str) -> tuple[str, ...]:
    if (listed := LISTED.search(question)) is not None:
        names = [ARTICLE.sub("", name.strip()) for name in COMMA_OR.split(listed[1]) if name.strip()]
        return tuple(names) if len(set(names)) == len(names) > 1 else ()
    match = OFFERED.search(question) or HAN_OFFERED.search(question)
    if match is None:
        return _offered_phrases(question)
    names = [name for name in match.groups() if name]
    if (both := OF_BOTH.fullmatch(names[-1])) is not None:
        names = [names[0] + both[2], both[1] + both[2]]  # 甲、乙两队
    return tuple(ARTICLE.sub("", name).strip() for name in names) if len(set(names)) == 2 else ()


def _offered_phrases(question: str) -> tuple[str, ...]:
    """Return the noun phrases on both sides of the only `or`: `a kilo of iron` and `a kilo of feathers` differ in one word."""
    sides = OR.split(question.rstrip("?. "))
    if len(sides) != 2:
        return ()
    left, right = map(read_tokens, sides)
    before, after = noun_phrases(left), noun_phrases(right)
    if not before or not after or after[0][0] or before[-1][1] != len(left):
        return ()
    names = [
        sides[0][left[before[-1][0]].start : left[-1].end].strip(' "“”'),
        sides[1][: right[after[0][1] - 1].end].strip(' "“”'),
    ]
    names = [ARTICLE.sub("", name) for name in names]
    return tuple(names) if len(set(names)) == 2 else ()


def _chosen(sentence: str, offered: Sequence[str], question: str) -> str | None:
    degree = DEGREE.search(question)
    for pattern, instead in CONTRAST:
        sentence = pattern.sub(instead, sentence)
    clauses = [clause for clause in CLAUSE.split(sentence) if any(_says(clause, name) for name in offered)]
    clauses = [clause for clause in clauses if not (CONCEDES.match(clause) or OTHERS_SAY.search(clause))]
    for clause in reversed(clauses):
        compared = COMPARED.search(clause)
        if degree is not None and compared is not None and compared["word"] == degree[1]:
            first = [name for name in offered if name in compared["one"]]
            return first[0] if len(first) == 1 else None
    if degree is not None:
        clauses = [clause for clause in clauses if degree[1] in clause and "比" not in clause]
    kept = [clause for clause in clauses if not negations(clause)]
    chosen = {name for clause in kept[:1] for name in offered if _says(clause, name)}
    return chosen.pop() if len(chosen) == 1 else None


def _says(clause: str, name: str) -> bool:
    if not name.isascii():
        return name in clause
    return re.search(rf"\b{re.escape(name)}\b", clause, re.IGNORECASE) is not None
