"""A scorer whose verdicts change has another version: else a comparison takes the verdicts of two rules for those of one."""

import hashlib
from collections.abc import Callable

import pytest
from bench.answers import DATA, SCORERS, read_corpus

from proctor.core.declared import ScorerInfo, declared

HANDS = ("tuned", "stranger_g", "stranger_s", "stranger_gg", "stranger_rr")
EVERY = {"answer_en": 15, "answer_zh": 15}  # replies, of which one is read; of other scorers all
WORDS = {True: "1", False: "0", None: "-"}  # a dash where there is no score


@pytest.mark.usefixtures("replies_read_once")
def test_verdicts_change_with_the_version_alone(golden: Callable[[str, str], None]) -> None:
    """Where the digest of a scorer changes, raise its version, and only then let `make golden` write the file."""
    lines = []
    for name, scorer in SCORERS.items():
        hands = [hand for hand in HANDS if (DATA / "replies" / hand / f"{name}.jsonl").exists()]
        readings = [reading for hand in hands for reading in read_corpus(hand, name, EVERY.get(name, 1))]
        verdicts = "".join(WORDS[reading.is_accepted] for reading in readings)
        digest = hashlib.sha256(verdicts.encode()).hexdigest()[:16]
        lines.append(f"{name} {declared(ScorerInfo, scorer).version}: {digest} of {len(verdicts)} verdicts\n")
    golden("verdicts_by_version.txt", "".join(lines))
