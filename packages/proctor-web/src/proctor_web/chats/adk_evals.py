"""The paths of google-adk's own server for eval sets and their results (VE-3), over the files of the agents' folders.

Source: google/adk-python, src/google/adk/cli/dev_server.py, release 2.13; the older paths with underscores, and those without
`/dev`, are answered too. The files are `<agents>/<app>/<id>.evalset.json`, as google-adk keeps them.
"""

import asyncio
import json
import os
import re
import shutil
import signal
import sys
import tempfile
from collections.abc import Awaitable, Callable, Mapping, Sequence
from contextlib import suppress
from functools import partial
from itertools import chain
from pathlib import Path
from typing import Any

import msgspec
from msgspec.structs import replace
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import BaseRoute, Route

from proctor.core.errors import BadInput
from proctor.runtime.files import write_whole
from proctor.runtime.program import reap, start_whole, state_of_process
from proctor.runtime.threads import in_thread
from proctor_adapters.evalsets import criteria, results
from proctor_adapters.evalsets.noun import as_camel_json, as_json, camel
from proctor_adapters.evalsets.schema import EvalCase
from proctor_web import evalset_files as files
from proctor_web.auth import person_name
from proctor_web.authoring.criteria_file import ABOUT
from proctor_web.authoring.results import task_of
from proctor_web.chats import choices, service
from proctor_web.chats.adk_sessions import Json, RequestRefused, answered, in_a_thread, plain_body, typed
from proctor_web.folder_code import StartableAgent
from proctor_web.workspace import NotFound, Workspace

HISTORY = Path(".adk", "eval_history")
SET_ID = re.compile(r"[A-Za-z0-9_]+")  # what google-adk allows
Handler = Callable[[Request], Awaitable[Response]]
RESULT_ID = re.compile(r"[\w.-]+")
DATA = frozenset({"args", "response", "state", "criterion", "sessionDetails"})  # whose keys are the user's
SAID_CHARACTERS = 2_000


class AddSession(msgspec.Struct, frozen=True, kw_only=True, rename=camel):
    """The body that adds a session to an eval set."""

    eval_id: str
    session_id: str
    user_id: str


class Metric(msgspec.Struct, frozen=True, kw_only=True, rename=camel):
    """A metric to score by."""

    metric_name: str
    threshold: float | None = None
    criterion: Mapping[str, Any] | None = None
    custom_function_path: str | None = None


class RunEval(msgspec.Struct, frozen=True, kw_only=True, rename=camel):
    """The body that runs cases of an eval set; all if none is named."""

    eval_metrics: Sequence[Mapping[str, Any]]
    eval_case_ids: Sequence[str] = ()
    eval_ids: Sequence[str] = ()


class EvalsetFolder(msgspec.Struct, frozen=True, kw_only=True):
    """Where the eval sets of an agent are: a folder, and the way from there to the agent's own."""

    choice: StartableAgent
    folder: Path
    app: str

    def file(self, set_id: str) -> str:
        """Return the name of the file of a set.

        Raises:
            Refused: google-adk would not have such an id.
        """
        if not SET_ID.fullmatch(set_id):
            raise RequestRefused(400, f"Invalid eval set id `{set_id}`: letters, digits and underscores only")
        return f"{self.app}{set_id}.evalset.json"

    @property
    def history(self) -> Path:
        return self.folder / self.app / HISTORY


def routes(workspace: Workspace) -> Sequence[BaseRoute]:
    evals = AdkEvals(workspace)
    case, older_case = "eval-sets/{set}/eval-cases/{case:path}", "eval_sets/{set}/evals/{case:path}"
    handlers: Sequence[tuple[str, Handler, Sequence[str]]] = (  # with the newer and the older address below an app
        ("POST", evals.create, ("eval-sets", "eval_sets/{set}")),
        ("GET", evals.list_sets, ("eval-sets", "eval_sets")),
        ("POST", evals.add_session, ("eval-sets/{set}/add-session", "eval_sets/{set}/add_session")),
        ("GET", evals.list_cases, ("eval-sets/{set}/evals", "eval_sets/{set}/evals")),
        ("GET", evals.get_case, (case, older_case)),
        ("PUT", evals.put_case, (case, older_case)),
        ("DELETE", evals.delete_case, (case, older_case)),
        ("POST", evals.run, ("eval-sets/{set}/run", "eval_sets/{set}/run_eval")),
        ("GET", evals.list_results, ("eval-results", "eval_results")),
        ("GET", evals.get_result, ("eval-results/{result}", "eval_results/{result}")),
        ("GET", evals.list_metrics, ("metrics-info",)),
    )
    return [
        Route(f"{prefix}/apps/{{app}}/{path}", handler, methods=[method])
        for prefix in ("/dev", "")
        for method, handler, paths in handlers
        for path in paths
    ]


class AdkEvals:
    """Eval sets of the agents of google-adk."""

    def __init__(self, workspace: Workspace) -> None:
        self._workspace = workspace

    @in_a_thread
    def create(self, request: Request, given: Json) -> object:
        folder = self._folder(request)
        inner = given.get("evalSet") or given.get("eval_set") or {} if _is_new(request) else {}
        set_id = request.path_params.get("set") or inner.get("eval_set_id") or inner.get("evalSetId")
        if not isinstance(set_id, str):
            raise RequestRefused(422, "evalSet.evalSetId is missing")
        opened = files.new_set(folder.folder, folder.file(set_id), set_id=set_id)
        return as_json(opened.eval_set) if _is_new(request) else None

    @in_a_thread
    def list_sets(self, request: Request, _: Json) -> object:
        folder = self._folder(request)
        paths = sorted(folder.folder.joinpath(folder.app).glob("*.evalset.json"))
        ids = [path.name.removesuffix(".evalset.json") for path in paths]
        return {"evalSetIds": ids} if _is_new(request) else ids

    @in_a_thread
    def add_session(self, request: Request, given: Json) -> None:
        asked = typed(given, AddSession)
        chat = service.chats_of(self._workspace).session(request.path_params["app"], asked.user_id, asked.session_id)
        if chat is None:
            raise NotFound("Session not found")
        folder, opened = self._opened(request)
        if any(case.eval_id == asked.eval_id for case in opened.eval_set.eval_cases):
            raise RequestRefused(400, f"Eval id `{asked.eval_id}` already exists in the eval set")
        case = service.case_of_chat(chat, asked.eval_id)
        files.save_case(folder.folder, opened.file, case, history=self._history(), by=person_name(request))

    @in_a_thread
    def list_cases(self, request: Request, _: Json) -> object:
        try:
            _folder, opened = self._opened(request)
        except NotFound as error:
            raise RequestRefused(400, str(error)) from None
        return sorted(case.eval_id for case in opened.eval_set.eval_cases)

    @in_a_thread
    def get_case(self, request: Request, _: Json) -> object:
        _folder, opened = self._opened(request)
        return as_camel_json(files.find_case(opened, request.path_params["case"]))

    @in_a_thread
    def put_case(self, request: Request, given: Json) -> None:
        case_id = request.path_params["case"]
        try:
            case = EvalCase.model_validate(given)
        except ValueError as error:
            raise RequestRefused(422, str(error)) from None
        if (case.conversation is None) == (case.conversation_scenario is None):
            raise RequestRefused(422, "exactly one of conversation and conversationScenario is needed")
        if case.eval_id not in ("", case_id):
            raise RequestRefused(400, "Eval id in EvalCase should match the eval id in the API route.")
        self._change(request, case_id, files.replacement(case_id, replace(case, eval_id=case_id)))

    @in_a_thread
    def delete_case(self, request: Request, _: Json) -> None:
        case_id = request.path_params["case"]
        self._change(request, case_id, files.deletion(case_id))

    def _change(self, request: Request, case_id: str, wanted: files.EvalsetChange) -> None:
        """Change a case that is there; these clients do not say which one they saw."""
        folder, opened = self._opened(request)
        files.find_case(opened, case_id)
        history, by = self._history(), person_name(request)
        files.change(folder.folder, opened.file, wanted, expected_digest=opened.digest, history=history, by=by)

    @answered
    async def run(self, request: Request) -> Response:
        """Run cases of a set, and return the results; they are kept as a run and as a result file."""
        asked = typed(await plain_body(request), RunEval)
        metrics = [typed(metric, Metric) for metric in asked.eval_metrics]
        folder, opened = await in_thread(partial(self._opened, request))
        task = task_of(opened, [*(asked.eval_case_ids or asked.eval_ids)])
        store = next(iter(self._workspace.stores.values()))
        outcomes = [
            {**_camel(outcome), "evalSetId": opened.eval_set.eval_set_id, "evalSetFile": opened.file}
            for outcome in await _evaluate(folder, task, criteria_of(metrics), store.url)
        ]
        return JSONResponse({"runEvalResults": outcomes} if request.url.path.endswith("/run") else outcomes)

    @in_a_thread
    def list_results(self, request: Request, _: Json) -> object:
        paths = sorted(self._folder(request).history.glob(f"*{results.SUFFIX}"))
        ids = [path.name.removesuffix(results.SUFFIX) for path in paths]
        return {"evalResultIds": ids} if _is_new(request, "eval-results") else ids

    @in_a_thread
    def get_result(self, request: Request, _: Json) -> object:
        id = request.path_params["result"]
        path = self._folder(request).history / f"{id}{results.SUFFIX}"
        if not RESULT_ID.fullmatch(id) or not path.is_file():
            raise NotFound("There is no result {id}.", id=id)
        return _camel(results.read(path))

    @in_a_thread
    def list_metrics(self, request: Request, _: Json) -> object:
        self._folder(request)
        unit = {"interval": {"minValue": 0.0, "openAtMin": False, "maxValue": 1.0, "openAtMax": False}}
        return {
            "metricsInfo": [
                {"metricName": name, "description": str(about), "metricValueInfo": unit, "requiresThreshold": True}
                for name, about in ABOUT.items()
            ]
        }

    def _folder(self, request: Request) -> EvalsetFolder:
        app: str = request.path_params["app"]
        choice = choices.choose(app, self._workspace.agents)
        if choice.kind != "adk" or choice.folder is None or self._workspace.agents is None:
            raise NotFound("'{name}' is no agent of google-adk.", name=app)
        root = self._workspace.agents.resolve()
        return EvalsetFolder(choice=choice, folder=root, app="" if choice.folder == root else f"{app}/")

    def _opened(self, request: Request) -> tuple[EvalsetFolder, files.OpenedEvalset]:
        folder = self._folder(request)
        return folder, files.open_set(folder.folder, folder.file(request.path_params["set"]))

    def _history(self) -> files.History:
        return self._workspace.kept(files.History)


def criteria_of(metrics: Sequence[Metric]) -> dict[str, object]:
    """Return metrics as the criteria of a file; those that only report a number need not be asked for.

    Raises:
        Refused: a function of the user's, which nobody allowed to run, or nothing to score by.
    """
    by_metric: dict[str, Any] = {}
    for metric in metrics:
        if metric.custom_function_path:
            raise RequestRefused(400, f"{metric.metric_name}: a function named in a request is not run")
        if metric.metric_name not in criteria.TOLD:
            given = {key: value for key, value in (metric.criterion or {}).items() if value is not None}
            threshold = metric.threshold if metric.threshold is not None else given.get("threshold")
            by_metric[metric.metric_name] = {"threshold": threshold, **given}
    if not by_metric:
        raise RequestRefused(400, "no metric that scores is named")
    criteria.of(by_metric)
    return by_metric


async def _evaluate(
    place: EvalsetFolder, task: str, chosen: Mapping[str, object], store: str
) -> list[dict[str, object]]:
    """Run `proctor adk eval` in a process of its own, and return the results of the cases; raises what it says if it cannot."""
    with tempfile.TemporaryDirectory(prefix="proctor-eval-") as folder:
        config, results_folder = Path(folder, criteria.FILE), Path(folder, "results")
        await in_thread(partial(write_whole, config, json.dumps({"criteria": chosen}).encode()))
        words = {
            "--agent": place.choice.target,
            "--evalset-file": task,
            "--config-file-path": str(config),
            "--results": str(results_folder),
            "--store": store,
        }
        starting = asyncio.create_subprocess_exec(
            *(sys.executable, "-P", "-m", "proctor", "adk", "eval", "--quiet", *chain(*words.items())),
            stdin=asyncio.subprocess.DEVNULL,
            stdout=asyncio.subprocess.DEVNULL,
            stderr=asyncio.subprocess.PIPE,
            start_new_session=True,
        )
        process = await start_whole(starting, state_of_process)
        try:
            _, said = await process.communicate()
        finally:
            if process.returncode is None:
                with suppress(ProcessLookupError):
                    os.killpg(process.pid, signal.SIGTERM)
                await reap(process)
        cases: list[dict[str, Any]] = await in_thread(
            partial(_taken, results_folder, place.history, said.decode(errors="replace"))
        )
        return cases


def _taken(made: Path, history: Path, said: str) -> list[dict[str, object]]:
    """Move the result files to the others, and return the cases in them."""
    paths = sorted(made.glob(f"*{results.SUFFIX}"))
    if not paths:
        raise BadInput("The eval set could not be run: {said}", said=said[-SAID_CHARACTERS:].strip() or "-")
    history.mkdir(parents=True, exist_ok=True)
    cases: list[dict[str, Any]] = []
    for path in paths:
        cases += results.read(path)["eval_case_results"]
        shutil.move(path, history / path.name)
    return cases


def _camel(value: Any) -> Any:
    """Return the JSON of a result with its keys in camelCase, and without what is null; the user's own keys stay."""
    if isinstance(value, list):
        return [_camel(item) for item in value]
    if not isinstance(value, dict):
        return value
    return {
        camel(key): inner if camel(key) in DATA else _camel(inner) for key, inner in value.items() if inner is not None
    }


def _is_new(request: Request, name: str = "eval-sets") -> bool:
    """True for a path in the newer spelling, whose answers are objects."""
    return name in request.url.path
