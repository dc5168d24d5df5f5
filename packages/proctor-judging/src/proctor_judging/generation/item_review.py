"""Review each reply that should hold an item: accept it, or ask the agent again with the reason."""

from typing import Any

from proctor.core.sample import Message, Sample, Turn
from proctor.core.score import Score
from proctor.core.sentence import say
from proctor.core.trajectory import Trajectory
from proctor_judging.generation.generator import Generator, RejectedRecord
from proctor_judging.generation.novelty import Novelty

SCORER = "accepted"


class ItemReview:
    """Decides about replies. The simulated user and the scorer ask about the same reply, which is decided once."""

    def __init__(self, kind: Generator, novelty: Novelty) -> None:
        self._kind = kind
        self._novelty = novelty
        self._last_by_sample: dict[str, tuple[str, dict[str, Any] | RejectedRecord]] = {}

    def decide(self, sample: Sample, trajectory: Trajectory) -> dict[str, object] | RejectedRecord:
        """Return the item in the last reply, or why it is rejected."""
        reply, decision = self._last_by_sample.get(sample.id, (None, None))
        if decision is None or reply != trajectory.answer:
            try:
                decision = self._read(sample.id, trajectory)
            except RejectedRecord as rejected:
                decision = rejected
            self._last_by_sample[sample.id] = (trajectory.answer, decision)
        return decision

    def _read(self, id: str, trajectory: Trajectory) -> dict[str, Any]:
        if not trajectory.answer.strip():
            raise RejectedRecord("empty", say("The reply was empty."))
        if trajectory.stop == "length":
            raise RejectedRecord("length", say("The reply was cut off by its length limit; be brief."))
        item = self._kind.read(trajectory.answer)
        if (copy := self._novelty.admit(id, self._kind.text(item))) is not None:
            raise RejectedRecord(
                f"copy:{copy.kind}", say("{reason} Write an entirely different one.", reason=copy.reason)
            )
        return item


class AskAgain:
    """The simulated user: asks again while an item is rejected and tries are left."""

    def __init__(self, review: ItemReview, tries: int) -> None:
        self._review = review
        self._tries = tries

    async def reply(self, sample: Sample, trajectory: Trajectory) -> Turn | None:
        """Return the reason with the whole prompt, for agents that remember nothing; None at the end."""
        decision = self._review.decide(sample, trajectory)
        if not isinstance(decision, RejectedRecord) or tries_of(trajectory) >= self._tries:
            return None
        request = say(
            "Your last reply could not be used: {reason} Write the item again, and reply with nothing but the JSON object.",
            reason=decision.reason,
        )
        return Turn(messages=(Message.of("user", f"{sample.question}\n\n{request}"),))


class AcceptedItem:
    """The scorer: a point for an accepted item, which it keeps among the details."""

    name = SCORER
    inline = True

    def __init__(self, review: ItemReview, version: str) -> None:
        self.version = version
        self._review = review

    def __call__(self, sample: Sample, trajectory: Trajectory) -> Score:
        decision, tries = self._review.decide(sample, trajectory), tries_of(trajectory)
        if isinstance(decision, RejectedRecord):
            return Score(points=0, reason=decision.reason, details={"error_class": decision.kind, "tries": tries})
        return Score(points=1, details={"item": decision, "tries": tries})


def tries_of(trajectory: Trajectory) -> int:
    """Return how often the item was asked for."""
    return 1 + max((step.turn for step in trajectory.steps), default=0)
