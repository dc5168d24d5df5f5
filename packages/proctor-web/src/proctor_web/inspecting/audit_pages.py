"""The page with what the audit of a task found that concerns a run, and the form that accepts a finding."""

from collections.abc import Mapping, Sequence
from functools import partial
from itertools import groupby
from typing import Any
from urllib.parse import urlencode

import msgspec
from starlette.requests import Request
from starlette.responses import RedirectResponse, Response
from starlette.routing import BaseRoute, Route

from proctor.core.errors import BadInput
from proctor.core.sentence import Sentence, clip
from proctor_audit.findings import CLASSES, AuditFinding, FindingClass
from proctor_audit.printing import CLASS_WORDS, describe_precision
from proctor_web.app import page
from proctor_web.auth import FormFields, person_name, post
from proctor_web.comparing.background import patience, unasked
from proctor_web.inspecting.audits import AcceptedFinding, accept, audit_of_sample, view_audit
from proctor_web.operations import RunReference, convert, read_filter
from proctor_web.samples.addresses import RunLinks, sample_address
from proctor_web.workspace import Found, NotFound, Workspace

CLASS_TONES: Mapping[FindingClass, str] = {"proved": "bad", "likely": "warn", "look": ""}
WITNESS_CHARACTERS = 4_000
LISTED = 10  # findings of a check, until it is opened
SAMPLES = 12  # of a finding that are named
MOST_UNASKED = 20_000  # trials of a run whose line of findings is made although nobody opened them


class AuditAddress(RunReference, frozen=True, kw_only=True):
    """The address of the page; `check` is the one whose findings are all shown, `part` is set for what other pages show of it."""

    cls: str = msgspec.field(default="", name="class")
    check: str = ""
    sample: str = ""
    attempt: int = 0
    part: str = ""
    saved: str = ""


class AcceptForm(AcceptedFinding, frozen=True, kw_only=True):
    """The form that accepts a finding; `sample` and `attempt` are those of the page it is on, if it is that of a sample."""

    sample: str = ""
    attempt: int = 0


def routes(workspace: Workspace) -> Sequence[BaseRoute]:
    def show(request: Request, wrong: Sentence | None = None, given: Mapping[str, str] = {}) -> Response:
        asked = read_filter(request, AuditAddress)
        run = workspace.find_run(asked.run)
        if asked.part == "line":
            return _line(workspace, request, run)
        if asked.part == "sample":
            audit = audit_of_sample(run, run.store.sample(run.record.id, asked.sample))
            values = {"audit": audit, "asked": asked, **finding_values(run.reference)}
            return page(request, "inspecting/audit_sample.html.jinja", **values)
        view = view_audit(workspace, run, seconds=patience(request))
        shown = [
            finding
            for finding in view.findings
            if asked.cls in ("", finding.cls) and asked.check in ("", finding.check)
        ]
        return page(
            request,
            "inspecting/audit.html.jinja",
            status=200 if wrong is None else 422,
            record=run.record,
            links=RunLinks(run.reference),
            reference=run.reference,
            tab="audit",
            audit=view,
            asked=asked,
            groups=[(name, [*group]) for name, group in groupby(shown, key=lambda finding: finding.check)],
            listed=None if asked.check else LISTED,
            wrong=wrong,
            given=given,
            **finding_values(run.reference),
        )

    def accept_one(request: Request, fields: FormFields) -> Response:
        given = {**fields, **request.path_params}
        accepted = convert(given, AcceptForm)
        try:
            accept(workspace, accepted, person_name(request))
        except NotFound:
            raise
        except BadInput as error:
            return show(request, error.sentence, given)
        run = workspace.find_run(request.path_params["run"])
        if accepted.sample:
            address = sample_address(run.reference, accepted.sample, accepted.attempt, {"saved": "accepted"})
            return RedirectResponse(f"{address}#audit", 303)
        return RedirectResponse(f"{RunLinks(run.reference).run}/audit?saved=accepted", 303)

    return [Route("/runs/{run}/audit", show), post("/runs/{run}/audit", accept_one)]


def finding_values(reference: str) -> dict[str, Any]:
    """Return what the template of a finding needs: words, tones, its witness and its samples."""
    return {
        "classes": CLASSES,
        "class_words": CLASS_WORDS,
        "class_tones": CLASS_TONES,
        "precision_of": describe_precision,
        "witness_of": witness_text,
        "most_samples": SAMPLES,
        "sample_at": lambda sample: sample_address(reference, sample, 0),
        "audit_at": lambda **fields: f"{RunLinks(reference).run}/audit{'?' if fields else ''}{urlencode(fields)}",
    }


def witness_text(finding: AuditFinding) -> str:
    """Return a witness as JSON that people read; of a long one, the beginning."""
    return clip(msgspec.json.format(msgspec.json.encode(finding.witness)).decode(), WITNESS_CHARACTERS)


def _line(workspace: Workspace, request: Request, run: Found) -> Response:
    """Send how many findings of the audit concern a run, in a line."""
    view, waits = unasked(request, run, MOST_UNASKED, partial(view_audit, workspace, run))
    values = finding_values(run.reference)
    return page(request, "inspecting/audit_line.html.jinja", audit=view, waits=waits, **values)
