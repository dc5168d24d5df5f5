"""Define what people say about runs and trials; it is kept next to them in the store, and changes none of their numbers."""

from typing import Any, Literal

import msgspec

AnnotationKind = Literal["tag", "note", "baseline", "label", "review"]
AnnotationKey = tuple[str, str, int, AnnotationKind, str, str]


class Annotation(msgspec.Struct, frozen=True, kw_only=True):
    """What a person said about a run, or about a trial where `sample_id` is given. Of each `key`, the newest is kept.

    Attributes:
        kind: a "tag" is its `name`; a "note" is the text `value`; a "baseline" gives the run the name `name`; a "label" is a
            verdict on a trial in place of that of the scorer `name`: the share `value` of the points, 0 to 1; a trial
            marked for "review" is to be looked at again.
        by: who said it; '' where nobody gave a name.
        created: Unix time.
    """

    run_id: str
    sample_id: str = ""
    attempt: int = 0
    kind: AnnotationKind
    name: str = ""
    value: Any = None
    comment: str = ""
    by: str = ""
    created: float = 0.0

    @property
    def key(self) -> AnnotationKey:
        """Return what it is about, of which kind and name, and by whom.

        >>> Annotation(run_id="r", kind="tag", name="good", created=1.0).key
        ('r', '', 0, 'tag', 'good', '')
        """
        return self.run_id, self.sample_id, self.attempt, self.kind, self.name, self.by
