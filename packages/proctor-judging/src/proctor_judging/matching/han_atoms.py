"""Cut a Chinese sentence into atoms, and say where a span of it may begin and end.

There is no dictionary of words: a span ends where characters of the question meet new ones, at function characters, common verbs,
closing nouns such as `市` and `家`, numbers, letters and marks. A weak border, between two other characters, needs a firm one on the other side.
"""

from collections.abc import Collection, Iterator, Sequence, Set
from typing import Literal

import msgspec

from proctor_judging.matching.han_words import words_of
from proctor_judging.matching.patterns import compile_later
from proctor_judging.matching.question_words import HAN

Kind = Literal["H", "n", "D", "L", "T", "Q", "C", "M"]
NUMERALS = frozenset("零〇一二两三四五六七八九十百千万亿半几")
FUNCTION = frozenset(
    "的是在为由于和与及了叫有被把到从自给向以至等将就也都只即且而或让使令用靠属指称作位一该这那个其此所并则便才仍已会能可要应需按据经至跟同对比之又再还更最很也中里上下内外后前时间共约达每第过着么呢吧啊呀哦哈嘛不没非无"
)
VERBS = frozenset(
    "写画说唱建造选吃喝买卖去来出得拿做打发入受归改换请找拨坐住放付花占呈含读念算排派吞攻接娶嫁教帮养种穿戴搭乘骑获夺当管收交讲"
)
CLOSING = frozenset("家人者师员省市县区国州洲岛山河江湖海城朝代年月日号点时分秒帝王氏部级类种型号")
MEASURES = frozenset("年月日号点时分秒个只条座位种名次岁元块米度天周倍本部件封张层楼级期届章页")
NO_START = frozenset("了的着过呢吧啊呀哦吗")
NO_END = frozenset("的是在为由于和与及叫被把")
OPENING_MARKS, CLOSING_MARKS = frozenset('-−$¥￥€√({[<\\"|'), frozenset('%℃°℉)}]>"!|')
ENDS_CLAUSE = frozenset("，,；;。！!？?\n→")
LONGEST, LONGEST_CODE, LONGEST_WEAK = 24, 60, 8
ATOM = compile_later(
    rf"《[^《》·]{{1,40}}》|\"[^\"，。,]{{1,16}}\"|`[^`]{{1,60}}`|[-−+]?\d[\d.,:/]*\d|[-−]?\d|[A-Za-zΑ-ω_][A-Za-z\d_.+#'-]*\([^()\s{HAN}]{{0,12}}(?: [^()\s{HAN}]{{1,8}})?\)|"
    rf"[A-Za-zÀ-ɏΑ-ω_/~.][A-Za-zÀ-ɏ\d_+#'-]*(?:[./@][A-Za-z\d_-]+)+/?|[A-Za-zÀ-ɏΑ-ω_][A-Za-zÀ-ɏ\d_+#'-]*|[{HAN}]|\S"
)
BARE = '"《》`'


class Atom(msgspec.Struct, frozen=True, gc=False):
    """A character, or a run that stays together; `kind` is H for Chinese, n for a Chinese numeral, D for digits, L for letters, T, Q and C for a title, a quotation and code, M for a mark."""

    start: int
    end: int
    text: str
    kind: Kind


class Borders(msgspec.Struct, frozen=True):
    """For every atom, and for the end: whether a span may firmly begin there, and whether one may firmly end before it."""

    begins: list[bool]
    ends: list[bool]
    within: list[bool]


def read_atoms(sentence: str) -> list[Atom]:
    """Return the atoms of a sentence.

    >>> [(atom.text, atom.kind) for atom in read_atoms("《背影》写于1925年")]
    [('《背影》', 'T'), ('写', 'H'), ('于', 'H'), ('1925', 'D'), ('年', 'H')]
    """
    return [Atom(match.start(), match.end(), match[0], _kind(match[0])) for match in ATOM.finditer(sentence)]


def _kind(text: str) -> Kind:
    first, several = text[0], len(text) > 1
    if first in NUMERALS:
        return "n"
    if "\u3400" <= first <= "\u9fff":
        return "H"
    if several and first in '《"`':
        return "T" if first == "《" else "Q" if first == '"' else "C"
    if first.isdigit() or (several and first in "-−+"):
        return "D"
    return "L" if first.isalpha() or (several and first in "_/~.") else "M"


def classes_of(sentence: str, atoms: Sequence[Atom], pairs: Set[str], characters: Set[str]) -> list[str]:
    """Return the class of each atom: K if it is known from the question in a pair, k if alone, F, V for a function character or verb, N for a new character; else its kind, with `k` where it is known."""
    return [_class(sentence, atom, pairs, characters) for atom in atoms]


def _class(sentence: str, atom: Atom, pairs: Set[str], characters: Set[str]) -> str:
    text, start = atom.text, atom.start
    if atom.kind not in ("H", "n"):
        return atom.kind + "k" if text.strip(BARE) in characters else atom.kind
    if sentence[start : start + 2] in pairs or (start and sentence[start - 1 : start + 1] in pairs):
        return "K"
    if atom.kind == "n":
        return "n"
    if text in FUNCTION:
        return "F"
    if text in characters:
        return "k"
    return "V" if text in VERBS else "N"


def borders_of(sentence: str, atoms: Sequence[Atom], classes: Sequence[str], marked: Collection[str]) -> Borders:
    """Return where spans may begin and end firmly; `marked` are the parts that a reply sets in bold or as code."""
    size = len(atoms)
    begins, ends = [True] + [False] * size, [False] * size + [True]
    words = words_of(sentence)
    inner = {at for word in words for at in range(word.start + 1, word.end)}
    edges = {edge for word in words for edge in (word.start, word.end)}
    for at in range(1, size):
        begins[at], ends[at] = _border(atoms, classes, at, edges) if atoms[at].start not in inner else (False, False)
    for at in range(1, size - 1):  # after a measure word that follows a number
        if atoms[at].kind == "H" and atoms[at - 1].kind in "Dn":
            begins[at + 1] = ends[at + 1] = True
        elif at > 1 and atoms[at].kind == atoms[at - 1].kind == "H" and atoms[at - 2].kind in "Dn":
            ends[at + 1] = True
    marks = {edge for part in marked if (start := sentence.find(part)) >= 0 for edge in (start, start + len(part))}
    for at in range(1, size) if marks else ():
        if atoms[at].start in marks or atoms[at - 1].end in marks:
            begins[at] = ends[at] = True
    return Borders(begins, ends, [*(atom.start in inner for atom in atoms), False])


def _border(atoms: Sequence[Atom], classes: Sequence[str], at: int, edges: Set[int]) -> tuple[bool, bool]:
    before, after = atoms[at - 1], atoms[at]
    if before.kind not in "Hn" or after.kind not in "Hn":
        cut = before.kind != after.kind or before.kind in "MTQCL"
        return cut, cut
    if before.kind == after.kind == "n":
        return False, False
    changes = (classes[at - 1] == "K") != (classes[at] == "K") or (classes[at - 1] in "Kk") != (classes[at] in "Kk")
    cut = changes or after.start in edges or before.text in CLOSING
    begins = cut or before.text in VERBS or before.text in FUNCTION or after.kind == "n"
    counted = at > 1 and before.text in FUNCTION and atoms[at - 2].kind in "Dn"
    return begins, cut or after.text in VERBS or after.text in FUNCTION or before.kind == "n" or counted


def pairs_of_borders(atoms: Sequence[Atom], borders: Borders) -> Iterator[tuple[int, int]]:
    """Yield the first and the last atom of every span that may be a claim."""
    for first, atom in enumerate(atoms):
        firm = borders.begins[first]
        inner = first > 0 and atom.kind == atoms[first - 1].kind == "H" and not borders.within[first]
        if (not firm and not inner) or atom.text in NO_START or (atom.kind == "M" and atom.text not in OPENING_MARKS):
            continue
        for last in range(first, len(atoms)):
            end = atoms[last]
            if end.kind == "M" and end.text in ENDS_CLAUSE:
                break
            size = end.end - atom.start
            if size > LONGEST and last > first and not (end.kind in "LD" and size < LONGEST_CODE):
                break
            if _may_end(atoms, borders, first, last, firm):
                yield first, last


def _may_end(atoms: Sequence[Atom], borders: Borders, first: int, last: int, firm: bool) -> bool:
    end, size = atoms[last], atoms[last].end - atoms[first].start
    if not borders.ends[last + 1]:
        inner = end.kind == "H" and atoms[last + 1].kind == "H" and not borders.within[last + 1]
        if not firm or not inner or size > LONGEST_WEAK:
            return False
    if not firm and not 2 <= size <= LONGEST_WEAK:
        return False
    if end.kind == "M":
        return last > first and end.text in CLOSING_MARKS
    return last == first or end.text not in NO_END
