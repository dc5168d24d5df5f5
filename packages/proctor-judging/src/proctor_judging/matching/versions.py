"""The rule for versions and numbered parts of a text: `Python 3.10` is not `Python 3.1`, and section 1.10 is the tenth."""

from proctor.core.sentence import say
from proctor_judging.matching.patterns import compile_later
from proctor_judging.matching.unit_table import read_unit
from proctor_judging.matching.verdict import AnswerMatch, accept, differ

RULE = "versions"
LONGEST = 60
NUMBERED = compile_later(
    r"(?P<label>[A-Za-z][A-Za-z0-9_.+#-]*(?: [A-Za-z][A-Za-z0-9_+#-]*){0,2}(?<!\d)(?<!\d\.)|版本|§|第)?\s?(?P<number>\d+(?:\.\d+)+)[节章条款版]?"
)
SAME_LABEL = {
    "sec": "section",
    "sec.": "section",
    "§": "section",
    "第": "",
    "ver": "",
    "v": "",
    "version": "",
    "release": "",
}
ABOUT = compile_later(  # before a number, it is no label
    r"about|approximately|around|roughly|exactly|only|minus|plus|negative|the|at|by|from|to|than|before|after|until|since|not"
)
CURRENCY = compile_later(r"[A-Z]{3}|US|RMB")


def versions(answer: str, target: str) -> AnswerMatch | None:
    """Compare two version or section numbers, if at least one says what it numbers: the digits between the dots have to be equal."""
    if "." not in target or "." not in answer or max(len(answer), len(target)) > LONGEST:
        return None
    match, expected = NUMBERED.fullmatch(answer), NUMBERED.fullmatch(target)
    if match is None or expected is None or not (match["label"] or expected["label"]):
        return None
    labels = [_label(found["label"]) for found in (match, expected)]
    if any(label is None for label in labels) or (all(labels) and labels[0] != labels[1]):
        return None
    same = match["number"] == expected["number"]
    return accept(RULE, say("Both are the same version or part.")) if same else differ(RULE, answer, target)


def _label(text: str | None) -> str | None:
    """Return what is numbered; None for a currency, a variable or a unit, after which a number is an amount, and for `from` and the like."""
    if not text:
        return ""
    lower = text.casefold().removesuffix(" version").removesuffix(" v")
    if lower in SAME_LABEL:
        return SAME_LABEL[lower]
    if len(text) < 2 or CURRENCY.fullmatch(text) or read_unit(text) is not None or ABOUT.fullmatch(lower.split()[-1]):
        return None
    return lower
