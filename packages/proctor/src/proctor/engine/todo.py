"""Hand out the unfinished trials of a run; a sample that starts in the last state of another one waits until that one is stored."""

import asyncio
from collections import deque
from collections.abc import Awaitable, Callable, Collection, Iterator, Mapping

from msgspec.structs import replace

from proctor.core.sample import Sample
from proctor.core.sentence import say
from proctor.core.trial import IN_THE_MEAN, Trial, TrialFailure, Verdict

Key = tuple[str, int]
Given = tuple[Sample, int]
Play = Callable[[Sample, int], Awaitable[tuple[Trial, list[Verdict]]]]


class Todo:
    """The samples and attempts of a run that are left.

    Args:
        left: in the order in which they are visited.
        finished: reads what is done and will not be tried again, by sample id and attempt.
        stored: reads the trial of one of those.
        followed: returns the id of the sample that a stored one follows.
        are_recorded: what is played is recorded, so that nothing starts anywhere.
    """

    def __init__(
        self,
        run_id: str,
        left: Iterator[Given],
        finished: Callable[[], Collection[Key]],
        stored: Callable[[Key], Trial | None],
        followed: Callable[[str], str | None],
        *,
        are_recorded: bool = False,
    ) -> None:
        self._run_id = run_id
        self._left = left
        self._are_recorded = are_recorded
        self._finished = finished
        self._stored = stored
        self._followed = followed
        self._done: set[Key] | None = None  # read when the first follower is met: most runs have none
        self._ready: deque[Given] = deque()
        self._waiting: dict[Key, list[Given]] = {}
        self._out = 0
        self._moved = asyncio.Event()

    async def take(self) -> Given | None:
        """Return the next sample and attempt that can be played, waiting for one if need be; None when there are no more."""
        while True:
            given = self._ready.popleft() if self._ready else next(self._left, None)
            if given is None:
                if not self._waiting:
                    return None
                await self._wait()
            elif "after" not in given[0].meta or self._are_recorded or self._may_start(given):
                self._out += 1
                return given

    def settle(self, sample: Sample, attempt: int) -> None:
        """Note that an attempt is stored, or was given up: trials that waited for it can be played."""
        self._out -= 1
        if self._done is not None:
            self._release((sample.id, attempt))
            self._moved.set()

    async def play_on(self, play: Play, sample: Sample, attempt: int) -> tuple[Trial, list[Verdict]]:
        """Play a sample in the last state of the one it follows; without that state it fails, and is not played."""
        if self._are_recorded:
            return await play(sample, attempt)
        leader = self._stored((sample.meta["after"], attempt))
        if leader is not None and leader.outcome in IN_THE_MEAN:
            state = self._state_after(leader)
            return await play(replace(sample, meta={**sample.meta, "start": state}), attempt)
        reason = say(
            "It starts where '{id}' ends, and that sample did not come to its end. Run both again with --retry-failed.",
            id=sample.meta["after"],
        )
        trial = Trial(
            run_id=self._run_id,
            sample_id=sample.id,
            attempt=attempt,
            outcome="skipped" if leader is not None and leader.outcome == "skipped" else "environment_failed",
            failure=TrialFailure(kind="no_start", reason=reason),
        )
        return trial, []

    def _state_after(self, leader: Trial | None) -> Mapping[str, object] | None:
        """Return the state that a sample left; one in which the agent failed left things as it found them, None at the beginning."""
        while leader is not None and leader.outcome == "agent_failed":
            earlier = self._followed(leader.sample_id)
            leader = None if earlier is None else self._stored((earlier, leader.attempt))
        return None if leader is None else leader.trajectory.state or {}

    def rest(self) -> Iterator[Given]:
        """Yield what was not handed out."""
        yield from self._ready
        for waiting in self._waiting.values():
            yield from waiting
        yield from self._left

    async def _wait(self) -> None:
        if self._out:
            self._moved.clear()
            await self._moved.wait()
            return
        for key in [*self._waiting]:  # what they wait for is not part of the run
            self._release(key)

    def _release(self, key: Key) -> None:
        assert self._done is not None
        self._done.add(key)
        self._ready.extend(self._waiting.pop(key, ()))

    def _may_start(self, given: Given) -> bool:
        if self._done is None:
            self._done = set(self._finished())
        key = (given[0].meta["after"], given[1])
        if key in self._done:
            return True
        self._waiting.setdefault(key, []).append(given)
        return False


def nothing_to_do() -> Todo:
    return Todo("", iter(()), set, lambda _: None, lambda _: None)
