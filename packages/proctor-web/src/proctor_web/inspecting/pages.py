"""The page that walks through findings of a run, one trial after another, and keeps what people say of them."""

from collections.abc import Mapping, Sequence
from functools import partial
from urllib.parse import quote, urlencode

import msgspec
from starlette.requests import Request
from starlette.responses import RedirectResponse, Response
from starlette.routing import BaseRoute, Route

from proctor.core.sample import Sample
from proctor.core.sentence import Sentence, say
from proctor_audit.inspector.stored_trials import view_trial
from proctor_audit.inspector.telling import INVALIDATES
from proctor_audit.inspector.view import TrialAuthor
from proctor_audit.printing import CLASS_WORDS
from proctor_web.app import page
from proctor_web.auth import FormFields, person_name, post
from proctor_web.comparing.background import patience, unasked
from proctor_web.inspecting.excerpts import StepExcerpt, excerpts_of
from proctor_web.inspecting.findings import (
    EventLabel,
    InspectedFinding,
    RunInspection,
    Said,
    inspect_trials,
    label_finding,
    view_inspection,
)
from proctor_web.operations import convert, read_filter
from proctor_web.samples.addresses import RunLinks, sample_address
from proctor_web.samples.sample import Attempt, SampleAttempt
from proctor_web.workspace import Found, NotFound, Workspace

WORDS: Mapping[Said, Sentence] = {
    "happened": say("it happened"),
    "did_not_happen": say("it did not happen"),
    "contested": say("people disagree"),
}
TONES: Mapping[Said, str] = {"happened": "good", "did_not_happen": "bad", "contested": "warn"}
SIGNS: Mapping[Said, str] = {"happened": "✓", "did_not_happen": "✗", "contested": "?"}
AUTHORS: Mapping[TrialAuthor, Sentence] = {
    "system": say("system"),
    "user": say("user"),
    "agent": say("agent"),
    "tool": say("tool"),
}
MOST_UNASKED = 2_000  # trials of a run that is inspected although nobody opened its findings
LISTED = 40  # findings of a check on one page


class FindingAddress(msgspec.Struct, frozen=True, kw_only=True):
    """The address of the page; `after` is the trial that was judged last, `part` is set for the line on the page of a run."""

    run: str
    check: str = ""
    trial: str = ""
    after: str = ""
    part: str = ""


def routes(workspace: Workspace) -> Sequence[BaseRoute]:
    def show(request: Request) -> Response:
        asked = read_filter(request, FindingAddress)
        run = workspace.find_run(asked.run)
        if asked.part == "line":
            return _line(workspace, request, run, asked)
        done = inspect_trials(workspace, run, seconds=patience(request))
        view = view_inspection(run, done, asked.check, person_name(request))
        at = _place(view, asked)
        opened = view.findings[at] if at is not None else None
        first = 0 if at is None else at // LISTED * LISTED
        return page(
            request,
            "inspecting/findings.html.jinja",
            record=run.record,
            reference=run.reference,
            links=RunLinks(run.reference),
            tab="findings",
            address=partial(findings_address, run.reference),
            view=view,
            kind=next((kind for kind in view.kinds if kind.check == view.check), None),
            index=at,
            first=first,
            opened=opened,
            steps=_steps(workspace, view.run, opened) if opened is not None else (),
            listed=view.findings[first : first + LISTED],
            sample_address=sample_address,
            class_words=CLASS_WORDS,
            doubts=INVALIDATES,
            said=WORDS,
            tones=TONES,
            signs=SIGNS,
            authors=AUTHORS,
        )

    def label(request: Request, fields: FormFields) -> Response:
        given = convert({**fields, **request.path_params}, EventLabel)
        label_finding(workspace, given, person_name(request))
        name = "trial" if given.happened is None else "after"
        return RedirectResponse(findings_address(given.run, check=given.check, **{name: given.trial}), 303)

    return [Route("/runs/{run}/findings", show), post("/runs/{run}/findings", label)]


def findings_address(run: str, **fields: str) -> str:
    """Return the address of the findings of a run; a field left empty is left out."""
    query = urlencode({name: value for name, value in fields.items() if value}, errors="replace")
    return f"/runs/{quote(run, safe='@')}/findings{'?' if query else ''}{query}"


def _line(workspace: Workspace, request: Request, found: Found, asked: FindingAddress) -> Response:
    """Send what was found in a run or in one of its trials, in a line."""
    done, waits = unasked(request, found, MOST_UNASKED, partial(inspect_trials, workspace, found))
    lines = done.lines if done is not None and asked.trial else ()
    return page(
        request,
        "inspecting/line.html.jinja",
        waits=waits,
        trial=asked.trial,
        found=next((line for line in lines if line.id == asked.trial and line.checks), None),
        view=view_inspection(found, done) if done is not None and not asked.trial else None,
        links=RunLinks(found.reference),
        address=partial(findings_address, found.reference),
    )


def _place(view: RunInspection, asked: FindingAddress) -> int | None:
    """Return which finding is open: the one named, else the first after the last one judged that the user has not judged."""
    by_trial = {finding.trial: number for number, finding in enumerate(view.findings)}
    named = asked.trial or asked.after
    if named and named not in by_trial:
        raise NotFound(
            "The check {check} found nothing in the trial '{trial}' of this run.", check=view.check, trial=named[:80]
        )
    if asked.trial:
        return by_trial[asked.trial]
    begin = by_trial[asked.after] + 1 if asked.after else 0
    order = [*range(begin, len(view.findings)), *range(begin)]
    return next((number for number in order if view.findings[number].own is None), order[0] if order else None)


def _steps(workspace: Workspace, run: str, opened: InspectedFinding) -> Sequence[StepExcerpt]:
    stored = Attempt(workspace, SampleAttempt(run=run, sample=opened.sample, attempt=opened.attempt))
    sample = stored.sample or Sample(id=opened.sample, turns=())
    return [*excerpts_of(view_trial(sample, stored.trial.trajectory), opened.events)]
