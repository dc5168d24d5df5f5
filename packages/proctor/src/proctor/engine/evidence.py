"""Settle verdicts that depend on a fact of the whole run: whether the agent reports its calls.

A scorer sees one trial. Where an agent that answers in text reported no call, it cannot say whether none was made or none was
reported, and returns both: no score, and the score of no call. Once any trial of the run shows calls, the second one is
right. That is decided when the run ends, from all that is stored, so the order in which trials end does not matter.
"""

from collections.abc import Iterator

from msgspec.structs import replace

from proctor.core.run import RunRecord
from proctor.core.score import Unscored
from proctor.core.task import Store
from proctor.core.trial import IN_THE_MEAN, Verdict

CHUNK = 500


async def settle_silent(record: RunRecord, store: Store) -> None:
    """Append the score of no call to the trials without reported calls, if another trial of the run reports some."""
    ended = sum(count for outcome, count in store.outcomes(record.id).items() if outcome in IN_THE_MEAN)
    silent = [verdict for scorer in record.scorers for verdict in _silent(record.id, store, scorer, ended)]
    if not silent or not any(trial.trajectory.shows_calls for trial in store.trials(record.id)):
        return
    for first in range(0, len(silent), CHUNK):
        await store.judge(silent[first : first + CHUNK])


def _silent(run_id: str, store: Store, scorer: str, ended: int) -> Iterator[Verdict]:
    """Yield the verdicts that count if the agent reports its calls, in place of those that wait to know."""
    tallies = store.tallies(run_id, scorer)
    if not tallies or tallies[""].scored >= ended:  # as a rule; it saves a look at every verdict
        return
    for verdict in store.verdicts(run_id, scorer=scorer):
        if isinstance(verdict.result, Unscored) and verdict.result.without_calls is not None:
            yield replace(verdict, result=verdict.result.without_calls, usage=None, seconds=0.0)
