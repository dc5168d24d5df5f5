"""The features of the spans of an English reply: what they look like, where they are, how their sentence is related to the question.

None knows a target, and none says what a thing is.
"""

from collections.abc import Iterator, Sequence

from proctor_judging.matching.english_replies import AskedForm, Clauses, EnglishReply
from proctor_judging.matching.noun_phrases import NOMINAL, SAYING, Token
from proctor_judging.matching.patterns import compile_later
from proctor_judging.matching.question_words import stem
from proctor_judging.matching.sentences import GUESS
from proctor_judging.matching.text import negations

DENIAL = compile_later(r"\b(?:not|n't|unlike|instead of|rather than|than|never|without)\b")


def features_of_sentence(reply: EnglishReply, index: int) -> list[str]:
    """Return the features that all spans of a sentence share: its place, and the words of the question in it."""
    sentence, last = reply.sentences[index], len(reply.sentences) - 1
    position = _place(index, last)
    share = _bucket(sentence.share)
    features = [f"sent={position}", f"share={share}", f"pos/share={position}{share}"]
    features.append("best" if sentence.share == reply.best_share > 0 else "notbest")
    if reply.concludes[index]:
        features.append("concl")
    elif any(reply.concludes):
        features.append("otherconcl")
    if negations(sentence.text):
        features.append("neg")
    if GUESS.search(sentence.text):
        features.append("guess")
    if sentence.text.endswith("?"):
        features.append("question")
    features.append(f"sw={_small(sentence.tokens, 0)}")
    if sentence.tokens and sentence.tokens[0].kind == "pronoun":
        features.append(f"pronfirst={position}")
    if not sentence.verbs:
        features.append(f"noverb/{position}")
    return features


def features_before(reply: EnglishReply, index: int, first: int) -> list[str]:
    """Return the features of where a span begins."""
    sentence, query = reply.sentences[index], reply.query
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
        f"so/F={query.sort}{start}",
        f"so/bw={query.sort}{word}",
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
        features += _after_verb(reply, sentence, left[-1], first)
    return features


def _after_verb(reply: EnglishReply, sentence: Clauses, verb: int, first: int) -> Iterator[str]:
    """Yield how a span follows the verb before it: `The director was …`."""
    token, query = sentence.tokens[verb], reply.query
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


def features_after(reply: EnglishReply, index: int, last: int) -> list[str]:
    """Return the features of where a span ends."""
    sentence, query = reply.sentences[index], reply.query
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


def features_within(reply: EnglishReply, index: int, first: int, last: int, text: str) -> list[str]:
    """Return the features of a span as a whole: its words, its form, its place among the others."""
    sentence, query = reply.sentences[index], reply.query
    tokens = sentence.tokens[first : last + 1]
    kinds = {token.kind for token in tokens}
    shape = "".join(
        name
        for name, of_it in (("num", "number"), ("name", "name"), ("noun", "noun"), ("verb", "verb"))
        if of_it in kinds or (name == "verb" and "auxiliary" in kinds)
    )
    new, length, region = newness_of(tokens), _length(len(tokens)), _region(sentence, first, last)
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
            f"so/shape={query.sort}{shape}",
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
    features += _inner(tokens[1:], reply.query)
    features += _marked(reply, text)
    features += _in_clause(reply, sentence, first, last, new)
    features += _in_order(reply, index, first, last, new, region)
    if "number" in kinds:
        features += _of_number(reply, index, first, last, text)
    if len(tokens) == sentence.words:
        features += ["whole", f"whole/{_place(index, len(reply.sentences) - 1)}"]
    return features


def _inner(tokens: Sequence[Token], query: AskedForm) -> Iterator[str]:
    """Yield what is within a span after its first word: `of`, commas, `and`."""
    kinds = {token.kind for token in tokens}
    if any(token.word == "of" for token in tokens):
        yield "in:of"
    if any(token.kind == "preposition" and token.word != "of" for token in tokens):
        yield from ("in:prep", f"in:prep/{query.asking}")
    if any(token.text == "," for token in tokens):
        yield from ("in:,", f"in:,/{query.count}")
    if "conjunction" in kinds:
        yield from ("in:conj", f"in:conj/{query.count}")
    if "pronoun" in kinds:
        yield "in:pron"
    if "adverb" in kinds:
        yield "in:adv"
    if any(token.kind == "mark" and token.text in "—–(" for token in tokens):
        yield "in:dash"


def _marked(reply: EnglishReply, text: str) -> Iterator[str]:
    """Yield whether a span is bold, quoted, repeated, or in the question."""
    text, query = text.lower(), reply.query
    if text in reply.bold:
        yield "bold"
    elif reply.bold:
        yield "partbold" if any(text in part or part in text for part in reply.bold) else "otherbold"
    if text in reply.quoted:
        yield "quoted"
    elif reply.quoted:
        yield "otherquoted"
    if text in query.text:
        yield "inq"
        yield f"inq/{'or' if ' or ' in query.clause else 'no'}"
        if text not in query.clause:
            yield "inpass"
    if reply.reply.count(text) > 1:
        yield "rep"


def _in_clause(reply: EnglishReply, sentence: Clauses, first: int, last: int, new: str) -> Iterator[str]:
    """Yield the share of the words of the question that stand around a span in its clauses, and words such as `however`."""
    around = set[str]().union(*(sentence.known.get(clause, ()) for clause in set(sentence.clause[first : last + 1])))
    around -= {stem(token.text) for token in sentence.tokens[first : last + 1]}
    share = _bucket(len(around) / max(1, len(reply.query.stems)))
    yield f"clshare={share}"
    yield f"clshare/nov={share}{new}"
    within = {token.word for token in sentence.tokens[first : last + 1]}
    for cue in sorted(sentence.cues.get(sentence.clause[first], set()) - within):
        yield f"cue={cue}"
        if reply.query.asks_now:
            yield f"nowq/cue={cue}"


def _in_order(reply: EnglishReply, index: int, first: int, last: int, new: str, region: str) -> Iterator[str]:
    """Yield the place of a span among the new noun phrases of its sentence and of the reply."""
    mine = [
        at for at, (other, start, end, _) in enumerate(reply.news) if other == index and start <= last and first < end
    ]
    if not mine:
        yield "nomine"
        return
    _, start, _, sort = reply.news[mine[0]]
    same = [at for at, phrase in enumerate(reply.news) if phrase[0] == index]
    alike = [at for at, phrase in enumerate(reply.news) if phrase[3] == sort]
    in_sentence, of_sort = min(3, same.index(mine[0])), min(3, alike.index(mine[0]))
    yield f"ord={min(3, mine[0])}"
    yield f"ords={in_sentence}"
    yield f"ordk={sort}{of_sort}"
    yield f"ordk/kind={reply.query.kind}{sort}{of_sort}"
    yield f"lastord={min(3, len(reply.news) - 1 - mine[-1])}"
    yield f"lastords={min(2, same[-1] - mine[-1])}"
    yield f"alike={sort}{min(4, len(alike))}"
    yield f"ords/gs={in_sentence}{reply.query.lacks}"
    yield f"ords/reg={in_sentence}{region}"
    yield f"over={min(3, len(mine))}"
    if reply.share_of_clause(index, start) == reply.best_clause > 0:
        yield "bestcl"
        yield f"bestcl/{new}"
        yield "bestcl/only" if reply.best_clauses == 1 else "bestcl/more"


def _of_number(reply: EnglishReply, index: int, first: int, last: int, text: str) -> Iterator[str]:
    """Yield the place of a number among the numbers of the reply, and before or after `=`."""
    sentence = reply.sentences[index]
    is_last = reply.last_number[0] == index and first <= reply.last_number[1] <= last
    is_first = reply.first_number[0] == index and first <= reply.first_number[1] <= last
    position = "last" if is_last else "first" if is_first else "mid"
    yield f"num={position}"
    yield f"num/kind={reply.query.kind}{position}"
    yield f"numinq={text.lower() in reply.query.text}"
    if "=" in sentence.text:
        side = "after" if "=" in sentence.text[: sentence.tokens[first].start] else "before"
        yield f"eq={side}{'' if '=' in sentence.text[sentence.tokens[last].end :] else 'last'}"


def _kind(tokens: Sequence[Token], index: int) -> str:
    return "^" if index < 0 else "$" if index >= len(tokens) else tokens[index].kind


def _word(tokens: Sequence[Token], index: int) -> str:
    """Return a token, unless it names a thing; its kind then."""
    kind = _kind(tokens, index)
    return kind if kind in (*NOMINAL, "^", "$") else tokens[index].word


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


def newness_of(tokens: Sequence[Token]) -> str:
    """Return how much of a span the question lacks: all, some or none of its words."""
    content = [token.known for token in tokens if token.kind in SAYING]
    return "none" if not content else "new" if not any(content) else "old" if all(content) else "mixed"


def _region(sentence: Clauses, first: int, last: int) -> str:
    """Return where a span is: before the first verb, after it, or farther on."""
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
