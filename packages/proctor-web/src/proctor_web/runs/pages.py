"""The pages about runs: the list, the form of a new one, its start, and what follows a run that is under way."""

from collections.abc import AsyncIterator, Callable, Collection, Sequence
from urllib.parse import quote, urlencode

from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import RedirectResponse, Response, StreamingResponse
from starlette.routing import BaseRoute, Route

from proctor.core.errors import BadInput
from proctor.core.sentence import Sentence, say
from proctor.registry import unknown
from proctor_ci.request import RunRequest, again
from proctor_web.app import page
from proctor_web.auth import FormFields, person_name, post, with_typed
from proctor_web.guard import KEPT_SECONDS
from proctor_web.operations import RunReference, convert, read_filter
from proctor_web.runs import actions
from proctor_web.runs.choices import Chosen, list_choices, list_options
from proctor_web.runs.forms import Refusals, RefusedForm, draft_of, request_of, rest_of
from proctor_web.runs.launcher import Launcher
from proctor_web.runs.listing import list_runs
from proctor_web.runs.options import text_of
from proctor_web.runs.ordering import RunFilter
from proctor_web.runs.panel import panel_of
from proctor_web.runs.permitted import locate
from proctor_web.runs.progress import Watches
from proctor_web.workspace import Workspace

SOON, LATER = 0.3, 3.0  # seconds until a list with numbers to come, or with runs under way, is asked for again

STATES = (
    ("running", say("running")),
    ("finished", say("finished")),
    ("inconclusive", say("inconclusive")),
    ("stopped", say("stopped")),
    ("cut_off", say("cut off")),
)
COLUMNS = {
    "state": say("State"),
    "task": say("Task"),
    "agent": say("Agent"),
    "changed": say("Differs in"),
    "result": say("Result"),
    "history": say("History"),
    "outcomes": say("Outcomes"),
    "cost": say("Cost"),
    "seconds": say("Duration"),
    "created": say("Started"),
}
USUAL_COLUMNS = frozenset(COLUMNS) - {"state", "cost"}  # a run that is not finished says so next to its name
COLUMNS_COOKIE = "proctor-columns"
ORDERED = ("run", "task", "agent", "result", "cost", "seconds", "created")
FALLING = ("result", "cost", "seconds")  # begin with the greatest
OF_LOOK = ("columns", "group", "order", "theme")  # these filter nothing


def routes(workspace: Workspace) -> Sequence[BaseRoute]:
    pages = _RunPages(workspace)
    return [
        Route("/runs", pages.list, methods=["GET"]),
        post("/runs", pages.start),
        Route("/runs/new", pages.new),
        Route("/runs/{run}/start", pages.started),
        Route("/runs/{run}/events", pages.events),
        post("/runs/{run}/stop", pages.stop),
        post("/runs/{run}/resume", pages.resume),
        post("/runs/{run}/delete", pages.delete),
        post("/runs/{run}/notes", pages.notes),
    ]


class _RunPages:
    def __init__(self, workspace: Workspace) -> None:
        self._workspace = workspace

    def list(self, request: Request) -> Response:
        given = read_filter(request, RunFilter, also=("columns", "deleted"))
        columns = _columns(request)
        run_page = list_runs(self._workspace, given)
        is_waiting = any(row.numbers is None and row.planned for row in run_page.rows)
        is_live = any(row.state in ("starting", "running") for row in run_page.rows)
        query = [pair for pair in request.query_params.multi_items() if pair[0] not in ("after", "deleted", "lang")]

        def link(**changed: str) -> str:
            kept = [(name, text) for name, text in query if name not in changed]
            return f"/runs?{urlencode([*kept, *((name, text) for name, text in changed.items() if text)])}"

        response = page(
            request,
            "runs/list.html.jinja",
            page=run_page,
            filter=given,
            states=STATES,
            columns=COLUMNS,
            shown=[name for name in COLUMNS if name in columns and name != given.group],
            orders={name: _order(name, given.order, link) for name in ORDERED},
            is_filtered=any(text and name not in OF_LOOK for name, text in query),
            again=SOON if is_waiting else LATER if is_live else 0,
            first=link() if given.after else "",
            more=link(after=run_page.next) if run_page.next else "",
            deleted=request.query_params.get("deleted", ""),
        )
        if "columns" in request.query_params:
            response.set_cookie(COLUMNS_COOKIE, ".".join(columns), KEPT_SECONDS, httponly=True, samesite="strict")
        return response

    def new(self, request: Request) -> Response:
        """Show the form: empty, with the options of a stored run, or as far as it is filled in."""
        query = with_typed(request.query_params)
        source = query.get("from", "")
        if source:
            given = locate(self._workspace, again(self._workspace.find_run(source).record))
        elif refused := self._workspace.kept(Refusals).find(query.get("refused", "")):
            return self._form(request, refused.draft, wrong=refused.why)
        elif query.get("again"):
            store, run = actions.run_or_start(self._workspace, query["again"])
            start = self._workspace.kept(Launcher).last(store, run)
            given = start.request if start is not None and start.request is not None else RunRequest(task="", agent="")
        else:
            given = draft_of(query, list_options(self._workspace, convert(query, Chosen)))
        return self._form(request, given, source=source)

    def start(self, request: Request, fields: FormFields) -> Response:
        options = list_options(self._workspace, convert(fields, Chosen))
        if fields.get("show") == "options":
            return self._form(request, draft_of(fields, options))
        try:
            asked = request_of(fields, options)
            begun = actions.start_run(self._workspace, asked, by=person_name(request), lang=request.state.lang)
        except BadInput as error:
            refusal = RefusedForm(draft_of(fields, options), error.sentence)
            return RedirectResponse(f"/runs/new?refused={self._workspace.kept(Refusals).keep(refusal)}", 303)
        return RedirectResponse(f"/runs/{quote(begun.run)}/start", 303)

    def started(self, request: Request) -> Response:
        """Show a run that its process has not opened yet; one that it has is shown on its own page."""
        panel = panel_of(self._workspace, request.path_params["run"], person_name(request))
        if panel.progress.state not in ("starting", "not_started"):
            return RedirectResponse(f"/runs/{quote(panel.run)}", 303)
        return page(request, "runs/start.html.jinja", panel=panel)

    async def events(self, request: Request) -> Response:
        """Send how far a run is, as parts of its page, until it is over or in another state than the page shows."""
        address = f"/runs/{quote(request.path_params['run'])}"
        watch = self._workspace.kept(Watches).of(request.path_params["run"])
        first = await run_in_threadpool(watch.look)  # raises before anything is sent
        shown = request.query_params.get("shown", first.state)

        async def lines() -> AsyncIterator[bytes]:
            yield b"retry: 3000\n\n"
            async for now in watch.follow():
                if not now.is_under_way or now.state != shown:
                    yield _event("over", f"{address}/start" if now.state == "not_started" else address)
                    return
                body = page(request, "runs/live.html.jinja", progress=now).body
                yield _event("progress", bytes(body).decode())

        return StreamingResponse(lines(), media_type="text/event-stream")

    def stop(self, request: Request, _: FormFields) -> Response:
        run = request.path_params["run"]
        actions.stop_run(self._workspace, RunReference(run=run))
        return RedirectResponse(f"/runs/{quote(run)}/start", 303)

    def resume(self, request: Request, fields: FormFields) -> Response:
        given = convert({**fields, **request.path_params}, actions.Resume)
        begun = actions.resume_run(self._workspace, given, by=person_name(request), lang=request.state.lang)
        return RedirectResponse(f"/runs/{quote(begun.run)}/start", 303)

    def delete(self, request: Request, _: FormFields) -> Response:
        run = request.path_params["run"]
        actions.delete_run(self._workspace, RunReference(run=run))
        return RedirectResponse(f"/runs?{urlencode({'deleted': run})}", 303)

    def notes(self, request: Request, fields: FormFields) -> Response:
        run = request.path_params["run"]
        saying = actions.Saying(
            run=run,
            add_tags=tuple(filter(None, [fields.get("add_tags", "").strip()])),
            remove_tags=tuple(filter(None, [fields.get("remove_tags", "")])),
            note=fields.get("note"),
            add_baseline=fields.get("add_baseline", "").strip(),
            remove_baseline=fields.get("remove_baseline", ""),
        )
        actions.say_about_run(self._workspace, saying, by=person_name(request))
        return RedirectResponse(f"/runs/{quote(run)}", 303)

    def _form(
        self, request: Request, given: RunRequest, *, source: str = "", wrong: Sentence | None = None
    ) -> Response:
        options = list_options(self._workspace, Chosen(task=given.task, agent=given.agent))
        usual = RunRequest(task="", agent="")
        shown_above = {"task", "agent", "store", "limit", "attempts", "concurrency", "budget", "task_options", "agent_options"}  # fmt: skip
        return page(
            request,
            "runs/new.html.jinja",
            status=422 if wrong is not None else 200,
            given=given,
            choices=list_choices(self._workspace),
            options=options,
            rest=rest_of(given),
            source=source,
            wrong=wrong,
            text_of=text_of,
            is_detailed=any(
                getattr(given, name) != getattr(usual, name)
                for name in RunRequest.__struct_fields__
                if name not in shown_above
            ),
        )


def _columns(request: Request) -> Collection[str]:
    """Return the columns that are chosen in the address, else those that this browser chose last."""
    chosen = [name for name in request.query_params.getlist("columns") if name]
    for name in chosen:
        if name not in COLUMNS:
            raise unknown("column", name, [*COLUMNS], paths=False)
    if "columns" in request.query_params:
        return chosen
    kept = request.cookies.get(COLUMNS_COOKIE)
    return USUAL_COLUMNS if kept is None else [name for name in kept.split(".") if name in COLUMNS]


def _order(name: str, now: str, link: Callable[..., str]) -> tuple[str, str]:
    """Return where a click on the head of a column leads, and how it is ordered, as `aria-sort` has it; '' if it is not."""
    down = "" if name == "created" else f"-{name}"
    first, second = (down, name) if name in FALLING else (name, down)
    direction = {name: "ascending", down: "descending"}.get(now, "")
    return link(order=second if now == first else first), direction


def _event(name: str, data: str) -> bytes:
    lines = "".join(f"data: {line}\n" for line in data.splitlines() or [""])
    return f"event: {name}\n{lines}\n".encode()
