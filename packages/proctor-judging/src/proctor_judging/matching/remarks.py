"""Find the few words that are the answer of a terse reply before its remark: `Astana` of `Astana, formerly Nur-Sultan`."""

import re

from proctor_judging.matching.patterns import compile_later
from proctor_judging.matching.question_words import NOT_A_NAME
from proctor_judging.matching.sentences import COPULA, FORMERLY, LEAD, is_certain

REMARK = compile_later(
    r"(?:formerly|previously|once|also|known|an?|the|located|named|which|who|whose|with|from|born)\s\S",
    re.IGNORECASE,
)
CLAUSE = compile_later(r"\b(?:which|who|whose)\b", re.IGNORECASE)
BRACKET = compile_later(r"\s?\([^()]{1,60}\)$")
NO_NAME = compile_later(
    r"(?:(?:un)?like|despite|besides|although|though|if|unless|under|within|contrary)\b", re.IGNORECASE
)
ACTS = compile_later(r"\w+ .*\b(?!(?:of|the|and|de|da|di|la|le|van|von|der|du|del|bin|al)\b)[a-z]{2,} ")  # Ann met Bob
FEW_WORDS = 4


def before_remark(sentence: str) -> str:
    """Return the name before the remark of a sentence without a verb of its own; '' for another sentence.

    >>> before_remark("Astana, formerly Nur-Sultan"), before_remark("Paris, London"), before_remark("In Rome, the Pope is head")
    ('Astana', '', '')
    >>> before_remark("Lima, which may be wrong")
    ''
    """
    head, comma, remark = sentence.partition(",")
    remark = remark.strip()
    if not comma or REMARK.match(remark) is None:
        return ""
    head = head.strip()
    name = BRACKET.sub("", head)
    is_short = len(name.split()) <= FEW_WORDS
    is_name = (
        name.split(" ")[0].casefold() not in NOT_A_NAME
        and re.search(r"[\d:=]", name) is None
        and not (
            COPULA.search(name) or LEAD.match(name) or NO_NAME.match(name) or ACTS.match(name) or not is_certain(name)
        )
    )
    is_sentence = COPULA.search(remark) and CLAUSE.match(remark) is None
    return head if name and is_short and is_name and not is_sentence and is_certain(FORMERLY.sub("", remark)) else ""
