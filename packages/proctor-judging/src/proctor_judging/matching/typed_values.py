"""Read values that their form tells from all others, a version or a telephone number, and what the letter of an option means."""

import re
from collections.abc import Mapping

from proctor_judging.matching.asked import QuestionForm, read_asked
from proctor_judging.matching.contradictions import says_opposite
from proctor_judging.matching.patterns import compile_later
from proctor_judging.matching.question_words import MOST_CHARACTERS, echo
from proctor_judging.matching.sentences import GUESS, OTHERS_SAY, pieces
from proctor_judging.matching.text import FENCED, negations

FROM_WORK = r"(?:^[*\s“]{0,3}(?=《[^《》]+》(?:\W*$|[，,。！（(]))|(?:^|[。；;！!？?\n，,：:])[^《》，,。；;：:误疑不非没未比像仿同据化除]{0,14}(?:出自|选自|摘自|取自|来自|见[于诸]|收[录入][于在]|是|为|叫做?)[^《》，,。；;：:和与比同]{0,14})"
TITLE = compile_later("《[^《》]+》")
TYPED = (  # what is asked for, and its form
    (compile_later(r"\b(?:(?:phone|telephone|mobile|fax|contact) number|hotline|number (?:to call|should I call|do I call))\b", re.IGNORECASE), compile_later(r"(?<![\w.-])\+?\d[\d ()/-]{5,18}\d(?![\w-])")),
    (compile_later(r"\b(?:which|what)(?:['’]s| is| are)?(?: \w+){0,3} version\b(?! number of)", re.IGNORECASE), compile_later(r"(?<![\w.-])v?\d+(?:\.\d+){1,3}(?:[-+.]?(?:rc|alpha|beta|b|post|dev)\.?\d*)?(?![\w-])")),
    (compile_later(r"\bwh(?:at|ich) (?:percentage|percent)\b|\bhow many percent\b|\bin percent\b|\bas a percentage\b", re.IGNORECASE), compile_later(r"[-−]?\d[\d.,]*(?:\s?%| percent\b)")),
    (compile_later(r"\be-?mail address\b|\bwhat(?:['’]s| is) \w+['’]s e-?mail\b", re.IGNORECASE), compile_later(r"[\w.+-]+@[\w-]+(?:\.[\w-]+)+")),
    (compile_later(r"哪一?[首部本篇幅](?!分)|什么(?:书|歌|诗|词|电影|小说|作品)"), compile_later(rf"{FROM_WORK}(《[^《》]{{1,30}}》)(?!的?[，,、]?(?:[《或和与及、]|还是|以及))")),
    (compile_later(r"\bIP(?:v4)? address\b"), compile_later(r"(?<![\d.])\d{1,3}(?:\.\d{1,3}){3}(?![\d.])")),
)  # fmt: skip
OPTION = compile_later(
    r"(?:(?<=[\s:?,;])|^)\(?([A-Ha-h1-8])[.):]\s*(\S[^\n]{0,80}?)(?=[,;]?\s\(?[A-Ha-h1-8][.):]\s|\s*$)", re.MULTILINE
)
OF_ANOTHER = compile_later(  # time, or amount
    r"\b(?:old|older|previous(?:ly)?|former(?:ly)?|used to|deprecated|closed|before|until|was|were|would|planned|expected|instead|unless|if|less|more|fewer|than|under|over|below|above|at (?:least|most)|nearly|almost|from|by|ex|unlike|other)\b",
    re.IGNORECASE,
)
IT = compile_later(r"\W*(?:it|they|that|you|we)\b", re.IGNORECASE)
LABELS = ("ABCDEFGH", "abcdefgh", "12345678")
LABEL = compile_later(r"\W*(?:option |choice )?([A-Ha-h1-8])\W*", re.IGNORECASE)
ASKS_CODE = compile_later(
    r"\b(?:command|code|function|query|regex|expression|snippet|script|syntax|lines?|write|how (?:do|can|would|to)|method|statement|config\w*|json|yaml|output|prints?|returns?|print)\b",
    re.IGNORECASE,
)


def typed_value(reply: str, asked: QuestionForm) -> str:
    """Return the value of the form that is asked for: the only one of a reply, or of the sentence that says most of what is asked; else ''.

    >>> from proctor_judging.matching.asked import read_asked
    >>> typed_value("It runs v2.1 (of May), not yet tested with Python 3.", read_asked("What is the current version?"))
    ''
    >>> typed_value("It runs `app` v2.1 (of May). Ask Ann about it.", read_asked("What is the current version?"))
    'v2.1'
    """
    form = next((form for asks, form in TYPED if asks.search(asked.clause)), None)
    if form is None or asked.several or len(reply) > MOST_CHARACTERS:
        return ""
    if "《" in form.pattern and len(set(TITLE.findall(reply)) - set(TITLE.findall(asked.clause))) > 1:
        return ""
    sentences = [sentence for sentence in pieces(reply) if form.search(sentence)]
    if any(OF_ANOTHER.search(sentence) for sentence in sentences) and not OF_ANOTHER.search(asked.clause):
        return ""
    if any(negations(sentence) or GUESS.search(sentence) or OTHERS_SAY.search(sentence) for sentence in sentences):
        return ""
    if any(says_opposite(sentence, asked.clause) for sentence in sentences):
        return ""
    values: list[list[str]] = [
        [value for value in dict.fromkeys(form.findall(sentence)) if value not in asked.clause]
        for sentence in sentences
    ]
    if len({value for of_sentence in values for value in of_sentence}) == 1:
        rest = form.sub("", sentences[0])
        is_about = not rest.isascii() or not echo(rest) or echo(rest) & asked.stems or IT.match(rest)
        return values[0][0] if is_about else ""
    if "%" in form.pattern:
        return ""
    shares = [len(echo(sentence) & asked.stems) for sentence in sentences]
    nearest = [at for at, share in enumerate(shares) if share and share == max(shares)]
    return values[nearest[0]][0] if len(nearest) == 1 and len(values[nearest[0]]) == 1 else ""


def read_options(question: str) -> Mapping[str, str]:
    """Return what the letters, or numbers, of the options of a question mean.

    >>> read_options("Which is a gas? A) iron B) argon"), read_options("Was it Dr. B. Lee?")
    ({'A': 'iron', 'B': 'argon'}, {})
    """
    options = {label: text.strip(" .,;") for label, text in OPTION.findall(question[-MOST_CHARACTERS:])}
    is_list = len(options) > 1 and any(labels.startswith("".join(options)) for labels in LABELS)
    return options if is_list else {}


def with_option(forms: tuple[str, ...], question: str) -> tuple[str, ...]:
    """Return the forms of a claim that is the label of an option with its text, or the text with its label."""
    options = read_options(question)
    if not forms or not options or read_asked(question).kind == "amount":
        return forms
    label = LABEL.fullmatch(forms[0])
    both = [pair for pair in options.items() if label is not None and pair[0].lower() == label[1].lower()]
    both = both or [pair for pair in options.items() if pair[1].casefold() in map(str.casefold, forms)]
    return (*forms, *both[0]) if len(both) == 1 else forms


def without_code(reply: str, asked: QuestionForm) -> str:
    """Return a reply without its blocks of code, where no code is asked for and what follows them says something of what is asked."""
    prose = FENCED.sub("", reply) if "```" in reply else reply
    if prose == reply or ASKS_CODE.search(asked.clause):
        return reply
    after = reply.rpartition("```")[2]
    return prose if len(echo(after) & asked.stems) > 1 or "**" in after else reply
