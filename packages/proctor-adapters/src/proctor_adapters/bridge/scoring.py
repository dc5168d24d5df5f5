"""Read the scores that Inspect's scorers gave, and let Inspect aggregate them."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import msgspec

from proctor.core.declared import scorer as declared_scorer
from proctor.core.errors import MissingScale
from proctor.core.run import Estimate
from proctor.core.sample import JsonObject, Sample
from proctor.core.score import Score, Unscored
from proctor.core.sentence import Sentence, say
from proctor.core.task import Judged, Scorer
from proctor.core.trajectory import Trajectory
from proctor_adapters.bridge.host import STATE
from proctor_adapters.imports._messages import text_of
from proctor_adapters.imports._values import NO_SCALE, scores
from proctor_adapters.imports.inspect import GRADES

SUFFIX = "@inspect"
COST = "worker/milliseconds"
Scales = Mapping[str, tuple[float, float] | None]


class ScoredPart(msgspec.Struct, frozen=True):
    """What one scorer of ours reads: the value of one of Inspect's, or the part of it under a key.

    Attributes:
        is_share: 1 is known to be full marks.
    """

    name: str
    key: str
    is_share: bool

    @property
    def shown(self) -> str:
        return f"{self.name}.{self.key}" if self.key else self.name


def scorers_of(declared: Sequence[Mapping[str, object]], scales: Scales) -> list[Scorer]:
    """Return a scorer for each of Inspect's, or for each key of its value where its metrics name them."""
    return [_scorer(part.name, part.key, scales) for part in _parts(declared)]


def _parts(declared: Sequence[JsonObject]) -> list[ScoredPart]:
    parts: list[ScoredPart] = []
    taken: dict[str, int] = {}
    for scorer in declared:
        name = str(scorer["name"])
        taken[name] = taken.get(name, 0) + 1
        name = name if taken[name] == 1 else f"{name}{taken[name] - 1}"  # as Inspect numbers them
        shares = scorer.get("shares", ())
        parts += [ScoredPart(name, str(key), key in shares) for key in scorer["keys"] or [""]]
    return parts


def doubtful(
    declared: Sequence[Mapping[str, object]], scales: Scales, rows: Sequence[Mapping[str, object]]
) -> Iterator[Estimate]:
    """Yield a note for each scorer of which every value is the number 1 while nothing says that 1 is full marks."""
    for part in _parts(declared):
        values = [value for row in rows if (value := _value_in(row, part)) is not None]
        is_one = [isinstance(value, int | float) and not isinstance(value, bool) and value == 1 for value in values]
        if values and all(is_one) and not part.is_share and part.shown not in scales:
            yield Estimate(
                name=f"{part.shown}/range{SUFFIX}",
                value=None,
                unit="number",
                note=say(
                    "Every value of {name} is 1, which is shown as full marks although its range is not known: of ratings from 1 to 10 it is the lowest. Name the range: --set bridge.scale.{name}=LOW:HIGH, which is 0:1 where 1 is full marks.",
                    name=part.shown,
                ),
            )


def _value_in(row: JsonObject, part: ScoredPart) -> object:
    value = row["scores"].get(part.name, {}).get("value")
    if not part.key:
        return value
    return value.get(part.key) if isinstance(value, Mapping) else None


def _scorer(name: str, key: str, scales: Scales) -> Scorer:
    shown = f"{name}.{key}" if key else name

    def read(sample: Sample, trajectory: Trajectory) -> Score | Unscored:  # noqa: ARG001 - Inspect has scored it
        played = (trajectory.state or {}).get(STATE)
        if not isinstance(played, Mapping):
            return Unscored(
                why="scorer_failed", reason=say("Only Inspect's own scorer can score this, while it plays the sample.")
            )
        raw = played["scores"].get(name)
        if raw is None:
            return Unscored(why="scorer_failed", reason=say("The scorer {name} returned no score.", name=name))
        return _read({"cpu": played.get("cpu"), **raw}, name, key, shown, scales)

    read.__qualname__ = read.__name__ = f"{shown}{SUFFIX}"
    return declared_scorer(name=f"{shown}{SUFFIX}", version="1")(read)


def _read(raw: Mapping[str, object], name: str, key: str, shown: str, scales: Scales) -> Score | Unscored:
    value, answer = raw.get("value"), raw.get("answer")
    details = {
        "inspect": {field: raw[field] for field in ("value", "nan", "metadata", "cpu") if raw.get(field) is not None}
    }
    if key:
        if not isinstance(value, Mapping) or key not in value:
            missing = say("The value of the scorer {name} has no '{key}'.", name=name, key=key)
            return Unscored(why="scorer_failed", reason=missing, details=details)
        value = value[key]
    elif isinstance(value, Mapping | list):
        several = say(
            "Its value has several parts: {value}. The official figures have them.", value=text_of(value)[:300]
        )
        return Unscored(why="not_applicable", reason=several, details=details)
    answer = None if answer is None else text_of(answer)
    return _with(scored(shown, value, scales, answer=answer, reason=str(raw.get("explanation") or "")), details)


def scored(shown: str, value: object, scales: Scales, *, answer: str | None, reason: str = "") -> Score | Unscored:
    """Return the score that a value is on the scale of its scorer, 0 to 1 unless one is given.

    Raises:
        MissingScale: none is given and it is not from 0 to 1, so that nobody knows what the values inside mean: of ratings from 1 to 10, 1 is the worst.
    """
    named = {name: scale for name, scale in scales.items() if scale is not None}
    if shown in scales and shown not in named:
        return Unscored(why="not_applicable", reason=say("Its values count in the official figures only."))
    _, result = next(scores(shown, value, named, words=GRADES, answer=answer, reason=reason))
    if isinstance(result, Unscored) and result.details.get("kind") == NO_SCALE:
        raise MissingScale(
            "The scorer {name} gave {value}, which is not between 0 and 1, so its values are no scores until their range is known: --set bridge.scale.{name}=LOW:HIGH, or --set bridge.scale.{name}=none for the official figures only. Replies in the cache are not paid again.",
            name=shown,
            value=value,
        )
    return result


def _with(result: Score | Unscored, details: Mapping[str, object]) -> Score | Unscored:
    together = {**result.details, **details}
    if isinstance(result, Score):
        return Score(
            points=result.points, out_of=result.out_of, answer=result.answer, reason=result.reason, details=together
        )
    return Unscored(why=result.why, reason=result.reason, details=together)


def rows_of(judged: Judged) -> list[dict[str, Any]]:
    """Return the scores of a run as Inspect gave them and the CPU seconds of its worker, a row for each attempt."""
    rows: dict[tuple[str, int], dict[str, Any]] = {}
    for sample, verdict in judged():
        raw = verdict.result.details.get("inspect")
        if not isinstance(raw, Mapping) or not verdict.scorer.endswith(SUFFIX):
            continue
        metadata = sample.meta.get("metadata") or {}
        row = rows.setdefault(
            (sample.id, verdict.attempt),
            {"id": sample.id, "epoch": verdict.attempt + 1, "metadata": metadata, "scores": {}, "cpu": raw.get("cpu")},
        )
        name = verdict.scorer.removesuffix(SUFFIX)
        value = raw.get("value")
        if isinstance(value, Mapping):
            name = next((name.removesuffix(f".{key}") for key in value if name.endswith(f".{key}")), name)
        row["scores"][name] = {key: value for key, value in raw.items() if key != "cpu"}
    return [*rows.values()]


def cost(rows: Sequence[Mapping[str, object]]) -> Iterator[Estimate]:
    """Yield what a sample cost the worker in milliseconds of CPU, apart from ours."""
    cpu = [row["cpu"] for row in rows if isinstance(row["cpu"], int | float)]
    if cpu:
        yield Estimate(
            name=f"{COST}{SUFFIX}",
            value=1_000 * sum(cpu) / len(cpu),
            scored=len(cpu),
            planned=len(cpu),
            unit="number",
            method="Inspect",
        )


def official_name(figure: Mapping[str, object]) -> str:
    reducer = figure.get("reducer") or ""
    return f"{figure['scorer']}/{figure['metric']}{SUFFIX}" + (f" ({reducer})" if reducer not in ("", "mean") else "")


def planned_of(estimates: Sequence[Estimate], scored: int) -> int:
    """Return how many trials were planned; at least those that were scored."""
    return max([scored, *(estimate.planned for estimate in estimates if not estimate.slice)])


def of_planned(scored: int, planned: int) -> Sentence | str:
    """Return what an official figure has to say of the trials that are not in it; '' where all are."""
    if scored >= planned:
        return ""
    return say(
        "Over the {scored} of {planned} trials that it scored: failures, also those of the agent, are not in it.",
        scored=scored,
        planned=planned,
    )


def official(found: Sequence[JsonObject], rows: Sequence[Mapping[str, object]], planned: int) -> Iterator[Estimate]:
    """Yield the official figures: `match/accuracy@inspect`, with the reducer where there is more than one attempt."""
    scored = len(rows)
    for figure in found:
        yield Estimate(
            name=official_name(figure),
            value=figure["value"],
            scored=scored,
            planned=planned,
            unit="number",
            method="Inspect",
            note=of_planned(scored, planned),
        )
