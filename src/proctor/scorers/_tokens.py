"""Tokens of a text in any script, for comparing what was said rather than how it was set."""

import re

from proctor.scorers._replies import normal
from proctor.text_measures import chinese_words

_HAN = re.compile("[\u3400-\u9fff\uf900-\ufaff\U00020000-\U0003ffff]")
_UNSPACED = "\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3040-\u30ff"  # Thai, Lao, Burmese, Khmer, kana
_TOKEN = re.compile(rf"[{_UNSPACED}]|(?:(?![{_UNSPACED}])\w)+")


def tokens(text: str) -> list[str]:
    """Words in lower case; Chinese ones by the segmenter, single characters where a script has no blanks.

    A text without letters and digits gives its signs.

    Raises:
        MissingExtra: there is Chinese in it, and the extra `zh` is not installed.

    >>> tokens("The cat's toys"), tokens("…!")
    (['the', 'cat', 's', 'toys'], ['…', '!'])
    """
    text = normal(text).lower()
    if _HAN.search(text):
        found = [token for word in chinese_words.words(text) for token in _TOKEN.findall(word)]
    else:
        found = _TOKEN.findall(text)
    return found or [sign for sign in text if not sign.isspace()]
