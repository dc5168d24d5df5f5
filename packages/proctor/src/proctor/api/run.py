"""Define the Run object: a stored run with its numbers."""

from collections.abc import Iterator, Mapping, Sequence
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

from proctor.api import numbers
from proctor.core.errors import BadInput
from proctor.core.main_number import main_estimate, scorer_meant
from proctor.core.run import Estimate, RunRecord
from proctor.core.task import Store, Summarise
from proctor.core.trajectory import Usage
from proctor.core.trial import Outcome, Trial, Verdict
from proctor.i18n import language
from proctor.registry import offered, unknown

if TYPE_CHECKING:
    import pandas
    import polars
    from matplotlib.figure import Figure


class Run:
    """A run in a store. Its numbers are computed from the store on first use.

    Attributes:
        id: the name to continue, show or compare it by.
        record: its specification, and how it ended.
        summarise: what makes its official aggregates again, where it was run from here.
        earlier: the runs by which its numbers are adjusted.
    """

    def __init__(
        self, record: RunRecord, store: Store, summarise: Summarise | None = None, earlier: "Sequence[Run]" = ()
    ) -> None:
        self.id = record.id
        self.record = record
        self.store = store
        self.summarise = summarise
        self.earlier = earlier

    def __repr__(self) -> str:
        main = self.headline
        number = f"{main.name}={main.value:.3f}" if main is not None and main.value is not None else "nothing scored"
        return f"<Run {self.id}: {self.record.task}, {self.record.agent}, {number}>"

    def __str__(self) -> str:
        """Return the numbers of the run as the terminal shows them, in the language of the environment."""
        from proctor.reports.build import build
        from proctor.reports.printing import printed
        from proctor.reports.terminal import terminal

        report = build(self.record, self.store, self.estimates)
        return printed(lambda console: terminal(report, language(), console))

    def _repr_html_(self) -> str:
        from proctor.reports.build import build
        from proctor.reports.notebook import run_html

        return run_html(build(self.record, self.store, self.estimates, failures=0), language())

    @cached_property
    def outcomes(self) -> Mapping[Outcome, int]:
        """Count how the trials ended."""
        return self.store.outcomes(self.id)

    @cached_property
    def usage(self) -> Usage:
        """Return the tokens, requests and money of all trials."""
        return self.store.usage(self.id)

    @cached_property
    def estimates(self) -> Sequence[Estimate]:
        """Return every estimate: the stored official aggregates, then the whole run, then each slice."""
        figures = numbers.estimates(self.record, self.store)
        official = numbers.official(self.record, self.store, figures)
        if self.earlier:
            figures = numbers.estimates(self.record, self.store, [(run.record, run.store) for run in self.earlier])
        return [*official, *figures]

    def given(self, *runs: "Run") -> "Run":
        """Return the run with numbers that take into account what earlier runs earned on the same samples.

        A sample that earlier runs mostly failed is taken to be hard, so that a draw of easy ones does not flatter the run. Its
        intervals are narrower where the earlier runs have samples of the task that it has not, and agree with it on which are
        hard; their notes say by how much, or why not. Official aggregates stay as they are.

        Args:
            runs: of the same task, by another agent or version.

        Raises:
            BadInput: a run of another task, with other task options or of other samples, or the run itself.
        """
        from proctor.reports.earlier import check_earlier

        check_earlier((self.record, self.store), [(run.record, run.store) for run in runs])
        return Run(self.record, self.store, self.summarise, runs)

    @cached_property
    def headline(self) -> Estimate | None:
        """Return the main number of the run, that of its main scorer, without making the task again; None where nothing was scored."""
        return numbers.headline(self.record, self.store)

    def estimate(self, name: str, *, slice: str = "") -> Estimate:
        """Return the estimate that a name means, of the whole run or a slice: `core.main_number` says which.

        Raises:
            BadInput: the run has no such estimate; says which it has.
        """
        scorer = scorer_meant(name, self.record)
        if scorer is not None:
            figure = main_estimate(self.estimates, self.record, scorer, slice=slice)
        else:
            figure = next((figure for figure in self.estimates if figure.name == name and figure.slice == slice), None)
        if figure is not None:
            return figure
        listed = (figure for figure in self.estimates if slice or not figure.slice)
        known = dict.fromkeys(f"{figure.name} [{figure.slice}]" if figure.slice else figure.name for figure in listed)
        known = dict.fromkeys(self.record.scorers) | known
        raise BadInput(
            "The run {run} has no estimate '{name}'. It has: {known}.",
            run=self.id,
            name=f"{name} [{slice}]" if slice else name,
            known=", ".join(known) or "-",
        )

    def trials(
        self,
        *,
        outcome: Outcome | None = None,
        sample_id: str | None = None,
        scorer: str | None = None,
        min_value: float | None = None,
        max_value: float | None = None,
    ) -> Iterator[Trial]:
        """Yield the trials, filtered in the store."""
        return self.store.trials(
            self.id, outcome=outcome, sample_id=sample_id, scorer=scorer, min_value=min_value, max_value=max_value
        )

    def verdicts(self, *, scorer: str | None = None, sample_id: str | None = None) -> Iterator[Verdict]:
        """Yield the verdict that counts of each scorer and trial."""
        return self.store.verdicts(self.id, scorer=scorer, sample_id=sample_id)

    def summary(self) -> dict[str, Any]:
        """Return the run as one JSON object: run, task, agent, state, note, outcomes, estimates, usage, seconds, target."""
        from proctor.reports.build import json_summary

        return json_summary(self.record, self.store, self.estimates)

    def to_pandas(self, *, lang: str = "en") -> "pandas.DataFrame":
        """Return a data frame of pandas: one row a trial, with the columns of each scorer and tag; missing is `NA`, not 0.

        Raises:
            MissingExtra: the extra `frames` is not installed.
        """
        frame: pandas.DataFrame = offered("views", "to_pandas")(self.record, self.store, lang)
        return frame

    def to_polars(self, *, lang: str = "en") -> "polars.DataFrame":
        """Return a data frame of polars: one row a trial, with the columns of each scorer and tag; missing is null, not 0.

        Raises:
            MissingExtra: the extra `frames` is not installed.
        """
        frame: polars.DataFrame = offered("views", "to_polars")(self.record, self.store, lang)
        return frame

    def plot(self, *, by: str | None = None, lang: str | None = None) -> "Figure":
        """Return a figure of matplotlib with the shares of the run and their intervals.

        Args:
            by: the tag whose slices are shown; by default, all slices are.
            lang: en or zh; by default, that of the environment.

        Raises:
            BadInput: the extra `plots` is not installed, nothing was scored, or no slice is of that tag.
        """
        tags = dict.fromkeys(estimate.slice.partition("=")[0] for estimate in self.estimates if estimate.slice)
        if by is not None and by not in tags:
            raise unknown("tag", by, [*tags], paths=False)
        shown = [
            estimate
            for estimate in self.estimates
            if not estimate.slice or by in (None, estimate.slice.partition("=")[0])
        ]
        title = f"{self.record.task} · {self.record.agent}"
        figure: Figure = offered("views", "draw_estimates", needed_for="plot")(shown, title, lang)
        return figure

    def report(self, path: str | Path, *, lang: str = "en") -> Path:
        """Write a report; the suffix says which: .html, .md, .json, or .xml (JUnit); a folder, named with a slash, gets several pages."""
        from proctor.api.report import write_report

        return write_report(self.record, self.store, self.estimates, path, lang)
