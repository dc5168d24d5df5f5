"""The pages of a review: one item with its form, the list, the statistics, and conflicts for an adjudicator."""

from collections.abc import Mapping
from contextlib import suppress
from typing import NamedTuple
from urllib.parse import urlencode

import msgspec
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import RedirectResponse, Response
from starlette.routing import Route

from proctor.core.errors import BadInput
from proctor.core.sentence import Sentence, say
from proctor.i18n import speak
from proctor_judging.review.items import FIELDS, ReviewItem
from proctor_judging.review.labels import STATUS_NAMES, STATUSES, LabelEntry
from proctor_judging.review.queue import Review, State
from proctor_web.app import page
from proctor_web.auth import Access, FormFields, person_name, post, session_of

ROWS = 100
SHOWS = {"all": say("All"), "todo": say("To do"), **STATUS_NAMES}
STATES = {**SHOWS, "changed": say("Changed since")}


class ReviewPosition(NamedTuple):
    """The position of a reviewer among the selected items: numbers of items, None at an end."""

    show: str
    states: Mapping[int, State]
    previous: int | None
    next: int | None
    after: int | None  # where saving leads

    def query(self, **more: object) -> str:
        """Return the filter as the query of an address."""
        return "?" + urlencode({"show": self.show, **more})


class ReviewPages:
    """The pages of one review."""

    def __init__(self, review: Review, access: Access, base: str = "") -> None:
        """Make the pages of a review, whose addresses begin with `base`."""
        self._review = review
        self._access = access
        self._base = base

    def routes(self) -> list[Route]:
        return [
            Route("/", self.home),
            Route("/items", self.items),
            Route("/items/{number:int}", self.item),
            post("/items/{number:int}", self.save),
            post("/undo", self.undo),
            Route("/statistics", self.statistics),
            Route("/conflicts", self.conflicts),
            Route("/conflicts/{number:int}", self.conflict),
            post("/conflicts/{number:int}", self.decide),
            post("/link", self.link),
        ]

    def home(self, request: Request) -> Response:
        """Redirect to the first item that is not reviewed yet."""
        person = session_of(request).person
        if not person.reviews:
            return self._go("/conflicts")
        states = self._review.states(person.name)
        first = next((number for number, state in states.items() if _matches(state, "todo")), None)
        return self._go("/statistics" if first is None else f"/items/{first}")

    def items(self, request: Request) -> Response:
        person = session_of(request).person
        show = _show(request)
        words = request.query_params.get("q", "").strip()
        after = _whole_number(request.query_params.get("after", "0"))
        states = self._review.states(person.name)
        listed = [
            item
            for item in self._review.queue(person.name)
            if item.number > after and _matches(states[item.number], show) and _contains(item, words)
        ]
        rows = [(item, states[item.number], self._review.own(item, person.name)) for item in listed[:ROWS]]
        more = listed[ROWS - 1].number if len(listed) > ROWS else None
        return self._page(request, "list.html.jinja", rows=rows, more=more, show=show, searched=words)

    def item(self, request: Request, given: Mapping[str, str] | None = None, wrong: Sentence | None = None) -> Response:
        item, place = self._place(request)
        return self._page(
            request,
            "item.html.jinja",
            status=422 if wrong is not None else 200,
            item=item,
            place=place,
            given=_form_fields(self._review.own(item, person_name(request))) if given is None else given,
            wrong=wrong,
            shown={name: getattr(item, name) for name in FIELDS},
            state=place.states[item.number],
        )

    def save(self, request: Request, given: FormFields) -> Response:
        item, position = self._place(request)
        wrong = self._label(request, item, given)
        if wrong is not None:
            return self.item(request, given, wrong)
        path = "/statistics" if position.after is None else f"/items/{position.after}"
        return self._go(f"{path}{position.query(saved=item.number)}")

    def undo(self, request: Request, _: FormFields) -> Response:
        taken = self._review.undo(person_name(request))
        if taken is None:
            return self._go("/")
        room = "conflicts" if taken.entry.decides else "items"
        return self._go(f"/{room}/{self._review.item(taken.item).number}?undone=1")

    def statistics(self, request: Request) -> Response:
        """Show the user's progress; to an adjudicator, that of all and how they agree."""
        person = session_of(request).person
        review = self._review
        everything = person.decides or review.people() == [person.name]
        return self._page(
            request,
            "statistics.html.jinja",
            everything=everything,
            own=review.progress(person.name) if person.reviews else None,
            all=review.progress() if everything else None,
            people=[(name, review.progress(name)) for name in review.people()] if person.decides else [],
            agreement=review.agreement() if person.decides else {},
        )

    def conflicts(self, request: Request) -> Response:
        self._only_adjudicators(request)
        return self._page(request, "conflicts.html.jinja", conflicts=self._review.conflicts())

    def decide(self, request: Request, given: FormFields) -> Response:
        """Keep the adjudicator's word."""
        self._only_adjudicators(request)
        item = self._item_of(request)
        wrong = self._label(request, item, given, decides=True)
        if wrong is not None:
            return self.conflict(request, given, wrong)
        left = self._review.conflicts()
        return self._go(f"/conflicts/{left[0].item.number}" if left else "/conflicts")

    def link(self, request: Request, _: FormFields) -> Response:
        """Show a link for another browser of the same user."""
        person = session_of(request).person
        # of a queue: a link outlives the session, so it leads to the items only, as one of a runner does
        if self._base:
            person = msgspec.structs.replace(person, only=self._base, role="reader", groups=None, via="link")
        address = self._access.whole_link(request, person)
        return self._page(request, "link.html.jinja", address=address)

    def _label(
        self, request: Request, item: ReviewItem, given: Mapping[str, str], *, decides: bool = False
    ) -> Sentence | None:
        """Keep what a form says; what is wrong with it, None when it was kept."""
        scores: dict[str, float] = {}
        for dimension in self._review.dimensions:
            with suppress(ValueError):  # what is no number was not given
                score = float(given.get(f"score:{dimension.name}", ""))
                if score >= dimension.low:  # the place below the scale is where a slider waits
                    scores[dimension.name] = int(score) if score.is_integer() else score
        missing = [
            dimension.words(request.state.lang).title
            for dimension in self._review.dimensions
            if dimension.name not in scores
        ]
        if missing:
            return say("Not saved. Give a score for: {names}.", names=", ".join(missing))
        if given.get("status") not in STATUSES:
            return say("Not saved. Choose approved, rejected or needs revision.")
        name = person_name(request)
        try:
            self._review.label(item.id, name, scores, given["status"], given.get("comments", ""), decides=decides)
        except BadInput as error:
            return error.sentence
        return None

    def conflict(
        self, request: Request, given: Mapping[str, str] | None = None, wrong: Sentence | None = None
    ) -> Response:
        """Show one item with all labels, and the form to decide."""
        self._only_adjudicators(request)
        item = self._item_of(request)
        record = self._review.records().get(item.id)
        return self._page(
            request,
            "conflict.html.jinja",
            status=422 if wrong is not None else 200,
            item=item,
            shown={name: getattr(item, name) for name in FIELDS},
            entries=record.current if record is not None else (),
            given=given or _form_fields(record.decision if record is not None else None),
            wrong=wrong,
        )

    def _page(self, request: Request, template: str, *, status: int = 200, **values: object) -> Response:
        person = session_of(request).person
        lang = request.state.lang
        saved = _whole_number(request.query_params.get("saved", "0"))
        return page(
            request,
            f"reviewing/{template}",
            status=status,
            base=self._base,
            review=self._review,
            dimensions=[(dimension, dimension.words(lang)) for dimension in self._review.dimensions],
            statuses=STATUSES,
            shows=SHOWS,
            fields=FIELDS,
            state_name=lambda state: speak(STATES[state], lang),
            progress=self._review.progress(person.name) if person.reviews else self._review.progress(),
            undone="undone" in request.query_params,
            saved=saved if saved <= len(self._review.items) else 0,
            open_conflicts=len(self._review.conflicts()) if person.decides else 0,
            **values,
        )

    def _go(self, path: str) -> Response:
        return RedirectResponse(f"{self._base}{path}", 303)

    def _place(self, request: Request) -> tuple[ReviewItem, ReviewPosition]:
        """Return the item of the address and its position for this reviewer."""
        states = self._review.states(person_name(request))
        item = self._item_of(request)
        if item.number not in states:
            raise HTTPException(404)
        show = _show(request)
        here = item.number
        seen = [number for number, state in states.items() if _matches(state, show)]
        todo = [number for number, state in states.items() if _matches(state, "todo")] if show == "all" else seen
        return item, ReviewPosition(
            show=show,
            states=states,
            previous=next((number for number in reversed(seen) if number < here), None),
            next=next((number for number in seen if number > here), None),
            after=next(
                (number for number in todo if number > here), next((number for number in todo if number != here), None)
            ),
        )

    def _item_of(self, request: Request) -> ReviewItem:
        number: int = request.path_params["number"]
        if not 1 <= number <= len(self._review.items):
            raise HTTPException(404)
        return self._review.items[number - 1]

    def _only_adjudicators(self, request: Request) -> None:
        """Answer 404 to all others: reviewers are blind."""
        if not session_of(request).person.decides:
            raise HTTPException(404)


def _form_fields(entry: LabelEntry | None) -> dict[str, str]:
    if entry is None:
        return {}
    return {
        **{f"score:{name}": f"{score:g}" for name, score in entry.scores.items()},
        "status": entry.status,
        "comments": entry.comments or "",
    }


def _matches(state: State, show: str) -> bool:
    return show in ("all", state) or (show == "todo" and state == "changed")


def _contains(item: ReviewItem, words: str) -> bool:
    text = f"{item.number} {item.id} {item.topic} {item.problem}".casefold()
    return all(word in text for word in words.casefold().split())


def _show(request: Request) -> str:
    asked = request.query_params.get("show", "all")
    return asked if asked in SHOWS else "all"


def _whole_number(text: str) -> int:
    return int(text) if text.isascii() and text.isdigit() and len(text) < 10 else 0
