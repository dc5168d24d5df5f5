"""Read whether a reply says yes or no, in a word or by repeating or denying what is asked; two negations affirm."""

import re

from proctor_judging.matching.asked import QuestionForm
from proctor_judging.matching.comparisons import truth_of_comparison
from proctor_judging.matching.contradictions import contradicts, says_opposite
from proctor_judging.matching.extract import DOUBTED
from proctor_judging.matching.han_truth import asked_predicate, read_han_truth
from proctor_judging.matching.number_words import with_digits
from proctor_judging.matching.patterns import compile_later
from proctor_judging.matching.question_words import echo, stem
from proctor_judging.matching.sentences import (
    ASIDE,
    CLAUSE,
    CONCLUDES,
    EXPLAINED,
    GUESS,
    HARMLESS,
    LEAD,
    OTHERS_SAY,
    SO,
    TITLE,
)
from proctor_judging.matching.text import negations, tidy

YES_WORDS = "yes|true|correct|right|是|对|正确|真|是的|对的|能|可以|会|有|真命题|属于|成立|没错|能够|是真的|正确的|应该|应当|必须|需要|可能|可行"
NO_WORDS = "no|false|incorrect|wrong|untrue|not true|not correct|否|错|错误|不|不是|不对|不正确|假|不能|不可以|不会|没有|假命题|不属于|不成立|并非|不行|无法|不可能|错误的|错的|不对的|不应该|不应|不必|不需要|不用|不可|不行的"
LONGEST_PREDICATE = 8
HAN_ASKS = compile_later("什么|啥|谁|哪|怎|多少|几")
NOMINAL_DENIALS = frozenset(["非", "既非", "并非", "不是", "并不是", "既不是"])
CLASS_ASKED = compile_later(
    r"(?:是不是|是否(?:是|为|属于)?|是|属于|算)(?:一[个种])?([\u3400-\u9fff]{1,6}?)(?:吗|[?？]|$)"
)
CLASS_SAID = compile_later(
    r"((?:并?不|并)?(?:属于|是|非|算|为)|不属于|不算|不是|并非)(?:一[个种])?([\u3400-\u9fff]{1,8})$"
)
YES = frozenset([*YES_WORDS.split("|"), *"√✓✔✅"])
NO = frozenset([*NO_WORDS.split("|"), *"×✗✘❌"])
NEGATIVE = compile_later(  # words that deny without a negation
    r"\b(?:wrong|incorrect(?:ly)?|false(?:ly)?|untrue|mistaken(?:ly)?|a mistake|a myth|fails?|failed|impossible|unable|refus\w+|unlikely|invalid|inaccurate|stopped|ceased|lost (?:its|his|her|their)|excluded?s?|omit(?:s|ted)?|lacks?|lacking|leaves (?:it|this|that|them) out|left out|forbidden|prohibited|banned|rejected|denied|anything but|except(?! for)|far from)\b|错误?|有误|失误|禁止|严禁|谢绝|假命题|虚假|失败|拒绝|谬误",
    re.IGNORECASE,
)
ANSWER = compile_later(
    r"(?P<en>yes|no|true|false|correct|incorrect|right|wrong|untrue|not (?:true|correct|right)|absolutely(?: not)?|definitely(?: not)?|certainly(?: not)?|of course(?: not)?|never|not at all|by no means|not really|nope|nah|yep|yeah|yup|sure(?: can| thing)?|affirmative|negative|indeed)\b(?=\W*$|\s?[,.;:!–—-]|\s(?:it|he|she|they|that|this|the|there|you|we|indeed|sure|of course|absolutely|definitely|certainly)\b)"
    r"|(?P<zh>不正确|不对|不是|正确|错误|是的|对的|没错|对|错|否|是|不能|不可以|不会|没有|不行|能|可以|会|有|不|当然不[是能会]?|当然[是能会]?)(?=[^\w《“\"'「（(*]|$)",
    re.IGNORECASE,
)
SAID = compile_later(
    r".{0,120}?\b(?:is|are|was|were|be|it's|that's|returns|prints|outputs|evaluates to|call (?:this|it|that)|(?:is|are|was|were)n't)\s(?:(?:not|never|also|indeed|clearly|certainly|definitely|actually|simply|logically|mathematically)\s)*(?P<en>true|false|correct|incorrect|wrong|right|untrue)(?:\s(?:that|to)\s.{1,200})?"
    r"|.{1,60}?(?:是|为|算|说)?(?P<zh>正确|错误|真|假|成立|对|错)的?(?:命题)?",
    re.IGNORECASE,
)
AFFIRMS = compile_later(
    r"没错|不错|没有?问题|毫无疑问|毋庸置疑|\bno (?:doubt|question)\b|\bwithout (?:a |any )?(?:doubt|question)\b|不得不|不仅|\bnot only\b",
    re.IGNORECASE,
)
REPEATS = compile_later(
    r"\W*(?:$|(?:it|he|she|they|that|this|the|there|you|we|i|these|those|an?|because|since|as)\b|(?:\w+\s){2,}\w+|[\u3400-\u9fff])",
    re.IGNORECASE,
)
ABOUT_IT = compile_later(r"(?:it|they|he|she|that|this|these|those)\b", re.IGNORECASE)
NAME = compile_later(r"\b[A-Z][a-z]{2,}\b")
PRONOUN = compile_later(r"\b(?:it|they|he|she)\b", re.IGNORECASE)
LABEL_OF_TRUTH = compile_later(r"\b(?:true or false|yes or no|right or wrong|correct or incorrect)\b\W*", re.IGNORECASE)
NO_EVIDENCE = compile_later(
    r"(?:there (?:is|was|are|were)(?: simply| absolutely)? )?no (?:(?:evidence|proof|truth|basis|indication|sign|record)\b(?! against)|(?:[\w-]+ ){1,4}(?:needed|required|necessary)\b)|(?:that|this|it)(?: one)?(?:['’]s| is) (?:just |actually )?an? (?:[a-z]+ )?(?:myth|misconception|urban legend)\b(?! that\b[^.;]{0,80}(?:n['’]t|not|never|no)\b)",
    re.IGNORECASE,
)
WORD = compile_later(r"[A-Za-z0-9]+")
SHORT = compile_later(  # It isn't: …
    r"(?P<said>(?:(?:it|they|he|she|you|we|i)\s(?:sure|certainly|definitely|indeed|absolutely|really)|it|they|he|she|you|we|i|this one|that one|all of them|most of them|everyone|everybody|none of them|nobody|no one)\s?(?:(?:does|do|did|is|are|was|were|can|could|will|would|has|have|had|should|must|ca|wo|need)(?:n['’]t|\snot)?|['’](?:s|re|m|ll|d|ve) not|never [a-z]+ (?:it|one|that|so)))(?:(?:\s[-–—]|:)\s.*)?",
    re.IGNORECASE,
)
PREDICATE = compile_later(
    r"(?P<said>(?:it|they|he|she|you|we|i)\s?(?:['’](?:s|re|m)|is|are|was|were|can|could|will|should|ca|wo|do(?=n['’]t|\snot)|does(?=n['’]t|\snot)|did(?=n['’]t|\snot))(?:n['’]t|\snot)?)\s(?:still |also |indeed |definitely |certainly )?(?P<asked>(?!(?:not|out|off|past|beyond|hardly|barely|almost|nearly)\b)[a-z]{3,20})(?P<rest>(?: [a-z ]{1,80})?)",
    re.IGNORECASE,
)  # you're not late
NONE = compile_later(r"no (?!one\b)([^.,;:–—!?]{3,80})", re.IGNORECASE)  # No rows were deleted
DOES = compile_later(
    r"^(?:can|could|do|does|did|will|would|should|may|must) .* ([a-z]{2,}) ([a-z]{3,})\W*$", re.IGNORECASE
)
WHOLE = compile_later(
    r"\b(?:all|any\w*|every\w*|each|both|most|always|it|them|that|those|this|so|there|one|ones|some|small|few|little|more|only|amounts?)\b",
    re.IGNORECASE,
)
CONDITIONS = compile_later(
    r"\b(?:if|only|unless|until|before|when|once|whether|almost|nearly|hardly|than|too|but)\b", re.IGNORECASE
)
OPENING = compile_later(
    r"^(?:actually|well|technically|in fact|sadly|believe it or not|so|hmm|(?:surprising|weird|strange|odd|funni)ly enough|(?:general|strict|broad|technical)ly speaking|(?:un)?(?:fortunate|lucki|surprising|normal|general|usual|typical|basical|official|sad)ly),\s|^(?:i['’]m afraid(?: that)?|(?:un)?(?:fortunate|lucki|surprising|normal|general|usual|typical|basical|official|sad)ly)\s(?=(?:yes|no|not|it|they|he|she|you|we|that)\b)|^that(?:['’]s| is)\s(?=(?:right|correct|true|false|wrong)\b(?=\W*$|\s?[,.;:!–—-]))",
    re.IGNORECASE,
)
REPORTED = compile_later(
    r"\b(?:said|says|thinks?|thought|whether|if|doubts?|wonder\w*|(?:some|many|most) people)\b|是否|有人|如果",
    re.IGNORECASE,
)
ANSWER_IS = compile_later(
    r"(?:\b(?:the |my )(?:(?:correct|short|right|honest|final|simple|real|true) )?answer is,? |\bit(?:['’]s| is) an? (?:clear |firm |definite |resounding )?)(?:a (?:clear |firm |definite |resounding )?)?"
    r"[\"“']?(yes|no)\b(?! (?:one|more|longer|other|matter))",
    re.IGNORECASE,
)
ALONE = compile_later(
    r"(?:^|[,;:–—]\s)(?:(?:so|then|but|and),?\s)?(yes|no)(?=\s?[,.:;!–—]|$)", re.IGNORECASE
)  # To a cook, no, but to a botanist, yes: it has seeds
CONCLUSION = compile_later(
    r"\W*(?:so|therefore|thus|hence|overall|in (?:conclusion|summary|short))\b[,:]?\s+", re.IGNORECASE
)
MAY_I = compile_later(
    r"\b(?:can|may|should|could) (?:i|we|you|my|our|your|an?|the|he|she|it|they)\b|\bcan (?:\w+ ){1,3}(?:eat|drink|have)\b|\b(?:ok|okay|safe|fine|good|alright|all right|wise)\b",
    re.IGNORECASE,
)
ALL_BUT_SO = compile_later(r"\W*(?:almost|nearly|not quite)\b\s?[:,.!–—-]", re.IGNORECASE)
NORMALLY = compile_later(
    r"(?:normally|usually|generally|typically|in general|as a rule)\b[^.!?]{0,160}\bbut\b,? ", re.IGNORECASE
)
DO_NOT = compile_later(
    r"(?:please )?(?:don['’]t|do not|never) (?:let|give|feed) (?:him|her|it|them|your|any)\b(?: any\b)?(?P<rest>[^.,;:–—!?]{0,40})|(?:please |no, )?(?:don['’]t|do not)(?:\s(?:(?:do|try) (?:it|that|this)|ever do (?:it|that|this)))?\W*$",
    re.IGNORECASE,
)
NOT_SO = compile_later(
    r"(?:(?:unfortunately|sadly|i['’]?m afraid|afraid|probably|certainly|definitely|generally|usually|normally|typically)\s)?not\b(?!\s(?:only|just|to mention))",
    re.IGNORECASE,
)
DENIED_RUMOUR = compile_later(  # what is denied in it is so
    "(?:(?:说|所谓|认为|以为)[^。]{0,30}[不没][^。]{0,30}[是属]|[^，,。][不没][^，,。]{1,20}(?:是|属于?|纯属))[^，,。不]{0,6}(?:谣[言传]|误[解区传]|讹传|迷信|谎言)"
)
ALMOST = compile_later(
    r"\b(?:almost|nearly|all but) (?!always|never|all|every|no|any|certainly|identical|the same)[a-z]+(?:ed|t|id|ft|en)\b"
)
CANNOT_TELL = compile_later(
    r"\b(?:enough information|cannot (?:say|tell|know|be (?:determined|said))|can't (?:say|tell|know)|whether|unclear|unknown|depends)\b|无法(?:判断|确定|得知|知道)|不能(?:确定|判断)|不确定|不清楚|不知道|要看[^，。]{0,6}(?:什么|哪|谁|怎|是[否不]|情况|场合|多少|几)|看情况|取决于|视[^，。]{1,12}而定|[因随][^，。]{1,8}而[异定]|不一定|未必",
    re.IGNORECASE,
)


def read_truth(sentences: list[str], asked: QuestionForm) -> bool | None:
    """Return what the first or the last sentence says, yes or no; None if they do not say, or doubt it."""
    if asked.kind != "truth" and (
        len(sentences) > 1 or ((asked.kind or HAN_ASKS.search(asked.clause)) and not asked.clause.isascii())
    ):
        return None
    if asked.kind == "truth" and any(map(DENIED_RUMOUR.search, sentences)):
        return None
    if asked.kind == "truth" and (said := read_han_truth(sentences, asked.clause)) is not None:
        return said
    if asked.kind == "truth" and (
        answers := [match for sentence in sentences for match in ANSWER_IS.finditer(sentence) if _is_sure_before(match)]
    ):
        return str(answers[-1][1]).casefold() == "yes"
    concluding = [CONCLUSION.sub("", sentence) for sentence in sentences if CONCLUDES.match(sentence)]
    for sentence in dict.fromkeys([*concluding[-1:], *sentences[:1], *sentences[-1:]]):
        said = _said(AFFIRMS.sub("", sentence).strip(" ,，;.。!！") or "yes", asked)
        if said is not None:
            return said
    return None


def leaves_open(reply: str) -> bool:
    """True of a reply that says of itself that it depends, or that it does not know."""
    return CANNOT_TELL.search(reply) is not None


def truth_of(text: str) -> bool | None:
    """Return the truth value of a text that is nothing else; None for other texts.

    >>> truth_of("Yes."), truth_of("不成立"), truth_of("Paris")
    (True, False, None)
    """
    word = tidy(text).casefold()
    return True if word in YES else False if word in NO else None


def _said(sentence: str, asked: QuestionForm) -> bool | None:
    opened = OPENING.sub("", LEAD.sub("", sentence, count=1))
    if asked.kind == "truth" and (said := _of_pronoun(opened, asked)) is not None:
        return said
    if GUESS.search(sentence) or CANNOT_TELL.search(sentence) or ALMOST.search(sentence):
        return None
    if asked.kind == "truth" and ALL_BUT_SO.match(sentence):
        return False
    sentence = NORMALLY.sub("", sentence)
    if asked.kind == "truth" and (said := _in_a_word(sentence, asked)) is not None:
        return said
    whole = sentence
    word = ANSWER.match(OPENING.sub("", sentence))
    if word is not None and (asked.kind == "truth" or REPEATS.match(sentence, word.end())):
        text = word[0].casefold()
        return not (
            text in NO
            or text in ("by no means", "nope", "nah", "negative")
            or "not" in text
            or text.startswith("当然不")
            or text == "never"
        )
    if (so := list(SO.finditer(sentence))) and sentence[so[-1].end() :].strip():
        whole = sentence = sentence[so[-1].end() :]
        if asked.kind == "truth" and (said := truth_of(sentence)) is not None:
            return said
    lead = LEAD.match(sentence)
    sentence = ASIDE.sub(
        "", sentence[lead.end() :] if lead is not None and lead.end() < len(sentence) else sentence
    ).strip(" ,，;.。!！")
    clauses = CLAUSE.split(EXPLAINED.sub("", sentence))
    for clause in reversed(clauses):
        if asked.kind == "truth" and (said := _of_pronoun(clause, asked)) is not None:
            return said
        match = SAID.fullmatch(clause)
        if match is not None and match["zh"] == "成立" and asked.kind != "truth":
            continue
        if match is not None and not REPORTED.search(clause):
            denied = len(negations(_without_names(clause[: match.start(match.lastgroup or 0)]))) + len(
                NEGATIVE.findall(clause)
            )
            return denied % 2 == 0
    if asked.kind != "truth":
        return None
    if (said := _of_predicate(clauses, asked.clause)) is not None:
        return said
    if asked_predicate(asked.clause) and not (negations(sentence) or NEGATIVE.search(sentence)):
        return None  # 鲸鱼是哺乳动物, asked whether they are fish
    return _echoed(sentence, [sentence, *clauses], asked, whole)


def _of_pronoun(clause: str, asked: QuestionForm) -> bool | None:
    """Return what a clause says in the words `They won't`, or `It will not fit`, asked whether a sofa will fit."""
    short = SHORT.fullmatch(clause)
    if short is None and (predicate := PREDICATE.fullmatch(clause)) is not None:
        is_asked = echo(f"{predicate['asked']} {predicate['rest']}") <= asked.stems and not negations(asked.clause)
        short = predicate if is_asked and not CONDITIONS.search(clause) else None
    return None if short is None else not negations(short["said"])


def _in_a_word(sentence: str, asked: QuestionForm) -> bool | None:
    """Return what a sentence says by a yes or no of its own, wherever it has one, or by a denial of the whole question."""
    denies = NO_EVIDENCE.match(sentence) or NOT_SO.match(sentence) or _warns(sentence, asked)
    none = NONE.match(sentence)
    if (denies or (none and set() < echo(none[1]) <= asked.stems)) and not negations(asked.clause):
        return False
    alone = [match for match in ALONE.finditer(sentence) if _is_sure_before(match)]
    return alone[-1][1].casefold() == "yes" if alone else None


def _warns(sentence: str, asked: QuestionForm) -> bool:
    """True of a sentence that forbids what is asked for, and names nothing else."""
    warning = DO_NOT.match(sentence) if MAY_I.search(asked.clause) else None
    return warning is not None and echo(warning["rest"] or "") <= asked.stems


def _is_sure_before(match: re.Match[str]) -> bool:
    """True unless what leads to a yes or no is a guess, a condition or what others say."""
    return DOUBTED.search(match.string[: match.start(1)]) is None


def _of_predicate(clauses: list[str], question: str) -> bool | None:
    """Return what clauses say of the Chinese predicate that is asked: `并非不相等` affirms 相等, `是无理数` denies 有理数."""
    first = clauses[0].rstrip("了的") if clauses else ""
    if 1 < len(first) <= LONGEST_PREDICATE and question.rstrip("吗么呢?？。 ").rstrip("了的").endswith(first):
        return not negations(first)
    for clause in clauses:
        for start in range(max(0, len(question) - LONGEST_PREDICATE), len(question) - 2):
            predicate = question[start:].rstrip("吗么呢?？。 ")
            if len(predicate) > 1 and (
                chain := re.search(rf"((?:并|绝|也|又|既)?(?:不是|并非|不|非|没有?|未)+){re.escape(predicate)}", clause)
            ):
                if chain[1] in NOMINAL_DENIALS and not negations(question):
                    return False
                denials = len(re.findall("[不非没未]", chain[1]))
                return denials % 2 == 0 if denials > 1 else None
    kind = CLASS_ASKED.search(question)
    for clause in clauses if kind is not None else ():
        said = CLASS_SAID.search(clause)
        if kind is None or said is None or (len(said[2]) < 2 and said[2] != kind[1]):
            continue
        same = kind[1] in said[2] or (said[1].startswith(("不", "并", "非")) and said[2][-1:] in kind[1])
        if said[1][0] in "不并非":
            if same or kind[1][0] in said[2]:
                return False
        elif kind[1] != said[2] and kind[1][-1] == said[2][-1] and kind[1] not in said[2] and len(kind[1]) > 1:
            return False
    return None


def _echoed(sentence: str, clauses: list[str], asked: QuestionForm, whole: str) -> bool | None:
    """Return what a sentence says that repeats the words of the question, affirming or denying them."""
    clause_asked = LABEL_OF_TRUTH.sub("", asked.clause)
    best = max(clauses, key=lambda clause: (len(asked.stems & echo(clause)), -len(clause)))
    compared = truth_of_comparison(sentence, clause_asked)
    if compared is not None:
        return compared
    opposite = [clause for clause in clauses if clause.isascii() and _is_opposite(clause, clause_asked, asked)]
    if opposite:
        return len(negations(_without_names(opposite[-1]))) % 2 == 1
    said = echo(best)
    if _another_number(best, clause_asked) and not negations(best):
        return False
    repeats = asked.stems <= said or (len(asked.stems & said) * 2 >= min(len(asked.stems), len(said)) > 0)
    if (
        not repeats
        or not _is_statement(best, clause_asked)
        or negations(clause_asked.replace("不", "", clause_asked.count("是不是")))
    ):
        return None
    denied = len(negations(_without_names(best))) + len(NEGATIVE.findall(best)) - len(NEGATIVE.findall(clause_asked))
    if contradicts(best, asked.clause):
        return None
    if denied % 2 == 0 and best.isascii():
        elsewhere = len(negations(whole)) + len(NEGATIVE.findall(whole)) > len(negations(best)) + len(
            NEGATIVE.findall(best)
        )
        if NAME.search(clause_asked, 4) and _names_another(whole, clause_asked):
            return False if len(asked.stems - said) <= 1 else None
        if (
            not _holds_predicate(said, clause_asked)
            or _is_of_another(best, clause_asked)
            or (elsewhere and not asked.stems <= said)
        ):
            return None
    return denied % 2 == 0 if best == sentence or denied % 2 or asked.stems <= said else None


def _is_opposite(clause: str, question: str, asked: QuestionForm) -> bool:
    """True if a clause says the opposite of the question of the same thing, which it names, or means by `it`."""
    about = ABOUT_IT.match(clause) is not None or bool(asked.stems & echo(clause))
    return about and " than " not in clause and _is_statement(clause) and says_opposite(clause, question)


def _another_number(clause: str, question: str) -> bool:
    """True if a clause repeats the question with another number: `four chambers`, asked about three."""
    asked, said = (re.findall(r"\d+(?:\.\d+)?", with_digits(text)) for text in (question, clause))
    words = {word for word in echo(with_digits(question)) if not word.isdigit()}
    return len(asked) == len(said) == 1 and asked != said and words <= echo(clause)


def _names_another(sentence: str, question: str) -> bool:
    """True if a sentence has another name where the question has one: Bell, asked whether Edison did it."""
    asked, said = ({match[0] for match in NAME.finditer(text, start)} for text, start in ((question, 4), (sentence, 1)))
    return not any(name in sentence for name in asked) and bool(said - asked) and not PRONOUN.search(sentence)


def _holds_predicate(said: set[str], question: str) -> bool:
    """True if a sentence repeats what a question says of its subject, which comes first."""
    words = [stem(word) for word in WORD.findall(question) if echo(word)]
    predicate = set(words[1:]) if len(words) > 1 else set(words)
    return words[-1:] == [] or len(predicate & said) * 2 >= len(predicate)


def _is_of_another(clause: str, question: str) -> bool:
    """True if a clause has another object where the question has its last word: `They can eat apples`, asked about grapes."""
    does = DOES.search(question)
    words = [stem(word) for word in WORD.findall(clause)]
    if does is None or stem(does[2]) in words or stem(does[1]) not in words[:-1] or WHOLE.search(clause):
        return False
    return bool(echo(" ".join(words[words.index(stem(does[1])) + 1 :])))


def _is_statement(clause: str, question: str = "") -> bool:
    """True unless a clause doubts or reports something in words that its question does not have."""
    doubts = [match[0] for match in OTHERS_SAY.finditer(NEGATIVE.sub("", clause))]
    return all(doubt in question for doubt in doubts) and "?" not in clause


def _without_names(text: str) -> str:
    return HARMLESS.sub("·", TITLE.sub("·", text))
