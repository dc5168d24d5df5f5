"""Measure how new a text is, compared with references and with texts generated before it.

Four ways of being the same, the plainest first: word for word, the same words with other numbers, nearly the same words,
and, where the extra `semantic` is installed and asked for, nearly the same meaning. Words are compared without case,
marks and the layout of LaTeX; Chinese by characters.

Nearly the same words: the share of three-word pieces (numbers masked) that two texts have in common, of the shorter one.
Candidates are found by the smallest hashes of these pieces (bottom-k sketch, Broder 1997, "On the resemblance and
containment of documents"), so that a large set costs a few dictionary look-ups a text; the share itself is exact.
"""

import re
import unicodedata
import zlib
from collections import Counter
from collections.abc import Iterable, Mapping
from typing import Literal

import msgspec

from proctor.core.errors import BadInput
from proctor.core.sentence import Sentence, say

Kind = Literal["exact", "numbers", "near", "meaning"]
NEAR = 0.6
MEANING = 0.9
PIECE = 3  # words
SKETCH = 24  # hashes a text is found by
COMMON = 200  # texts that share a hash, from which it is a stock phrase and finds nothing
FEW = 8  # pieces below which a part that is shared says little
MOST_CHARACTERS = 20_000  # of a text that are compared
LAYOUT = re.compile(r"\\(?:left|right|[bB]ig+[lrm]?|displaystyle|[dt]?(?=frac)|,|;|:|!|quad|qquad|\s|\(|\)|\[|\])")
WORD = re.compile(r"\\[A-Za-z]+|\d+(?:[.,]\d+)*|[^\W\d_]+|[=<>+*/^%-]")
WIDE = re.compile(r"[\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af]")
MASK = "0"


REASONS: Mapping[Kind, Sentence] = {
    "exact": say("It is the same as one that exists already."),
    "numbers": say("It is one that exists already, with other numbers."),
    "near": say("Its wording is nearly that of one that exists already."),
    "meaning": say("It says nearly the same as one that exists already."),
}


class NoveltyLikeness(msgspec.Struct, frozen=True, kw_only=True):
    """The text that another one resembles, in which way, and how much (1 is identical)."""

    id: str
    kind: Kind
    similarity: float

    @property
    def reason(self) -> Sentence:
        """Why a text is not new."""
        return REASONS[self.kind]


class _Known(msgspec.Struct, frozen=True):
    id: str
    pieces: frozenset[int]


class Novelty:
    """Texts that a new one may not be like.

    Args:
        near: the share of pieces from which two texts are nearly the same.
        meaning: the similarity of meaning from which they are the same; None to leave meaning out.
    """

    def __init__(self, *, near: float = NEAR, meaning: float | None = None) -> None:
        for name, value in (("near", near), ("meaning", meaning)):
            if value is not None and not 0 < value <= 1:
                raise BadInput("{name} is a share above 0, up to 1; it is {value}.", name=name, value=value)
        self._near = near
        self._meaning = meaning
        self._exact: dict[str, str] = {}
        self._masked: dict[str, str] = {}
        self._known: list[_Known] = []
        self._count = 0
        self._by_hash: dict[int, list[int]] = {}
        self._ids: list[str] = []
        self._texts: list[str] = []
        self._rows: list[object] = []

    def __len__(self) -> int:
        return self._count

    def add(self, id: str, text: str) -> None:
        """Add a text to those compared with."""
        words = words_of(text)
        masked = _masked(words)
        self._exact.setdefault(" ".join(words), id)
        self._masked.setdefault(" ".join(masked), id)
        pieces = _pieces(masked)
        self._count += 1
        nearest = self._nearest(pieces)
        if nearest is None or nearest.similarity < self._near:  # else the known one covers both
            for number in sorted(pieces)[:SKETCH]:
                places = self._by_hash.setdefault(number, [])
                if len(places) < COMMON:
                    places.append(len(self._known))
            self._known.append(_Known(id, frozenset(pieces)))
        if self._meaning is not None:
            self._texts.append(text)
            self._ids.append(id)

    def admit(self, id: str, text: str) -> NoveltyLikeness | None:
        """Add a text if it is new, and return None; else return the text of another id that it copies."""
        copy = self.like(text)
        if copy is not None and copy.id != id:
            return copy
        self.add(id, text)
        return None

    def extend(self, texts: Iterable[tuple[str, str]]) -> None:
        for id, text in texts:
            self.add(id, text)

    def like(self, text: str) -> NoveltyLikeness | None:
        """Return the stored text that this one copies, by the simplest rule that applies; None for a new text.

        >>> known = Novelty()
        >>> known.add("a", "How many primes are there below $100$?")
        >>> known.like("how many primes are there below 100").kind, known.like("How many primes are there below 50?").kind
        ('exact', 'numbers')
        >>> known.like("A triangle has sides 3, 4 and 5.")
        """
        words = words_of(text)
        masked = _masked(words)
        if (same := self._exact.get(" ".join(words))) is not None:
            return NoveltyLikeness(id=same, kind="exact", similarity=1.0)
        if len(masked) >= PIECE and (same := self._masked.get(" ".join(masked))) is not None:
            return NoveltyLikeness(id=same, kind="numbers", similarity=1.0)
        nearest = self._nearest(_pieces(masked))
        if nearest is not None and nearest.similarity >= self._near:
            return nearest
        return self._alike(text)

    def nearest(self, text: str) -> NoveltyLikeness | None:
        """Return the text whose words are nearest, however far it is; None where no piece is shared."""
        return self.like(text) or self._nearest(_pieces(_masked(words_of(text))))

    def _nearest(self, pieces: set[int]) -> NoveltyLikeness | None:
        shared = (self._by_hash.get(number, ()) for number in sorted(pieces)[:SKETCH])
        counter = Counter(index for places in shared if len(places) < COMMON for index in places)
        best: NoveltyLikeness | None = None
        for index, _ in counter.most_common(SKETCH):
            known = self._known[index]
            similarity = round(_share(pieces, known.pieces), 4)
            if best is None or similarity > best.similarity:
                best = NoveltyLikeness(id=known.id, kind="near", similarity=similarity)
        return best

    def _alike(self, text: str) -> NoveltyLikeness | None:
        if self._meaning is None or not self._ids:
            return None
        from proctor_judging.matching.sentence_encoder import embedded

        if self._texts:
            self._rows.extend(embedded([one[:MOST_CHARACTERS] for one in self._texts]))
            self._texts = []
        row = embedded([text[:MOST_CHARACTERS]])[0]
        similarity, index = max((float(known @ row), index) for index, known in enumerate(self._rows))
        if similarity < self._meaning:
            return None
        return NoveltyLikeness(id=self._ids[index], kind="meaning", similarity=round(min(similarity, 1.0), 4))


def words_of(text: str) -> list[str]:
    r"""Return the words of a text without case, marks and the layout of LaTeX; a Chinese character is a word.

    >>> words_of(r"Find \dfrac{1}{2} of $1{,}000$."), words_of("求１２的因数")
    (['find', '\\frac', '1', '2', 'of', '1000'], ['求', '12', '的', '因', '数'])
    """
    plain = unicodedata.normalize("NFKC", text[:MOST_CHARACTERS]).casefold()
    plain = LAYOUT.sub(lambda found: "\\" if found[0] in ("\\d", "\\t", "\\") else " ", plain.replace("{,}", ""))
    words = WORD.findall(WIDE.sub(r" \g<0> ", plain))
    return [word.replace(",", "") if word[0].isdigit() else word for word in words]


def _masked(words: list[str]) -> list[str]:
    return [MASK if word[0].isdigit() else word for word in words]


def _pieces(words: list[str]) -> set[int]:
    count = max(len(words) - PIECE + 1, min(len(words), 1))
    return {zlib.crc32(" ".join(words[start : start + PIECE]).encode()) for start in range(count)}


def _share(one: set[int], other: frozenset[int]) -> float:
    """Of the pieces of the shorter text, how many the other has; of all of them where the shorter one has few."""
    shared = len(one & other)
    smaller = min(len(one), len(other))
    return shared / smaller if smaller >= FEW else shared / max(len(one | other), 1)
