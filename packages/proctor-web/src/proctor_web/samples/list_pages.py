"""The page that lists the samples of a run."""

from collections.abc import Mapping, Sequence
from functools import partial
from typing import Any, NamedTuple
from urllib.parse import parse_qs

from starlette.requests import Request
from starlette.responses import RedirectResponse, Response
from starlette.routing import BaseRoute, Route

from proctor.core.sentence import Sentence, say
from proctor.core.trial import OUTCOMES
from proctor.reports.words import ReportWords
from proctor_web.app import page
from proctor_web.operations import RunReference, convert, read_filter
from proctor_web.samples.addresses import RunLinks, links_of, list_address
from proctor_web.samples.index_file import State
from proctor_web.samples.listing import NO_CLASS, LabelFilter, Order, SampleFilter, list_facets, list_samples, query_of
from proctor_web.samples.sample_pages import SampleAddress, SamplePages
from proctor_web.workspace import Workspace

SOON, LATER = "1s", "5s"  # until the list is asked for again: while a run is entered, or is under way
STATES: Mapping[State, Sentence] = {
    "failed": say("failed"),
    "passed": say("passed"),
    "unscored": say("not scored"),
    "lost": say("not measured"),
}
LABELS: Mapping[LabelFilter, Sentence] = {
    "review": say("marked for review"),
    "labelled": say("with the verdict of a person"),
    "contested": say("where a person contradicts the scorer"),
}


TONES: Mapping[State, str] = {"failed": "bad", "passed": "good", "lost": "warn", "unscored": ""}
ORDERS: Mapping[Order, Sentence] = {
    "failures": say("failures first"),
    "plan": say("as planned"),
    "points": say("fewest points first"),
    "-points": say("most points first"),
    "-seconds": say("slowest first"),
}
COLUMNS: Sequence[tuple[Sentence, *tuple[Order, ...]]] = (
    (say("Result"), "failures"),
    (say("Sample"), "sample", "-sample"),
    (say("Points"), "points", "-points"),
    (say("Time"), "-seconds", "seconds"),
    (say("Tokens"), "-tokens", "tokens"),
)
OF_THE_OPEN_ONE = ("open", "attempt", "step", "find", "saved", "file", "case")


class Head(NamedTuple):
    """The head of a column: its name, where it leads to, and how the list is sorted by it."""

    name: Sentence
    link: str
    sort: str | None


def routes(workspace: Workspace) -> Sequence[BaseRoute]:
    return [Route("/runs/{run}/samples", SampleList(workspace).show)]


class SampleList:
    """The list of a run's samples, with one of them open next to it."""

    def __init__(self, workspace: Workspace) -> None:
        self._workspace = workspace
        self._samples = SamplePages(workspace)

    def show(self, request: Request) -> Response:
        given = read_filter(request, SampleFilter, also=OF_THE_OPEN_ONE)
        if "" in request.query_params.values():  # from the form; an address to paste has no empty fields
            return RedirectResponse(_address(given), 303)
        run = self._workspace.find_run(given.run)
        listed = list_samples(self._workspace, given)
        words = ReportWords(request.state.lang)
        growing = run.record.state == "running"
        kept = parse_qs(query_of(given, after=None))
        response = page(
            request,
            "samples/list.html.jinja",
            record=run.record,
            reference=run.reference,
            links=RunLinks(run.reference),
            tab="samples",
            list_filter=given,
            listed=listed,
            facets=list_facets(self._workspace, RunReference(run=given.run)),
            is_filtered=bool(query_of(given, order="failures", after=None)),
            list_with=partial(_address, given, after=None),
            here_list=_address(given),
            clear=list_address(given.run),
            more=_address(given, after=listed.next) if listed.next else None,
            links_of=lambda row: links_of(given.run, row, kept),
            heads=[_head(given, *column) for column in COLUMNS],
            again="" if listed.indexed == 1 and not growing else LATER if growing else SOON,
            states=STATES,
            tones=TONES,
            labels=LABELS,
            orders=ORDERS,
            no_class=NO_CLASS,
            error=lambda name: words.outcome(name) if name in OUTCOMES else words.error(name),  # of a trial that failed
            **self._opened(request, given, kept),
        )
        if "hx-request" in request.headers:
            response.headers["hx-push-url"] = _address(given)
        return response

    def _opened(self, request: Request, given: SampleFilter, kept: Mapping[str, list[str]]) -> dict[str, Any]:
        """Return what shows the sample that is open; nothing to show where none is."""
        fields = {name: request.query_params[name] for name in OF_THE_OPEN_ONE if request.query_params.get(name)}
        if "open" not in fields:
            return {"view": None}
        values = {**fields, "run": given.run, "sample": fields["open"], "in_pane": "true"}
        return {**self._samples.story(convert(values, SampleAddress), kept), "given": {}, "wrong": None}


def _head(given: SampleFilter, name: Sentence, *orders: Order) -> Head:
    """Return a head that sorts by the first of its orders, or by the next one if that is chosen."""
    at = orders.index(given.order) if given.order in orders else None
    chosen = orders[0] if at is None else orders[(at + 1) % len(orders)]
    sort = None if at is None else "descending" if given.order.startswith("-") else "ascending"
    return Head(name, _address(given, after=None, order=chosen), sort)


def _address(given: SampleFilter, **changed: object) -> str:
    return list_address(given.run, parse_qs(query_of(given, **changed)))
