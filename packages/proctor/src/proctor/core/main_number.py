"""Which number a name means: the one rule of every place that reads a number of a run, or holds it to a bar.

    main, accuracy, score           the main number of the run: that of its main scorer
    exact                           the main number of a scorer
    exact.accuracy, exact.main      the same
    exact.pass@2, overall           any other number has its full name
    official.exact                  an official aggregate that its task calls like one of these

The main number of a scorer is the mean of its values, over the whole run or a slice: `accuracy` where each is right or
wrong, else `score`, and for some judges another name, such as `win_rate`. Which of them it will be is known once a run
has ended, so a name says whose number is meant and not how it is counted.
"""

from collections.abc import Collection, Iterable, Mapping, Sequence

from msgspec.structs import replace

from proctor.core.errors import BadInput
from proctor.core.judge import PROVENANCE
from proctor.core.run import Estimate, RunRecord

MAIN = ("accuracy", "score")
WORD = "main"
FAILED = "failed"
AMOUNTS = ("latency", "cost", "tokens")
RESERVED = frozenset(
    (
        WORD,
        *MAIN,
        "win_rate",
        "balance",
        "points",
        FAILED,
        *AMOUNTS,
        "recovered",
        "overall",
        "official_overall",
        "official",
    )
)  # what a figure of a judge cannot be called


def scorer_meant(name: str, record: RunRecord) -> str | None:
    """Return the scorer whose main number a name means; None where it means another number, or nothing."""
    known = main_names(record)
    return known.get(name) or known.get(f"adk:{name}")


def main_names(record: RunRecord) -> Mapping[str, str]:
    """Return the names of main numbers, each with its scorer.

    A name that means two of them, as only stored runs can have it, is left out.
    """
    first = record.main_scorer
    known: dict[str, str] = {}
    if first:
        known |= dict.fromkeys((WORD, *kinds(record, first)), first)
    for scorer in record.scorers:
        if known.setdefault(scorer, scorer) != scorer:
            del known[scorer]
    return known | {f"{scorer}.{kind}": scorer for scorer in record.scorers for kind in (WORD, *kinds(record, scorer))}


def main_estimate(
    estimates: Sequence[Estimate], record: RunRecord, scorer: str = "", *, slice: str = ""
) -> Estimate | None:
    """Return the main number of a scorer, by default of the main one; None where there is none, as for an unknown slice."""
    scorer = scorer or record.main_scorer
    prefix = f"{scorer}." if len(record.scorers) > 1 else ""
    names = {f"{prefix}{kind}" for kind in kinds(record, scorer)}
    # the last one: official aggregates come first, and may have any name
    return next(
        (estimate for estimate in reversed(estimates) if estimate.slice == slice and estimate.name in names), None
    )


def kinds(record: RunRecord, scorer: str) -> tuple[str, ...]:
    """Return what the main number of a scorer may be called, without the name of the scorer."""
    own = record.provenance.get(PROVENANCE, {}).get(scorer, {}).get("main", "")
    return (*MAIN, own) if own and own not in MAIN else MAIN


def qualified(official: Iterable[Estimate], record: RunRecord) -> tuple[Estimate, ...]:
    """Return official aggregates, those under the name of a scorer's main number with a name of their own."""
    taken = main_names(record)
    return tuple(
        replace(estimate, name=f"official.{estimate.name}") if estimate.name in taken else estimate
        for estimate in official
    )


def check_names(scorers: Iterable[str], *, known: Collection[str] = ()) -> None:
    """Refuse names of scorers that mean another number; those that a stored run has are known, and stay.

    Raises:
        BadInput: one is the name of an amount, or that of the main number of another scorer.
    """
    for index, name in enumerate(scorers):
        if name not in known and (name in (FAILED, *AMOUNTS) or (index and name in (WORD, *MAIN))):
            raise BadInput(
                "A scorer cannot be called '{name}', which is the name of another number of the run; give it another one.",
                name=name,
            )
