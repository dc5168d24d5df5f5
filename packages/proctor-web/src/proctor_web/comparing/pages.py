"""The pages of /compare, /leaderboard and /trends."""

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import NamedTuple
from urllib.parse import quote, urlencode

from starlette.requests import Request
from starlette.responses import HTMLResponse, RedirectResponse, Response
from starlette.routing import BaseRoute, Route

from proctor.api.run import Run
from proctor.core.errors import BadInput
from proctor.core.run import Estimate
from proctor.core.sentence import Sentence, say
from proctor.reports import versus
from proctor.reports.both import pair_samples
from proctor.reports.build import HIDDEN, is_private
from proctor.reports.compare import RunComparison, scorers_in_common
from proctor.reports.pairs import value_text
from proctor.reports.verdicts import MetricRow
from proctor.reports.words import ReportWords
from proctor_ci import delta_pages, trend_pages
from proctor_ci.changes import SEPARATOR
from proctor_ci.trends import TrendGiven, named_baselines
from proctor_web.app import full_address, page
from proctor_web.comparing import comparison, gating, leaderboard, samples, trends, why
from proctor_web.comparing.background import patience
from proctor_web.comparing.columns import Columns, Overlap, group_counts
from proctor_web.comparing.gate_page import lay_out
from proctor_web.operations import read, read_filter
from proctor_web.workspace import Found, Workspace

OFFERED = 200  # runs to choose from
ROWS = 16  # of slices; the others are folded
MOST_TAGS = 300
MOST_IN_A_FILE = 20_000  # trials
OF_THE_LIST = ("sort", "task", *samples.SamplesGiven.__struct_fields__)  # what a comparison's address says besides
OF_THE_MOMENT = ("after", "lang", "sort")  # what an address says once
OF_THE_FILTER = (*OF_THE_MOMENT, "id", "of", "tag")  # what its form sends itself
GROUP_NAMES: Mapping[str, Sentence] = {
    "moved": say("Broken or fixed"),
    "broken": say("Broken"),
    "fixed": say("Fixed"),
    "wrong": say("All wrong"),
    "right": say("All right"),
    "not_compared": say("Not compared"),
    "all": say("All"),
}


def routes(workspace: Workspace) -> list[BaseRoute]:
    pages = _ComparisonPages(workspace)
    return [
        Route("/compare", pages.compare),
        Route("/compare/sample", pages.sample),
        Route("/compare/file", pages.file),
        Route("/compare/why", pages.why),
        Route("/gate", pages.gate),
        Route("/leaderboard", pages.leaderboard),
        Route("/trends", pages.trends),
    ]


class _ComparisonPages:
    def __init__(self, workspace: Workspace) -> None:
        self._workspace = workspace

    def compare(self, request: Request) -> Response:
        """Show the comparison of the runs in the address, or which runs can be chosen."""
        given = read_filter(request, comparison.CompareGiven, also=OF_THE_LIST)
        if len(given.run) < 2:
            return self._choose(request, given.run)
        try:
            runs = comparison.find_runs(self._workspace, given.run)
            if request.query_params.get("sort") == "created":
                oldest_first = sorted(runs, key=lambda run: run.record.created)
                return RedirectResponse(_linker(request)(run=[run.reference for run in oldest_first]), 303)
            kept = comparison.kept(self._workspace, runs, given.scorer, seconds=patience(request))
        except BadInput as error:
            return self._choose(request, given.run, wrong=error.sentence)
        return self._compared(request, runs, kept, given)

    def _choose(self, request: Request, chosen: Sequence[str], wrong: Sentence | None = None) -> Response:
        """Show the runs of a task to choose from, those of the newest run if no other one is named."""
        runs = [run for run in self._workspace.runs()[0] if run.record.state != "copying"]
        counts = Counter(run.record.task for run in runs)
        tasks = [task for task in dict.fromkeys(run.record.task for run in runs) if counts[task] > 1]
        named = next((run.record.task for run in runs if run.reference in chosen), "")
        task = request.query_params.get("task") or named or next(iter(tasks), "")
        offered = [run for run in runs if run.record.task == task][:OFFERED] if counts[task] > 1 else []
        # most often a run is compared with the one before: the first chosen, else the newest
        at = next((number for number, run in enumerate(offered) if run.reference in chosen), 0)
        begin = max(0, min(at, len(offered) - 2))
        return page(
            request,
            "comparing/choose.html.jinja",
            status=200 if wrong is None else 400,
            wrong=wrong,
            chosen=chosen,
            suggested=[run.reference for run in reversed(offered[begin : begin + 2])],
            task=task,
            tasks=tasks,
            offered=offered,
            names_of=_names_of(offered),
        )

    def _compared(
        self, request: Request, runs: Sequence[Found], found: comparison.Kept, given: comparison.CompareGiven
    ) -> Response:
        words = ReportWords(request.state.lang)
        compared = comparison.describe(runs, found, given)
        asked = read(request, samples.SamplesGiven)
        of = comparison.position(asked.of, runs)
        addable = [run for run in self._of_task(runs[0]) if run.reference not in compared.runs][:OFFERED]
        is_pair = len(runs) == 2
        if is_pair:
            [only] = compared.comparisons
            rows, headline, sentences = only.rows, versus.headline(only, words), versus.sentences(only, words)
        else:
            rows = [pair.row for pair in compared.pairwise]
            headline = words.t("{count} runs compared with {run}", count=len(runs) - 1, run=runs[0].record.id)
            sentences = versus.sentences_of_several(compared.comparisons, rows, words)
        letters = comparison.LETTERS[: len(runs)]
        return page(
            request,
            "comparing/compare.html.jinja",
            task=runs[0].record.task,
            headline=headline,
            runs=runs,
            letters=letters,
            others=lambda reference: [run.reference for run in runs if run.reference != reference],
            addable=[(run.reference, f"{run.reference} · {run.record.agent}") for run in addable],
            names_of=_names_of(runs),
            most=comparison.MOST_RUNS,
            scorers=scorers_in_common([run.record for run in runs]),
            compared=compared,
            given=given,
            rows=rows[:ROWS],
            folded_rows=rows[ROWS:],
            names=[] if is_pair else [f"{letters[pair.first]} → {letters[pair.second]}" for pair in compared.pairwise],
            how=versus.HOW,
            sentences=sentences,
            shown_at=of - 1 if of else 0,
            matrix=_matrix(compared.overlaps, len(runs)),
            differences=_differences(compared.pairwise, len(runs)),
            kappa=_kappa,
            slices={} if is_pair else _slices(compared.comparisons),
            filter=asked,
            group_names=GROUP_NAMES,
            counts=group_counts(found.columns, of),
            samples=samples.page_of_samples(runs, found.columns, asked),
            tags=_tags(found.columns),
            link=_linker(request),
            kept_fields=[field for field in request.query_params.multi_items() if field[0] not in OF_THE_FILTER],
            sample_link=lambda name: _linker(request)("/compare/sample", sample=name, margin=None, detect=None),
        )

    def _of_task(self, run: Found) -> Sequence[Found]:
        return [other for other in self._workspace.runs()[0] if other.record.task == run.record.task]

    def sample(self, request: Request) -> Response:
        """Show one sample with the answers of all runs side by side."""
        given = read_filter(request, samples.SampleGiven, also=("margin", "detect"))
        runs = comparison.find_runs(self._workspace, given.run)
        comparison.kept(self._workspace, runs, given.scorer, seconds=patience(request))
        answers = samples.compare_sample(self._workspace, given)
        return page(
            request,
            "comparing/sample.html.jinja",
            sample=answers,
            runs=runs,
            letters=comparison.LETTERS,
            filter=given,
            group_name=GROUP_NAMES[given.group],
            link=_linker(request),
        )

    def file(self, request: Request) -> Response:
        """Send the comparison of two runs as one file that needs no server."""
        given = read_filter(request, comparison.CompareGiven, also=OF_THE_LIST)
        runs = comparison.find_runs(self._workspace, given.run[:2])
        if (trials := sum(run.record.planned for run in runs)) > MOST_IN_A_FILE:
            raise BadInput(
                "With {count} trials the page would be too large; this makes it anyway: {command}",
                count=f"{trials:,}",
                command=f"proctor compare {runs[0].record.id} {runs[1].record.id} -o compare.html",
            )
        found = comparison.kept(self._workspace, runs, given.scorer)
        sides = [(run.record, run.store) for run in runs]
        html = versus.html(found.comparisons[0], request.state.lang, pair_samples(sides[0], sides[1]))
        name = quote("-".join(["compare", *(run.record.id for run in runs)]) + ".html")
        return HTMLResponse(html, headers={"content-disposition": f"attachment; filename*=utf-8''{name}"})

    def why(self, request: Request) -> Response:
        given = read_filter(request, why.WhyGiven, also=OF_THE_LIST)
        runs = comparison.find_runs(self._workspace, given.run[:2])
        delta = why.explain_difference(self._workspace, given, seconds=patience(request))
        first, second = (Run(run.record, run.store) for run in runs)
        return page(
            request,
            "comparing/why.html.jinja",
            shown=delta_pages.page(delta, request.state.lang, (first, second)),
            runs=runs,
            given=given,
            delta=delta,
            link=_linker(request),
        )

    def gate(self, request: Request) -> Response:
        """Show whether a run may ship, and which baselines it can be compared with."""
        given = read_filter(request, gating.GateGiven)
        run = self._workspace.find_run(given.run)
        shown, wrong = None, None
        try:
            if given.against or gating.policy_of(run).path:  # else there is a baseline to choose yet
                decided = gating.decide(self._workspace, given, seconds=patience(request))
                shown = lay_out(decided, request.state.lang, full_address(request))
        except BadInput as error:
            wrong = error.sentence
        of_task, store = self._of_task(run), run.store
        named = [
            (name, f"{name} · {other.record.id}") for name, other in named_baselines(of_task) if other.store is store
        ]
        plain = [other.reference for other in of_task if other.reference != run.reference][:OFFERED]
        return page(
            request,
            "comparing/gate.html.jinja",
            status=200 if wrong is None else 400,
            shown=shown,
            link_here=full_address(request),
            at="/compare",
            wrong=wrong,
            given=given,
            baselines=[*named, *plain],
        )

    def leaderboard(self, request: Request) -> Response:
        """Show the agents of a task by rank."""
        given = read_filter(request, leaderboard.BoardGiven)
        board = leaderboard.rank_agents(self._workspace, given, seconds=patience(request))
        return page(
            request,
            "comparing/leaderboard.html.jinja",
            board=board,
            has_official=any(rank.official for rank in board.ranks),
            has_cost=any(rank.cost is not None for rank in board.ranks),
            options=lambda rank: {
                name: HIDDEN if is_private(name) else value_text(value) for name, value in rank.options.items()
            },
        )

    def trends(self, request: Request) -> Response:
        """Show the runs of an agent on a task over time."""
        given = read_filter(request, TrendGiven)
        trend = trends.follow_task(self._workspace, given, seconds=patience(request))
        words = ReportWords(request.state.lang)
        plain = [(point.run, f"{words.when(point.created)} · {point.run_id}") for point in reversed(trend.points)]
        return page(
            request,
            "comparing/trends.html.jinja",
            trend=trend,
            given=given,
            baselines=[*trend.named, *plain],
            names_of=_names_by_run(trend.named.items()),
            alerts=list(trend_pages.findings(trend, words)),
            chart=trend_pages.chart(trend, words, lambda run: f"/runs/{quote(run, safe='@')}"),
            how=versus.HOW,
            short=lambda changes: ", ".join(change.name.rpartition(SEPARATOR)[2] for change in changes[:3]),
            sentences=list(trend_pages.about(trend, words)),
            link=_linker(request),
        )


def _names_of(runs: Sequence[Found]) -> Mapping[str, Sequence[str]]:
    return _names_by_run((name, run.reference) for name, run in named_baselines(runs))


def _names_by_run(named: Iterable[tuple[str, str]]) -> Mapping[str, Sequence[str]]:
    names: dict[str, list[str]] = {}
    for name, reference in named:
        names.setdefault(reference, []).append(name)
    return names


def _linker(request: Request) -> Callable[..., str]:
    """Return what writes this address with some fields changed; None removes one, and the place in a list is left out."""

    def link(path: str = "", **changes: str | Sequence[str] | None) -> str:
        fields = [
            (key, value) for key, value in request.query_params.multi_items() if key not in {*changes, *OF_THE_MOMENT}
        ]
        for key, value in changes.items():
            fields += [(key, item) for item in ([value] if isinstance(value, str) else value or ())]
        fields.sort(key=lambda field: field[0] != "run")
        return f"{path or request.url.path}?{urlencode(fields)}"

    return link


def _matrix(overlaps: Sequence[Overlap], count: int) -> list[list[Overlap | None]]:
    by_runs = {(overlap.first, overlap.second): overlap for overlap in overlaps}
    return [[by_runs.get((min(row, at), max(row, at))) for at in range(count)] for row in range(count)]


class Cell(NamedTuple):
    """How much better the run of a row is than that of a column, in points, with its interval."""

    value: str
    span: str
    outcome: str


def _differences(pairs: Sequence[comparison.PairRow], count: int) -> list[list[Cell | None]]:
    """Return the differences of each two runs as a table, each once in either direction."""
    table: list[list[Cell | None]] = [[None] * count for _ in range(count)]
    turned = {"better": "worse", "worse": "better"}
    for pair in pairs:
        difference, outcome = pair.row.difference, pair.row.outcome
        table[pair.second][pair.first] = Cell(versus.signed(difference.value), versus.span(pair.row), outcome)
        back = None if difference.low is None or difference.high is None else (-difference.high, -difference.low)
        span = versus.between(*(back or (None, None)))
        table[pair.first][pair.second] = Cell(versus.signed(-difference.value), span, turned.get(outcome, outcome))
    return table


def _kappa(estimate: Estimate) -> str:
    """Write kappa with its interval; a dash where it is not defined."""
    if estimate.value is None:
        return "–"
    between = "" if estimate.low is None else f" [{estimate.low:z.2f}, {estimate.high:z.2f}]"
    return f"{estimate.value:z.2f}{between}"


def _slices(comparisons: Sequence[RunComparison]) -> dict[str, list[MetricRow | None]]:
    """Return the rows of each slice by the main metric, one for each comparison."""
    main = comparisons[0].rows[0].metric
    rows: dict[str, list[MetricRow | None]] = {}
    for at, compared in enumerate(comparisons):
        for row in compared.rows[1:]:
            if row.slice and row.metric == main:
                rows.setdefault(row.slice, [None] * len(comparisons))[at] = row
    return rows


def _tags(columns: Columns) -> list[str]:
    different = {id(tags): tags for tags in columns.tags}.values()  # samples share them
    found = dict.fromkeys(f"{key}={value}" for tags in different for key, value in tags.items())
    return [*found] if len(found) <= MOST_TAGS else []
