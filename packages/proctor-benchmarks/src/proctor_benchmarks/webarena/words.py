"""Split a text into words as the official rule does, for references of one character: `6` is in `(6)` and `$6`, not in `16`.

Sentences are found by Punkt and words in them by NLTK's Treebank rules. The texts are in lower case, for which next to nothing
of Punkt's English parameters matters: the abbreviations, the pairs of words that no sentence ends between, and the four words
that it saw begin a sentence in lower case. With these alone it finds the same sentences.

Source: `nltk.tokenize.word_tokenize`; parameters `punkt_tab/english` of NLTK's data.
"""

from functools import cache
from typing import Any

from proctor.core.errors import needs

_ABBREVIATIONS = """
a.a a.c a.d a.g a.h a.m a.m.e a.s a.t adm ala ariz aug ave b.f b.v bros c c.i.t c.o.m.b c.v calif chg cie co col
colo conn corp cos ct d d.c d.h d.w dec dr e e.f e.h e.l e.m f f.g f.j feb fla fri ft g g.d g.f g.k ga gen h h.c h.f
h.m i.m.s ill inc j.b j.c j.j j.k j.p j.r jan jr k kan ky l l.a l.f l.p lt ltd m m.b.a m.d.c m.j maj messrs mg mich
minn mr mrs ms n n.c n.d n.h n.j n.m n.v n.y nev nov oct ok okla ore p p.a.m p.m pa ph.d prof r r.a r.h r.i r.j r.k
r.t rep reps s s.a s.a.y s.c s.g s.p.a s.s sen sep sept sr st sw t t.j tenn tues u.k u.n u.s u.s.a u.s.s.r v va vs vt
w w.c w.r w.va w.w wash wed wis yr
"""
_PAIRS = """
##number##|abreast ##number##|aes ##number##|business ##number##|cbot ##number##|colgate ##number##|commodities
##number##|cooper ##number##|corrections ##number##|credit ##number##|dividend ##number##|financing
##number##|genentech ##number##|henley ##number##|insider ##number##|international ##number##|leisure
##number##|letters ##number##|notable ##number##|pay-fone ##number##|pegasus ##number##|pepper ##number##|review
##number##|rj ##number##|wedgestone ##number##|who ##number##|zimmer b|edelman b|levine b|smith b|stewart b|wigton
i|magnin i|toussie j|aron j|fialka j|walter o|ludcke
"""
_BEGINNINGS = ("z-holiday", "administrators", "r-revised", "b-week")
_SEEN_AT_THE_BEGINNING = 1 << 4  # in lower case


def words_of(text: str) -> list[str]:
    """Return the words of a text in lower case.

    Raises:
        MissingExtra: NLTK is not installed.
    """
    sentences, words = _tokenizers()
    return [word for sentence in sentences.tokenize(text) for word in words.tokenize(sentence)]


@cache
def _tokenizers() -> tuple[Any, Any]:
    with needs("webarena", "nltk"):
        from nltk.tokenize.destructive import NLTKWordTokenizer
        from nltk.tokenize.punkt import PunktParameters, PunktSentenceTokenizer
    known = PunktParameters()
    known.abbrev_types = {*_ABBREVIATIONS.split(), ". ."}
    known.collocations = {tuple(pair.split("|")) for pair in _PAIRS.split()}
    for word in _BEGINNINGS:
        known.add_ortho_context(word, _SEEN_AT_THE_BEGINNING)
    return PunktSentenceTokenizer(known), NLTKWordTokenizer()
