"""Record one line of a comparison of our verdicts with official ones."""

from collections.abc import Mapping
from typing import Self

import msgspec

from proctor.core.sentence import Sentence, say


class Checked(msgspec.Struct, frozen=True, kw_only=True):
    """Our verdict and the official one; `agrees` is None for a line that is skipped, and `rule` says why.

    Lines with a `group` are counted by it too.
    """

    id: str
    agrees: bool | None
    ours: str = ""
    official: str = ""
    rule: str | Sentence = ""
    group: str = ""

    @classmethod
    def unknown(cls, line: Mapping[str, object]) -> Self:
        """Return the result of a line whose kind no rule of ours is for, as newer corpora may have."""
        reason = say("no rule for lines of the kind '{kind}'", kind=str(line.get("kind", "-")))
        return cls(id=str(line.get("id", "-")), agrees=None, rule=reason)
