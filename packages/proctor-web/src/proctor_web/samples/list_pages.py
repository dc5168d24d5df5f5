"""The page that lists the samples of a run."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple
from urllib.parse import parse_qs

from starlette.requests import Request
from starlette.responses import RedirectResponse, Response
from starlette.routing import BaseRoute, Route

from proctor.core.sentence import Sentence, say
from proctor.core.trial import OUTCOMES
from proctor.reports.words import Words
from proctor_web.app import page
from proctor_web.operations import read_filter
from proctor_web.samples.addresses import list_address, sample_address
from proctor_web.samples.index_file import State
from proctor_web.samples.listing import (
    NO_CLASS,
    LabelFilter,
    RunSamples,
    SampleFilter,
    SampleRow,
    list_facets,
    list_samples,
    query_of,
)
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


class Chip(NamedTuple):
    """A filter that holds: its words, and the address without it."""

    name: str
    without: str


class _Links:
    """Where the tabs of a run's pages lead."""

    def __init__(self, reference: str) -> None:
        self.run = list_address(reference).removesuffix("/samples")
        self._reference = reference

    def samples(self, **chosen: str) -> str:
        """Return the address of a list."""
        return list_address(self._reference, chosen)


def routes(workspace: Workspace) -> Sequence[BaseRoute]:
    def show_list(request: Request) -> Response:
        given = read_filter(request, SampleFilter)
        if "" in request.query_params.values():  # from the form; an address to paste has no empty fields
            return RedirectResponse(_address(given), 303)
        found = workspace.find_run(given.run)
        listed = list_samples(workspace, given)
        words = Words(request.state.lang)
        growing = found.record.state == "running"
        response = page(
            request,
            "samples/list.html.jinja",
            record=found.record,
            reference=found.reference,
            links=_Links(found.reference),
            tab="samples",
            given=given,
            listed=listed,
            facets=list_facets(workspace, RunSamples(run=given.run)),
            chips=list(_chips(given, words)),
            here=_address(given),
            clear=list_address(given.run),
            first=_address(given, after=None) if given.after else None,
            more=_address(given, after=listed.next) if listed.next else None,
            sample=lambda row: _sample_address(given, row),
            with_tag=lambda tag: _address(given, after=None, tag=tuple(dict.fromkeys((*given.tag, tag)))),
            again="" if listed.indexed == 1 and not growing else LATER if growing else SOON,
            states=STATES,
            labels=LABELS,
            no_class=NO_CLASS,
            error=lambda name: error_words(name, words),
        )
        if "hx-request" in request.headers:
            response.headers["hx-push-url"] = _address(given)
        return response

    return [Route("/runs/{run}/samples", show_list)]


def _address(given: SampleFilter, **changed: object) -> str:
    return list_address(given.run, parse_qs(query_of(given, **changed)))


def _sample_address(given: SampleFilter, row: SampleRow) -> str:
    """Return the address of a trial, with the filter of the list."""
    return sample_address(given.run, row.sample, row.attempt, parse_qs(query_of(given, after=None)))


def _chips(given: SampleFilter, words: Words) -> Iterator[Chip]:
    """Yield the filters that hold, each in words."""
    t = words.t

    def chip(said: str, **changed: Any) -> Chip:
        return Chip(said, _address(given, after=None, **changed))

    if given.text:
        yield chip(t("text: {text}", text=given.text), text=None)
    if given.state:
        yield chip(t(STATES[given.state]), state=None)
    if given.outcome:
        yield chip(words.outcome(given.outcome), outcome=None)
    if given.error_class:
        name = "" if given.error_class == NO_CLASS else given.error_class
        yield chip(t("error: {name}", name=error_words(name, words)), error_class=None)
    if given.error_type:
        yield chip(t("error: {name}", name=given.error_type), error_type=None)
    for tag in given.tag:
        yield chip(tag, tag=tuple(one for one in given.tag if one != tag))
    if given.scorer or given.min_value is not None or given.max_value is not None:
        yield chip(_bounds(given, words), scorer=None, min_value=None, max_value=None)
    if given.disagree:
        yield chip(t("scorers disagree"), disagree=False)
    if given.label:
        yield chip(t(LABELS[given.label]), label=None)
    if given.id:
        yield chip(t("id: {text}", text=given.id), id=None)


def error_words(name: str, words: Words) -> str:
    """Return the words for a class of errors; of a trial that failed otherwise, it is how the trial ended."""
    return words.outcome(name) if name in OUTCOMES else words.error(name)


def _bounds(given: SampleFilter, words: Words) -> str:
    low, high = given.min_value or 0.0, 1.0 if given.max_value is None else given.max_value
    return words.t(
        "{scorer}: {low} to {high} of the points",
        scorer=given.scorer or words.t("any scorer"),
        low=f"{low:g}",
        high=f"{high:g}",
    )
