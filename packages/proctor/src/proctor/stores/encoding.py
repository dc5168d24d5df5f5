"""Encode trials and verdicts as stores with tables keep them."""

from collections.abc import Mapping, Sequence
from typing import NamedTuple

from proctor.core.digest import digest_bytes
from proctor.core.sample import Sample
from proctor.core.score import Unscored
from proctor.core.trajectory import NOTHING, Usage
from proctor.core.trial import Trial, Verdict
from proctor.stores.blobs import clean, encode, encode_without
from proctor.stores.files import without_bytes

MOST_TOKENS = 10**12  # what a provider claims for one trial; more would overflow the sum of a run

Spent = tuple[int, int, int, int, int, float | None]


class VerdictRow(NamedTuple):
    """A verdict in the form in which it is stored."""

    scorer: str
    points: float | None
    out_of: float | None
    why: str | None
    verdict: bytes


class Addition(NamedTuple):
    """A trial in its stored form, with its verdicts and, unless it is stored already, its sample."""

    run: int
    name: str
    attempt: int
    outcome: str
    input_tokens: int
    output_tokens: int
    cached_tokens: int
    reasoning_tokens: int
    requests: int
    cost: float | None
    content: bytes | None
    sample: bytes | None
    trial: bytes
    verdicts: Sequence[VerdictRow]
    files: Mapping[bytes, bytes]  # of the trial, by digest


def encode_trial(
    run: int, trial: Trial, verdicts: Sequence[Verdict], sample: Sample | None, keys: Sequence[bytes] = ()
) -> Addition:
    """Encode a trial with its verdicts and sample; `keys` are never written, wherever they occur."""
    outcome = trial.outcome
    content = None if sample is None else encode(sample)
    record, files = without_bytes(trial, keys)
    return Addition(
        run,
        clean(trial.sample_id),
        trial.attempt,
        outcome,
        *_spent(trial, verdicts),
        None if content is None else bytes.fromhex(digest_bytes(content)),
        content,
        encode_without(keys, record),
        [encode_verdict(verdict, outcome, keys) for verdict in verdicts],
        files,
    )


def encode_verdict(verdict: Verdict, outcome: str, keys: Sequence[bytes] = ()) -> VerdictRow:
    """Encode a verdict; it counts only where the trial was scored."""
    scorer, result, record = clean(verdict.scorer), verdict.result, encode_without(keys, verdict)
    if outcome != "scored":
        return VerdictRow(scorer, None, None, outcome, record)
    if isinstance(result, Unscored):
        return VerdictRow(scorer, None, None, result.why, record)
    return VerdictRow(scorer, float(result.points), float(result.out_of), None, record)


_NO_COLUMNS: Spent = (0, 0, 0, 0, 0, None)


def _spent(trial: Trial, verdicts: Sequence[Verdict]) -> Spent:
    usage = trial.usage
    for verdict in verdicts:
        if verdict.usage is not None:
            usage += verdict.usage
    return spent_columns(usage)


def spent_columns(usage: Usage) -> Spent:
    """Return a usage as the columns of a trial store it."""
    if usage == NOTHING:
        return _NO_COLUMNS
    return (
        min(usage.input_tokens, MOST_TOKENS),
        min(usage.output_tokens, MOST_TOKENS),
        min(usage.cached_tokens, MOST_TOKENS),
        min(usage.reasoning_tokens, MOST_TOKENS),
        min(usage.requests, MOST_TOKENS),
        None if usage.cost is None else float(usage.cost),
    )
