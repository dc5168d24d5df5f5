"""List the spans of an English reply that may be its answer, with the features by which `span_model` weighs them.

A feature is a word for what a span looks like, where it stands, and how its sentence is related to the question. None
knows a target, and none says what a thing is.
"""

import re
from collections.abc import Iterator, Sequence
from functools import cached_property

from proctor_judging.matching.answer_layout import without_examples
from proctor_judging.matching.asked import QuestionForm, read_asked
from proctor_judging.matching.contradictions import contradicts
from proctor_judging.matching.noun_phrases import NOMINAL, SAYING, Token, noun_phrases, read_tokens
from proctor_judging.matching.number_words import with_digits
from proctor_judging.matching.patterns import compile_later
from proctor_judging.matching.phrase_answers import ITALIC, UNSURE
from proctor_judging.matching.phrase_forms import forms_of
from proctor_judging.matching.question_gap import Gap, read_gap
from proctor_judging.matching.question_words import echo, stem
from proctor_judging.matching.reply_text import plain_reply
from proctor_judging.matching.sentences import (
    CONCLUDES,
    DOUBT,
    GUESS,
    HARMLESS,
    OTHERS_SAY,
    TITLE,
    asked_clause,
    corrected,
    split,
)
from proctor_judging.matching.span_model import ReplySpan
from proctor_judging.matching.stated_words import shorter_names, variants
from proctor_judging.matching.text import negations, without_gaps

MOST_TOKENS, MOST_FORMS, MOST_SENTENCES = 12, 4, 12
NOT_FIRST = frozenset(["preposition", "conjunction", "auxiliary", "possessive", "negation"])
NOT_LAST = frozenset(["determiner", "preposition", "conjunction", "auxiliary", "negation", "possessive"])
BOUNDING = frozenset(["least", "most"])  # at least 18
NOT_ALONE = frozenset(["mark", "determiner", "pronoun", "adverb"])
OPENING, CLOSING, ENDING = "\"“`$(['-", "\"”`$)]'%", ";!?"
CLAUSE_MARKS, DASHES = ",;:—–(", "-–—"
ASKING = compile_later(r"\b(whom?|whose|where|when|why|how (?:many|much|long|old)|how|which|what)\b", re.IGNORECASE)
OPENINGS = frozenset(
    """what is|what was|what are|who is|who was|who wrote|what does|what did|which of|how many|how much|where is|where was|when did|when is
    when was|what year|in which|in what|what time|what's|how long|how do|which is|what do|how old|who did|what kind|what type|where did|where does""".replace(
        "\n", "|"
    )
    .replace("    ", "")
    .split("|")
)
BOLD = compile_later(r"\*\*[^*]{1,120}\*\*|`[^`]{1,120}`")
QUOTED = compile_later(
    r"(?<!\*)\*[^*\n]{1,120}\*(?!\*)|(?<!\w)'[^'\n]{1,120}'(?!\w)|\"[^\"\n]{1,120}\"|“[^”\n]{1,120}”"
)
BORDER = compile_later(
    r"[,;:—–(]\s|\s[-–—]\s|\s(?:but|whereas|while|although|though|because|since|so)\s|\s(?=and\s)", re.IGNORECASE
)
BOUND = compile_later(
    r"\b(?:at (?:least|most)|under|over|(?:more|less|fewer|greater|smaller|larger) than|up to|between|between \S{1,20} and|below|above|beyond|exceed\w*|after|before|"
    r"factor of|multiple of)\s[$£€]?$",
    re.IGNORECASE,
)
BELIEVED = compile_later(
    r"\b(?:many|most|some|people|everyone|you)\b(?: people)? (?:might |may |would |often )?(?:think|believe|assume|say|guess|expect)\b",
    re.IGNORECASE,
)
ALL_BUT = compile_later(r"\b(?:every|any|no|some)(?:one|body|thing) but\b", re.IGNORECASE)
NOT_THERE = compile_later(r"\b(?:near|against|except|without|unlike|besides)\s(?:(?:the|a|an)\s)?$", re.IGNORECASE)
OFFERS = compile_later(r"\bor\b|[,:;\"'“\n.]\s?\S")
NOBODY = compile_later(r"(?:nobody|no one|none)\b", re.IGNORECASE)
DENIAL = compile_later(r"\b(?:not|n't|unlike|instead of|rather than|than|never|without)\b")
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
        self.stems = self.asked.stems
        self.is_denied = bool(negations(HARMLESS.sub("", self.asked.clause)))
        self.count = "several" if self.asked.several else "one"


class Clauses:
    """A sentence of a reply, with its tokens, verbs, noun phrases and clauses."""

    def __init__(self, text: str, query: AskedForm) -> None:
        self.text, self.is_denied = text, query.is_denied
        self.tokens = read_tokens(text, query.stems)
        self.share = len(echo(text) & query.stems) / max(1, len(query.stems))
        self.verbs = [index for index, token in enumerate(self.tokens) if token.kind in ("verb", "auxiliary")]
        self.phrases = noun_phrases(self.tokens)
        self.numbers = [index for index, token in enumerate(self.tokens) if token.kind == "number"]
        self.clause = self._clauses()
        self.known: dict[int, set[str]] = {}
        for token, clause in zip(self.tokens, self.clause, strict=True):
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
        is_guess = (
            self.text.endswith("?") or GUESS.search(self.text) or DOUBT.search(self.text) or ALL_BUT.search(self.text)
        )
        if is_guess or (only_sure and NOBODY.match(self.text)):
            return [(0, len(self.text))]
        borders = list(BORDER.finditer(self.text))
        starts, ends = (
            [0, *(border.end() for border in borders)],
            [*(border.start() for border in borders), len(self.text)],
        )
        return [
            (start, end)
            for start, end in zip(starts, ends, strict=True)
            if (not self.is_denied and _denies(self.text[start:end]))
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
    return BELIEVED.search(clause) is not None or bool(negations(HARMLESS.sub("", TITLE.sub("·", clause))))


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
        shares = [self._share_of_clause(index, start) for index, start, _, _ in self.news]
        self.best_clause = max(shares, default=0)
        self.best_clauses = shares.count(self.best_clause)
        numbers = [(index, at) for index, sentence in enumerate(self.sentences) for at in sentence.numbers]
        self.first_number, self.last_number = (numbers[0], numbers[-1]) if numbers else ((-1, -1), (-1, -1))

    def _share_of_clause(self, index: int, token: int) -> int:
        sentence = self.sentences[index]
        return len(sentence.known.get(sentence.clause[token], ()))

    def spans(self, *, only_sure: bool = False) -> Iterator[ReplySpan]:
        """Yield the spans that may be claimed, with their features; `only_sure` takes them from plain statements alone."""
        for index, sentence in enumerate(self.sentences):
            if contradicts(asked_clause(sentence.text, self.query.asked.clause), self.query.asked.clause):
                continue
            silent = sentence.silent(only_sure=only_sure)
            shared = self.features_of_sentence(index)
            after: dict[int, list[str]] = {}
            for first in range(len(sentence.tokens)):
                ends = [*_ends(sentence, first, silent)]
                before = self.features_before(index, first) if ends else []
                for last, text in ends:
                    if not self._may_answer(sentence.tokens[first : last + 1], text, only_sure=only_sure):
                        continue
                    if last not in after:
                        after[last] = self.features_after(index, last)
                    within = self.features_within(index, first, last, text)
                    yield ReplySpan(text, (*shared, *before, *after[last], *within), index, first, last)

    def _may_answer(self, tokens: Sequence[Token], text: str, *, only_sure: bool) -> bool:
        """True unless a span has no number where an amount is asked for; with `only_sure`, nor only words of a question that offers no choice."""
        if self.query.kind == "amount" and not any(map(str.isdigit, with_digits(text))):
            return False
        return not only_sure or _newness(tokens) != "old" or OFFERS.search(self.query.text) is not None

    def forms(self, span: ReplySpan) -> tuple[str, ...]:
        """Return a span with and without its article, modifiers, titles and remarks, and its other names."""
        sentence, query = self.sentences[span.sentence], self.query
        within = (span.first, span.last + 1)
        forms = [span.text, *forms_of(sentence.tokens, within, sentence.text, sentence.text, query.gap)]
        forms += [*shorter_names(forms, query.asked), *list(variants(span.text))[:MOST_FORMS]]
        return tuple(dict.fromkeys(form for form in forms if form))

    def features_of_sentence(self, index: int) -> list[str]:
        """Return the features that all spans of a sentence share: its place, and the words of the question in it."""
        sentence, last = self.sentences[index], len(self.sentences) - 1
        position = _place(index, last)
        share = _bucket(sentence.share)
        features = [f"sent={position}", f"share={share}", f"pos/share={position}{share}"]
        features.append("best" if sentence.share == self.best_share > 0 else "notbest")
        if self.concludes[index]:
            features.append("concl")
        elif any(self.concludes):
            features.append("otherconcl")
        if negations(sentence.text):
            features.append("neg")
        if GUESS.search(sentence.text):
            features.append("guess")
        if sentence.text.endswith("?"):
            features.append("question")
        if sentence.tokens and sentence.tokens[0].kind == "pronoun":
            features.append(f"pronfirst={position}")
        if not sentence.verbs:
            features.append(f"noverb/{position}")
        return features

    def features_before(self, index: int, first: int) -> list[str]:
        """Return the features of where a span begins."""
        sentence, query = self.sentences[index], self.query
        tokens, start = sentence.tokens, sentence.tokens[first].kind
        kind, word = _kind(tokens, first - 1), _small(tokens, first - 1)
        opens = sentence.text[tokens[first].start - 1 : tokens[first].start] if tokens[first].start else ""
        near = " ".join(token.word for token in tokens[max(0, first - 4) : first])
        bracket = [token.text for token in tokens[max(0, first - 6) : first] if token.text in "()"]
        features = [
            f"bk={kind}",
            f"F={start}",
            f"bw={word}",
            f"bF={kind}|{start}",
            f"bwF={word}|{start}",
            f"pw={_word(tokens, first - 1)}",
            f"qt/F={query.asking}{start}",
            f"qt/bw={query.asking}{word}",
            f"qw/F={query.opening}{start}",
            f"qw/bw={query.opening}{word}",
            f"clause={min(2, sentence.clause[first])}",
            f"first={min(3, first)}",
        ]
        if first > 1:
            features.append(f"bbk={_small(tokens, first - 2)}|{kind}")
        if first and kind in NOMINAL:
            features += ["cut-left", f"cut-left/{kind}{start}"]
        if first and tokens[first - 1].known:
            features.append("prevknown")
        if first and query.noun and stem(tokens[first - 1].text) == query.noun:
            features.append("nounbefore")
        if opens and opens in '"“`(':
            features.append(f"open{opens}")
        if DENIAL.search(near):
            features.append("denied")
        if bracket and bracket[-1] == "(":
            features.append("inparen")
        if left := [verb for verb in sentence.verbs if verb < first]:
            features += self._after_verb(sentence, left[-1], first)
        return features

    def _after_verb(self, sentence: Clauses, verb: int, first: int) -> Iterator[str]:
        """Yield how a span follows the verb before it: `The director was …`."""
        token, query = sentence.tokens[verb], self.query
        known = _how_known(token)
        yield f"lvw={stem(token.text)}"
        yield f"lv={known}{_distance(first - verb)}"
        yield f"lv/gs={known}{query.lacks}"
        if token.kind == "auxiliary" and first - verb <= 2:
            subject = [word for word in sentence.tokens[:verb] if word.kind in SAYING]
            ends = "k" if subject and subject[-1].known else "m" if any(word.known for word in subject) else "U"
            state = "none" if not subject else "K" if all(word.known for word in subject) else ends
            yield f"copsub={state}{query.lacks}"
            if query.noun and any(stem(word.text) == query.noun for word in subject):
                yield "copnoun"

    def features_after(self, index: int, last: int) -> list[str]:
        """Return the features of where a span ends."""
        sentence, query = self.sentences[index], self.query
        tokens, end = sentence.tokens, sentence.tokens[last].kind
        kind, word = _kind(tokens, last + 1), _small(tokens, last + 1)
        features = [
            f"ak={kind}",
            f"L={end}",
            f"aw={word}",
            f"La={end}|{kind}",
            f"nw={_word(tokens, last + 1)}",
        ]
        if kind in NOMINAL:
            features += ["cut-right", f"cut-right/{kind}{end}"]
        if word == "of":
            features.append("cut-of")
        if last + 1 < len(tokens) and tokens[last + 1].known:
            features.append("nextknown")
        if query.noun and stem(tokens[last].text) == query.noun:
            features.append("headnoun")
        elif query.noun and last + 1 < len(tokens) and stem(tokens[last + 1].text) == query.noun:
            features.append("nounafter")
        if right := [verb for verb in sentence.verbs if verb > last]:
            token, known = tokens[right[0]], _how_known(tokens[right[0]])
            features += [
                f"rvw={stem(token.text)}",
                f"rv={known}{_distance(right[0] - last)}",
                f"rv/gs={known}{query.lacks}",
            ]
            if token.kind == "auxiliary" and right[0] - last <= 2:
                complement = [word for word in tokens[right[0] + 1 :] if word.kind in SAYING][:4]
                some = "m" if any(word.known for word in complement) else "U"
                state = "none" if not complement else "K" if all(word.known for word in complement) else some
                features.append(f"copcom={state}{query.lacks}")
        return features

    def features_within(self, index: int, first: int, last: int, text: str) -> list[str]:
        """Return the features of a span as a whole: its words, its form, its place among the others."""
        sentence, query = self.sentences[index], self.query
        tokens = sentence.tokens[first : last + 1]
        kinds = {token.kind for token in tokens}
        shape = "".join(
            name
            for name, of_it in (("num", "number"), ("name", "name"), ("noun", "noun"), ("verb", "verb"))
            if of_it in kinds or (name == "verb" and "auxiliary" in kinds)
        )
        new, length, region = _newness(tokens), _length(len(tokens)), _region(sentence, first, last)
        phrase = _phrase_kind(sentence.phrases, first, last)
        before, after = _kind(sentence.tokens, first - 1), _kind(sentence.tokens, last + 1)
        asking, kind, lacks = query.asking, query.kind, query.lacks
        features = [
            *(
                f"nov={new}",
                f"len={length}",
                f"shape={shape}",
                f"reg={region}",
                f"np={phrase}",
                f"np/nov={phrase}{new}",
            ),
            *(
                f"qt/shape={asking}{shape}",
                f"kind/shape={kind}{shape}",
                f"qt/len={asking}{length}",
                f"gs/nov={lacks}{new}",
            ),
            *(f"shape/len={shape}{length}", f"qt/nov={asking}{new}", f"kind/nov={kind}{new}", f"ba={before}|{after}"),
            *(f"gs/reg={lacks}{region}", f"qt/reg={asking}{region}", f"gs/reg/nov={lacks}{region}{new}"),
            *(f"qw/shape={query.opening}{shape}", f"newnp={min(3, len(sentence.new_phrases))}{region}"),
        ]
        if sentence.clause[first] == 0:
            features.append(f"reg0={region}")
        if after in ("$", "mark"):
            features.append(f"ends/{region}")
        features += self._inner(tokens[1:])
        features += self._marked(text)
        features += self._in_clause(sentence, first, last, new)
        features += self._in_order(index, first, last, new, region)
        if "number" in kinds:
            features += self._of_number(index, first, last, text)
        if len(tokens) == sentence.words:
            features += ["whole", f"whole/{_place(index, len(self.sentences) - 1)}"]
        return features

    def _inner(self, tokens: Sequence[Token]) -> Iterator[str]:
        """Yield what is within a span after its first word: `of`, commas, `and`."""
        kinds = {token.kind for token in tokens}
        if any(token.word == "of" for token in tokens):
            yield "in:of"
        if any(token.kind == "preposition" and token.word != "of" for token in tokens):
            yield from ("in:prep", f"in:prep/{self.query.asking}")
        if any(token.text == "," for token in tokens):
            yield from ("in:,", f"in:,/{self.query.count}")
        if "conjunction" in kinds:
            yield from ("in:conj", f"in:conj/{self.query.count}")
        if "pronoun" in kinds:
            yield "in:pron"
        if "adverb" in kinds:
            yield "in:adv"
        if any(token.kind == "mark" and token.text in "—–(" for token in tokens):
            yield "in:dash"

    def _marked(self, text: str) -> Iterator[str]:
        """Yield whether a span is bold, quoted, repeated, or in the question."""
        text, query = text.lower(), self.query
        if text in self.bold:
            yield "bold"
        elif self.bold:
            yield "partbold" if any(text in part or part in text for part in self.bold) else "otherbold"
        if text in self.quoted:
            yield "quoted"
        elif self.quoted:
            yield "otherquoted"
        if text in query.text:
            yield "inq"
            yield f"inq/{'or' if ' or ' in query.clause else 'no'}"
            if text not in query.clause:
                yield "inpass"
        if self.reply.count(text) > 1:
            yield "rep"

    def _in_clause(self, sentence: Clauses, first: int, last: int, new: str) -> Iterator[str]:
        """Yield the share of the words of the question that stand around a span in its clauses."""
        around = set[str]().union(
            *(sentence.known.get(clause, ()) for clause in set(sentence.clause[first : last + 1]))
        )
        around -= {stem(token.text) for token in sentence.tokens[first : last + 1]}
        share = _bucket(len(around) / max(1, len(self.query.stems)))
        yield f"clshare={share}"
        yield f"clshare/nov={share}{new}"

    def _in_order(self, index: int, first: int, last: int, new: str, region: str) -> Iterator[str]:
        """Yield the place of a span among the new noun phrases of its sentence and of the reply."""
        mine = [
            at
            for at, (other, start, end, _) in enumerate(self.news)
            if other == index and start <= last and first < end
        ]
        if not mine:
            yield "nomine"
            return
        _, start, _, sort = self.news[mine[0]]
        same = [at for at, phrase in enumerate(self.news) if phrase[0] == index]
        alike = [at for at, phrase in enumerate(self.news) if phrase[3] == sort]
        in_sentence, of_sort = min(3, same.index(mine[0])), min(3, alike.index(mine[0]))
        yield f"ord={min(3, mine[0])}"
        yield f"ords={in_sentence}"
        yield f"ordk={sort}{of_sort}"
        yield f"ordk/kind={self.query.kind}{sort}{of_sort}"
        yield f"lastord={min(3, len(self.news) - 1 - mine[-1])}"
        yield f"lastords={min(2, same[-1] - mine[-1])}"
        yield f"alike={sort}{min(4, len(alike))}"
        yield f"ords/gs={in_sentence}{self.query.lacks}"
        yield f"ords/reg={in_sentence}{region}"
        yield f"over={min(3, len(mine))}"
        if self._share_of_clause(index, start) == self.best_clause > 0:
            yield "bestcl"
            yield f"bestcl/{new}"
            yield "bestcl/only" if self.best_clauses == 1 else "bestcl/more"

    def _of_number(self, index: int, first: int, last: int, text: str) -> Iterator[str]:
        """Yield the place of a number among the numbers of the reply, and before or after `=`."""
        sentence = self.sentences[index]
        is_last = self.last_number[0] == index and first <= self.last_number[1] <= last
        is_first = self.first_number[0] == index and first <= self.first_number[1] <= last
        position = "last" if is_last else "first" if is_first else "mid"
        yield f"num={position}"
        yield f"num/kind={self.query.kind}{position}"
        yield f"numinq={text.lower() in self.query.text}"
        if "=" in sentence.text:
            side = "after" if "=" in sentence.text[: sentence.tokens[first].start] else "before"
            yield f"eq={side}{'' if '=' in sentence.text[sentence.tokens[last].end :] else 'last'}"


def read_english_reply(reply: str, question: str) -> EnglishReply:
    """Return the sentences of a reply as spans are read from them: after its last correction, and without examples.

    >>> reply = read_english_reply("The capital isn't Sydney but Canberra.", "What is the capital of Australia?")
    >>> [span.text for span in reply.spans()]
    ['Canberra']
    """
    said = ITALIC.sub(r"\1", corrected(plain_reply(without_examples(without_gaps(reply)))))
    return EnglishReply(split(said)[:MOST_SENTENCES], reply, question)


def _ends(sentence: Clauses, first: int, silent: Sequence[tuple[int, int]]) -> Iterator[tuple[int, str]]:
    """Yield the last token and the text of each span that begins with a token."""
    tokens, start = sentence.tokens, sentence.tokens[first]
    is_silent = any(begin <= start.start < end for begin, end in silent)
    if (
        is_silent
        or start.kind in NOT_FIRST
        or start.word in BOUNDING
        or NOT_THERE.search(sentence.text[: start.start]) is not None
        or (start.kind == "mark" and start.text not in OPENING)
    ):
        return
    for last in range(first, min(len(tokens), first + MOST_TOKENS)):
        end = tokens[last]
        is_dash = end.text in DASHES and sentence.text[end.start - 1] == " "
        is_bound = end.kind == "number" and BOUND.search(sentence.text[: end.start]) is not None
        if is_bound or is_dash or (end.kind == "mark" and end.text in ENDING):
            break
        if end.kind in NOT_LAST or (end.kind == "mark" and end.text not in CLOSING):
            continue
        if first == last and end.kind in NOT_ALONE:
            continue
        if text := _stripped(sentence.text[start.start : end.end]):
            yield last, text


def _stripped(text: str) -> str:
    """Return a span without quotes, ends of sentences and a bracket that is not closed in it."""
    text = text.strip('"“”`[] ').rstrip(",.:;/ ")
    if text.count("(") != text.count(")"):
        text = text.rstrip(")") if text.count("(") < text.count(")") else text.lstrip("(")
    return text[1:-1] if text[:1] == "(" and text[-1:] == ")" and text.count("(") == 1 else text


def _kind(tokens: Sequence[Token], index: int) -> str:
    return "^" if index < 0 else "$" if index >= len(tokens) else tokens[index].kind


def _word(tokens: Sequence[Token], index: int) -> str:
    return "^" if index < 0 else "$" if index >= len(tokens) else tokens[index].word


def _small(tokens: Sequence[Token], index: int) -> str:
    """Return a token that is a small word or a mark; the kind of any other."""
    kind = _kind(tokens, index)
    return kind if kind in (*SAYING, "^", "$") else tokens[index].word


def _place(index: int, last: int) -> str:
    return "only" if last == 0 else {0: "first", last: "last", 1: "second"}.get(index, "mid")


def _bucket(share: float) -> str:
    return "0" if share <= 0 else "a" if share < 0.34 else "b" if share < 0.67 else "c" if share < 1 else "d"


def _length(tokens: int) -> str:
    return str(tokens) if tokens < 5 else "5" if tokens < 7 else "7" if tokens < 10 else "10"


def _distance(tokens: int) -> str:
    return "1" if tokens == 1 else "2" if tokens <= 3 else "9"


def _how_known(verb: Token) -> str:
    return "K" if verb.known else "A" if verb.kind == "auxiliary" else "U"


def _newness(tokens: Sequence[Token]) -> str:
    """Return how much of a span the question lacks: all, some or none of its words."""
    content = [token.known for token in tokens if token.kind in SAYING]
    return "none" if not content else "new" if not any(content) else "old" if all(content) else "mixed"


def _region(sentence: Clauses, first: int, last: int) -> str:
    """Return where a span stands: before the first verb, after it, or farther on."""
    if not sentence.verbs:
        return "noverb"
    verb, tokens = sentence.verbs[0], sentence.tokens
    if last < verb:
        return "subj"
    follows = first == verb + 2 and tokens[first - 1].kind in ("adverb", "auxiliary", "determiner", "verb")
    if first == verb + 1 or follows:
        return "aftverb"
    return "later" if first > verb else "spansverb"


def _phrase_kind(phrases: Sequence[tuple[int, int]], first: int, last: int) -> str:
    """Return how a span relates to the noun phrase at its place."""
    for start, end in phrases:
        if start == first:
            return "eq" if end == last + 1 else "longer" if end < last + 1 else "prefix"
        if end == last + 1 and start < first:
            return "suffix"
        if start < first and last + 1 < end:
            return "inner"
    return "none"
