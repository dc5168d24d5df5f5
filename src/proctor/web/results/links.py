"""The addresses of a run's pages."""

from urllib.parse import quote, urlencode

from proctor.reports.render import Links

FOLDED = "…"  # the type of errors that are counted together


class RunLinks(Links):
    """Where the parts of a run's page lead in the app: to its samples."""

    def __init__(self, reference: str) -> None:
        self.run = f"/runs/{quote(reference, safe='@')}"

    def class_id(self, error_class: str, error_type: str) -> str:
        """Return no anchor: the trials of a class have a page of their own."""
        return ""

    def error(self, error_class: str, error_type: str) -> str:
        """Return the address of the trials with an error."""
        if error_type == FOLDED or not (error_class or error_type):
            return ""
        return self.samples(error_class=error_class, error_type=error_type)

    def outcome(self, name: str) -> str:
        """Return the address of the trials with an outcome."""
        return "" if name == "not_run" else self.samples(outcome=name)

    def slice(self, slice: str) -> str:
        """Return the address of the samples with a tag, given as key=value."""
        return self.samples(tag=slice) if slice else ""

    def sample(self, sample_id: str, attempt: int) -> str:
        """Return the address of a trial."""
        address = f"{self.run}/samples/{quote(sample_id, safe='')}"
        return f"{address}?attempt={attempt}" if attempt else address

    def samples(self, **chosen: str) -> str:
        """Return the address of the list of samples, with the filters that are not empty."""
        query = urlencode({name: value for name, value in chosen.items() if value})
        return f"{self.run}/samples?{query}" if query else f"{self.run}/samples"
