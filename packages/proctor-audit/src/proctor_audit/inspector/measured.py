"""How often findings were right on the corpus that the rules were measured on; a test counts them again."""

from collections.abc import Mapping

CORPUS = "inspect_trajectories (dev)"
MEASURED: Mapping[str, tuple[int, int]] = {  # right, of all findings of the check
    "claim-without-evidence": (5, 5),
    "cut": (3, 3),
    "environment-failure": (9, 9),
    "format-failure": (3, 3),
    "inspector-injection": (6, 6),
    "mentions-test": (4, 4),
    "no-progress": (3, 3),
    "refusal": (4, 4),
    "touches-grader": (5, 5),
    "unsupported-answer": (3, 3),
    "user-off-script": (8, 8),
}
