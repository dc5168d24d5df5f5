"""Describe each part of a reply that may be its answer by features: the words around it, its clause, its form, its kind and the kind asked.

Features are strings; a model is a weight for each. They come in groups that parts share (what precedes, what follows, the clause), so that a
part is scored by adding a few sums. Those that begin with `@` name words, and are weighted less in training.
"""

import re
from collections.abc import Callable, Sequence
from itertools import pairwise

import msgspec

from proctor.answer_matching.claim_spans import spans_of
from proctor.answer_matching.question_words import stem
from proctor.answer_matching.reply_tokens import FUNCTION_WORDS, Profile, Token, read_profile, tokens_of_reply
from proctor.answer_matching.unit_table import read_unit
from proctor.runtime.patterns import compile_later

CLAUSE_MARKS = frozenset(",，、:：()（）—–;；。.！!？?\n…")
SENTENCE_MARKS = frozenset("。！？!?；;\n.")
JOINING_WORDS = "but while whereas although though because since if when unless however and so which who whose where rather instead not than"
CONJUNCTIONS = frozenset(JOINING_WORDS.split())
SHOWN_MARKS = frozenset(',，.。:：()（）;；\n"“”《》`*、—–?？!！')
DENIALS = frozenset(["not", "no", "never", "不", "没", "非", "无", "未"])
OPENING, CLOSING = frozenset("\"“‘'《`「『*(（"), frozenset("\"”’'》`」』*)）")
MONTH = re.compile(r"(?i)(?:jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec)")
WEEKDAY = compile_later(r"(?:mon|tues|wednes|thurs|fri|satur|sun)day", re.IGNORECASE)
SHAPES = tuple(
    (name, compile_later(pattern, re.IGNORECASE))
    for name, pattern in (
        ("pct", r"%|percent|百分|成$|折$"),
        ("money", r"[$€£¥₹元块]|dollar|euro|pound|cent"),
        ("hyear", r"^[^月]*年[^月]*$"),
        ("hdate", r"[年月周]|日$|号$|星期"),
        ("clock", r"[点时]|:\d\d|\b[ap]\.?m"),
        ("date", MONTH.pattern),
    )
)
YEAR = compile_later(r"1\d{3}|20\d\d")
FAR = 99
NEAR_WORDS = 9


class Described(msgspec.Struct):
    """The parts of a reply with their features.

    Attributes:
        language: `z` if the reply holds Chinese, else `e`; each has weights of its own.
        spans: the bounds of each part, in characters.
        groups: for each part the indices of its groups in `shared`.
        own: returns the features that only the part at an index has.
        shared: groups of features.
        nothing: the features of the reading that the reply claims nothing.
    """

    language: str
    spans: list[tuple[int, int]]
    groups: list[tuple[int, int, int]]
    own: Callable[[int], list[str]]
    shared: list[list[str]]
    nothing: list[str]


def describe(text: str, question: str) -> Described:
    return _Reply(text, read_profile(question)).described()


class _Reply:
    """The tokens of a reply in clauses, and what each clause shares with the question."""

    def __init__(self, text: str, profile: Profile) -> None:
        self.text, self.folded, self.profile = text, text.casefold(), profile
        self.tokens = tokens_of_reply(text, profile)
        self.language = "z" if any(one.kind in "HZ" for one in self.tokens) else "e"
        self.clause_of: list[int] = []
        self.sentence_of: list[int] = []
        self.bracketed: list[bool] = []
        self._cut()
        self.clauses: list[list[int]] = [[] for _ in range((self.clause_of or [0])[-1] + 1)]
        for at, clause in enumerate(self.clause_of):
            self.clauses[clause].append(at)
        self.live = [
            one for one, those in enumerate(self.clauses) if any(self.tokens[at].kind != "p" for at in those)
        ] or [0]
        self._overlap()
        self.rank: dict[int, tuple[str, ...]] = {}
        self.distance = self._distances()
        self._rank()

    def _cut(self) -> None:
        clause = sentence = 0
        inside = False
        for at, token in enumerate(self.tokens):
            following = self.tokens[at + 1] if at + 1 < len(self.tokens) else None
            clause += bool(at and token.kind == "w" and token.folded in CONJUNCTIONS)
            inside = token.text in "(（" or (inside and token.text not in ")）")
            self.clause_of.append(clause)
            self.sentence_of.append(sentence)
            self.bracketed.append(inside)
            if token.kind != "p" or token.text not in CLAUSE_MARKS:
                continue
            joined = token.text in ".:" and following is not None and following.start == token.end
            initial = (
                token.text == "." and at > 0 and len(self.tokens[at - 1].text) == 1 and self.tokens[at - 1].kind in "CA"
            )
            if not joined and not initial:
                clause += 1
                sentence += token.text in SENTENCE_MARKS

    def _overlap(self) -> None:
        """Say how much of the question each clause holds, and how much of it alone."""
        self.key = [(one.folded if one.kind in "HZn" else stem(one.text)) if one.echo else "" for one in self.tokens]
        self.said = [{self.key[at] for at in clause if self.key[at]} for clause in self.clauses]
        self.clauses_with: dict[str, int] = {}
        for said in self.said:
            for key in said:
                self.clauses_with[key] = self.clauses_with.get(key, 0) + 1
        words = len(self.profile.stems) or 1
        self.overlap = [len(said) / words for said in self.said]
        self.alone = [sum(1 / self.clauses_with[key] for key in said) / words for said in self.said]
        self.most, self.most_alone = max(self.overlap), max(self.alone)

    def _distances(self) -> list[int]:
        """Return how far each token is from the words of the question that the fewest clauses hold."""
        rarest = min(self.clauses_with.values(), default=0)
        marks = [
            at
            for at, key in enumerate(self.key)
            if key and self.clauses_with[key] == rarest and self.tokens[at].kind != "n"
        ]
        clause, sentence = self.clause_of, self.sentence_of
        return [
            min(
                (
                    abs(at - mark) + 6 * abs(clause[at] - clause[mark]) + 10 * abs(sentence[at] - sentence[mark])
                    for mark in marks
                ),
                default=FAR,
            )
            for at in range(len(self.tokens))
        ]

    def _rank(self) -> None:
        """Rank the numbers and the names of a reply by their distance from the words of the question."""
        for kind, those in (("num", "nNZ"), ("cap", "CA")):
            places: list[int] = []
            within = False
            for at, token in enumerate(self.tokens):
                fits = token.kind in those and token.folded not in FUNCTION_WORDS
                if fits and not within and not token.echo:
                    places.append(at)
                within = fits
            for rank, at in enumerate(sorted(places, key=lambda at: self.distance[at])):
                order = "o" if len(places) == 1 else "f" if at == places[0] else "l" if at == places[-1] else "m"
                count = min(len(places), 4)
                self.rank[at] = (
                    f"rk{kind}{min(rank, 3)}/{count}{self.distance[at] < FAR}",
                    f"ro{kind}{order}{count}",
                    f"rkF{kind}{min(rank, 3)}{self.profile.kind}",
                )

    def described(self) -> Described:
        shared: list[list[str]] = []
        index: dict[tuple[str, int], int] = {}
        makers = {"before": self._before, "after": self._after, "clause": self._clause}
        parts = spans_of(self.text, self.tokens)
        own = lambda at: self._own(*parts[at])  # noqa: E731 - of few parts, and these only when asked
        result = Described(self.language, [], [], own, shared, self._nothing())
        for first, last in parts:
            groups = []
            for name, at in (("before", first), ("after", last), ("clause", self.clause_of[last])):
                if (name, at) not in index:
                    index[name, at] = len(shared)
                    shared.append(makers[name](at))
                groups.append(index[name, at])
            result.spans.append((self.tokens[first].start, self.tokens[last].end))
            result.groups.append((groups[0], groups[1], groups[2]))
        return result

    def _at(self, at: int) -> Token | None:
        return self.tokens[at] if 0 <= at < len(self.tokens) else None

    def _before(self, at: int) -> list[str]:
        """Return the features of what precedes a part that begins at a token, and of how it begins."""
        tokens, asks = self.tokens, self.profile.kind
        token, last, earlier, earliest = tokens[at], self._at(at - 1), self._at(at - 2), self._at(at - 3)
        one, two, three = (word.folded if word is not None else "^" for word in (last, earlier, earliest))
        start = self.clauses[self.clause_of[at]][0]
        features = [
            f"@l1:{one}",
            f"@l2:{two}_{one}",
            f"@l3:{three}_{two}_{one}",
            f"@lq:{asks}{one}",
            f"@lf:{token.folded}",
        ]
        features += [
            f"lc:{_kind(last)}|{_kind(token)}",
            f"lcc:{_kind(earlier)}{_kind(last)}|{_kind(token)}",
            f"lC:{_kind(last)}",
        ]
        if self.profile.noun:
            features.append(f"@lh:{self.profile.noun}:{one}")
        if last is not None and last.kind == "w" and not last.small:
            features.append(f"@ls:{stem(last.text)}")
        if self.language == "z":
            features.append(f"@lx:{one}|{token.folded}")
        features += [
            f"@b:{tokens[z].folded}" for z in range(max(start, at - 7), at) if tokens[z].small or tokens[z].kind == "p"
        ]
        near = next((at - z for z in range(at - 1, max(-1, at - NEAR_WORDS), -1) if tokens[z].echo == 1), NEAR_WORDS)
        echoed = min(3, sum(tokens[z].echo == 1 for z in range(start, at)))
        denied = any(tokens[z].folded in DENIALS or tokens[z].folded.endswith("n't") for z in range(start, at))
        features += [f"eb{echoed}", f"ed{near}", f"ed{asks}{min(near, 4)}", f"first{at == start}", f"neg{denied}"]
        features.append(f"kd{min(8, self.distance[at] // 2)}")
        return features + list(self.rank.get(at, ()))

    def _after(self, at: int) -> list[str]:
        """Return the features of what follows a part that ends with a token, and of how it ends."""
        tokens, asks = self.tokens, self.profile.kind
        token, following, later, latest = tokens[at], self._at(at + 1), self._at(at + 2), self._at(at + 3)
        one, two, three = (word.folded if word is not None else "$" for word in (following, later, latest))
        end = self.clauses[self.clause_of[at]][-1] + 1
        features = [
            f"@r1:{one}",
            f"@r2:{one}_{two}",
            f"@r3:{one}_{two}_{three}",
            f"@rq:{asks}{one}",
            f"@rf:{token.folded}",
        ]
        features += [
            f"rc:{_kind(token)}|{_kind(following)}",
            f"rcc:{_kind(token)}|{_kind(following)}{_kind(later)}",
            f"rC:{_kind(following)}",
        ]
        if following is not None and following.kind == "w" and not following.small:
            features.append(f"@rs:{stem(following.text)}")
        if self.language == "z":
            features.append(f"@rx:{token.folded}|{one}")
        features += [f"@a:{tokens[z].folded}" for z in range(at + 1, min(end, at + 6)) if tokens[z].small]
        near = next(
            (z - at for z in range(at + 1, min(len(tokens), at + NEAR_WORDS)) if tokens[z].echo == 1), NEAR_WORDS
        )
        echoed = min(3, sum(tokens[z].echo == 1 for z in range(at + 1, end)))
        ends = at + 1 >= end or (at + 2 >= end and tokens[at + 1].kind == "p")
        return [*features, f"fb{echoed}", f"fd{near}", f"fd{asks}{min(near, 4)}", f"last{ends}"]

    def _clause(self, clause: int) -> list[str]:
        """Return the features of a clause: what it shares with the question, where it stands, its words."""
        tokens, places = self.tokens, self.clauses[clause]
        live = self.live
        share = self.overlap[clause]
        level = "3" if share >= 0.99 else "2" if share >= 0.5 else "1" if share else "0"
        place = "only" if len(live) == 1 else "first" if clause == live[0] else "last" if clause == live[-1] else "mid"
        nearest = f"{share == self.most > 0}{self.alone[clause] == self.most_alone > 0}"
        features = [
            f"co{level}",
            f"cm{nearest}",
            f"cx{min(4, int(self.alone[clause] * 5))}",
            f"cp{place}",
            f"cp{place},{level}",
        ]
        features += [f"cn{min(len(live), 6)}{place}", f"csn{min(self.sentence_of[places[0]], 3)}"]
        sizes = [len(said) for said in self.said]
        if clause + 1 < len(sizes) and sizes[clause + 1] > sizes[clause]:
            features.append("nextmore")
        if clause and sizes[clause - 1] > sizes[clause]:
            features.append("prevmore")
        words = [tokens[at].folded for at in places if tokens[at].kind != "p"]
        features += [f"@c1:{word}" for word in words[:1]] + [f"@c2:{words[0]}_{word}" for word in words[1:2]]
        before, last = self._at(places[0] - 1), tokens[places[-1]]
        features += [
            f"cprev{before.text if before is not None else '^'}",
            f"cend{last.text if last.kind == 'p' else '$'}",
        ]
        features.append(f"cbr{self.bracketed[places[len(places) // 2]]}")
        earlier = [tokens[at].folded for at in self.clauses[clause - 1] if tokens[at].kind != "p"] if clause else []
        features += [f"@cpl:{earlier[-1]}", f"@cpf:{earlier[0]}"] if earlier else []
        return features + [f"@cw:{word}" for word in self._words(places)]

    def _words(self, places: Sequence[int]) -> set[str]:
        """Return the words of a clause; in Chinese its small words and pairs of characters that are not of the question."""
        those = [self.tokens[at] for at in places]
        if self.language == "e":
            return {one.folded for one in those if one.kind == "w" and (one.small or not one.echo)}
        pairs = pairwise(those)
        return {one.text for one in those if one.kind == "H" and one.small} | {
            one.text + two.text for one, two in pairs if one.kind in "HZ" and two.kind in "HZ" and one.echo != 1
        }

    def _own(self, first: int, last: int) -> list[str]:
        """Return the features of a part itself: its form, the kind asked, and what of it the question says."""
        profile, part = self.profile, self.tokens[first : last + 1]
        shape, size = _shape(part), len(part)
        echoed, similar = sum(one.echo == 1 for one in part), sum(one.echo > 0 for one in part)
        share = "all" if similar == size else "hi" if similar * 2 > size else "lo" if similar else "no"
        text = self.folded[part[0].start : part[-1].end]
        asked = text in profile.folded
        left, right = self._at(first - 1), self._at(last + 1)
        wrapped = (left.text if left is not None and left.text in OPENING else "") + (
            right.text if right is not None and right.text in CLOSING else ""
        )
        features = [
            f"s:{shape}",
            f"sF:{shape}{profile.kind}",
            f"n{min(size, 10)}",
            f"nz{min(size, 10)}{shape[:3]}",
            f"e{share}",
        ]
        features += [
            f"e{share}{'A' * profile.alternatives}{shape[:3]}.",
            f"inq{asked}{profile.alternatives}",
            f"inqA{asked}{profile.kind}",
        ]
        features += [f"nf{min(3, sum(one.small for one in part))}", f"ne{min(echoed, 3)}", f"sc:{profile.code}{shape}"]
        features += [f"sm:{profile.formula}{shape}", f"sk:{profile.asked.kind}{shape}", f"wrap{wrapped}"]
        if profile.noun:
            features += [f"@sh:{shape}:{profile.noun}"] + [f"headin{shape[:3]}"] * (profile.noun in text)
        marks = "".join(sorted({one.text for one in part if one.kind == "p"}))
        features += [f"ip:{marks}"] * bool(marks) + ["has="] * ("=" in text)
        features.append(f"cross{min(2, self.clause_of[last] - self.clause_of[first])}")
        features.append(f"rep{min(3, self.folded.count(text))}" if size > 1 or self.language == "e" else "rep1")
        if profile.asked.units and part[0].kind in "nNZ":
            features.append(self._unit(part))
        return features

    def _unit(self, part: Sequence[Token]) -> str:
        """Return how the unit that follows a number fits those that the question names."""
        rest = self.text[part[0].end : part[-1].end + 12].strip()
        sizes = range(min(12, len(rest)), 0, -1)
        unit = next((unit for size in sizes if (unit := read_unit(rest[:size].strip())) is not None), None)
        if unit is None:
            return "unit0"
        asked = self.profile.asked.units
        return (
            "unitsame"
            if unit in asked
            else "unitdim"
            if any(unit.dimensions == one.dimensions for one in asked)
            else "unitother"
        )

    def _nothing(self) -> list[str]:
        """Return the features of the reading that the reply claims nothing: its words, how it ends, how little it is about the question."""
        words = [one.folded for one in self.tokens if one.kind != "p"]
        pairs = [f"{one}_{two}" for one, two in pairwise(words)]
        numbers = min(3, sum(one.kind == "n" for one in self.tokens))
        end = self.tokens[-1].text if self.tokens else ""
        features = ["N", f"N{self.profile.kind}", f"Nend{end}", f"Nlen{min(8, len(self.tokens) // 5)}"]
        features += [f"Nmo{int(self.most * 4)}", f"Nnum{numbers}{self.profile.asked.kind}"]
        return features + [f"@Nw:{word}" for word in {*words, *pairs}]


def _kind(token: Token | None) -> str:
    """Return the kind of a token as its neighbours see it: a mark, an ending, a word of the question."""
    if token is None:
        return "^"
    if token.kind == "p":
        return token.text if token.text in SHOWN_MARKS else "p"
    echo = "e" if token.echo == 1 else "h" if token.echo else ""
    if token.kind == "w":
        ending = next((one for one in ("ed", "ing", "ly", "s") if token.folded.endswith(one)), "")
        return f"w{'f' if token.small else ending}{echo}"
    return f"{token.kind}{'f' * token.small}{echo}"


def _shape(part: Sequence[Token]) -> str:
    """Return the form of a part: a year, money, a name of one word, lower-case words …"""
    kinds, first, size = {one.kind for one in part}, part[0], len(part)
    if kinds == {"Z"}:
        return "hannum"
    if "n" in kinds or first.kind in "NZ":
        text = "".join(one.text for one in part)
        if size == 1 and first.kind == "n":
            return "year" if YEAR.fullmatch(text) else "dec" if "." in text else "int"
        if shape := next((name for name, pattern in SHAPES if pattern.search(text)), ""):
            return shape
        if "m" in kinds and not kinds & {"H", "w"}:
            return "math"
        return "num+" if first.kind in "nNZ" else "mixnum"
    if WEEKDAY.fullmatch(first.text):
        return "date"
    if "m" in kinds:
        return "math"
    if "H" in kinds:
        return f"han{min(size, 6)}"
    if first.kind in "CA":
        if part[-1].kind not in "CA":
            return "capw"
        return "acro" if first.kind == "A" and size == 1 else "name1" if size == 1 else "names"
    return f"low{min(size, 4)}" if kinds == {"w"} else "lowC" if part[-1].kind in "CA" else "mix"
