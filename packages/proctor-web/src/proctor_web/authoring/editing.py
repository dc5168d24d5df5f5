"""What programs and pages can ask of the eval sets of a workspace: list, open, change, take back."""

import json
from typing import Annotated, Any

import msgspec
from msgspec.structs import replace

from proctor.core.errors import BadInput
from proctor.core.sentence import Sentence, say
from proctor_adapters.evalsets.noun import as_json
from proctor_adapters.evalsets.read import Shape, case_of
from proctor_adapters.evalsets.schema import EvalCase, EvalSet, texts
from proctor_web import evalset_files as files
from proctor_web.evalset_files import History, OpenedEvalset, Saved, SetFile, SetReference, folder_of
from proctor_web.workspace import Workspace

ASKED_CHARACTERS = 300
Size = Annotated[int, msgspec.Meta(ge=1, le=500)]


class SetFilter(msgspec.Struct, frozen=True, kw_only=True):
    """Which sets to list: those with the text in their file, id, name or description."""

    text: str = ""


class SetGiven(SetReference, frozen=True, kw_only=True):
    """A request for cases of a set: those that contain a text, after a given case, at most `size`."""

    text: str = ""
    after: str = ""
    size: Size = 50


class CaseGiven(SetReference, frozen=True, kw_only=True):
    """A case of a set."""

    case: str


class NewSet(msgspec.Struct, frozen=True, kw_only=True):
    """A set to make; its id is the name of the file if none is given."""

    file: str
    set_id: str = ""
    name: str = ""
    description: str = ""


class SetChange(msgspec.Struct, frozen=True, kw_only=True):
    """New words for a set; `digest` is that of the file as it was read."""

    file: str
    digest: str
    name: str = ""
    description: str = ""


class NewCase(msgspec.Struct, frozen=True, kw_only=True):
    """A case to add: an EvalCase of google-adk as JSON. If its id is taken it gets a number appended."""

    file: str
    value: dict[str, Any]


class CaseAct(CaseGiven, frozen=True, kw_only=True):
    """A case to duplicate or delete; `digest` is that of the case or of the file as it was read."""

    digest: str


class CaseChange(CaseAct, frozen=True, kw_only=True):
    """What to write in place of a case; `digest` is that of the case or of the file as it was read."""

    value: dict[str, Any]


class CaseMove(msgspec.Struct, frozen=True, kw_only=True):
    """A case to move to an index, counted from 0; `digest` is that of the file as it was read."""

    file: str
    case: str
    to: Annotated[int, msgspec.Meta(ge=0)]
    digest: str


class UndoGiven(SetReference, frozen=True, kw_only=True):
    """The change to take back, by its number."""

    number: int


class CaseRow(msgspec.Struct, frozen=True, kw_only=True):
    """What a list shows of a case."""

    case: str
    index: int
    digest: str
    asks: str
    turns: int = 0
    calls: int = 0
    rubrics: int = 0
    is_scenario: bool = False
    has_session: bool = False


class Undoable(msgspec.Struct, frozen=True, kw_only=True):
    """The last change that was made here, while the file is what it made of it."""

    number: int
    what: Sentence
    by: str
    at: float


class SetPage(msgspec.Struct, frozen=True, kw_only=True):
    """The sets of the folder, and the path of that."""

    folder: str
    sets: tuple[SetFile, ...]


class SetView(msgspec.Struct, frozen=True, kw_only=True):
    """A set with some of its cases; `next` is the case to go on after, '' at the end."""

    file: str
    digest: str
    set_id: str
    name: str
    description: str
    shape: Shape
    total: int
    cases: tuple[CaseRow, ...]
    next: str = ""
    notes: tuple[Sentence, ...] = ()
    undo: Undoable | None = None


class CaseView(msgspec.Struct, frozen=True, kw_only=True):
    """A case as google-adk writes it, its digest, and its neighbours in the file."""

    file: str
    case: str
    digest: str
    value: dict[str, Any]
    previous: str = ""
    next: str = ""


class Undone(msgspec.Struct, frozen=True, kw_only=True):
    """What was taken back."""

    what: Sentence


def list_sets(workspace: Workspace, given: SetFilter) -> SetPage:
    """List the eval-set files of the folder."""
    folder = folder_of(workspace)
    wanted = given.text.casefold()
    matching = [
        file
        for file in files.list_sets(folder)
        if wanted in "\n".join((file.file, file.set_id, file.name, file.description)).casefold()
    ]
    return SetPage(folder=str(folder), sets=tuple(matching))


def create_set(workspace: Workspace, given: NewSet) -> Saved:
    """Make an eval-set file without cases."""
    opened = files.new_set(
        folder_of(workspace), given.file, set_id=given.set_id, name=given.name, description=given.description
    )
    return Saved(file=opened.file, digest=opened.digest)


def open_set(workspace: Workspace, given: SetGiven) -> SetView:
    """Open an eval-set file and list its cases."""
    opened = files.open_set(folder_of(workspace), given.file)
    return view_of(workspace, opened, given)


def view_of(workspace: Workspace, opened: OpenedEvalset, given: SetGiven) -> SetView:
    """Return what is shown of a set that was read."""
    eval_set = opened.eval_set
    wanted = given.text.casefold()
    rows = [(index, case) for index, case in enumerate(eval_set.eval_cases) if not wanted or _holds(case, wanted)]
    if given.after:
        start = next((position for position, (_, case) in enumerate(rows, start=1) if case.eval_id == given.after), 0)
        rows = rows[start:]
    step = workspace.kept(History).last(opened)
    return SetView(
        file=opened.file,
        digest=opened.digest,
        set_id=eval_set.eval_set_id,
        name=eval_set.name or "",
        description=eval_set.description or "",
        shape=opened.loaded.shape,
        total=len(eval_set.eval_cases),
        cases=tuple(_row(index, case) for index, case in rows[: given.size]),
        next=rows[given.size - 1][1].eval_id if len(rows) > given.size else "",
        notes=tuple(map(files.plain, opened.loaded.notes)),
        undo=Undoable(number=step.number, what=step.what, by=step.by, at=step.at) if step is not None else None,
    )


def change_set(workspace: Workspace, given: SetChange, by: str) -> Saved:
    """Change the name and the description of a set."""

    def edit(eval_set: EvalSet) -> EvalSet:
        name, description = eval_set.name or "", eval_set.description or ""
        return replace(
            eval_set,
            name=eval_set.name if given.name == name else given.name or None,
            description=eval_set.description if given.description == description else given.description or None,
        )

    return _change(workspace, given, files.EvalsetChange(edit, say("name and description changed"), whole=True), by)


def open_case(workspace: Workspace, given: CaseGiven) -> CaseView:
    """Open one case of a set."""
    opened = files.open_set(folder_of(workspace), given.file)
    case = files.find_case(opened, given.case)
    ids = ["", *(other.eval_id for other in opened.eval_set.eval_cases), ""]
    at = ids.index(given.case, 1)
    return CaseView(
        file=opened.file,
        case=case.eval_id,
        digest=files.case_digest(case),
        value=as_json(case),
        previous=ids[at - 1],
        next=ids[at + 1],
    )


def add_case(workspace: Workspace, given: NewCase, by: str) -> Saved:
    """Add a case to a set."""
    history = workspace.kept(History)
    return files.save_case(folder_of(workspace), given.file, _case(given.value), history=history, by=by)


def change_case(workspace: Workspace, given: CaseChange, by: str) -> Saved:
    """Write a case in place of another; of what did not change nothing is rewritten."""
    return files.save_case(
        folder_of(workspace),
        given.file,
        _case(given.value),
        case_id=given.case,
        expected_digest=given.digest,
        history=workspace.kept(History),
        by=by,
    )


def duplicate_case(workspace: Workspace, given: CaseAct, by: str) -> Saved:
    """Write a copy of a case after it."""
    return _change(workspace, given, files.duplication(given.case), by)


def delete_case(workspace: Workspace, given: CaseAct, by: str) -> Saved:
    """Take a case out of a set."""
    return _change(workspace, given, files.deletion(given.case), by)


def move_case(workspace: Workspace, given: CaseMove, by: str) -> Saved:
    """Give a case another position in its set."""
    return _change(workspace, given, files.move(given.case, given.to), by)


def undo(workspace: Workspace, given: UndoGiven) -> Undone:
    """Take back the last change of a file that was made here, if nothing else changed it since."""
    return Undone(what=files.undo(folder_of(workspace), given.file, workspace.kept(History), given.number))


def _change(workspace: Workspace, given: SetChange | CaseAct | CaseMove, wanted: files.EvalsetChange, by: str) -> Saved:
    history = workspace.kept(History)
    return files.change(folder_of(workspace), given.file, wanted, expected_digest=given.digest, history=history, by=by)


def _case(value: dict[str, object]) -> EvalCase:
    try:
        return case_of(json.dumps(value))
    except RecursionError:
        raise BadInput("The case is nested too deep.") from None


def _row(index: int, case: EvalCase) -> CaseRow:
    turns = case.conversation or []
    data = [turn.intermediate_data for turn in turns if turn.intermediate_data is not None]
    return CaseRow(
        case=case.eval_id,
        index=index,
        digest=files.case_digest(case),
        asks=_asked(case)[:ASKED_CHARACTERS],
        turns=len(turns),
        calls=sum(len(each.calls()) for each in data),
        rubrics=len(case.rubrics or ()) + sum(len(turn.rubrics or ()) for turn in turns),
        is_scenario=case.conversation_scenario is not None,
        has_session=case.session_input is not None,
    )


def _asked(case: EvalCase) -> str:
    if case.conversation_scenario is not None:
        return case.conversation_scenario.starting_prompt
    return "\n".join(text for turn in (case.conversation or ())[:1] for text in texts(turn.user_content))


def _holds(case: EvalCase, wanted: str) -> bool:
    """True if the id of a case, or what is said in it, has a text."""
    said = [
        text
        for turn in case.conversation or ()
        for content in (turn.user_content, turn.final_response)
        for text in texts(content)
    ]
    return any(wanted in text.casefold() for text in (case.eval_id, _asked(case), *said))
