"""Say from the form of a reply alone whether what was read of it is sure: nothing else in it could be its answer.

A claim is sure where the reply is one clause; where all else is small words and words of the question; where
one clause repeats the whole question, or concludes; where it is the one bold part, the last value of an equation, or a
first sentence of its own. A word that turns a clause around (`not`, `but`, `before`, 除了) makes it unsure.
"""

import re
from collections.abc import Sequence

from proctor.answer_matching.asked import Asked, read_asked
from proctor.answer_matching.lists import read_items
from proctor.answer_matching.number_words import with_digits
from proctor.answer_matching.question_words import ECHO_WORD, EMPTY_WORDS, echo, stem
from proctor.answer_matching.sentences import COPULA, GUESS, is_certain, split
from proctor.answer_matching.text import negations, tidy
from proctor.answer_matching.truth import ANSWER
from proctor.runtime.patterns import compile_later

TURNS = compile_later(  # words that set one thing against another, deny, doubt, limit, or look back
    r"\b(?:not?|never|none|nor|neither|either|both|but|yet|however|although|though|despite|while|whereas|instead|rather|unlike|than|before|after|until|unless|if|once|"
    r"former\w*|original\w*|previous\w*|used to|except|besides|without|wrong\w*|false\w*|mistak\w*|many|some|other\w*|might|may|could|guess|think|thought|says?|said|according|"
    r"merely|respective\w*|versus|vs|earlier|later|last|next)\b|n['’]t\b|"
    r"[不没非未无却但或若误另]|则(?!是)|除了|以外|之外|原[来先本定名]|以前|之前|之后|后来|曾|虽|以为|如果|要是|假如|其余|其他|其次|分别|才[是能会为]|有人|有的|[?？]",
    re.IGNORECASE,
)
CLAUSE = compile_later(
    r"[:：](?!\d)\s*(?=\S)|,(?!\d|\s\d{4}\b)\s*(?=\S)|[，;；]\s*(?=\S)|\s[-–—]+\s|--|\sand\s(?=(?:[a-z]+\s)?[a-z]+(?:s|ed|e)\s|\d|[A-Z]\w+\s(?:the\s)?[a-z])|而(?=[\u3400-\u9fff])"
)
DENIED = compile_later(  # X, not Y
    r",?\s(?:and\s)?not\s[^,.;]{1,40}(?=\.?$)|[，,]\s?(?:而|并)?(?:不是|并非|不在)[^，,。；]{1,20}(?=。?$)|^not\s[^,.;]{1,40}(?:[,.;]|\sbut)\s|^(?:并?不是|并非)[^，,。；]{1,20}[，,]?(?:而)?(?=是)",
    re.IGNORECASE,
)
CORRECTS = compile_later(r"\b(?:wait|hmm|oops|sorry|actually|correction|no[,.])|更正|等等|不对|错了", re.IGNORECASE)
BREAK = compile_later(r"[，；;。！!\n]|,(?=[\u3400-\u9fff])")
QUOTING = compile_later(r"[,:\"“”《》()|`]")
CONCLUDES = compile_later(
    r"(?:so|therefore|hence|thus|that leaves|making|giving|leaving|the answer|in total|altogether)\b|所以|因此|故|答|[一总]?共|合计",
    re.IGNORECASE,
)
COMPARES = compile_later(r"\b(?:as|than|reason|up to)\b|[过比]|\bother\b")
WORD = compile_later(r"[a-zA-Z]{3}|[\u3400-\u9fff]")
ALTERNATIVES = compile_later(r"\b(?:or|either)\b|或|还是", re.IGNORECASE)
NUMBER = compile_later(r"\d+(?:[.,:/]\d+)*|[一二两三四五六七八九十百千万半]+")
APPOSED = compile_later(  # what only describes the name before it
    r"\s?\([^()]{1,80}\)|,\s(?:an?|the|one of|which|who|where|located|known|born|because|since|as|built)\b[^;.!?]*",
    re.IGNORECASE,
)
BOLD = compile_later(r"\*\*([^*\n]{1,60})\*\*")
GREETING = compile_later(r"(?:hi|hello|dear|thank)\b|.*[您你]好", re.IGNORECASE)
STRUCTURE = compile_later(r"^\s*[#|>]|[:：]\s*$|\n\s*(?:[-*•|]|\d[.)])\s", re.MULTILINE)
NO_NAME = compile_later(r"(?:yet|what|where|which|they)\b", re.IGNORECASE)
SMALL_CHARACTERS = frozenset(
    "的是了在于有为由和与及就也都其它他她这那一个位座种条名叫做称被把到从来对上中下年月日吗呢啊呀嘛啦地得之以所因此而且并即答案应该您你我共总类表"
)
FEW_WORDS, FEW_CHARACTERS, LONGEST_BARE = 3, 4, 60
MOST_OTHER_WORDS, MOST_OTHER_CHARACTERS = 2, 1
BARE = "nothing else"  # the reply, or what it marks, is the claim
WEAK_FORMS = frozenset(
    ["one clause", "alone"]
)  # sure of what is claimed, not that nothing else in the reply may be meant
HERE = " · "  # in the place of the claim


def is_bare(text: str, forms: Sequence[str], question: str) -> bool:
    """True if a text is no sentence: it is one of the claimed forms as a whole, or a few words to which no question is known.

    >>> is_bare("North Korea", ["North Korea", "Korea"], "Where?"), is_bare("It lies in Korea.", ["Korea"], "Where?")
    (True, False)
    """
    plain = tidy(text)
    if GUESS.search(plain) or "\n" in plain:
        return False
    few = len(plain.split(" ")) <= FEW_WORDS if plain.isascii() else len(plain) <= FEW_CHARACTERS
    if WORD.search(plain) is None or len(plain) > LONGEST_BARE or COPULA.search(plain) is not None:
        return WORD.search(plain) is None
    if plain in forms or echo(question):
        return plain in forms and (few or plain.isascii())
    items = read_items(plain)
    listed = items is not None and "，" not in text and all(len(one.split(" ")) < FEW_WORDS for one in items.elements)
    return listed or (few and not forms)


def sure_form(text: str, forms: Sequence[str], question: str) -> str | None:
    """Return the name of the form that makes a claim sure; None for any other.

    >>> sure_form("The capital of France is Paris.", ["Paris"], "What is the capital of France?")
    'one clause'
    >>> sure_form("Lyon is larger, Paris is older.", ["Paris"], "What is the capital of France?")
    """
    asked = read_asked(question)
    plain = tidy(DENIED.sub("", tidy(text).replace("**", "")))
    if not any(one.lstrip("-") in plain for one in forms):
        plain = with_digits(plain)
    held = [one for form in forms if (one := form.lstrip("-")) in plain and not BREAK.search(one)]
    form = next((one for one in held if not QUOTING.search(one)), held[0] if held else "")
    if not form or not _could_answer(form, asked):
        return None
    before, _, after = plain.partition(form)
    rest = before + HERE + after
    sentences = split(plain if DENIED.search(text) else text)
    turns = _turns(rest, asked)
    if len(sentences) == 1 and not turns and not CLAUSE.search(rest):
        return "one clause"
    if QUOTING.search(form):
        return None
    apposed = APPOSED.match(after)
    if _is_plain(rest, asked) or (apposed and _is_plain(before + HERE + after[apposed.end() :], asked)):
        return "alone"
    if [tidy(words) for words in BOLD.findall(text)] in [[one] for one in forms]:
        return "bold"
    if not STRUCTURE.search(text) and not CORRECTS.search(text):
        if len(sentences) > 1 and sentences[0] in forms and not GREETING.match(form):
            return "first sentence"
        if not turns and _is_sure_sentence(sentences, form, asked):
            return "sentence"
    if before.rstrip().endswith(("=", "≈")) and not after.strip(" .。"):
        return "equation"
    return _sure_clause(sentences, form, asked)


def is_sure_truth(text: str, question: str) -> bool:
    """True if a text says yes or no in a word, denies in one sentence, or repeats its question and says nothing else."""
    one = len(split(text)) == 1
    if ANSWER.match(text.lstrip(" *")) is not None or (
        one and (negations(text) or read_asked(question).kind != "truth")
    ):
        return True
    return bool(echo(text)) and echo(text) <= echo(question)


def claims_nothing(text: str) -> bool:
    """True if a text is one clause that denies, doubts, or offers alternatives.

    >>> claims_nothing("It may be Paris."), claims_nothing("5 or 6"), claims_nothing("It lies on the Seine.")
    (True, True, False)
    """
    if len(split(text)) > 1 or CLAUSE.search(text):
        return False
    denies = not is_certain(text) and COMPARES.search(text) is None
    return denies or ALTERNATIVES.search(text) is not None


def _is_sure_sentence(sentences: Sequence[str], form: str, asked: Asked) -> bool:
    """True if the one of several sentences that holds a form repeats the question, and says nothing else."""
    own = [one for one in sentences if form in one]
    if len(own) != 1 or not asked.stems or not _is_plain(_around(own[0], form), asked):
        return False
    return len(asked.stems & echo(own[0])) * 3 >= 2 * len(asked.stems)


def _sure_clause(sentences: Sequence[str], form: str, asked: Asked) -> str | None:
    clauses = [clause.strip() for sentence in sentences for clause in CLAUSE.split(sentence) if clause.strip()]
    own = [clause for clause in clauses if form in clause]
    if not own or not _is_plain(_around(own[-1], form), asked):
        return None
    shared = [len(asked.stems & echo(clause)) for clause in clauses]
    if len(own) == 1 and len(asked.stems) > 1 and asked.stems <= echo(own[0]) and shared.count(max(shared)) == 1:
        return "clause of the question"
    return "conclusion" if own[-1] == clauses[-1] and CONCLUDES.match(own[-1]) and ")" not in own[-1] else None


def _around(text: str, form: str) -> str:
    before, _, after = text.partition(form)
    return before + HERE + after


def _could_answer(form: str, asked: Asked) -> bool:
    """True if words are of the kind that is asked for, and not only words of the question."""
    if asked.kind in ("amount", "moment"):
        return NUMBER.search(with_digits(form)) is not None and "often" not in asked.clause
    return bool(_content(form, asked)) and not NO_NAME.match(form)


def _is_plain(rest: str, asked: Asked) -> bool:
    """True if what stands around a claim turns nothing, and holds nothing else that could be the answer."""
    if _turns(rest, asked):
        return False
    if asked.kind in ("amount", "moment"):
        return not set(NUMBER.findall(with_digits(rest))) - set(NUMBER.findall(with_digits(asked.clause)))
    words = _content(rest, asked)
    han = sum(not word.isascii() for word in words)
    if han > MOST_OTHER_CHARACTERS or len(words) - han > MOST_OTHER_WORDS:
        return False
    return not any(word[0].isupper() or word.isdigit() for word in words)


def _turns(rest: str, asked: Asked) -> bool:
    return any(found[0] not in asked.clause for found in TURNS.finditer(rest))


def _content(text: str, asked: Asked) -> list[str]:
    """Return the words of a text that say something, but for those of the question."""
    words = [word for word in ECHO_WORD.findall(text) if word.casefold() not in EMPTY_WORDS]
    return [word for word in words if word not in SMALL_CHARACTERS and stem(word) not in asked.stems]
