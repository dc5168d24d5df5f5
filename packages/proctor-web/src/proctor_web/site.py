"""The web app: every sub-room brings its pages and its operations, here they become one site."""

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

import msgspec
from starlette.requests import Request
from starlette.responses import RedirectResponse, Response
from starlette.routing import BaseRoute, Route
from starlette.types import ASGIApp

from proctor_web.api import OPERATIONS
from proctor_web.app import app
from proctor_web.auth import Access
from proctor_web.authoring import pages as authoring
from proctor_web.chats import adk_evals, adk_sessions
from proctor_web.chats import pages as chats
from proctor_web.comparing import pages as comparing
from proctor_web.failures import API
from proctor_web.inspecting import audit_pages
from proctor_web.inspecting import pages as inspecting
from proctor_web.operations import Operation, api_routes
from proctor_web.results import pages as results
from proctor_web.reviewing import pages as reviewing_pages
from proctor_web.runs import pages as run_pages
from proctor_web.samples import list_pages, sample_pages
from proctor_web.team import pages as team_pages
from proctor_web.team.login import Login
from proctor_web.workspace import Workspace

if TYPE_CHECKING:
    from proctor_web.team.oidc import Provider

FIRST_PAGE = "/runs"


def site(
    workspace: Workspace,
    access: Access,
    lang: str,
    *,
    follows_browser: bool = False,
    provider: "Provider | None" = None,
) -> ASGIApp:
    """Return the app of a workspace, for those who have access, by a login at a provider if there is one."""
    workspace.ledger = access.ledger
    routes = [
        Route("/", lambda _: RedirectResponse(FIRST_PAGE, 303)),
        Route(f"{API}/openapi.json", _description),
        *api_routes(workspace, operations()),
        *pages(workspace),
        *reviewing_pages.routes(workspace, access),  # they make links
        *team_pages.routes(workspace, access),
        *(Login(provider, access).routes() if provider is not None else ()),
    ]
    return app(routes, access, lang, follows_browser=follows_browser, workspace=workspace)


def operations() -> Sequence[Operation]:
    """Return everything that programs can ask for."""
    return OPERATIONS


def pages(workspace: Workspace) -> Sequence[BaseRoute]:
    rooms: Sequence[Callable[[Workspace], Sequence[BaseRoute]]] = [
        authoring.routes,
        chats.routes,
        adk_sessions.routes,
        adk_evals.routes,
        comparing.routes,
        run_pages.routes,  # before those of one run: a run is not called new
        results.routes,
        inspecting.routes,
        audit_pages.routes,
        list_pages.routes,
        sample_pages.routes,
    ]
    return [route for routes in rooms for route in routes(workspace)]


def _description(_: Request) -> Response:
    from proctor_web.openapi import describe

    return Response(msgspec.json.encode(describe(operations())), media_type="application/json")
