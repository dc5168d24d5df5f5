"""How long a simulation is: a fifth of its rounds, or with `--torture` all, and the chance that stays in a share."""

import math

long = False  # set as pytest is configured, before any test is imported


def rounds(full: int) -> int:
    return full if long else full // 5


def chance(share: float, full: int) -> float:
    """Return by how much two standard errors of a share are wider over the rounds of this form than over all."""
    return 2 * math.sqrt(share * (1 - share)) * (1 / math.sqrt(rounds(full)) - 1 / math.sqrt(full))


def spread(full: int) -> float:
    """Return how many times as far a mean strays over the rounds of this form as over all."""
    return math.sqrt(full / rounds(full))
