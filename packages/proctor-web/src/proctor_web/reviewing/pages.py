"""The pages of reviews in the app: the queues, how far each is and what its labels say, and the items for its reviewers."""

from collections.abc import Mapping, Sequence

import msgspec
from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import RedirectResponse, Response
from starlette.routing import BaseRoute, Mount, Route, Router
from starlette.types import Receive, Scope, Send

from proctor.core.errors import BadInput
from proctor.reports.words import ReportWords
from proctor_judging.judges import rubric_file
from proctor_judging.review.agree_page import sections
from proctor_judging.review.queue import Review
from proctor_web.app import page
from proctor_web.auth import Access, FormFields, post, session_of
from proctor_web.operations import convert, read_filter
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
from proctor_web.workspace import NotFound, Workspace

DEFAULT_COUNT = 50
OFFERED = 50  # runs to draw answers from


def routes(workspace: Workspace, access: Access) -> Sequence[BaseRoute]:
    pages = ReviewingPages(workspace, access)
    return [
        Route("/review", pages.queues),
        post("/review", pages.create),
        Mount("/review/{queue}/items-of", _Items(workspace, access)),
        Route("/review/{queue}", pages.queue),
        post("/review/{queue}/link", pages.link),
        post("/review/{queue}/revoke", pages.revoke),
    ]


class DrawnRuns(msgspec.Struct, frozen=True, kw_only=True):
    """The runs that the address of the form for a new queue names."""

    run: tuple[str, ...] = ()


class ReviewingPages:
    """The pages of queues."""

    def __init__(self, workspace: Workspace, access: Access) -> None:
        self._workspace = workspace
        self._access = access

    def create(self, request: Request, fields: FormFields) -> Response:
        given: dict[str, object] = {name: text for name, text in fields.items() if text}
        given |= {"run": fields.several("run"), "reviewer": fields.get("reviewer", "").replace(",", " ").split()}
        try:
            queue = create_queue(self._workspace, convert(given, NewQueue))
        except BadInput as error:
            return self.queues(request, given, error)
        return RedirectResponse(f"/review/{queue.name}", 303)

    def queues(
        self, request: Request, given: Mapping[str, object] | None = None, wrong: BadInput | None = None
    ) -> Response:
        """Show the queues, and the form for a new one, with the runs that the address names."""
        if given is None:
            given = {"run": [*read_filter(request, DrawnRuns).run]}
        # to draw from: the newest runs, and before them those that are chosen
        chosen = given.get("run")
        offered = [run for run in self._workspace.runs()[0] if run.record.state not in ("running", "copying")]
        offered.sort(key=lambda run: not (isinstance(chosen, list) and run.reference in chosen))
        return page(
            request,
            "reviewing/queues.html.jinja",
            status=400 if wrong is not None else 200,
            queues=list_queues(self._workspace),
            given=given,
            wrong=wrong.sentence if wrong is not None else None,
            rubrics=rubric_file.known(),
            offered=offered[:OFFERED],
            count=DEFAULT_COUNT,
        )

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

    def link(self, request: Request, fields: FormFields) -> Response:
        """Show a link that lets a reviewer in: to the items of this queue, and to nothing else."""
        review = review_of(self._workspace, request.path_params["queue"])
        name = fields.get("person", "")
        if name not in {*review.reviewers, review.adjudicator}:
            raise NotFound("No reviewer of this queue is called '{name}'.", name=name)
        person = Person(
            name=name,
            reviews=name in review.reviewers,
            decides=name == review.adjudicator,
            only=_base(request.path_params["queue"]),
            role="reader",
        )
        address = self._access.whole_link(request, person)
        return page(request, "reviewing/reviewer_link.html.jinja", address=address, name=name)

    def revoke(self, request: Request, fields: FormFields) -> Response:
        """End a link to this queue, or the session of a reviewer who came in by one."""
        queue, id, ledger = request.path_params["queue"], fields.get("id", ""), self._access.ledger
        find_queue(self._workspace, queue)
        if all(issued.id != id for issued in ledger.issued_for(_base(queue))) or not ledger.revoke(id):
            raise NotFound("There is no link or session '{id}' of this queue; it may have ended.", id=id)
        return RedirectResponse(f"/review/{queue}", 303)


class _Items:
    """The items of every queue, for those who review it: each queue has the pages of `proctor judge review` below its address."""

    def __init__(self, workspace: Workspace, access: Access) -> None:
        self._workspace = workspace
        self._access = access

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
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
