"""Read an English reply for its spans: its sentences, their clauses, and from which of them nothing may be claimed."""

import re
from collections.abc import Sequence
from functools import cached_property

from proctor_judging.matching.answer_layout import without_examples
from proctor_judging.matching.asked import QuestionForm, read_asked
from proctor_judging.matching.noun_phrases import NOMINAL, SAYING, Token, noun_phrases, read_tokens, small_words
from proctor_judging.matching.patterns import compile_later
from proctor_judging.matching.phrase_answers import ITALIC, UNSURE
from proctor_judging.matching.question_gap import Gap, read_gap
from proctor_judging.matching.question_words import echo, stem
from proctor_judging.matching.reply_text import plain_reply
from proctor_judging.matching.sentences import CONCLUDES, DOUBT, GUESS, HARMLESS, OTHERS_SAY, TITLE, corrected, split
from proctor_judging.matching.text import negations, without_gaps

MOST_SENTENCES = 12
CLAUSE_MARKS = ",;:—–("
ASKING = compile_later(r"\b(whom?|whose|where|when|why|how (?:many|much|long|old)|how|which|what)\b", re.IGNORECASE)
OPENINGS = frozenset([
    "what is", "what was", "what are", "who is", "who was", "who wrote", "what does", "what did",
    "which of", "how many", "how much", "where is", "where was", "when did", "when is", "when was",
    "what year", "in which", "in what", "what time", "what's", "how long", "how do", "which is",
    "what do", "how old", "who did", "what kind", "what type", "where did", "where does",
])  # fmt: skip
BOLD = compile_later(r"\*\*[^*]{1,120}\*\*|`[^`]{1,120}`")
QUOTED = compile_later(
    r"(?<!\*)\*[^*\n]{1,120}\*(?!\*)|(?<!\w)'[^'\n]{1,120}'(?!\w)|\"[^\"\n]{1,120}\"|“[^”\n]{1,120}”"
)
BORDER = compile_later(
    r"[,;:—–(]\s|\s[-–—]\s|\s(?:but|whereas|while|although|though|because|since|so)\s|\s(?=and\s)", re.IGNORECASE
)
BELIEVED = compile_later(
    r"\b(?:many|most|some|people|everyone|you)\b(?: people)? (?:might |may |would |often )?(?:think|believe|assume|say|guess|expect)\b",
    re.IGNORECASE,
)
WOULD_NEED = compile_later(r"\bwould (?:need|have) (?:to|had)\b")
ALL_BUT = compile_later(r"\b(?:every|any|no|some)(?:one|body|thing) but\b", re.IGNORECASE)
LACKS = compile_later(r"\b(?:missing|lack(?:s|ing)?|absent|excluded)\b")  # which a reply answers by a denial
ASIDE_GUESS = compile_later(
    r"(?<=\w), (?:probably|possibly|perhaps|maybe|most likely|likely)(?= (?:as|for|from|because|due|since|to|in|at|with|around|about|the (?:first|last|only|most|\w+est))\b).*|\sand (?:may|might|could) (?:be|have to|need to)\b.*"
)  # what is said besides the claim
WHEREAS = compile_later(r"\bwhereas\b[^;.]*")  # the mean is 5
NOW = compile_later(r"\b(?:now|current\w*|today|new|latest|nowadays|these days)\b")
NOBODY = compile_later(r"(?:nobody|no one|none)\b", re.IGNORECASE)
RIVALS = compile_later(r"\balso (?:candidates?|contenders?|considered|nominated|shortlisted|bid)\b")
NO_GAP = Gap("what", "", "", False, "", frozenset())


class AskedForm:
    """What the features ask of a question: its kind, its first words, what it lacks."""

    def __init__(self, question: str) -> None:
        self.asked: QuestionForm = read_asked(question)
        self.gap: Gap = read_gap(self.asked.clause) or NO_GAP
        self.text, self.clause = question.lower(), self.asked.clause.lower()
        match = ASKING.search(self.clause)
        word = match[1] if match is not None else "other"
        self.asking = "howmany" if word.startswith("how ") else {"whom": "who"}.get(word, word)
        opening = " ".join(self.clause.split()[:2])
        self.opening = opening if opening in OPENINGS else "other"
        self.kind = self.asked.kind or "none"
        self.lacks = "N" if self.gap is NO_GAP else "S" if self.gap.in_subject else "O"
        self.noun = stem(self.gap.noun.lower()) if self.gap.noun else ""
        self.sort = self._sort(self.gap.noun.lower())
        self.asks_now = NOW.search(self.clause) is not None
        self.stems = self.asked.stems
        self.is_denied = bool(negations(HARMLESS.sub("", self.asked.clause))) or LACKS.search(self.clause) is not None
        self.count = "several" if self.asked.several else "one"

    def _sort(self, noun: str) -> str:
        """Return whether a person, a place, a time, an amount or a group is asked for; the interrogative of any other thing."""
        known = {"who": "person", "where": "place"}.get(self.asking) or {"moment": "time"}.get(self.kind, self.kind)
        sorts = (sort for sort in ("person", "place", "time", "group") if noun in small_words()[f"asked_{sort}"])
        return known if known in ("person", "place", "time", "amount") else next(sorts, self.asking)


class Clauses:
    """A sentence of a reply, with its tokens, verbs, noun phrases and clauses."""

    def __init__(self, text: str, query: AskedForm) -> None:
        self.text, self.is_denied, self.stems = text, query.is_denied, query.stems
        self.tokens = read_tokens(text, query.stems)
        self.share = len(echo(text) & query.stems) / max(1, len(query.stems))
        self.verbs = [index for index, token in enumerate(self.tokens) if token.kind in ("verb", "auxiliary")]
        self.phrases = noun_phrases(self.tokens)
        self.numbers = [index for index, token in enumerate(self.tokens) if token.kind == "number"]
        self.clause = self._clauses()
        self.known: dict[int, set[str]] = {}
        self.cues: dict[int, set[str]] = {}
        for token, clause in zip(self.tokens, self.clause, strict=True):
            if token.word in small_words()["cue"]:
                self.cues.setdefault(clause, set()).add(token.word)
            if token.known and token.kind in SAYING:
                self.known.setdefault(clause, set()).add(stem(token.text))

    def _clauses(self) -> list[int]:
        clauses, current = [], 0
        for token in self.tokens:
            current += token.kind == "mark" and token.text in CLAUSE_MARKS
            clauses.append(current)
        return clauses

    def silent(self, *, only_sure: bool) -> list[tuple[int, int]]:
        """Return where the clauses stand that deny, guess or ask, from which nothing is claimed; with `only_sure`, also those with a word of doubt."""
        aside = ASIDE_GUESS.search(self.text)
        said = HARMLESS.sub("", self.text if aside is None else self.text[: aside.start()])
        is_guess = said.endswith("?") or GUESS.search(said) or DOUBT.search(said) or ALL_BUT.search(said)
        if is_guess or (only_sure and NOBODY.match(self.text)):
            return [(0, len(self.text))]
        verbs = [self.tokens[index].start for index in self.verbs]
        borders = [
            border
            for border in BORDER.finditer(self.text)
            if border[0] != " "
            or any(start < border.start() for start in verbs)  # Paris and Madrid were also candidates
        ]
        starts, ends = (
            [0, *(border.end() for border in borders)],
            [*(border.start() for border in borders), len(self.text)],
        )
        silent = [] if aside is None else [(aside.start(), len(self.text))]
        silent += [rival.span() for rival in WHEREAS.finditer(self.text) if not echo(rival[0]) & self.stems]
        return silent + [
            (start, end)
            for start, end in zip(starts, ends, strict=True)
            if ((not self.is_denied or LACKS.search(self.text[start:end])) and _denies(self.text[start:end]))
            or (only_sure and _is_unsure(self.text[start:end]))
        ]

    @cached_property
    def new_phrases(self) -> list[tuple[int, int, str]]:
        """The noun phrases with a word that the question lacks: where they begin and end, and `number`, `name` or `noun`."""
        return [
            (start, end, _sort_of(self.tokens[start:end]))
            for start, end in self.phrases
            if any(token.kind in NOMINAL and not token.known for token in self.tokens[start:end])
        ]

    @cached_property
    def words(self) -> int:
        return sum(token.kind != "mark" for token in self.tokens)


def _denies(clause: str) -> bool:
    return (
        BELIEVED.search(clause) is not None
        or WOULD_NEED.search(clause) is not None
        or RIVALS.search(clause) is not None
        or bool(negations(HARMLESS.sub("", TITLE.sub("·", clause))))
    )


def _is_unsure(clause: str) -> bool:
    return UNSURE.search(clause) is not None or OTHERS_SAY.search(clause) is not None


def _sort_of(tokens: Sequence[Token]) -> str:
    kinds = {token.kind for token in tokens}
    return next((kind for kind in ("number", "name") if kind in kinds), "noun")


class EnglishReply:
    """The sentences of a reply in answer to a question, and the spans in them."""

    def __init__(self, sentences: Sequence[str], reply: str, question: str) -> None:
        self.query = AskedForm(question)
        self.reply = reply.lower()
        self.sentences = [Clauses(sentence, self.query) for sentence in sentences]
        self.bold = {part.strip("*`_ .:").lower() for part in BOLD.findall(reply)}
        self.quoted = {part.strip("*'\"“” .:").lower() for part in QUOTED.findall(reply)}
        self.best_share = max((sentence.share for sentence in self.sentences), default=0)
        self.concludes = [CONCLUDES.match(sentence.text) is not None for sentence in self.sentences]
        self.news = [
            (index, start, end, sort)
            for index, sentence in enumerate(self.sentences)
            for start, end, sort in sentence.new_phrases
        ]
        shares = [self.share_of_clause(index, start) for index, start, _, _ in self.news]
        self.best_clause = max(shares, default=0)
        self.best_clauses = shares.count(self.best_clause)
        numbers = [(index, at) for index, sentence in enumerate(self.sentences) for at in sentence.numbers]
        self.first_number, self.last_number = (numbers[0], numbers[-1]) if numbers else ((-1, -1), (-1, -1))

    def share_of_clause(self, index: int, token: int) -> int:
        sentence = self.sentences[index]
        return len(sentence.known.get(sentence.clause[token], ()))


def read_english_reply(reply: str, question: str) -> EnglishReply:
    """Return the sentences of a reply as spans are read from them: after its last correction, and without examples.

    >>> [sentence.text for sentence in read_english_reply("It is Lyon. No, wait, it is Paris.", "Where is it?").sentences]
    ['it is Paris']
    """
    said = ITALIC.sub(r"\1", corrected(plain_reply(without_examples(without_gaps(reply)))))
    return EnglishReply(split(said)[:MOST_SENTENCES], reply, question)
