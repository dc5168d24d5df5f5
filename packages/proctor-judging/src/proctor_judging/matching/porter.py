"""The Porter stemmer with the extensions of NLTK 3.9, as `rouge-score` uses it.

Source: Porter, "An algorithm for suffix stripping", Program 14.3 (1980), and nltk/nltk, stem/porter.py, mode
NLTK_EXTENSIONS. Digits count as consonants.
"""

from collections.abc import Iterable
from functools import lru_cache

_IRREGULAR = {
    form: stem
    for stem, forms in {
        "sky": "sky skies",
        "die": "dying",
        "lie": "lying",
        "tie": "tying",
        "news": "news",
        "inning": "innings inning",
        "outing": "outings outing",
        "canning": "cannings canning",
        "howe": "howe",
        "proceed": "proceed",
        "exceed": "exceed",
        "succeed": "succeed",
    }.items()
    for form in forms.split()
}
_Rules = Iterable[tuple[str, str]]
_PLURALS: _Rules = (("sses", "ss"), ("ies", "i"), ("ss", "ss"), ("s", ""))
_LONG: _Rules = (
    ("ational", "ate"), ("tional", "tion"), ("enci", "ence"), ("anci", "ance"), ("izer", "ize"), ("bli", "ble"),
    ("alli", "al"), ("entli", "ent"), ("eli", "e"), ("ousli", "ous"), ("ization", "ize"), ("ation", "ate"),
    ("ator", "ate"), ("alism", "al"), ("iveness", "ive"), ("fulness", "ful"), ("ousness", "ous"), ("aliti", "al"),
    ("iviti", "ive"), ("biliti", "ble"), ("fulli", "ful"),
)  # fmt: skip
_ENDINGS: _Rules = (
    ("icate", "ic"), ("ative", ""), ("alize", "al"), ("iciti", "ic"), ("ical", "ic"), ("ful", ""), ("ness", ""),
)  # fmt: skip
_LAST = (
    "al", "ance", "ence", "er", "ic", "able", "ible", "ant", "ement", "ment", "ent", "ion", "ou", "ism", "ate", "iti",
    "ous", "ive", "ize",
)  # fmt: skip


@lru_cache(maxsize=65_536)
def stem(word: str) -> str:
    """Return the stem of a word of lower-case ASCII letters and digits.

    >>> [stem(word) for word in ("running", "flies", "relational", "happy", "enjoy")]
    ['run', 'fli', 'relat', 'happi', 'enjoy']
    """
    if word in _IRREGULAR:
        return _IRREGULAR[word]
    if len(word) <= 2:
        return word
    word = _without_plural(word)
    word = _without_ed_or_ing(word)
    if word.endswith("y") and len(word) > 2 and _shape(word)[-2] == "c":
        word = word[:-1] + "i"
    word = _shorter(word)
    word = _replaced(word, _ENDINGS)
    word = _without_last(word)
    return _without_e(word)


def _shape(word: str) -> str:
    """Return each letter as consonant or vowel; `y` is a vowel after a consonant."""
    shape: list[str] = []
    for sign in word:
        vowel = sign in "aeiou" or (sign == "y" and bool(shape) and shape[-1] == "c")
        shape.append("v" if vowel else "c")
    return "".join(shape)


def _measure(word: str) -> int:
    return _shape(word).count("vc")


def _ends_short(word: str) -> bool:
    """Consonant, vowel, consonant other than w, x, y; or a word of vowel and consonant."""
    shape = _shape(word)
    return (shape[-3:] == "cvc" and word[-1] not in "wxy") or shape == "vc"


def _replaced(word: str, rules: _Rules) -> str:
    """Return the first rule whose suffix is there decides, whether or not the rest is long enough for it."""
    for suffix, instead in rules:
        if word.endswith(suffix):
            rest = word[: -len(suffix)]
            return rest + instead if _measure(rest) > 0 else word
    return word


def _without_plural(word: str) -> str:
    if len(word) == 4 and word.endswith("ies"):
        return word[:-1]
    for suffix, instead in _PLURALS:
        if word.endswith(suffix):
            return word[: -len(suffix)] + instead
    return word


def _without_ed_or_ing(word: str) -> str:
    if word.endswith("ied"):
        return word[:-1] if len(word) == 4 else word[:-2]
    if word.endswith("eed"):
        return word[:-1] if _measure(word[:-3]) > 0 else word
    for suffix in ("ed", "ing"):
        rest = word[: -len(suffix)]
        if word.endswith(suffix) and "v" in _shape(rest):
            return _mended(rest)
    return word


def _mended(word: str) -> str:
    for suffix in ("at", "bl", "iz"):
        if word.endswith(suffix):
            return word + "e"
    if word[-2:] == word[-1] * 2 and _shape(word)[-1] == "c":
        return word if word[-1] in "lsz" else word[:-1]
    return word + "e" if _measure(word) == 1 and _ends_short(word) else word


def _shorter(word: str) -> str:
    if word.endswith("alli") and _measure(word[:-4]) > 0:
        return _shorter(word[:-2])
    shorter = _replaced(word, _LONG)
    if shorter == word and word.endswith("logi") and not any(word.endswith(suffix) for suffix, _ in _LONG):
        return word[:-1] if _measure(word[:-3]) > 0 else word  # the l counts as part of the stem
    return shorter


def _without_last(word: str) -> str:
    for suffix in _LAST:
        if word.endswith(suffix):
            rest = word[: -len(suffix)]
            return rest if _measure(rest) > 1 and (suffix != "ion" or rest[-1] in "st") else word
    return word


def _without_e(word: str) -> str:
    if word.endswith("e"):
        rest = word[:-1]
        measure = _measure(rest)
        word = rest if measure > 1 or (measure == 1 and not _ends_short(rest)) else word
    return word[:-1] if word.endswith("ll") and _measure(word[:-1]) > 1 else word
