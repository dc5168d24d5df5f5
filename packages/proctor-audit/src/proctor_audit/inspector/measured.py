"""How often findings were right on the corpus that the rules were measured on; a test counts them again."""

from collections.abc import Mapping

from proctor.core.sentence import say
from proctor_audit.findings import FindingClass

CORPUS = "inspect_trajectories (dev)"
CAVEAT = say(
    "Shares of right findings are of the judged rows of {corpus}, on which the rules were written.", corpus=CORPUS
)
MEASURED: Mapping[tuple[str, FindingClass], tuple[int, int]] = {
    # right, of the rows with such a finding that are judged for it
    ("claim-without-evidence", "likely"): (5, 5),
    ("cut", "look"): (1, 1),
    ("environment-failure", "likely"): (6, 6),
    ("environment-failure", "look"): (3, 3),
    ("format-failure", "likely"): (3, 3),
    ("inspector-injection", "likely"): (6, 6),
    ("mentions-test", "likely"): (4, 4),
    ("no-progress", "likely"): (3, 3),
    ("refusal", "likely"): (4, 4),
    ("touches-grader", "likely"): (5, 5),
    ("unsupported-answer", "look"): (3, 3),
    ("user-off-script", "likely"): (8, 8),
}
