"""Bring `--until` to the runs of the kernel."""

from proctor.core.parts import LooksPart
from proctor_ci.looks.intervals import anytime, decision_between
from proctor_ci.looks.rules import Looking, known_of, until_of

PART = LooksPart(read=until_of, know=known_of, watch=Looking, intervals=anytime, decided=decision_between)
