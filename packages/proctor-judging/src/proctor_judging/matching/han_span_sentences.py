"""Read the sentences of a Chinese reply for spans: their clauses, what of each atom the question has, and what nothing may be claimed from."""

from collections.abc import Collection, Sequence
from itertools import accumulate

import msgspec

from proctor_judging.matching.answer_layout import without_examples
from proctor_judging.matching.han_answers import EARLIER, OTHERS_GUESS, RIVAL, doubts
from proctor_judging.matching.han_atoms import (
    CLOSING,
    FUNCTION,
    MEASURES,
    VERBS,
    Atom,
    Borders,
    borders_of,
    classes_of,
    read_atoms,
)
from proctor_judging.matching.han_openings import OPENING as OPENING_WORDS
from proctor_judging.matching.han_span_question import SpanQuestion, without_spaces
from proctor_judging.matching.han_words import HanWord, words_of
from proctor_judging.matching.patterns import compile_later
from proctor_judging.matching.reply_text import plain_reply
from proctor_judging.matching.sentences import (
    CONCLUDES,
    COURTESY,
    HARMLESS,
    OTHERS_SAY,
    QUESTION,
    TITLE,
    corrected,
    split,
)
from proctor_judging.matching.text import negations, tidy, without_gaps

MOST_SENTENCES = 14
CLAUSE_END = compile_later(r"[,;。!?，；！？→]|\.(?!\d)|--|——")
ENCLOSED = compile_later(r"《[^》]*》|\"[^\"]*\"|\([^()]*\)")
THOUSANDS = compile_later(r"(?<=\d),(?=\d{3})")
SET_OFF = compile_later(r"\*\*([^*\n]{1,40})\*\*|`([^`\n]{1,60})`")
NUMBER = r"[\d零〇一二两三四五六七八九十百千万亿半几.,]+"
UNIT = r"[年月日号点时分秒岁元角块米克吨斤度天周倍人名位种只条张页件部座次届章层楼级%℃°期版]|小时|分钟|公里|千米|厘米|毫米|平方|立方|千克|公斤|世纪|年代|[A-Za-z/]{1,5}|万|亿|钟|半|整"
MEASURED = r"[年月日号点时分秒岁元角块米克吨斤度天周倍%℃°]|小时|分钟|公里|千米|厘米|毫米|平方|立方|千克|公斤|世纪|年代|万|亿|半"
AMOUNT = compile_later(
    f"(?:公元前?|前|第|上午|下午|晚上|中午|凌晨|早上)*{NUMBER}(?:多|余|来|几)?(?:个半?|分之{NUMBER}|{UNIT})*(?:[到至~-]?{NUMBER}(?:个|{MEASURED})+)*"
)
OPENING = compile_later(
    "而是|而|但是?|所以|因此|因为|由于|其中|它|他|她|这|该|其|也就是|即|例如|比如|虽然?|如果|若|不是|并非|此外|另外|同时|后来|随后|当时|目前|现在|原来|之前|曾|至于|顺带|顺便|相比|对比|值得|不过"
)
WHEREAS = compile_later("则(?=[是为在要用叫有会能属位])|却|而(?![且是非言])|才(?=是|叫|用)|至于|反观")
CHANGES = compile_later("[改换变][成为到由至]|(?:更正|调整|变更|推迟|提前|延期|顺延)[为到至]|定稿|最[终后]")
EITHER = compile_later("不是[^，,。；]{1,14}[，,]那?就是(?!说)")
NAMED = compile_later(r"《[^》]*》|[A-Za-z\d][A-Za-z\d_.+#-]*")
CONCLUSION = compile_later("所以|因此|因而|故|综上|答案|答[:：]|比较下来|总之|可见|于是|也就是说|最终|最后")
NO_LEAD = compile_later("[是为在叫有]|^(?:好|您|你|当然|根据|按|据|从|如|对于|关于)")
DENIES_ALL = compile_later("(?:不是|并非|不属于|不叫)(?!.*[是为])|不清楚|不知道|不了解")
FILLING = "的是在为由于了就也都应该当大约一般主要通常叫做称即便乃则正:\"' "
LONGEST_LEAD = 14


class Clause(msgspec.Struct, frozen=True):
    """A clause of a sentence; `cues` are features of all its spans, `is_silent` is True where nothing may be claimed from it."""

    start: int
    end: int
    share: float
    cues: tuple[str, ...]
    is_silent: bool


class HanSentence(msgspec.Struct, frozen=True):
    """A sentence of a reply.

    Attributes:
        text: its characters.
        atoms, classes, borders: as in `han_atoms`; `words` are function characters, verbs and the like themselves, else classes.
        clauses, clause_of: its clauses, and the index of the clause of each atom.
        known, fresh: how many known pairs precede each character, and how many new atoms each atom.
        amounts: where amounts and moments stand.
        starting, ending: its listed words by where they start and end.
        cues: features of all its spans.
    """

    text: str
    atoms: list[Atom]
    classes: list[str]
    words: list[str]
    borders: Borders
    clauses: list[Clause]
    clause_of: list[int]
    known: list[int]
    fresh: list[int]
    amounts: list[tuple[int, int]]
    starting: dict[int, HanWord]
    ending: dict[int, HanWord]
    cues: tuple[str, ...]


class ReplyLayout(msgspec.Struct, frozen=True):
    """A reply: its sentences, what it sets in bold or as code, and where its first clause answers alone, what its clauses conclude, and how much of the left of the question some clause repeats."""

    text: str
    sentences: list[HanSentence]
    marked: frozenset[str]
    has_lead: bool
    concluding: tuple[int, int] | None
    aligned: int


def read_layout(reply: str, asked: SpanQuestion) -> ReplyLayout:
    """Return the sentences of a reply, as far as it does not guess."""
    reply = without_gaps(reply)
    marked = frozenset(
        part
        for groups in SET_OFF.findall(reply)
        for text in groups
        if (part := without_spaces(tidy(text)).strip(" :。."))
    )
    texts = sentence_texts(reply)
    shares = [_share(text, asked) for text in texts]
    sentences, guessed = [], False
    for index, text in enumerate(texts):
        cues = _sentence_cues(index, texts, shares)
        sentence = _read_sentence(text, asked, marked, cues, guessed)
        sentences.append(sentence)
        guessed = guessed or _guesses(text)
    return ReplyLayout(
        without_spaces(reply),
        sentences,
        marked,
        _has_lead(sentences, asked),
        _concluding(sentences),
        next((size for size in (4, 3, 2) if _repeats(asked.left[-size:], size, texts)), 0),
    )


def sentence_texts(reply: str) -> list[str]:
    """Return the sentences of a reply as spans are read from them, without what only introduces them."""
    texts = [without_spaces(text) for text in split(without_spaces(corrected(plain_reply(without_examples(reply)))))]
    texts = [OPENING_WORDS.sub("", text, count=1) or text for text in texts]
    said = [text for text in texts if not COURTESY.match(text)]
    return (said or texts)[:MOST_SENTENCES]


def _repeats(text: str, size: int, sentences: Sequence[str]) -> bool:
    return len(text) == size and any(text in sentence for sentence in sentences)


def _has_lead(sentences: Sequence[HanSentence], asked: SpanQuestion) -> bool:
    """True if the first of several clauses is short, new and says nothing else: 叫杜丽娘，男主角是柳梦梅."""
    if sum(len(sentence.clauses) for sentence in sentences) < 2:
        return False
    first = sentences[0].clauses[0]
    lead = sentences[0].text[first.start : first.end].lstrip(FILLING)
    return 0 < len(lead) <= LONGEST_LEAD and not _share(lead, asked) and NO_LEAD.search(lead) is None


def _concluding(sentences: Sequence[HanSentence]) -> tuple[int, int] | None:
    """Return the index of the last sentence and clause that concludes; the first of all concludes nothing."""
    last = None
    for at, sentence in enumerate(sentences):
        for number, clause in enumerate(sentence.clauses):
            if (at or number) and CONCLUSION.match(sentence.text, clause.start):
                last = (at, number)
    return last


def _share(text: str, asked: SpanQuestion) -> float:
    """Return the part of the question's pairs of characters that a text repeats."""
    return len({text[at : at + 2] for at in range(len(text) - 1)} & asked.pairs) / max(1, len(asked.pairs) - 2)


def without_names(text: str) -> str:
    """Return a text without names and words that only look like denials or guesses."""
    return HARMLESS.sub("·", TITLE.sub("·", text))


def _guesses(text: str) -> bool:
    return doubts(without_names(text))


def _sentence_cues(index: int, texts: Sequence[str], shares: Sequence[float]) -> tuple[str, ...]:
    place = place_of(index, len(texts))
    share, best = shares[index], max(shares)
    cues = [f"s={place}", f"s.sh={level(share)}", f"s/sh={place}{level(share)}"]
    cues.append("s.best" if share == best > 0 else "s.other")
    concluding = [CONCLUDES.match(text) is not None for text in texts]
    if any(concluding):
        cues.append("s.concludes" if concluding[index] else "s.concluded")
    return tuple(cues)


def place_of(index: int, count: int) -> str:
    """Return the place of one of several sentences."""
    if count == 1:
        return "only"
    return {0: "first", count - 1: "last", 1: "second"}.get(index, "mid")


def level(share: float) -> str:
    """Return a share as one of five levels."""
    return "0" if share <= 0 else "a" if share < 0.25 else "b" if share < 0.5 else "c" if share < 0.8 else "d"


def _read_sentence(
    text: str, asked: SpanQuestion, marked: Collection[str], cues: tuple[str, ...], guessed: bool
) -> HanSentence:
    atoms, listed = read_atoms(text), words_of(text)
    classes = classes_of(text, atoms, asked.pairs, asked.characters)
    words = [
        atom.text
        if atom.kind in "Mn"
        or atom.text in FUNCTION
        or atom.text in VERBS
        or atom.text in CLOSING
        or atom.text in MEASURES
        else cls
        for atom, cls in zip(atoms, classes, strict=True)
    ]
    clauses = _clauses(text, asked, guessed or QUESTION.search(text) is not None or EITHER.search(text) is not None)
    clause_of, at = [], 0
    for atom in atoms:
        while at + 1 < len(clauses) and atom.start >= clauses[at + 1].start:
            at += 1
        clause_of.append(at)
    return HanSentence(
        text,
        atoms,
        classes,
        words,
        borders_of(text, atoms, classes, marked),
        clauses,
        clause_of,
        list(accumulate((text[at : at + 2] in asked.pairs for at in range(len(text))), initial=0)),
        list(accumulate((is_fresh(cls) for cls in classes), initial=0)),
        [match.span() for match in AMOUNT.finditer(text)],
        {word.start: word for word in listed},
        {word.end: word for word in listed},
        cues,
    )


def is_fresh(cls: str) -> bool:
    """True for the class of an atom that the question lacks, and that is no function character."""
    return cls[0] in "NVnDLTQC"


def _clauses(text: str, asked: SpanQuestion, is_silent: bool) -> list[Clause]:
    """Return the clauses of a sentence; from a guess on, all are silent."""
    bounds = _bounds(text)
    shares = [_share(text[start:end], asked) for start, end in bounds]
    clauses = []
    for (start, end), share in zip(bounds, shares, strict=True):
        said = text[start:end]
        plain = without_names(said)
        is_silent = is_silent or _guesses(said)
        is_no_claim = (
            OTHERS_SAY.search(plain) or OTHERS_GUESS.search(plain) or (not asked.denied and DENIES_ALL.search(plain))
        )
        cues = [f"c.sh={level(share)}", "c.best" if share == max(shares) > 0 else "c.other"]
        opening = OPENING.match(said)
        cues.append(f"c.opens={opening[0] if opening is not None else '-'}")
        cues += ["c.rival"] if RIVAL.search(said) and not RIVAL.search(asked.clause) else []
        cues += ["c.earlier"] if EARLIER.search(said) and not EARLIER.search(asked.clause) else []
        cues += ["c.denies"] if negations(plain) else []
        if not CHANGES.search(asked.clause):
            cues += ["c.changes"] if CHANGES.search(said) else ["c.changed"] if CHANGES.search(text, end) else []
        cues += ["c.whereas"] if WHEREAS.search(said) else []
        if asked_for := set(NAMED.findall(asked.clause)):
            names = set(NAMED.findall(said))
            named = "same" if names & asked_for else "other" if names else "-"
            cues += [f"c.names={named}", f"c.names/q={named}{asked.kind}"]
        clauses.append(Clause(start, end, share, tuple(cues), is_silent or bool(is_no_claim)))
    return clauses


def _bounds(text: str) -> list[tuple[int, int]]:
    """Return where the clauses of a sentence start and end; a mark in brackets, quotes or a number ends none."""
    enclosed = [match.span() for match in ENCLOSED.finditer(text)]
    marks = [
        mark
        for mark in CLAUSE_END.finditer(text)
        if not THOUSANDS.match(text, mark.start()) and not any(start <= mark.start() < end for start, end in enclosed)
    ]
    starts, ends = [0, *(mark.end() for mark in marks)], [*(mark.start() for mark in marks), len(text)]
    return [(start, end) for start, end in zip(starts, ends, strict=True) if end > start] or [(0, len(text))]
