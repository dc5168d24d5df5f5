"""Say in plain order what an English sentence says: `Credit goes to Bell.` is `So it is Bell.`, whatever the target is.

Writers wrap an answer: the scene comes first, a rival is set aside, the answer stands in a cleft. The rewritings here drop what is
set aside and leave a sentence that the readers of claims know. Each looks at the form of the sentence, and at the words of the question.
"""

import re
from collections.abc import Sequence

from proctor_judging.matching.asked import QuestionForm
from proctor_judging.matching.contradictions import contradicts
from proctor_judging.matching.noun_phrases import says_otherwise
from proctor_judging.matching.number_words import with_digits
from proctor_judging.matching.patterns import compile_later
from proctor_judging.matching.question_words import echo, stem
from proctor_judging.matching.sentences import DOUBT
from proctor_judging.matching.text import negations

AMOUNT = r"(?=(?:a |an |about |exactly |only |just )?[-−+$€£¥]?\d)"
HONOUR = (
    r"(?:title|distinction|hono(?:u?r|rs)|record|crown|top spot|first place|name|nickname|epithet|role|part|job|post|position|prize|award|"
    r"credit|description|label|bill|medal|trophy|victory|win|patent)"
)
THINKS_FIRST = compile_later(
    r"(?:at first|first,?|initially,?|originally,?)\s(?:I|we|you|one)\b|(?:my|our|your) first (?:guess|thought|idea)|"
    r"(?:I|we) (?:first|initially|originally) |(?:you|one) (?:might|may|would|could) (?:think|expect|guess|say|assume)|"
    r"(?:it(?:'s| is) )?(?:tempting|easy|common) to (?:say|think|assume|confuse|mix)|(?:don't|do not|never) (?:confuse|mix)|"
    r"(?:not )?to be confused",
    re.IGNORECASE,
)
SCENE = compile_later(
    r"(?:although|though|even though|while|whereas|even if|ever since|since|despite|in spite of|instead of|rather than|unlike|contrary to|compared (?:to|with)|"
    r"after|before|until|when|whenever|because of|following|given|once|prior to|besides|apart from|aside from|as opposed to|in addition to|starting from|out of)\b"
    r"[^,;.]{2,120},(?:\s(?:(?:to|of|for|in|from|with|by) )?(?:which|whom|who|whose)\s[^,;.]{2,80},)?\s(?=\S)",
    re.IGNORECASE,
)
PARTICIPLE = compile_later(r"[A-Z][a-z]{2,14}(?:ing|ed)\s[^,;.]{2,100},\s(?=(?:the|a|an|it|he|she|they|we)\b|[A-Z])")
RIVAL = compile_later(
    r",?\s(?:(?:rather than|instead of|unlike|as opposed to|in contrast (?:to|with)|compared (?:with|to)|as against|against|versus|vs\.?|ahead of|up from|down from|followed by|of which|of whom|including|with some|with a few|"
    r"not counting|(?:twice|half|(?:two|three|four|five|ten|\d+) times|just) as \w+ as|née|with [A-Z][\w']+ (?:in|coming|finishing|as) )|before (?:that|it),?|(?:that|which)(?=\s(?:takes?|costs?|weighs?|lasts?|seats|holds)\s))\s?(?=\S)((?:[^,;.]|(?<=\d)[,.](?=\d)){1,80}(?:,\s(?:which|who)\s[^,;.]{1,80})?)(?=[,;.]|$)",
    re.IGNORECASE,
)
HOLDS_IT = compile_later(
    rf"(?P<answer>(?:the |an? )?[\w'’.-]+(?: (?:of the|of|de|van|the)? ?[\w'’.-]+){{0,3}}?) (?:easily |currently |still |now |also |just )?"
    rf"(?:takes|took|holds|has held|held|wins|won|claims|carries|bears|wears|gets|got|earns|earned|deserves|fits|has earned|has|enjoys|owns|does|did|plays|serves|fills) "
    rf"(?:that|this|the|its) {HONOUR}\b.{{0,60}}",
    re.IGNORECASE,
)
NO_OTHER = compile_later(
    r"(?:no|no other|none of the(?: other)?) (?P<kind>[\w -]{2,30}?) (?:is|are|was|were|has|have|had|can|could|comes?|gets?|runs?)\b(?P<said>[^,;.]{0,40}?) than (?P<answer>[^,;.]{2,50})",
    re.IGNORECASE,
)
IS = compile_later(
    r"\b(?:(?:gives?|yields?|returns?|gets|makes|hands) (?:you|us|me|one|back)|reads|looks|answers to(?= [A-Z])|(?:turn(?:s|ed)? out|prov(?:es?|ed)|happen(?:s|ed)?|work(?:s|ed)? out|tend(?:s|ed)?) to be|(?:works?|worked|comes?|came) out (?:at|to|as)|boils? down to|"
    r"is (?:an |the )?(?:Latin|Greek|French|Spanish|German|Italian|Japanese|acronym|abbreviation|initialism|short|shorthand|another (?:name|word)) (?:for|of)|clocks? in at|weighs? in at|(?:stands?|stood|sits?) at|goes by the name (?:of )?|went by the name (?:of )?)\s",
    re.IGNORECASE,
)
LEADS_TO = compile_later(
    r"(?:^|.*?\b)(?:(?:bring|take|put|push|raise)(?:s|ing)? (?:the|our|your|its|his|her|us) ?[\w ]{0,30}? ?to|"
    r"leav(?:es|ing) (?:us|you|him|her|them|me) with|we(?:'re| are) left with|(?:which|this|that) (?:is|makes|gives|equals|comes to|works out (?:to|at)|amounts to)|equivalent to|"
    r"(?:,|;| -|—)\s?(?:meaning|i\.e\.,?|that is,|in other words,?)(?: (?:that|in))?|for a total of|makes|(?:,|;) (?:a|an) (?:total )?(?:drop|rise|fall|increase|decrease|difference|decline|change|gain|loss) of)\s"
    rf"(?P<answer>(?:the |an? )?{AMOUNT}[^;]{{1,80}}|(?:the )?\w+teenth century|(?:the )?\w+th century)$",
    re.IGNORECASE,
)
COORDINATED = compile_later(
    r";\s|,?\s(?:and|but|while|whereas|though|although)\s(?=(?:it|he|she|they)\s\w|(?:(?:it|he|she|they|his|her|its|their|the|my|our|a|an)\s)?(?:[A-Za-z'’]+\s){1,4}?(?:is|are|was|were|has|had|(?-i:[a-z]+(?:s|ed))|came|went|took|began|fell|rose)\b)|,\s(?=\w+ (?:years?|months?|days?|weeks?) (?:after|before)\b)"
)
NOT_MEANT = compile_later(r"\s?[(](?:not|don['’]t|do not|never)\b[^()]{1,120}[)]", re.IGNORECASE)
ITALIC = compile_later(r"(?<![\w*])\*(\w[^*\n]{0,60})\*(?![\w*])")
THEREFORE = compile_later(
    r"\b(?P<is>is|was|are|were|equals|must be) (?:therefore|thus|hence|consequently)\b", re.IGNORECASE
)
TODAY = compile_later(r"\b(?:today|now|currently|nowadays|these days|at present|at the moment)\b", re.IGNORECASE)
THEN = compile_later(
    r"\b(?:when it (?:was|opened)|originally|at first|initially|in the past|previously|formerly|back then|used to)\b",
    re.IGNORECASE,
)
ASKS_PAST = compile_later(r"\b(?:was|were|did|had|originally|used to)\b", re.IGNORECASE)
FROM_UNTIL = compile_later(r"\bfrom (?P<start>[^,;.]{1,20}?) (?:to|until|till) (?P<end>[^,;.]{1,20})$", re.IGNORECASE)
ASKS_END = compile_later(r"\b(?:clos|end|finish|complet|stop|conclud|over\b|until)", re.IGNORECASE)
ASKS_START = compile_later(r"\b(?:open|start|begin|began|commenc)", re.IGNORECASE)
ASKS_NEXT = compile_later(r"\b(?:succe|follow|after|next)", re.IGNORECASE)
NAMELY = compile_later(
    r".{3,200}?(?:,|;|\s[—–-])\s(?:i\.e\.|namely|viz\.?|in other words|to wit),? (?:in |on |at )?(?P<answer>[^;,]{1,80})"
)
BUT_ONLY = compile_later(
    r".{3,200}?, but (?=(?:only|just|in the end|in fact|actually|eventually|ended up)\b)(?P<rest>.{3,160})",
    re.IGNORECASE,
)
YEARS_AFTER = compile_later(
    r",\s(?:\S+\s){1,2}(?:years?|months?|weeks?|days?|decades?|centuries) (?:after|before|later than|earlier than)\s[^;.]{2,100}",
    re.IGNORECASE,
)
AND_A_HALF = compile_later(
    r"\b(?P<count>an?|one|\d+)\s(?P<unit>hour|day|year|month|week|minute|mile|metre|meter|kilometre|litre|kilo)s? and a half\b",
    re.IGNORECASE,
)
FOR_EVERY = compile_later(
    r"(?:.*?\b)?(?:for (?:every|each) (?P<n1>\w+) (?P<a1>\w+),? there (?:are|is|were) (?P<m1>\w+) (?P<b1>\w+)|(?P<n2>\w+) (?P<a2>\w+) (?:for|to) (?:every|each) (?P<m2>\w+) (?P<b2>\w+))\W*",
    re.IGNORECASE,
)
ASKS_RATIO = compile_later(r"\bratio of (?:the )?(?P<first>\w+) to (?:the )?(?P<second>\w+)", re.IGNORECASE)
BRACKETED = compile_later(r"\s\((?:equivalent to|which is|i\.e\.|or|that is)[^()]*\)", re.IGNORECASE)
WORD = compile_later(r"[A-Za-z]+")
LONGEST = 400


def plain_prose(sentences: Sequence[str], asked: QuestionForm) -> list[str]:
    """Return English sentences with their answers in plain order, without those that only say what is not meant.

    >>> from proctor_judging.matching.asked import read_asked
    >>> plain_prose(["It is a gas, namely hydrogen"], read_asked("What is it?"))
    ['So it is hydrogen']
    """
    kept = [sentence for sentence in sentences if not THINKS_FIRST.match(sentence)] or sentences
    if asked.kind == "moment":
        kept = [YEARS_AFTER.sub("", sentence) for sentence in kept if len(sentence) <= LONGEST]
    return [sentence if _is_left(sentence) else _plain(_on_subject(sentence, asked), asked) for sentence in kept]


def _is_left(sentence: str) -> bool:
    """True of a sentence that is too long to read, and of one whose doubt would be lost with its first clause."""
    return len(sentence) > LONGEST or DOUBT.search(sentence) is not None


def _on_subject(sentence: str, asked: QuestionForm) -> str:
    """Return the one clause of coordinated ones that is about the question: of `Kim is 34, and her brother is 31` the first.

    A clause that says the opposite of the question is about something else.
    """
    now = [clause for clause in sentence.split(", ") if TODAY.search(clause) and any(map(str.isdigit, clause))]
    if len(now) == 1 and THEN.search(sentence.replace(now[0], "")) and not ASKS_PAST.search(asked.clause):
        return now[0]
    clauses = [clause for clause in COORDINATED.split(sentence) if clause.strip()]
    if asked.kind == "truth" or len(clauses) < 2:
        return sentence
    if asked.kind not in ("amount", "moment"):
        counts = [len(asked.stems & echo(clause)) for clause in clauses]
        best = clauses[counts.index(max(counts))]
        return best if counts.count(max(counts)) == 1 and max(counts) * 2 >= len(asked.stems) else sentence
    numbered = [clause for clause in clauses if any(map(str.isdigit, clause))]
    agreeing = [clause for clause in numbered if not contradicts(clause, asked.clause)] or numbered
    words = {word for word in asked.stems if not word.isdigit()}
    if asked.kind == "moment" and len(agreeing) > 1 and says_otherwise(sentence, asked.clause):
        return sentence
    shared = [len(words & echo(clause)) for clause in agreeing]
    best = [clause for clause, count in zip(agreeing, shared, strict=True) if count == max(shared)]
    return best[0] if len(best) == 1 and (asked.kind == "moment" or max(shared)) else sentence


def _plain(sentence: str, asked: QuestionForm) -> str:
    sentence = ITALIC.sub(r"\1", NOT_MEANT.sub("", sentence))
    if (therefore := THEREFORE.search(sentence)) is not None:
        sentence = "So " + sentence[: therefore.end("is")] + sentence[therefore.end() :]
    if asked.kind == "moment" and (during := FROM_UNTIL.search(sentence)) is not None:
        if ASKS_END.search(asked.clause):
            return f"So it is {during['end']}"
        if ASKS_START.search(asked.clause):
            return f"So it is {during['start']}"
    sentence = AND_A_HALF.sub(_half, sentence)
    if (ratio := _ratio(sentence, asked)) is not None:
        return ratio
    if asked.kind != "truth" and (but := BUT_ONLY.fullmatch(sentence)) is not None:
        sentence = but["rest"]
    sentence = _without_rival(_without_scene(sentence, asked), asked)
    sentence = IS.sub("is ", sentence)
    for pattern in (NAMELY, HOLDS_IT):
        match = pattern.fullmatch(sentence)
        if (
            match is not None
            and not negations(match[0])
            and match["answer"].casefold() not in ("it", "that", "this", "he", "she")
        ):
            return f"So it is {match['answer']}"
    if (other := NO_OTHER.match(sentence)) is not None and echo(other["said"]) & asked.stems:
        return f"So it is {other['answer']}"
    if asked.kind in ("amount", "moment", ""):
        outside = BRACKETED.sub("", sentence)
        sentence = outside if any(map(str.isdigit, outside)) else sentence
        if (match := LEADS_TO.match(sentence)) is not None and not negations(match["answer"]):
            return f"So it is {match['answer']}"
    return sentence


def _without_scene(sentence: str, asked: QuestionForm) -> str:
    """Return a sentence without the clause that only sets the scene for its main clause."""
    for pattern in (SCENE, PARTICIPLE):
        scene = pattern.match(sentence)
        if scene is None or asked.kind == "truth":
            continue
        rest = sentence[scene.end() :]
        first = scene[0].partition(" ")[0]
        if pattern is PARTICIPLE and first.endswith("ed") and stem(first) in map(stem, WORD.findall(asked.clause)):
            return "It was " + scene[0][:1].lower() + scene[0][1:].rstrip(", ")
        if len(rest.split()) > 1:
            sentence = rest
    return sentence


def _without_rival(sentence: str, asked: QuestionForm) -> str:
    """Return a sentence without what it sets aside; what it sets aside where the question is about that."""
    rival = RIVAL.search(sentence)
    if rival is None or not rival.start() or (ASKS_NEXT.search(asked.clause) and "followed" in rival[0]):
        return sentence
    rest = sentence[: rival.start()] + sentence[rival.end() :].removeprefix("," if rival[0][0] == "," else "")
    numbers = any(char.isdigit() for char in rival[1])
    if numbers and echo(rival[1]) & asked.stems - echo(rest):
        return rival[1]
    if numbers and asked.kind == "truth":
        return sentence
    return rest


def _half(found: re.Match[str]) -> str:
    """Return `1.5 hours` for `an hour and a half`."""
    return f"{found['count'] if found['count'].isdigit() else 1}.5 {found['unit']}s"


def _ratio(sentence: str, asked: QuestionForm) -> str | None:
    """Return `It is 3:2` of `3 cats for every 2 dogs`, in the order of the question."""
    wanted, said = ASKS_RATIO.search(asked.clause), FOR_EVERY.match(sentence)
    if wanted is None or said is None:
        return None
    parts = {stem(said[f"a{form}"]): said[f"n{form}"] for form in "12" if said[f"a{form}"]}
    parts |= {stem(said[f"b{form}"]): said[f"m{form}"] for form in "12" if said[f"b{form}"]}
    first, second = (parts.get(stem(wanted[name])) for name in ("first", "second"))
    return f"It is {with_digits(first)}:{with_digits(second)}" if first and second else None
