"""Read the reward that a verifier wrote, as Harbor does.

    /logs/verifier/reward.json   {"reward": 1, "speed": 0.2}   goes before
    /logs/verifier/reward.txt    0.5

Source: harbor 0.24.0, `harbor/verifier/verifier.py` and `harbor/models/verifier/result.py`.
"""

import json
import math
from collections.abc import Mapping
from typing import Literal

FaultKind = Literal["RewardFileEmptyError", "RewardFileNotFoundError", "VerifierOutputParseError", "ValidationError"]


class RewardFault(Exception):
    """The verifier left no reward that can be read; `kind` is what Harbor raises."""

    def __init__(self, kind: FaultKind) -> None:
        super().__init__(kind)
        self.kind: FaultKind = kind


def read_rewards(json_file: bytes | None, text_file: bytes | None) -> Mapping[str, float]:
    """Return the rewards by name; None stands for a file that is not there.

    Any finite number is a reward, also outside of 0 to 1, and `{}` is a result without one, as officially.

    Raises:
        RewardFault: there is no reward to read.
    """
    written = text_file if json_file is None else json_file
    if written is None:
        raise RewardFault("RewardFileNotFoundError")
    if not written:
        raise RewardFault("RewardFileEmptyError")
    return {"reward": _read_text(written)} if json_file is None else _read_json(written)


def _read_json(data: bytes) -> Mapping[str, float]:
    try:
        rewards = json.loads(data.decode())
    except (ValueError, RecursionError):
        raise RewardFault("VerifierOutputParseError") from None
    values = rewards.values() if isinstance(rewards, dict) else [rewards]
    if not all(isinstance(value, int | float) and (isinstance(value, int) or math.isfinite(value)) for value in values):
        raise RewardFault("VerifierOutputParseError")
    if not isinstance(rewards, dict):
        raise RewardFault("ValidationError")
    return {name: float(value) if isinstance(value, bool) else value for name, value in rewards.items()}


def _read_text(data: bytes) -> float:
    try:
        value = float(data.decode())
    except ValueError:
        raise RewardFault("VerifierOutputParseError") from None
    if not math.isfinite(value):
        raise RewardFault("VerifierOutputParseError")
    return value
