"""Rank samples by how far able systems agree on an answer that was judged wrong; a family of systems has one vote."""

import itertools
import re
from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from functools import cache
from importlib.resources import files

import msgspec

from proctor.stats.rate import wilson
from proctor_audit.findings import FindingPrecision

LEAST_RUNS, LEAST_FAMILIES, LEAST_SAMPLES = 8, 3, 50
ABLE = 0.9  # of the best accuracy
LEVEL = 0.99  # of the intervals of bins: another half of the same questions differed by 14 points
MAKERS = (
    ("openai", r"gpt|\bo[1345]\b|davinci|openai"),
    ("anthropic", r"claude|anthropic"),
    ("google", r"gemini|gemma|palm\b|google"),
    ("meta", r"llama|meta"),
    ("mistral", r"mistral|mixtral|ministral|codestral|magistral"),
    ("qwen", r"qwen|qwq"),
    ("deepseek", r"deepseek"),
    ("xai", r"grok|\bxai\b"),
    ("cohere", r"command-?[ar]|cohere|aya\b"),
    ("microsoft", r"\bphi-?\d|microsoft"),
    ("zhipu", r"glm|zhipu"),
    ("moonshot", r"kimi|moonshot"),
    ("bytedance", r"doubao|seed-"),
    ("nvidia", r"nemotron|nvidia"),
)


class ItemVotes(msgspec.Struct, frozen=True, kw_only=True):
    """What systems answered to one sample: the answer by system, None for none, and the systems that were judged right."""

    id: str
    answers: Mapping[str, str | None]
    right: frozenset[str]


class ItemConsensus(msgspec.Struct, frozen=True, kw_only=True):
    """The most frequent answer that was judged wrong: the share of families' votes for it, and that of the key."""

    id: str
    weight: float
    answer: str
    for_key: float
    families: int


class PrecisionBin(msgspec.Struct, frozen=True, kw_only=True):
    """How many items of a range of weights were flawed, on a corpus; `high` belongs to the next bin."""

    low: float
    high: float
    count: int
    flawed: int


class PrecisionTable(msgspec.Struct, frozen=True, kw_only=True):
    """The bins of one corpus; made by `bench/audit_consensus.py`."""

    corpus: str
    base: float
    bins: tuple[PrecisionBin, ...]


def family_of(system: str) -> str:
    """Return the maker of a system by its name; one that is unknown is a family of its own.

    >>> family_of("openai:gpt-5"), family_of("meta_llama-3"), family_of("mine")
    ('openai', 'meta', 'mine')
    """
    return next((maker for maker, words in MAKERS if re.search(words, system.lower())), system)


def rank_by_consensus(items: Sequence[ItemVotes], families: Mapping[str, str]) -> list[ItemConsensus]:
    """Return the items by falling weight, then by how few give the key; only systems near the best accuracy vote."""
    able = able_systems(items)
    consensuses = [_consensus(item, able, families) for item in items]
    return sorted(consensuses, key=lambda each: (-each.weight, each.for_key, each.id))


def able_systems(items: Sequence[ItemVotes]) -> frozenset[str]:
    """Return the systems whose accuracy is within a tenth of the best, or in the upper half."""
    asked = Counter(system for item in items for system in item.answers)
    right = Counter(system for item in items for system in item.answers if system in item.right)
    accuracy = {system: right[system] / count for system, count in asked.items()}
    shares = sorted(accuracy.values()) or [0.0]
    least = min(ABLE * shares[-1], shares[len(shares) // 2])
    return frozenset(system for system, share in accuracy.items() if share >= least)


def _consensus(item: ItemVotes, able: frozenset[str], families: Mapping[str, str]) -> ItemConsensus:
    votes: dict[str, float] = defaultdict(float)
    members: dict[str, list[str]] = defaultdict(list)
    for system in item.answers:
        if system in able:
            members[families.get(system, system)].append(system)
    for_key = 0.0
    for systems in members.values():
        for system in systems:
            said = item.answers[system]
            if system in item.right:
                for_key += 1 / len(systems)
            elif said is not None:
                votes[said] += 1 / len(systems)
    count = max(1, len(members))
    answer, weight = max(sorted(votes.items()), key=lambda vote: vote[1], default=("", 0.0))
    return ItemConsensus(
        id=item.id, weight=weight / count, answer=answer, for_key=for_key / count, families=len(members)
    )


@cache
def precision_tables() -> Mapping[str, PrecisionTable]:
    """Return the tables of the package by kind: `choice` for keys among options, `calls` for expected calls."""
    text = files("proctor_audit").joinpath("consensus.json").read_bytes()
    return msgspec.json.decode(text, type=dict[str, PrecisionTable])


def precision_of(weight: float, kind: str) -> FindingPrecision | None:
    """Return how many items of such a weight were flawed; None for a kind of task without a table."""
    table = precision_tables().get(kind)
    bins = () if table is None else table.bins
    fitting = next((each for each in bins if each.low <= weight < each.high and each.count), None)
    if table is None or fitting is None:
        return None
    share = fitting.flawed / fitting.count
    between = wilson(share, fitting.count, LEVEL)
    return FindingPrecision(
        value=share,
        low=between.low,
        high=between.high,
        count=fitting.count,
        measured_on=table.corpus,
        level=LEVEL,
        meaning="flawed",
        base=sum(each.flawed for each in bins) / sum(each.count for each in bins),
    )


def bins_of(ranked: Sequence[ItemConsensus], flawed: Mapping[str, bool]) -> tuple[PrecisionBin, ...]:
    """Return the bins of a corpus: unanimous, from .8, from .6, from .4, below."""
    edges = (1.01, 0.999, 0.8, 0.6, 0.4, 0.0)
    return tuple(
        PrecisionBin(low=low, high=high, count=len(inside), flawed=sum(flawed[id] for id in inside))
        for high, low in itertools.pairwise(edges)
        for inside in [[each.id for each in ranked if low <= each.weight < high]]
    )
