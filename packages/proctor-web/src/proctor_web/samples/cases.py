"""Make a case of an eval set from an attempt at a sample: what was said and called is what it expects."""

from collections.abc import Iterator, Sequence

from msgspec.structs import replace

from proctor.core.errors import BadInput
from proctor.core.sample import File, Message, Turn
from proctor.reports.story import PlayedTurn, played_turns
from proctor_adapters.evalsets.recording import Played, case_of, session_input
from proctor_web.evalset_files import History, Saved, checked_id, folder_of, list_sets, save_case
from proctor_web.samples.attachments import read_attachment
from proctor_web.samples.sample import Attempt, SampleAttempt
from proctor_web.workspace import Workspace


class CaseOfSample(SampleAttempt, frozen=True, kw_only=True):
    """The eval-set file that gets a case, which is made where it is not there; the id of the case, that of the sample if empty."""

    file: str
    case_id: str = ""


def add_case(workspace: Workspace, given: CaseOfSample, by: str) -> Saved:
    """Add an attempt to an eval set: what was said and called is what the new case expects."""
    folder = folder_of(workspace)
    attempt = Attempt(workspace, given)
    # the id of a case has no commas and no line breaks
    own = "".join("_" if sign == "," or not sign.isprintable() else sign for sign in given.sample).strip()[:200]
    case_id = given.case_id.strip() or own
    begin = session_input(attempt.sample.known.session) if attempt.sample is not None else None
    case = case_of(checked_id(case_id), _played(attempt), begin)
    return save_case(folder, given.file.strip(), case, history=workspace.kept(History), by=by)


def can_add(workspace: Workspace) -> bool:
    """True if there is a folder of eval sets."""
    return (workspace.evalsets or workspace.agents) is not None


def list_case_files(workspace: Workspace) -> Sequence[str]:
    """Return the eval-set files that a case can be added to; none without a folder of them."""
    if not can_add(workspace):
        return ()
    return [file.file for file in list_sets(folder_of(workspace)) if file.problem is None]


def _played(one: Attempt) -> Played:
    """Return what users said in each turn, and what the agent and its tools did then."""
    own = one.sample.turns if one.sample is not None else ()
    return [
        (
            Turn(messages=tuple(_with_files(message) for message in _said_by_users(turn, own))),
            [replace(step, message=_with_files(step.message)) for step in turn.steps if step.message.role != "user"],
        )
        for turn in played_turns(one.sample, one.trial.trajectory)
    ]


def _said_by_users(turn: PlayedTurn, own: Sequence[Turn]) -> Iterator[Message]:
    """Yield the user's messages of a turn, in the words of the sample, and those of a simulated user."""
    written = own[turn.number].messages if turn.number < len(own) else ()
    for message in (*written, *(step.message for step in turn.steps)):
        if message.role == "user":
            yield message


def _with_files(message: Message) -> Message:
    """Return the message with its files as bytes; raises where the server may not read one of them."""
    parts = (_with_bytes(part) if isinstance(part, File) else part for part in message.parts)
    return replace(message, parts=tuple(parts))


def _with_bytes(file: File) -> File:
    if file.data is not None or (file.path is None and file.url is not None):
        return file
    data = read_attachment(file)
    if data is None:
        raise BadInput(
            "The attachment {name} cannot be read from here; nothing was added.", name=file.name or file.path
        )
    return replace(file, data=data)
