"""Find the subject of a sentence that ends with the denial of its question, and the letter after the noun that it asks for.

`Mercury and Venus have no moons` answers `Which planets have no moons?`; `vitamin D` answers `Which vitamin …?`
"""

import re
from collections.abc import Sequence

from proctor_judging.matching.asked import QuestionForm
from proctor_judging.matching.patterns import compile_later
from proctor_judging.matching.question_words import NOT_A_NAME
from proctor_judging.matching.sentences import is_certain, plain_statement
from proctor_judging.matching.text import negations, tidy

PLURAL_VERBS = {"are": "is", "were": "was", "have": "has", "do": "does", "aren't": "isn't", "weren't": "wasn't"}
PLURAL_VERBS |= {"haven't": "hasn't", "don't": "doesn't"}
ASKS_SUBJECT = compile_later(r"(?:which|what|who)\b", re.IGNORECASE)
EXCEPTION = compile_later(r"\b(?:except|but|only|all|any|none|besides)\b", re.IGNORECASE)
NOUN = compile_later(r"\b(?:which|what) ([a-z]{3,20})\b", re.IGNORECASE)
MOST_WORDS, LONGEST_HEAD = 8, 5


def denied_subject(sentences: Sequence[str], asked: QuestionForm) -> str:
    """Return of what a sentence says the denial of its question; '' unless it ends with the same words.

    >>> from proctor_judging.matching.asked import read_asked
    >>> denied_subject(["Mercury and Venus have no moons"], read_asked("Which planet has no moons?"))
    'Mercury and Venus'
    >>> denied_subject(["It has no moons"], read_asked("Which has no moons?"))
    ''
    """
    if len(sentences) != 1 or not negations(asked.clause):
        return ""
    question, sentence = (tidy(text).strip(" .。?？!！") for text in (asked.clause, sentences[0]))
    subject = _before_words(question, sentence)
    pronoun = subject.casefold() in NOT_A_NAME
    return "" if pronoun or EXCEPTION.search(subject) or not is_certain(subject) else subject


def _before_words(question: str, sentence: str) -> str:
    asked, said = ([PLURAL_VERBS.get(word, word) for word in text.casefold().split()] for text in (question, sentence))
    if ASKS_SUBJECT.match(question) is None:
        return ""
    for start in range(1, min(len(asked), LONGEST_HEAD)):
        predicate = asked[start:]
        subject = sentence.split()[: -len(predicate)]
        if negations(" ".join(predicate)) and said[-len(predicate) :] == predicate and len(subject) <= MOST_WORDS:
            return " ".join(subject)
    return ""


def lettered(sentences: Sequence[str], asked: QuestionForm) -> tuple[str, ...]:
    """Return the noun that is asked for with its letter, and the letter; () unless every sentence names the same one.

    >>> from proctor_judging.matching.asked import read_asked
    >>> lettered(["Sunlight triggers the synthesis of vitamin D"], read_asked("Which vitamin does sunlight produce?"))
    ('vitamin D', 'D')
    """
    noun = NOUN.search(asked.clause.strip(" ?？。"))
    if noun is None or any(plain_statement(sentence) is None for sentence in sentences):
        return ()
    name = noun[1]
    pattern = rf"(?i:{re.escape(name)}) ?([A-HJ-Z]\d{{0,2}})(?![\w'-])"
    letters = {letter for sentence in sentences for letter in re.findall(pattern, sentence, re.ASCII)}
    if len(letters) != 1:
        return ()
    letter = letters.pop()
    return (f"{name} {letter}", letter)
