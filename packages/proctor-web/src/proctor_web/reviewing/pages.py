"""The pages of reviews in the app: the queues, how far each is and what its labels say, and the items for its reviewers."""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING
from urllib.parse import parse_qs

import msgspec
from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import RedirectResponse, Response
from starlette.routing import BaseRoute, Mount, Route, Router

from proctor.core.errors import BadInput
from proctor.reports.words import ReportWords
from proctor_judging.judges import rubric_file
from proctor_judging.review.agree_page import sections
from proctor_judging.review.queue import Review
from proctor_web.app import page
from proctor_web.auth import MOST_FIELDS, Access, form, session_of
from proctor_web.operations import convert
from proctor_web.reviewing.item_pages import ReviewPages
from proctor_web.reviewing.queues import (
    NewQueue,
    QueueNamed,
    create_queue,
    find_queue,
    list_queues,
    review_of,
    show_queue,
)
from proctor_web.users.ledger import Person
from proctor_web.users.roles import VIA_NAMES
from proctor_web.workspace import Found, NotFound, Workspace

if TYPE_CHECKING:
    from starlette.types import Receive, Scope, Send

DEFAULT_COUNT = 50
OFFERED = 50  # runs to draw answers from


def routes(workspace: Workspace, access: Access) -> Sequence[BaseRoute]:
    pages = ReviewingPages(workspace, access)
    return [
        Route("/review", pages.queues),
        Route("/review", pages.create, methods=["POST"]),
        Mount("/review/{queue}/items-of", _Items(workspace, access)),
        Route("/review/{queue}", pages.queue),
        Route("/review/{queue}/link", pages.link, methods=["POST"]),
        Route("/review/{queue}/revoke", pages.revoke, methods=["POST"]),
    ]


class ReviewingPages:
    """The pages of queues."""

    def __init__(self, workspace: Workspace, access: Access) -> None:
        self._workspace = workspace
        self._access = access

    def queues(self, request: Request) -> Response:
        """Show the queues, and the form for a new one, with the runs that the address names."""
        return self._queues(request, {"run": request.query_params.getlist("run")})

    async def create(self, request: Request) -> Response:
        """Make a queue, and go there."""
        given = {name: text for name, text in (await form(request)).items() if text}
        ticked = parse_qs((await request.body()).decode("utf-8", "replace"), max_num_fields=MOST_FIELDS).get("run", [])
        return await run_in_threadpool(self._create, request, {**given, "run": ticked})

    def _create(self, request: Request, given: dict[str, object]) -> Response:
        lists = {"run": given["run"], "reviewer": str(given.get("reviewer", "")).replace(",", " ").split()}
        try:
            queue = create_queue(self._workspace, convert({**given, **lists}, NewQueue))
        except BadInput as error:
            return self._queues(request, {**given, **lists}, error)
        return RedirectResponse(f"/review/{queue.name}", 303)

    def _queues(self, request: Request, given: dict[str, object], wrong: BadInput | None = None) -> Response:
        return page(
            request,
            "reviewing/queues.html.jinja",
            status=400 if wrong is not None else 200,
            queues=list_queues(self._workspace),
            given=given,
            wrong=wrong.sentence if wrong is not None else None,
            rubrics=rubric_file.known(),
            offered=self._offered(given),
            count=DEFAULT_COUNT,
        )

    def _offered(self, given: Mapping[str, object]) -> list[Found]:
        """Return the runs to draw from: the newest, and before them those that are chosen."""
        chosen = given.get("run")
        runs = [run for run in self._workspace.runs()[0] if run.record.state not in ("running", "copying")]
        runs.sort(key=lambda run: not (isinstance(chosen, list) and run.reference in chosen))
        return runs[:OFFERED]

    def queue(self, request: Request) -> Response:
        """Show how far a queue is, and how people and judges agree."""
        state = show_queue(self._workspace, QueueNamed(queue=request.path_params["queue"]))
        words = ReportWords(request.state.lang)
        return page(
            request,
            "reviewing/queue.html.jinja",
            state=state,
            mine=_person_of(request, review_of(self._workspace, state.row.name)) is not None,
            links=self._access.ledger.issued_for(_base(state.row.name)),
            via_names=VIA_NAMES,
            agreement={
                run: sections(known.agreement, words) if known.agreement is not None else known.why_not
                for run, known in state.agreement.items()
            },
        )

    async def link(self, request: Request) -> Response:
        """Show a link that lets a reviewer in: to the items of this queue, and to nothing else."""
        given = await form(request)
        review = review_of(self._workspace, request.path_params["queue"])
        name = given.get("person", "")
        if name not in {*review.reviewers, review.adjudicator}:
            raise NotFound("No reviewer of this queue is called '{name}'.", name=name)
        person = Person(
            name=name,
            reviews=name in review.reviewers,
            decides=name == review.adjudicator,
            only=_base(request.path_params["queue"]),
            role="reader",
        )
        address = await run_in_threadpool(self._access.whole_link, request, person)
        return page(request, "reviewing/reviewer_link.html.jinja", address=address, name=name)

    async def revoke(self, request: Request) -> Response:
        """End a link to this queue, or the session of a reviewer who came in by one."""
        queue = request.path_params["queue"]
        await run_in_threadpool(self._revoke, queue, (await form(request)).get("id", ""))
        return RedirectResponse(f"/review/{queue}", 303)

    def _revoke(self, queue: str, id: str) -> None:
        find_queue(self._workspace, queue)
        ledger = self._access.ledger
        if all(one.id != id for one in ledger.issued_for(_base(queue))) or not ledger.revoke(id):
            raise NotFound("There is no link or session '{id}' of this queue; it may have ended.", id=id)


class _Items:
    """The items of every queue, for those who review it: each queue has the pages of `proctor judge review` below its address."""

    def __init__(self, workspace: Workspace, access: Access) -> None:
        self._workspace = workspace
        self._access = access

    async def __call__(self, scope: "Scope", receive: "Receive", send: "Send") -> None:
        name = scope["path_params"]["queue"]
        review = await run_in_threadpool(review_of, self._workspace, name)
        request = Request(scope)
        person = _person_of(request, review)
        if person is None:
            await RedirectResponse(f"/review/{name}", 303)(scope, receive, send)
            return
        scope["state"]["session"] = session_of(request)._replace(person=person)
        await Router(routes=ReviewPages(review, self._access, _base(name)).routes())(scope, receive, send)


def _base(queue: str) -> str:
    return f"/review/{queue}/items-of"


def _person_of(request: Request, review: Review) -> Person | None:
    """Return the user as a reviewer or adjudicator of a queue; None for one who is neither."""
    person = session_of(request).person
    reviews, decides = person.name in review.reviewers, bool(person.name) and person.name == review.adjudicator
    return msgspec.structs.replace(person, reviews=reviews, decides=decides) if reviews or decides else None
