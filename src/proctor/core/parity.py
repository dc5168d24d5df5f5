"""Record one line of a comparison of our verdicts with official ones."""

import msgspec

from proctor.core.sentence import Sentence


class Checked(msgspec.Struct, frozen=True, kw_only=True):
    """Our verdict and the official one; `agrees` is None for a line that belongs to an unsupported part."""

    id: str
    agrees: bool | None
    ours: str = ""
    official: str = ""
    rule: str | Sentence = ""
