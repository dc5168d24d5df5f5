"""The page of one run, and what can be saved of it and of other pages."""

import re
import time
from collections.abc import Sequence
from contextlib import suppress
from typing import Any
from urllib.parse import quote

import msgspec
from msgspec.structs import replace
from starlette.requests import Request
from starlette.responses import FileResponse, HTMLResponse, Response
from starlette.routing import BaseRoute, Route

from proctor.core.errors import BadInput
from proctor.core.sentence import Sentence
from proctor.core.version import __version__
from proctor.i18n import speak
from proctor.reports.build import NOT_ENDED
from proctor.reports.render import run_values
from proctor.reports.words import ReportWords
from proctor_web.app import page
from proctor_web.auth import session_of
from proctor_web.failures import API
from proctor_web.operations import read_filter
from proctor_web.results.report import report_soon, written
from proctor_web.results.saving import ask, save
from proctor_web.runs.panel import panel_of
from proctor_web.samples.addresses import RunLinks
from proctor_web.workspace import StillComputing, Workspace

TYPES = {
    "html": "text/html",
    "md": "text/markdown",
    "json": "application/json",
    "xml": "application/xml",
    "zip": "application/zip",
}


class RunPageAddress(msgspec.Struct, frozen=True, kw_only=True):
    """The address of the page of a run; `all` names the section that is shown in full."""

    run: str
    all: str | None = None


NO_PAGES = (API, "/save", "/enter", "/static/")


def routes(workspace: Workspace) -> Sequence[BaseRoute]:
    def show_run(request: Request) -> Response:
        asked = read_filter(request, RunPageAddress)
        reference = workspace.find_run(asked.run).reference
        panel = panel_of(workspace, reference, session_of(request).person.name)
        run = workspace.find_run(reference)  # after the panel: what ends in between is looked at again
        links = RunLinks(reference, asked.all)
        gathered = report_soon(workspace, run, waits=request.scope["state"].get("waits", False))
        values: dict[str, Any] = {"report": None, "record": run.record, "links": links}
        age = None
        if gathered is not None:
            report = gathered.report
            if panel.progress.is_under_way:
                age = time.time() - gathered.at
                # that it may have been killed is a note that its page knows better
                notes = (note for note in report.notes if not (isinstance(note, Sentence) and note.text == NOT_ENDED))
                report = replace(report, notes=tuple(notes))
            values = run_values(report, ReportWords(request.state.lang), links)
        return page(
            request,
            "results/run.html.jinja",
            **values,
            panel=panel,
            age=age,
            reference=reference,
            here=links.run,
            tab="results",
        )

    def save_report(request: Request) -> Response:
        suffix = request.path_params["suffix"]
        if suffix not in TYPES:
            raise BadInput("A report ends in .html, .md, .json or .xml, not '{name}'.", name=f".{suffix}")
        run = workspace.find_run(request.path_params["run"])
        name, is_program = f"{run.record.id}.{suffix}", "authorization" in request.headers
        size = None
        with suppress(StillComputing):
            file = written(workspace, run, suffix, request.state.lang, waits=is_program)
            if "hx-request" not in request.headers:
                return FileResponse(file, headers=_as_file(name), media_type=TYPES[suffix])
            size = f"{file.stat().st_size / 1e6:.1f} MB"
        links = RunLinks(run.reference)
        return page(request, "results/saving.html.jinja", record=run.record, links=links, name=name, size=size)

    return [
        Route("/runs/{run}", show_run),
        Route("/runs/{run}/report.{suffix}", save_report),
        Route("/save", save_page),
    ]


async def save_page(request: Request) -> Response:
    view = request.query_params.get("view", "")
    if not view.startswith("/") or view.startswith(("//", *NO_PAGES)):
        raise BadInput("'{view}' is no page of this server.", view=view)
    shown = await ask(request, view)
    if shown.status != 200 or shown.content_type != "text/html":
        raise BadInput("'{view}' is no page of this server.", view=view)
    lang = request.state.lang
    when = ReportWords(lang).when(time.time())
    footer = speak(
        "Saved with Proctor {version} on {when} from {view}.", lang, version=__version__, when=when, view=view
    )
    saved = await save(shown.body.decode(), lambda path: ask(request, path), footer)
    name = re.sub(r"[^\w.@-]+", "-", view.partition("?")[0]).strip("-") or "proctor"
    return HTMLResponse(saved, headers=_as_file(f"{name}.html"))


def _as_file(name: str) -> dict[str, str]:
    """Return the headers of what a browser keeps as a file, whatever is in it."""
    plain = re.sub(r"[^\w.@-]", "-", name, flags=re.ASCII)
    return {"content-disposition": f"attachment; filename=\"{plain}\"; filename*=UTF-8''{quote(name)}"}
