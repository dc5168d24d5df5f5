"""Describe a span of a Chinese sentence by its form alone: what is around it, what of it and of its clause the question has, and where it is.

No feature names a word of content: characters are named where they are function characters, common verbs, measure words, closing nouns such as `市` and `湖`, or marks.
"""

from collections.abc import Sequence

from proctor_judging.matching.han_atoms import MEASURES, Atom
from proctor_judging.matching.han_span_question import SpanQuestion
from proctor_judging.matching.han_span_sentences import (
    FILLING,
    Clause,
    HanSentence,
    ReplyLayout,
    is_fresh,
    level,
    place_of,
    without_names,
)
from proctor_judging.matching.patterns import compile_later

LEFT_CUE = compile_later(
    r"(?:不是|并非|而非|没有|不属于|不在|不叫|非|而是|应该是|应是|就是|正是|则是|也是|是|应为|即为|为|位于|在于|建于|处于|生于|源于|源自|来自|出自|属于|等于|关于|由于|因为|对于|至于|于|叫做|叫作|称为|称作|名为|名叫|简称|俗称|又称|也称|全称|叫|称|"
    r"所以|因此|因而|故|于是|大约|约为|约|接近|超过|不超过|至少|最多|达到|达|高达|一共有|一共|共有|共计|合计|总共|共|包括|包含|含有|有|分为|分别是|指的是|指|表示|意思是|比喻|形容|得到|得出|可得|得|其中|例如|比如|如|和|与|及|以及|、|跟|同|"
    r"从|自|到|至|由|被|把|将|给|向|用|靠|以|按|凭|在|对|让|使|的|了|过|着|[=≈:])$"
)
RIGHT_CUE = compile_later(
    r'的|是|为|在|由|于|了|等|之|和|与|及|以及|、|或|左右|以上|以下|以内|以前|之前|之后|以后|后|前|时|中|里|上|下|内|外|以来|人|都|也|就|则|才|而|来|去|起|开始|为止|之间|先生|女士|[,:()"=%/]'
)
DENIED = compile_later(r"(?:不是|并非|而非|没有?|不属于|不在|不叫|不用|非)(?!.*[是为有])")
DENIAL = compile_later("不是|并不是?|并非|而非|不属于|不叫|没有")
DENIED_NEAR = compile_later("不是|并非|而非|没有|不属于|不在|不叫|非$|不同于|区别于|比$|除了")
ASSERTED = compile_later("而是|其实是|实际上?是|应该?是|正确答案")
OTHER_NAME = compile_later("原名|原|曾|以前|旧|又名|别名|简称|俗称|也叫|又叫|[字号]$")
INNER = "的是在了和与、及为,于以有("
NEAR, LONGEST_CUE = 8, 4


def features_left(
    at: int, sentence: HanSentence, index: int, layout: ReplyLayout, asked: SpanQuestion
) -> tuple[str, ...]:
    """Return the features of all spans that begin with an atom."""
    atoms, classes, kind = sentence.atoms, sentence.classes, asked.kind
    number = sentence.clause_of[at]
    clause, start = sentence.clauses[number], atoms[at].start
    before, before_class = _neighbours(sentence, at - 1, clause)
    text, own, cls = sentence.text[clause.start : start], sentence.words[at], classes[at]
    match = LEFT_CUE.search(text, max(0, len(text) - LONGEST_CUE))
    cue = match[0] if match is not None else before_class
    share = level((sentence.known[start] - sentence.known[clause.start]) / max(1, len(asked.pairs) - 2))
    fresh = min(sentence.fresh[at] - sentence.fresh[sentence.clause_of.index(number)], 6)
    features = [
        f"l={before}",
        f"l.c={before_class}{cls}",
        f"l.cue={cue}",
        f"l.cue/q={cue}{kind}",
        f"l/first={before}{own}",
    ]
    features += [f"first={own}", f"l.c/q={before_class}{kind}", f"l.sh={share}", f"l.sh/cue={share}{cue}"]
    features += [f"l.new={fresh}", f"l.new/cue={min(fresh, 2)}{cue}", f"c={min(number, 3)}", *clause.cues]
    features += [f"c/n={min(number, 2)}{min(len(sentence.clauses), 3)}"]
    position = place_of(index, len(layout.sentences))
    features.append(f"s/c={position}{min(number, 2)}")
    features += _aligned_left(text, cue, asked, layout)
    if not text.rstrip(FILLING):
        features += [
            f"opens/{position}{min(number, 2)}",
            f"opens/{own}{min(number, 1)}",
            f"opens/q={kind}{min(number, 1)}",
            "opens",
        ]
    features += _edge("l", sentence, start, before_class, asked)
    features += ["l.cut"] if at and classes[at - 1] == cls and cls in "Nn" else []
    features += [] if sentence.borders.begins[at] else ["l.weak"]
    features += _of_reply(index, number, layout, kind)
    near = text[-NEAR:]
    features += ["denied"] if DENIED_NEAR.search(near) else []
    features += ["asserted"] if ASSERTED.search(near) else []
    features += ["other name"] if OTHER_NAME.search(near) else []
    features += ["in brackets"] if text.count("(") > text.count(")") else []
    return tuple(features)


def _neighbours(sentence: HanSentence, at: int, clause: Clause) -> tuple[str, str]:
    """Return the word and the class of an atom before a span; ^ where the clause begins."""
    inside = at >= 0 and sentence.atoms[at].start >= clause.start
    return (sentence.words[at], sentence.classes[at]) if inside else ("^", "^")


def _aligned_left(text: str, cue: str, asked: SpanQuestion, layout: ReplyLayout) -> list[str]:
    """Return how far the text before a span ends like the text before the interrogative."""
    bare = _without_filling(text, asked.left)
    size = _common_end(bare, asked.left) if asked.left else -1
    rest = bare[: len(bare) - max(size, 0)]
    fit = "E" if not bare else "whole" if not rest else "known" if rest[-1] in asked.characters else "new"
    few = min(size, 4)
    features = [
        f"l.al={few}",
        f"l.al/q={min(size, 3)}{asked.kind}",
        f"l.al/fit={few}{fit}",
        f"l.al/fit/cue={min(size, 2)}{fit}{cue}",
    ]
    features.append(f"l.al+={min(_common_end(text, asked.before), 4)}")
    features += [f"l.next={min(size, 2)}"] if bare == text and text else []
    most = "-" if layout.aligned < 2 else "1" if few == layout.aligned else "0"
    return [*features, f"l.most={most}", f"l.most/cue={most}{cue}"]


def _without_filling(text: str, left: str) -> str:
    """Return a text without the small words at its end, but with those that end the left of the question: 首都."""
    shorter = text.rstrip(FILLING)
    ends = range(len(text), len(shorter), -1)
    return max((text[:end] for end in (len(shorter), *ends)), key=lambda kept: _common_end(kept, left))


def _common_end(text: str, other: str) -> int:
    size = 0
    while size < min(len(text), len(other)) and text[-1 - size] == other[-1 - size]:
        size += 1
    return size


def _edge(side: str, sentence: HanSentence, at: int, neighbour: str, asked: SpanQuestion) -> list[str]:
    """Return which words end and start at an edge of a span, and whether a verb of the question is next to it."""
    before, after, kind = sentence.ending.get(at), sentence.starting.get(at), asked.kind
    word = (before.kind if before else "-") + (after.kind if after else "-")
    features = [f"{side}.w={word}", f"{side}.w/c={word}{neighbour}", f"{side}.w/q={word}{kind}"]
    if (near := before if side == "l" else after) is not None:
        features += [f"{side}.word={near.text}", f"{side}.word/q={near.text}{kind}"]
    is_next = (
        (lambda verb: sentence.text.endswith(verb, 0, at))
        if side == "l"
        else (lambda verb: sentence.text.startswith(verb, at))
    )
    verb = min(len(next(filter(is_next, asked.verbs), "")), 2)
    return [*features, f"{side}.verb={verb}", f"{side}.verb/q={verb}{kind}"] if verb else features


def _of_reply(index: int, number: int, layout: ReplyLayout, kind: str) -> list[str]:
    features: list[str] = []
    if layout.has_lead:
        lead = "lead" if index == number == 0 else "after lead"
        features += [lead, f"{lead}/q={kind}"]
    if layout.concluding is not None:
        here = (index, number)
        features.append("concl=" + ("1" if here == layout.concluding else "+" if here > layout.concluding else "-"))
    return features


def features_right(at: int, sentence: HanSentence, asked: SpanQuestion) -> tuple[str, ...]:
    """Return the features of all spans that end with an atom."""
    atoms, classes, kind, atom = sentence.atoms, sentence.classes, asked.kind, sentence.atoms[at]
    clause, own, cls = sentence.clauses[sentence.clause_of[at]], sentence.words[at], classes[at]
    text = sentence.text[atom.end : clause.end]
    inside = at + 1 < len(atoms) and atoms[at + 1].start < clause.end
    comma = sentence.text[clause.end : clause.end + 1]
    after = sentence.words[at + 1] if inside else "$" + comma * (comma in (",", "，"))
    after_class = classes[at + 1] if inside else "$"
    match = RIGHT_CUE.match(text)
    cue = match[0] if match is not None else after_class
    share = level((sentence.known[clause.end] - sentence.known[atom.end]) / max(1, len(asked.pairs) - 2))
    last = len(sentence.clause_of) - sentence.clause_of[::-1].index(sentence.clause_of[at])
    size = _common_start(text.lstrip("的是了在为"), asked.right) if asked.right else -1
    features = [f"r={after}", f"r.c={cls}{after_class}", f"r.cue={cue}", f"r.cue/q={cue}{kind}", f"last/r={own}{after}"]
    features += [
        f"last={own}",
        f"r.c/q={after_class}{kind}",
        f"last/q={own}{kind}",
        f"r.al={min(size, 4)}",
        f"r.al/q={min(size, 3)}{kind}",
    ]
    features += [
        f"r.sh={share}",
        f"r.sh/cue={share}{cue}",
        f"r.new={min(sentence.fresh[last] - sentence.fresh[at + 1], 6)}",
    ]
    features += [] if text else ["closes"]
    features += _edge("r", sentence, atom.end, after_class, asked)
    features += ["r.cut", f"r.cut/{own}"] if inside and after_class == cls and cls in "Nn" else []
    features += [] if sentence.borders.ends[at + 1] else ["r.weak"]
    if atom.kind == "D":
        features += [f"number/r={after}", f"number/q={kind}"]
    if asked.measure and atom.text == asked.measure:
        features += ["measure", f"measure/q={kind}"]
    elif asked.measure and atom.kind in "Dn" and after == asked.measure:
        features.append("before measure")
    return (*features, *_of_head(sentence.text[: atom.end], text, asked.head))


def _common_start(text: str, other: str) -> int:
    size = 0
    while size < min(len(text), len(other)) and text[size] == other[size]:
        size += 1
    return size


def _of_head(until: str, after: str, head: str) -> tuple[str, ...]:
    if not head:
        return ()
    if until.endswith(head):
        return ("head",)
    return ("before head",) if after.startswith(head) else ("head's end",) if until.endswith(head[-1]) else ()


def features_whole(
    first: int, last: int, sentence: HanSentence, index: int, layout: ReplyLayout, asked: SpanQuestion
) -> tuple[str, ...]:
    """Return the features of one span that are not those of its ends."""
    atoms, kind = sentence.atoms, asked.kind
    start, end = atoms[first].start, atoms[last].end
    number = sentence.clause_of[first]
    clause, until = sentence.clauses[number], sentence.clauses[sentence.clause_of[last]].end
    text, size = sentence.text[start:end], end - start
    classes = sentence.classes[first : last + 1]
    shape, old = _shape(classes)
    length = str(size) if size < 5 else "6" if size < 7 else "9" if size < 10 else "14" if size < 15 else "15"
    before, before_class = _neighbours(sentence, first - 1, clause)
    inside = last + 1 < len(atoms) and atoms[last + 1].start < until
    after, after_class = (sentence.words[last + 1], sentence.classes[last + 1]) if inside else ("$", "$")
    features = [
        f"shape={shape}",
        f"old={old}",
        f"len={length}",
        f"shape/q={shape}{kind}",
        f"len/q={length}{kind}",
        f"old/q={old}{kind}",
    ]
    features += [
        f"shape/len={shape}{length}",
        f"ends={sentence.words[first]}{sentence.words[last]}",
        f"l/r={before}{after}",
    ]
    features += [f"l.c/r.c={before_class}{after_class}", f"l.c/r.c/old={before_class}{after_class}{old}"]
    features += _inside(sentence.words[first + 1 : last], classes, asked)
    features += _of_words(start, end, sentence, asked, length)
    features += ["crosses"] if sentence.clause_of[last] != number else []
    position = place_of(index, len(layout.sentences))
    features += _rest(first, last, sentence, asked, old, position)
    if start == clause.start and end == until:
        features += ["clause", f"clause/{position}{min(number, 1)}", f"clause/q={kind}"]
        features += ["sentence", f"sentence/{position}"] if len(sentence.clauses) == 1 else []
    features += _of_question(text, asked)
    features += _of_text(text, layout)
    features += ["quoted"] if sentence.text[start - 1 : start] == '"' == sentence.text[end : end + 1] else []
    listed = "、" in text or any(word in ("和", "与", "及") for word in sentence.words[first + 1 : last])
    of_list = before in "、和与及" or after in "、和与及"
    features.append(f"list={listed:d}{of_list:d}{'several' if asked.several else 'one'}")
    return (*features, *_amounts(first, last, shape, sentence, asked))


def _of_words(start: int, end: int, sentence: HanSentence, asked: SpanQuestion, length: str) -> list[str]:
    """Return how many words and single characters a span has, and the classes of its words."""
    kinds, at, kind = "", start, asked.kind
    while at < end:
        word = sentence.starting.get(at)
        kinds += word.kind if word else "-"
        at = word.end if word else at + 1
    count, tags = min(len(kinds), 6), kinds if len(kinds) < 4 else kinds[0] + "+" + kinds[-1]
    features = [f"words={count}", f"words/q={count}{kind}", f"words/len={count}{length}"]
    features += [f"tags={tags}", f"tags/q={tags}{kind}", f"tag={kinds[-1]}{kind}"]
    return [*features, f"tag/head={kinds[-1]}{asked.head[-1]}"] if asked.head else features


def _shape(classes: Sequence[str]) -> tuple[str, str]:
    """Return which kinds of atoms a span has, and how much of it the question has, too: new, old, mixed, none."""
    kinds = {cls[0] for cls in classes}
    shape = "".join(kind for kind in "DnLTQCN" if kind in kinds)
    fresh = any(is_fresh(cls) and len(cls) == 1 for cls in classes) or ("k" in kinds and kinds != {"k"})
    known = any(cls == "K" or len(cls) > 1 for cls in classes) or (kinds == {"k"})
    return shape, ("mixed" if known else "new") if fresh else "old" if known else "none"


def _inside(words: Sequence[str], classes: Sequence[str], asked: SpanQuestion) -> list[str]:
    features = []
    for word in dict.fromkeys(words):
        if word in INNER:
            features += [f"in={word}", f"in/q={word}{'several' if asked.several else asked.kind}"]
    if "K" in classes and any(map(is_fresh, classes)):
        features += ["in=K", f"in=K/{'end' if classes[-1] == 'K' else 'start' if classes[0] == 'K' else 'mid'}"]
    return features


def _rest(first: int, last: int, sentence: HanSentence, asked: SpanQuestion, old: str, position: str) -> list[str]:
    """Return how much of the question, and how much that is new, the rest of the clause and of the sentence has."""
    known, fresh, pairs = sentence.known, sentence.fresh, max(1, len(asked.pairs) - 2)
    start, end = sentence.atoms[first].start, sentence.atoms[last].end
    begin = sentence.clauses[sentence.clause_of[first]].start
    until = sentence.clauses[sentence.clause_of[last]].end
    clause = level((known[until] - known[begin] - known[end] + known[start]) / pairs)
    whole = level((known[-1] - known[end] + known[start]) / pairs)
    own = sentence.clause_of
    bounds = own.index(own[first]), len(own) - own[::-1].index(own[last])
    others = min(fresh[bounds[1]] - fresh[last + 1] + fresh[first] - fresh[bounds[0]], 6)
    features = [f"rest={clause}", f"rest/old={clause}{old}", f"s.rest={whole}", f"s.rest/s={whole}{position}"]
    return [*features, f"new={others}", f"new/old={min(others, 3)}{old}"]


def _of_question(text: str, asked: SpanQuestion) -> list[str]:
    bare = text.strip('"《》`')
    offers = bool(asked.options) or asked.kind == "option"
    features = []
    if text in asked.options:
        features.append("option")
    elif asked.options:
        features.append(
            "part of option" if any(text in option or option in text for option in asked.options) else "no option"
        )
    if bare in asked.clause:
        features += [
            "asked",
            f"asked/q={asked.kind}",
            f"asked/{'offered' if offers else 'no'}{'1' if len(bare) == 1 else ''}",
        ]
    elif len(bare) > 1 and bare in asked.text:
        features += ["given", f"given/q={asked.kind}"]
    return features


def _of_text(text: str, layout: ReplyLayout) -> list[str]:
    bare, features = text.strip('"《》`'), []
    if layout.marked:
        part = any(bare in mark or mark in bare for mark in layout.marked)
        features.append(
            "bold" if bare in layout.marked or text in layout.marked else "part of bold" if part else "not bold"
        )
    return [*features, "again"] if layout.text.count(bare) > 1 else features


def _amounts(first: int, last: int, shape: str, sentence: HanSentence, asked: SpanQuestion) -> list[str]:
    """Return whether a span is an amount of its sentence, part of one or more than one, and which unit it ends with."""
    kind, atoms = asked.kind, sentence.atoms
    start, end = atoms[first].start, atoms[last].end
    touched = [amount for amount in sentence.amounts if amount[0] < end and start < amount[1]]
    relation = _relation(start, end, touched)
    measure = asked.measure if asked.measure in MEASURES or asked.measure == "候" else ""
    features = [f"am={relation}", f"am/q={relation}{kind}{measure}"]
    if relation == "part":
        features.append(f"am.part={'s' * (touched[0][0] == start)}{'e' * (touched[0][1] == end)}{kind}")
    if "D" not in shape and "n" not in shape:
        return features
    closing = atoms[last]
    unit = closing.text if closing.text in MEASURES or closing.text in "%℃" else closing.kind
    features += [
        f"unit={unit}",
        f"unit/q={unit}{kind}{measure}",
        f"numbers={min(sum(atom.kind == 'D' for atom in atoms), 3)}",
    ]
    if atoms[first].kind == "D" and first < last:
        features.append(
            f"number+{atoms[first + 1].text if atoms[first + 1].text in MEASURES else atoms[first + 1].kind}"
        )
    follows = atoms[last + 1 : last + 3]
    features += ["before number"] if any(atom.kind == "D" for atom in follows) and not _is_mark(follows[0]) else []
    precedes = first > 1 and atoms[first - 2].kind in "Dn" and atoms[first - 1].text in MEASURES
    return [*features, "after number"] if precedes else features


def _is_mark(atom: Atom) -> bool:
    return atom.kind == "M" and atom.text in ",，;；。！!？?"


def _relation(start: int, end: int, amounts: Sequence[tuple[int, int]]) -> str:
    if not amounts:
        return "no"
    first, last = amounts[0][0], amounts[-1][1]
    if first == start and last == end and len(amounts) == 1:
        return "eq"
    if first <= start and end <= last and len(amounts) == 1:
        return "part"
    return "over" if start <= first and last <= end else "cross"


def is_denied(at: int, sentence: HanSentence) -> bool:
    """True if a sentence denies what begins with an atom: 北京 of 不是北京, but not of 不是上海而是北京."""
    begin, start = sentence.clauses[sentence.clause_of[at]].start, sentence.atoms[at].start
    denials = DENIAL.finditer(sentence.text, begin)
    if any(denial.start() <= start < denial.end() for denial in denials):
        return True
    return DENIED.search(without_names(sentence.text[begin:start])) is not None
