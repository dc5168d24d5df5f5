"""What a rule of the inspector yields: an event of one trial."""

import msgspec

from proctor.core.sentence import Sentence
from proctor_audit.findings import FindingClass, Invalidates


class TrialEvent(msgspec.Struct, frozen=True, kw_only=True):
    """Something that happened in a trial.

    Attributes:
        span: what occurs literally in one of the steps; '' where the steps themselves are the witness.
        cls, invalidates: where they are not those that the rule declares.
    """

    steps: tuple[int, ...]
    span: str
    sentence: Sentence
    cls: FindingClass | None = None
    invalidates: Invalidates | None = None
