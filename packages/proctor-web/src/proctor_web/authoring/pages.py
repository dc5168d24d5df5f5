"""The pages of eval sets: the folder, a set, a case with its form and its results, the criteria, and two who changed one case."""

import json
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from typing import Any, NamedTuple
from urllib.parse import urlencode

import msgspec
from msgspec.structs import replace
from starlette.requests import Request
from starlette.responses import RedirectResponse, Response
from starlette.routing import BaseRoute, Route

from proctor.core.errors import BadInput
from proctor.core.run import RunSpec
from proctor.core.sentence import Sentence, say
from proctor_adapters.evalsets.noun import as_json
from proctor_adapters.evalsets.outcomes import Call, CaseOutcome, TurnOutcome, outcome_of
from proctor_adapters.evalsets.schema import PERSONAS, EvalCase
from proctor_web import evalset_files as files
from proctor_web.app import page
from proctor_web.auth import FormFields, person_name, post
from proctor_web.authoring import criteria_file, editing, forms, results, tools
from proctor_web.authoring.forms import CaseForm
from proctor_web.authoring.results import RunOfSet
from proctor_web.comparing.word_diff import WordDiffPiece, diff_words
from proctor_web.evalset_files import Conflict, History, OpenedEvalset, SetReference, folder_of
from proctor_web.operations import convert, read, read_filter
from proctor_web.runs import choices, permitted
from proctor_web.workspace import Found, NotFound, Workspace

BASE_BYTES = 32_000_000
CHANGES: Mapping[str, tuple[type[Any], Callable[..., object]]] = {  # of a whole set, by the end of their address
    "set": (editing.SetChange, editing.change_set),
    "undo": (editing.UndoGiven, lambda workspace, given, _: editing.undo(workspace, given)),
    "duplicate": (editing.CaseAct, editing.duplicate_case),
    "delete": (editing.CaseAct, editing.delete_case),
    "move": (editing.CaseMove, editing.move_case),
}
HISTORY_SHOWN = 10
RUNS_LOOKED_AT = 5  # for the last result of each case of a list


class Bases:
    """The cases that forms were filled with, by digest, so that a form can be read after its case was changed elsewhere."""

    def __init__(self, _: Workspace) -> None:
        self._cases: dict[str, tuple[EvalCase, int]] = {}

    def keep(self, case: EvalCase) -> str:
        """Keep a case and return its digest; those that were not used for long give way."""
        digest = files.case_digest(case)
        self._cases.pop(digest, None)
        self._cases[digest] = case, len(msgspec.json.encode(str(as_json(case)).encode("utf-8", "replace").decode()))
        while sum(size for _, size in self._cases.values()) > BASE_BYTES and len(self._cases) > 1:
            del self._cases[next(iter(self._cases))]
        return digest

    def find(self, digest: str) -> EvalCase | None:
        kept = self._cases.get(digest)
        return kept[0] if kept is not None else None


class ShownTurn(NamedTuple):
    """What an actual turn is shown with: the response and the expected one, split where they differ."""

    turn: TurnOutcome
    expected: Sequence[WordDiffPiece]
    actual: Sequence[WordDiffPiece]
    calls: Sequence[tuple[str, bool]]  # each as text, and if it is the one expected at its index


class CaseAddress(msgspec.Struct, frozen=True, kw_only=True):
    """What the address of the page of a case says."""

    file: str
    case: str = ""
    run: str = ""
    attempt: int = 0
    kind: str = ""


def routes(workspace: Workspace) -> Sequence[BaseRoute]:
    pages = _AuthoringPages(workspace)
    return [
        Route("/evalsets", pages.sets),
        post("/evalsets", pages.make_set),
        Route("/evalsets/set", pages.set),
        *(post(f"/evalsets/{name}", pages.changes(kind, change)) for name, (kind, change) in CHANGES.items()),
        Route("/evalsets/case", pages.case),
        post("/evalsets/case", pages.change_case),
        post("/evalsets/run", pages.run),
        Route("/evalsets/criteria", pages.criteria),
        post("/evalsets/criteria", pages.change_criteria),
    ]


class CaseDraft(msgspec.Struct, frozen=True, kw_only=True):
    """What the form of a case is filled with.

    Attributes:
        base: the key of the case that it changes.
        digest: that of the case in the file, when the user began.
        problems: what cannot be saved, by field; `wrong` is about none of them.
        unsaved: it has what is not in the file.
    """

    form: CaseForm
    base: str = ""
    digest: str
    problems: Mapping[str, Sentence] = {}
    wrong: Sentence | None = None
    unsaved: bool = False


class _AuthoringPages:
    def __init__(self, workspace: Workspace) -> None:
        self._workspace = workspace

    def sets(self, request: Request) -> Response:
        if self._workspace.evalsets is None and self._workspace.agents is None:
            return page(request, "authoring/sets.html.jinja", found=None, text="")
        given = read_filter(request, editing.SetFilter)
        listed = editing.list_sets(self._workspace, given)
        return page(request, "authoring/sets.html.jinja", found=listed, text=given.text)

    def make_set(self, request: Request, fields: Mapping[str, str]) -> Response:
        name = fields.get("file", "").strip().removesuffix(".evalset.json")
        given = editing.NewSet(file=f"{name}.evalset.json", description=fields.get("description", "").strip())
        return _to("/evalsets/set", file=editing.create_set(self._workspace, given).file)

    def set(self, request: Request, *, wrong: Sentence | None = None, status: int = 200) -> Response:
        given = read_filter(request, editing.SetGiven, also=("run", "done"))
        opened = files.open_set(folder_of(self._workspace), given.file)
        view = editing.view_of(self._workspace, opened, given)
        runs = results.runs_of(self._workspace, opened)
        wanted = request.query_params.get("run", "")
        looked_at = [run for run in runs if wanted in ("", run[1].run)][:RUNS_LOOKED_AT]
        criteria = criteria_file.get_criteria(self._workspace, SetReference(file=given.file))
        by_case = {row.case: self._result(opened, row.case, looked_at) for row in view.cases}
        return page(
            request,
            "authoring/set.html.jinja",
            status=status,
            set=view,
            text=given.text,
            after=given.after,
            runs=[run for _, run in runs],
            wanted=wanted,
            starting=bool(wanted) and not looked_at and results.is_starting(self._workspace, wanted),
            is_live=wanted in {run.run for _, run in runs if run.state == "running"},
            agents=choices.list_choices(self._workspace).agents,
            usual_agent=self._usual_agent(opened, runs),
            needs_judge=any(metric.needs_judge and metric.chosen for metric in criteria.metrics),
            needs_user=any(row.is_scenario for row in view.cases),
            by_case={case: result for case, result in by_case.items() if result is not None},
            criteria=criteria,
            wrong=wrong,
            conflict=status == 409,
            done=request.query_params.get("done", ""),
        )

    def _usual_agent(self, opened: OpenedEvalset, runs: Sequence[tuple[Found, RunOfSet]]) -> str:
        """Return the agent of the last run that may be started from here, '' for none."""
        for _, run in runs[:RUNS_LOOKED_AT]:
            with suppress(BadInput):
                permitted.check(self._workspace, RunSpec(task=str(opened.path), agent=run.spec))
                return run.spec
        return ""

    def changes(self, kind: type[Any], change: Callable[..., object]) -> Callable[[Request, FormFields], Response]:
        """Return what changes a set and shows it again; whoever was too late sees a message above the set as it is now."""

        def answer(request: Request, fields: FormFields) -> Response:
            given = convert(fields, kind)
            try:
                change(self._workspace, given, person_name(request))
            except Conflict as error:
                return self._set_of(request, given.file, wrong=error.sentence, status=409)
            return _to("/evalsets/set", file=given.file)

        return answer

    def _set_of(self, request: Request, file: str, *, wrong: Sentence, status: int) -> Response:
        scope = {**request.scope, "query_string": urlencode({"file": file}).encode()}
        return self.set(Request(scope), wrong=wrong, status=status)

    def case(self, request: Request) -> Response:
        address = read_filter(request, CaseAddress, also=("agent", "done"))
        opened = files.open_set(folder_of(self._workspace), address.file)
        case = files.find_case(opened, address.case) if address.case else EvalCase(eval_id="", conversation=[])
        filled = forms.form_of(case)
        if not address.case:
            filled = forms.act(filled, "add turns")
            filled = msgspec.structs.replace(filled, scenario="1" if address.kind == "scenario" else "")
        digest = self._workspace.kept(Bases).keep(case)
        return self._case(request, opened, address, CaseDraft(form=filled, base=digest, digest=digest))

    def change_case(self, request: Request, fields: Mapping[str, str]) -> Response:
        address = read(request, CaseAddress)
        opened = files.open_set(folder_of(self._workspace), address.file)
        bases = self._workspace.kept(Bases)
        current = next((other for other in opened.eval_set.eval_cases if other.eval_id == address.case), None)
        base = bases.find(fields.get("base", "")) or current or EvalCase(eval_id="", conversation=[])
        given, digest = forms.read_form(fields), fields.get("digest", "")
        if not forms.is_editable(forms.form_of(base)):
            raise BadInput("The case has more than a form can hold. Edit it in its file.")
        draft, do = CaseDraft(form=given, digest=digest, unsaved=True), fields.get("do", "save")
        case, problems = forms.case_from(given, base)
        if do.startswith("accept ") and not problems:
            return self._accept(request, opened, address, case, do, digest)
        if do not in ("save", "run") and not do.startswith("accept "):
            return self._case(
                request, opened, address, replace(draft, form=forms.act(given, do), base=bases.keep(base))
            )
        wrong: Sentence | None = None
        if not problems:
            try:
                return self._save(request, address, case, digest, fields if do == "run" else None)
            except Conflict as error:
                return self._conflict(request, address, given, case, error, bases.keep(base))
            except BadInput as error:
                wrong = error.sentence
        draft = replace(draft, base=bases.keep(base), problems=problems, wrong=wrong)
        return self._case(request, opened, address, draft)

    def _save(
        self, request: Request, place: CaseAddress, made: EvalCase, digest: str, run: Mapping[str, str] | None
    ) -> Response:
        """Save a case, and run it alone where the fields of a run are given."""
        saved = files.save_case(
            folder_of(self._workspace),
            place.file,
            made,
            case_id=place.case or None,
            expected_digest=digest,
            history=self._workspace.kept(History),
            by=person_name(request),
        )
        if run is None:
            return _to("/evalsets/case", file=place.file, case=saved.case, run=place.run, done="saved")
        given = results.Selected(
            file=place.file,
            cases=(saved.case,),
            agent=run.get("agent", ""),
            judge=run.get("judge", ""),
            user=run.get("user", ""),
        )
        try:
            started = results.run_cases(self._workspace, given, person_name(request), request.state.lang)
        except BadInput as error:  # it is saved all the same
            opened = files.open_set(folder_of(self._workspace), place.file)
            case = files.find_case(opened, saved.case)
            digest = self._workspace.kept(Bases).keep(case)
            place = CaseAddress(file=place.file, case=saved.case)
            draft = CaseDraft(form=forms.form_of(case), base=digest, digest=digest, wrong=error.sentence)
            return self._case(request, opened, place, draft)
        return _to("/evalsets/case", file=place.file, case=saved.case, run=started.run, done="saved")

    def _accept(
        self, request: Request, opened: OpenedEvalset, place: CaseAddress, made: EvalCase, do: str, digest: str
    ) -> Response:
        """Fill the form with what the agent did; it is saved when the user saves it."""
        bases = self._workspace.kept(Bases)
        result, wrong = self._result(opened, place.case, results.runs_of(self._workspace, opened), place.run), None
        _, turn, what = [*do.split(" "), "", ""][:3]
        if result is not None and what in results.WHAT:
            try:
                index = int(turn) if turn.isdecimal() else None
                made = results.accepted(made, result[1], results.WHAT[what], place.attempt, index)
            except BadInput as error:
                wrong = error.sentence
        base = bases.keep(made)
        draft = CaseDraft(form=forms.form_of(made), base=base, digest=digest, unsaved=True, wrong=wrong)
        return self._case(request, opened, place, draft)

    def _case(self, request: Request, opened: OpenedEvalset, place: CaseAddress, draft: CaseDraft) -> Response:
        runs = results.runs_of(self._workspace, opened) if place.case else []
        known = tools.known_tools(opened.eval_set)
        criteria = criteria_file.get_criteria(self._workspace, SetReference(file=place.file))
        ids = ["", *(eval_case.eval_id for eval_case in opened.eval_set.eval_cases), ""]
        at = ids.index(place.case, 1) if place.case in ids[1:-1] else 0
        return page(
            request,
            "authoring/case.html.jinja",
            status=422 if draft.problems or draft.wrong is not None else 200,
            opened=opened,
            place=place,
            is_long=not forms.is_editable(draft.form),
            **msgspec.structs.asdict(draft),
            tools=known,
            advice={
                f"turns.{index}.calls.{number}": list(tools.advise(call.name, call.arguments, known))
                for index, turn in enumerate(draft.form.turns)
                for number, call in enumerate(turn.calls)
            },
            personas=PERSONAS,
            previous=ids[at - 1] if at else "",
            next=ids[at + 1] if at else "",
            agents=choices.list_choices(self._workspace).agents,
            usual_agent=request.query_params.get("agent", "") or self._usual_agent(opened, runs),
            needs_judge=any(metric.needs_judge and metric.chosen for metric in criteria.metrics),
            calls_of=lambda turn: [_call_text(call) for call in turn.calls],
            done=request.query_params.get("done", "") if not draft.unsaved else "",
            **self._played(opened, place, draft.form, runs),
        )

    def _played(
        self, opened: OpenedEvalset, place: CaseAddress, form: CaseForm, runs: Sequence[tuple[Found, RunOfSet]]
    ) -> dict[str, object]:
        """Return what a page shows of the runs of a case, the one in its address before the last."""
        result = self._result(opened, place.case, runs, place.run)
        run, outcome = result if result is not None else (None, None)
        history = [row for row in results.history_of(runs, opened, place.case) if row.status]
        return {
            "history": history[:HISTORY_SHOWN],
            "run": run,
            "outcome": outcome,
            "waits": bool(place.run) and result is None and results.is_starting(self._workspace, place.run),
            "attempts": sorted({turn.attempt for turn in outcome.turns}) if outcome is not None else [],
            "actual": _actual(form, outcome, place.attempt),
            "said": _of_attempt(outcome, place.attempt) if form.scenario else [],
        }

    def _result(
        self, opened: OpenedEvalset, case_id: str, runs: Sequence[tuple[Found, RunOfSet]], wanted: str = ""
    ) -> tuple[RunOfSet, CaseOutcome] | None:
        """Return the result of a case in the run that is wanted, else in the last one that has it."""
        for workspace_run, run in runs:
            if wanted in ("", run.run) and (not run.selected or case_id in run.selected):
                outcome = outcome_of(
                    workspace_run.record, workspace_run.store, results.sample_id(workspace_run, opened, case_id)
                )
                if outcome is not None:
                    return run, outcome
        return None

    def _conflict(
        self, request: Request, place: CaseAddress, given: CaseForm, made: EvalCase, error: Conflict, base: str
    ) -> Response:
        theirs = error.theirs
        mine = dict(forms.fields_of(forms.form_of(made)))
        other = dict(forms.fields_of(forms.form_of(theirs))) if theirs is not None else {}
        rows = [
            (name, _field_name(name), *diff_words(other.get(name, ""), mine.get(name, "")))
            for name in dict.fromkeys([*other, *mine])
            if other.get(name, "") != mine.get(name, "") and name.rpartition(".")[2] not in ("origin", "also")
        ]
        return page(
            request,
            "authoring/conflict.html.jinja",
            status=409,
            place=place,
            fields=list(forms.fields_of(given)),
            base=base,
            theirs=theirs,
            digest=files.case_digest(theirs) if theirs is not None else "",
            rows=rows,
        )

    def run(self, request: Request, fields: FormFields) -> Response:
        """Run the selected cases, and show the set with what comes in."""
        filled = {name: text for name, text in fields.items() if text}
        given = convert({**filled, "cases": fields.several("cases")}, results.Selected)
        try:
            started = results.run_cases(self._workspace, given, person_name(request), request.state.lang)
        except NotFound:
            raise
        except BadInput as error:
            return self._set_of(request, given.file, wrong=error.sentence, status=422)
        return _to("/evalsets/set", file=given.file, run=started.run)

    def criteria(self, request: Request, *, file: str | None = None, wrong: Sentence | None = None) -> Response:
        given = read_filter(request, SetReference, also=("done",)) if file is None else SetReference(file=file)
        return page(
            request,
            "authoring/criteria.html.jinja",
            status=200 if wrong is None else 422,
            view=criteria_file.get_criteria(self._workspace, given),
            file=given.file,
            wrong=wrong,
            done=request.query_params.get("done", ""),
        )

    def change_criteria(self, request: Request, fields: Mapping[str, str]) -> Response:
        file = fields.get("file", "")
        chosen = []
        for name in criteria_file.ABOUT:
            if fields.get(f"{name}.chosen"):
                texts = {"name": name} | {
                    key: fields[f"{name}.{key}"].strip()
                    for key in ("threshold", "match_type", "samples")
                    if fields.get(f"{name}.{key}", "").strip()
                }
                chosen.append(convert(texts, criteria_file.MetricChoice))
        given = criteria_file.CriteriaChange(file=file, digest=fields.get("digest", ""), metrics=tuple(chosen))
        try:
            criteria_file.change_criteria(self._workspace, given)
        except NotFound:
            raise
        except BadInput as error:
            return self.criteria(request, file=file, wrong=error.sentence)
        return _to("/evalsets/criteria", file=file, done="saved")


def _field_name(name: str) -> Sentence:
    match name.split("."):
        case ["turns", turn, "calls", call, *_]:
            return say("Turn {turn}, call {call}", turn=int(turn) + 1, call=int(call) + 1)
        case ["turns", turn, "user", *_]:
            return say("Turn {turn}: the user says", turn=int(turn) + 1)
        case ["turns", turn, "response", *_]:
            return say("Turn {turn}: expected response", turn=int(turn) + 1)
        case ["turns", turn, *_]:
            return say("Turn {turn}: rubrics", turn=int(turn) + 1)
        case ["rubrics", *_]:
            return say("Rubrics of the case")
        case ["case_id"]:
            return say("Id")
        case ["scenario" | "starting_prompt" | "plan" | "persona"]:
            return say("Scenario of a simulated user")
    return say("Session: what the conversation begins with, and ends with")


def _actual(given: CaseForm, outcome: CaseOutcome | None, attempt: int) -> Mapping[int, ShownTurn]:
    """Return the actual turns by the row they are shown next to: the same index, if the case has as many turns."""
    turns = {}
    for turn in _of_attempt(outcome, attempt):
        if turn.place >= len(given.turns):
            continue
        row = given.turns[turn.place]
        expected = "\n".join(part.text for part in row.response if part.text)
        calls = [
            (_call_text(call), at < len(row.calls) and _is(call, row.calls[at])) for at, call in enumerate(turn.calls)
        ]
        turns[turn.place] = ShownTurn(turn, *diff_words(expected, turn.response), calls)
    return turns


def _of_attempt(outcome: CaseOutcome | None, attempt: int) -> Sequence[TurnOutcome]:
    return [turn for turn in outcome.turns if turn.attempt == attempt] if outcome is not None else []


def _call_text(call: Call) -> str:
    return f"{call['name']}({forms.arguments_text(call['args'])})"


def _is(call: Call, row: forms.CallRow) -> bool:
    """True if a call is the one that a row of the form expects."""
    try:
        args = json.loads(row.arguments) if row.arguments.strip() else None
    except (ValueError, RecursionError):
        return False
    return call["name"] == row.name.strip() and call["args"] == args


def _to(path: str, **query: str) -> Response:
    return RedirectResponse(f"{path}?{urlencode({key: value for key, value in query.items() if value})}", 303)
