"""The addresses of a run's pages."""

from collections.abc import Sequence
from urllib.parse import quote, urlencode

from proctor.reports.render import EstimateLine, ReportLinks
from proctor_web.samples.addresses import list_address, sample_address
from proctor_web.samples.listing import NO_CLASS

ROWS = 30  # of a section of estimates, until it is opened
FOLDED = "…"  # the type of errors that are counted together


class RunLinks(ReportLinks):
    """Where the parts of a run's page lead in the app: to its samples."""

    def __init__(self, reference: str, opened: str | None = None) -> None:
        """Name a run, and the section of estimates that has all its rows, however many."""
        self.reference = reference
        self.run = f"/runs/{quote(reference, safe='@')}"
        self.opened = opened

    def class_id(self, error_class: str, error_type: str) -> str:
        """Return no anchor: the trials of a class have a page of their own."""
        return ""

    def error(self, error_class: str, error_type: str) -> str:
        if error_type == FOLDED:
            return ""
        return self.samples(error_class=error_class or NO_CLASS, error_type=error_type)

    def outcome(self, name: str) -> str:
        """Return the address of the trials with an outcome."""
        return "" if name == "not_run" else self.samples(outcome=name)

    def slice(self, slice: str) -> str:
        """Return the address of the samples with a tag, given as key=value."""
        return self.samples(tag=slice) if slice else ""

    def sample(self, sample_id: str, attempt: int) -> str:
        return sample_address(self.reference, sample_id, attempt)

    def shown(self, key: str, rows: Sequence[EstimateLine]) -> Sequence[EstimateLine]:
        """Return the rows of a section of estimates that the page shows: the first ones, or all if the section is open."""
        return rows if len(rows) <= ROWS + 1 or key == self.opened else rows[:ROWS]

    def section(self, key: str) -> str:
        """Return the address at which a section has all its rows."""
        return f"{self.run}?{urlencode({'all': key})}#by-{quote(key)}"

    def samples(self, **chosen: str) -> str:
        """Return the address of the list of samples, with the filters that are not empty."""
        return list_address(self.reference, {name: value for name, value in chosen.items() if value})
