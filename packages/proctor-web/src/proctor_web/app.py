"""The app: routes after the guard, pages out of templates. A set of pages brings a list of routes."""

import sqlite3
from collections.abc import Sequence
from functools import cache
from importlib.resources import files
from typing import TYPE_CHECKING, Any
from urllib.parse import urlencode

from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import FileResponse, HTMLResponse, JSONResponse, Response
from starlette.routing import BaseRoute, Mount, Route
from starlette.staticfiles import StaticFiles
from starlette.types import ASGIApp

from proctor.core.errors import BadInput, StoreUnreadable
from proctor.core.sentence import Sentence, say
from proctor.i18n import speak
from proctor.reports.render import environment
from proctor.reports.words import ReportWords
from proctor.runtime.visible import visible
from proctor_web.auth import Access, WebSession
from proctor_web.failures import ADK, failure, is_for_programs
from proctor_web.guard import MOST_BYTES_BY_PATH, Guard, unanswered
from proctor_web.markup import show
from proctor_web.operations import OF_ALL_PAGES
from proctor_web.users.database import LedgerFailed
from proctor_web.workspace import NotFound, StillComputing, Workspace

PLACES = {  # where the head of each page leads
    "/runs": say("Runs"),
    "/compare": say("Compare"),
    "/leaderboard": say("Leaderboard"),
    "/trends": say("Trends"),
    "/evalsets": say("Eval sets"),
    "/chat": say("Chat"),
    "/review": say("Review"),
}
THEME_NAMES = {
    "auto": say("Colours: as the system has them"),
    "dark": say("Colours: dark"),
    "light": say("Colours: light"),
}
SHARED = ("look.css", "run.css")
BEGIN_CHARACTERS = 400  # of an item in a list

if TYPE_CHECKING:
    from jinja2 import Environment


def app(
    routes: Sequence[BaseRoute],
    access: Access,
    lang: str,
    *,
    follows_browser: bool = False,
    workspace: Workspace | None = None,
) -> ASGIApp:
    """Return the app with these pages, for those who have access.

    Args:
        lang: the language until the user chooses another.
        follows_browser: use the language that a browser prefers, if none was chosen.
        workspace: what the whole app works on; None for a review on its own.
    """
    static = StaticFiles(directory=str(files("proctor_web").joinpath("static")))
    shared = files("proctor.reports").joinpath("templates")  # styles that these pages share with reports
    inner = Starlette(
        routes=[
            *routes,
            *(_file(f"/static/{name}", str(shared.joinpath(name))) for name in SHARED),
            Mount("/static", static),
        ],
        exception_handlers=dict.fromkeys((BadInput, HTTPException, sqlite3.Error, StillComputing, Exception), _failed),
    )
    inner.state.workspace = workspace
    inner.state.url = access.url
    return Guard(
        inner,
        access,
        lang,
        follows_browser=follows_browser,
        read_only=workspace is not None and workspace.read_only,
        most_bytes=MOST_BYTES_BY_PATH,
        page=lambda scope, status, why: _message(Request({**scope, "app": inner}), status, why),
    )


def _file(path: str, file: str) -> Route:
    return Route(path, lambda _: FileResponse(file))


def full_address(request: Request) -> str:
    """Return the address of a page as other people reach it, through the proxy if there is one, in a language of their own."""
    at = request.url
    base = request.app.state.url or f"{at.scheme}://{at.netloc}"
    query = urlencode([field for field in request.query_params.multi_items() if field[0] not in OF_ALL_PAGES])
    return f"{base}{at.path}?{query}" if query else f"{base}{at.path}"


def page(request: Request, template: str, *, status: int = 200, **values: Any) -> Response:
    """Render a template in the language of the reader."""
    lang: str = request.state.lang
    session: WebSession | None = getattr(request.state, "session", None)
    workspace: Workspace | None = request.app.state.workspace
    text = (
        _environment()
        .get_template(template)
        .render(
            request=request,
            lang=lang,
            theme=request.state.theme,
            themes=THEME_NAMES,
            t=lambda sentence, **named: speak(sentence, lang, **named),
            person=session.person if session is not None else None,
            csrf=session.csrf if session is not None else "",
            words=ReportWords(lang),
            workspace=workspace,
            places=PLACES,
            read_only=workspace is not None
            and (workspace.read_only or (session is not None and session.person.role == "reader")),
            has_team=workspace is not None and workspace.ledger is not None and workspace.ledger.is_shared,
            **values,
        )
    )
    return HTMLResponse(text, status)


async def _failed(request: Request, error: Exception) -> Response:
    match error:
        case StillComputing():
            return page(request, "waiting.html.jinja")
        case LedgerFailed():
            status, said = 503, unanswered(error)
        case BadInput():
            status = 404 if isinstance(error, NotFound) else 503 if isinstance(error, StoreUnreadable) else 400
            said = error.sentence
        case HTTPException(status_code=404):
            status, said = 404, say("There is no such page.")
        case HTTPException(status_code=status):
            said = say("This cannot be done here (status {status}).", status=status)
        case sqlite3.Error():
            status, said = 503, say("The store cannot be read: {error}.", error=error)
        case _:
            kind = type(error).__name__
            status = 500
            said = say("Internal error: {kind}. Nothing was saved by this request; the terminal says more.", kind=kind)
    return _message(request, status, said)


def _message(request: Request, status: int, said: Sentence) -> Response:
    """Return what went wrong: as JSON for a program, as a page for a person."""
    if is_for_programs(request.url.path):
        return failure(status, speak(said, request.state.lang))
    if request.url.path.startswith(ADK):
        return JSONResponse({"detail": speak(said, request.state.lang)}, status)
    session: WebSession | None = getattr(request.state, "session", None)
    sees_all = request.app.state.workspace is not None and session is not None and not session.person.only
    return page(request, "app_message.html.jinja" if sees_all else "message.html.jinja", status=status, said=said)


def _switched(request: Request, name: str, value: str, path: str = "") -> str:
    """Return the address of this page, or of another path, with one value of its query changed."""
    kept = [(key, old) for key, old in request.query_params.multi_items() if key != name]
    here = path or "/" + request.url.path.lstrip("/")  # two slashes would lead to another host
    return f"{here}?{urlencode([*kept, (name, value)])}"


@cache
def _environment() -> "Environment":
    """Return the templates; hidden characters become visible, and everything that is no `Markup` is escaped."""
    from jinja2 import ChoiceLoader, Environment, PackageLoader, StrictUndefined
    from markupsafe import Markup

    made = Environment(
        loader=ChoiceLoader([PackageLoader("proctor_web"), PackageLoader("proctor.reports")]),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        finalize=lambda value: visible(value) if isinstance(value, str) and not isinstance(value, Markup) else value,
    )
    made.globals.update(environment(is_html=True).globals)  # plots, as reports have them
    made.globals.update(kind=lambda block: type(block).__name__)  # of the blocks of a page
    made.globals.update(show=show, begin=lambda text: show(text[:BEGIN_CHARACTERS]))
    made.filters["switched"] = _switched
    made.filters["percent"] = lambda share, words: words.percent(share)
    return made
