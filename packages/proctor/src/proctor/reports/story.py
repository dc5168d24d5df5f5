"""Gather the story of one trial: the question, the expected answer, the agent's steps, and the verdicts."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, Literal

import msgspec

from proctor.chat.message_text import describe_file
from proctor.core.digest import digest_bytes
from proctor.core.errors import BadInput
from proctor.core.known import KnownDetails
from proctor.core.media_type import shown_type
from proctor.core.sample import File, Message, Reasoning, Sample, Text, ToolCall, ToolResult
from proctor.core.score import Score, Unscored, short_reason
from proctor.core.sentence import Sentence
from proctor.core.task import Store
from proctor.core.trajectory import Approval, StateChange, Step, Trajectory, Usage
from proctor.core.trial import FailedRequest, Outcome, Trial, TrialFailure, Verdict
from proctor.registry import SCORERS
from proctor.reports.pairs import CallRows, ShownCall, call_text, calls_in, pairs, pairs_of_sides, value_text
from proctor.stores.reading import trial_of, verdicts_of
from proctor.trajectory_matching.expectation import answer

Kind = Literal["text", "reasoning", "file", "call", "result", "change", "approves", "denies", "answers", "decides"]
SHOWN_LINES = 60
NO_CALL_IS_RIGHT = (
    "call_not_wanted",
    "unnecessary_call",
)  # classes of errors of samples that expect no call, and say nothing


class StoryLine(msgspec.Struct, frozen=True, kw_only=True):
    """One part of the conversation; `media` has the bytes of a picture or sound that a page may show, else b""."""

    turn: int
    role: str
    kind: Kind
    text: str
    media: bytes = b""


class StoryMark(msgspec.Struct, frozen=True):
    """The points that a judge gave in one dimension, on its scale; None if it could not decide."""

    name: str
    points: float | None
    low: float = 0.0
    high: float = 1.0


class StoryFinding(msgspec.Struct, frozen=True, kw_only=True):
    """The verdict of one scorer; `value` is None if there is no score, and `why` is the reason.

    `passed`: full marks, or what a scorer with a pass mark of its own lets pass. `marks`: what a judge gave by dimension.
    """

    scorer: str
    version: str = ""
    value: float | None = None
    points: float = 0.0
    out_of: float = 1.0
    why: str = ""
    reason: str | Sentence = ""
    error_class: str = ""
    error_type: str = ""
    passed: bool = False
    marks: tuple[StoryMark, ...] = ()


class Story(msgspec.Struct, frozen=True, kw_only=True):
    """A trial with its sample and verdicts. `expected` and `made` are what is not in `pairs`, such as text.

    Attributes:
        answer: the last words of the agent, next to the `calls` that it made.
        target: what the sample expects, as data; of a sample with references by turn, the list of them.
    """

    sample_id: str
    attempt: int
    outcome: Outcome
    tags: Mapping[str, str] = {}
    question: str = ""
    lines: tuple[StoryLine, ...] = ()
    left_out: int = 0
    pairs: tuple[CallRows, ...] = ()
    expected: str = ""
    made: str = ""
    answer: str = ""
    calls: tuple[ToolCall, ...] = ()
    target: Any = None
    findings: tuple[StoryFinding, ...] = ()
    failure: TrialFailure | None = None
    stop: str = "done"
    seconds: float = 0.0
    usage: Usage = Usage()
    retries: tuple[FailedRequest, ...] = ()

    @property
    def error(self) -> tuple[str, str]:
        """Return the error class and type that this trial is counted under."""
        return error_of(self.outcome, self.failure, self.findings)


def story(trial: Trial, sample: Sample | None, verdicts: Sequence[Verdict], *, characters: int = 4_000) -> Story:
    """Tell a trial; long texts are cut to `characters`, and long conversations to their first parts."""
    findings = tuple(map(finding, verdicts))
    lines = [
        msgspec.structs.replace(line, text=cut(line.text, characters))
        for line in _lines(sample, trial.trajectory, [verdict.result.known for verdict in verdicts])
    ]
    matched, expected, actual = sides(sample, trial.trajectory, verdicts)
    return Story(
        sample_id=trial.sample_id,
        attempt=trial.attempt,
        outcome=trial.outcome,
        tags=sample.tags if sample is not None else {},
        question=cut(sample.question, characters) if sample is not None else "",
        lines=tuple(lines[:SHOWN_LINES]),
        left_out=max(0, len(lines) - SHOWN_LINES),
        pairs=matched,
        expected=cut(expected, characters),
        made=cut(actual, characters),
        answer=cut(trial.trajectory.answer, characters),
        calls=trial.trajectory.calls(),
        target=_target(sample),
        findings=findings,
        failure=trial.failure,
        stop=trial.trajectory.stop,
        seconds=trial.seconds,
        usage=trial.usage,
        retries=trial.retries,
    )


def _target(sample: Sample | None) -> object:
    if sample is None or sample.target is not None:
        return None if sample is None else sample.target
    references = [turn.reference for turn in sample.turns]
    return references if any(reference is not None for reference in references) else None


def stored_story(store: Store, run_id: str, sample_id: str, attempt: int, *, characters: int = 4_000) -> Story | None:
    """Tell one trial of a stored run; None when it has no such trial."""
    trial = trial_of(store, run_id, sample_id, attempt)
    if trial is None:
        return None
    verdicts = verdicts_of(store, run_id, sample_id, attempt)
    return story(trial, store.sample(run_id, sample_id), verdicts, characters=characters)


def finding(verdict: Verdict) -> StoryFinding:
    """Flatten a verdict for a page."""
    result, known = verdict.result, verdict.result.known
    flat = StoryFinding(scorer=verdict.scorer, version=verdict.scorer_version, reason=short_reason(result.reason))
    if isinstance(result, Unscored):
        return msgspec.structs.replace(flat, why=result.why)
    return msgspec.structs.replace(
        flat,
        value=result.value,
        points=result.points,
        out_of=result.out_of,
        error_class=known.error_class,
        error_type=known.error_type,
        passed=result.passed,
        marks=tuple(_marks(known)),
    )


def _marks(known: KnownDetails) -> Iterator[StoryMark]:
    """Return what a judge gave by dimension."""
    low, high = known.scale or (0, 1)
    return (StoryMark(name, points, low, high) for name, points in known.dimensions.items())


def error_of(outcome: Outcome, failure: TrialFailure | None, findings: Sequence[StoryFinding]) -> tuple[str, str]:
    """Return the class and type of the error: of the first score below full marks, else of the failure."""
    for each in findings:
        if each.value is not None and not each.passed:
            return each.error_class, each.error_type
    return (outcome, failure.kind if failure is not None else "") if outcome != "scored" else ("", "")


def cut(text: str, characters: int) -> str:
    """Cut a text to a length, and add the number of missing characters.

    >>> cut("abcdef", 4)
    'abcd … (+2)'
    """
    return text if len(text) <= characters else f"{text[:characters]} … (+{len(text) - characters:,})"


def _lines(sample: Sample | None, trajectory: Trajectory, judged: Sequence[KnownDetails]) -> Iterator[StoryLine]:
    turns = played_turns(sample, trajectory)
    for turn in turns:
        number = turn.number
        if any(details.passed_turns for details in judged):
            yield StoryLine(
                turn=number, role="turn", kind="text", text=f"{number + 1} {turn_mark(number, judged)}".rstrip()
            )
        for message in turn.messages:
            yield from _parts(number, message)
        for index, step in enumerate(turn.steps):
            yield from (approval_line(approval) for approval in turn.approvals.get(index, ()))
            yield from _parts(number, step.message)
        yield from (approval_line(approval) for approval in turn.approvals.get(len(turn.steps), ()))
        for change in turn.changes:
            text = f"{change.path}: {value_text(change.before)} → {value_text(change.after)}"
            yield StoryLine(turn=number, role="environment", kind="change", text=text)
        if turn is turns[-1]:
            for call in trajectory.unanswered:
                yield StoryLine(turn=number, role="nobody", kind="result", text=call_line(call))
        if sample is not None and len(sample.turns) > 1:
            yield from expected_in_turn(number, turn.reference, judged)


class PlayedTurn(msgspec.Struct, frozen=True, kw_only=True):
    """A turn as it was played: the messages that the agent was sent, its steps, and what it changed.

    `approvals` are the decisions about calls that waited, by the number of steps of the turn before them.
    """

    number: int
    messages: tuple[Message, ...] = ()
    reference: Any = None
    steps: list[Step] = []
    changes: list[StateChange] = []
    approvals: dict[int, list[Approval]] = {}


def played_turns(sample: Sample | None, trajectory: Trajectory) -> list[PlayedTurn]:
    """Return the turns of the sample, and those that a simulated user added, in order."""
    in_words = trajectory.tools == "text"
    turns = {
        number: PlayedTurn(
            number=number, messages=(turn.as_text if in_words else None) or turn.messages, reference=turn.reference
        )
        for number, turn in enumerate(sample.turns if sample is not None else ())
    }
    acts: list[Step | StateChange | Approval] = [*trajectory.steps, *trajectory.changes, *trajectory.approvals]
    for number in {act.turn for act in acts}:
        if number not in turns:
            turns[number] = PlayedTurn(number=number)
    for step in trajectory.steps:
        turns[step.turn].steps.append(step)
    for change in trajectory.changes:
        turns[change.turn].changes.append(change)
    for approval in trajectory.approvals:
        index = sum(step.turn == approval.turn for step in trajectory.steps[: approval.step])
        turns[approval.turn].approvals.setdefault(index, []).append(approval)
    return [turns[number] for number in sorted(turns)]


def approval_line(approval: Approval) -> StoryLine:
    """Return what was decided about a call that waited for approval, or that nobody decided."""
    if approval.approved is None:
        kind: Kind = "decides"
    else:
        kind = "answers" if approval.awaits != "consent" else "approves" if approval.approved else "denies"
    text = call_line(approval.call) + (f" — {approval.words}" if approval.words else "")
    return StoryLine(turn=approval.turn, role=approval.by or "nobody", kind=kind, text=text)


def call_line(call: ToolCall) -> str:
    """Return a call as it is shown in a conversation."""
    return f"{call.name} {call.arguments_text()}"


def turn_mark(turn: int, judged: Sequence[KnownDetails]) -> str:
    """Return whether a turn passed by the scorer that judges turn by turn; '' where none says so."""
    for details in judged:
        if turn < len(details.passed_turns) and (passed := details.passed_turns[turn]) is not None:
            return "✓" if passed else "✗"
    return ""


def expected_in_turn(turn: int, reference: object, judged: Sequence[KnownDetails]) -> Iterator[StoryLine]:
    """Yield the calls that a turn expects, where it says so in words, and what was wrong after them."""
    if isinstance(reference, list | tuple) and reference and all(isinstance(call, str) for call in reference):
        yield StoryLine(turn=turn, role="expected", kind="call", text="\n".join(reference))
    for details in judged:
        if details.turn == turn:
            for difference in details.differences:
                text = f"{difference.get('path')}: {value_text(difference.get('got'))} ≠ {value_text(difference.get('expected'))}"
                yield StoryLine(turn=turn, role="expected", kind="change", text=text)
            for result in details.missing:
                yield StoryLine(turn=turn, role="expected", kind="result", text=result)


def _parts(turn: int, message: Message) -> Iterator[StoryLine]:
    for part in message.parts_with_files:
        kind: Kind
        media = b""
        match part:
            case Text(text=text):
                kind = "text"
            case Reasoning(text=text):
                if not text:  # it only holds what the API wants back
                    continue
                kind = "reasoning"
            case ToolCall():
                kind, text = "call", call_line(part)
            case ToolResult():
                kind, text = "result", f"{part.name}: {part.content}"
            case File():
                kind, text, media = "file", _file_line(part), _media(part)
        yield StoryLine(turn=turn, role=message.role, kind=kind, text=text, media=media)


def _file_line(file: File) -> str:
    """Return the name and type of a file; where it has its bytes, their number and digest."""
    if file.data is None:
        return f"{file.name or file.path or file.url or ''} ({file.media_type})"
    return f"{describe_file(file)} {digest_bytes(file.data)}"


def _media(file: File) -> bytes:
    """Return the bytes of a file that are those of a picture or sound, whatever its declared type."""
    return file.data if file.data is not None and shown_type(file.data) else b""


def sides(
    sample: Sample | None, trajectory: Trajectory, verdicts: Sequence[Verdict]
) -> tuple[tuple[CallRows, ...], str, str]:
    """Return the expected calls next to those that were made, and the text of either side."""
    matched = _compared_calls(sample, trajectory, verdicts)
    if matched is not None:
        return (matched, *_responses(sample, trajectory))
    details = next((known for verdict in verdicts if (known := verdict.result.known).error_class), KnownDetails())
    (wanted, expected), (calls, actual) = _expected_calls(sample), _made_calls(trajectory, verdicts)
    if wanted and actual:  # if no scorer read calls in the text, both sides are text
        wanted, expected = (), "\n".join(map(call_text, wanted))
    rows = pairs(
        wanted,
        calls,
        function=details.function,
        parameter=details.parameter,
        free=not wanted and not _expects_no_call(sample) and details.error_class not in NO_CALL_IS_RIGHT,
    )
    return rows, expected, actual


def answers_in_line(sample: Sample, trajectory: Trajectory, verdicts: Sequence[Verdict]) -> tuple[str, str]:
    """Return the expected and the actual answer of a trial: the calls where calls are the answer, else the text."""
    wanted, expected = _expected_calls(sample)
    calls, actual = _made_calls(trajectory, verdicts) if wanted or not trajectory.answer else ((), trajectory.answer)
    return (
        "; ".join(map(call_text, wanted)) if wanted else expected,
        "; ".join(map(call_text, calls)) if calls else actual,
    )


def _expects_no_call(sample: Sample | None) -> bool:
    """True if the sample says that no call is right: an empty list of calls. Of any other answer or state, calls are free."""
    return sample is not None and any(
        isinstance(value, list | tuple) and not value
        for value in (sample.target, *(turn.reference for turn in sample.turns))
    )


def _compared_calls(
    sample: Sample | None, trajectory: Trajectory, verdicts: Sequence[Verdict]
) -> tuple[CallRows, ...] | None:
    """Return the calls as a scorer of trajectories or of ADK compared them, else by the usual rules; None if none are asked for."""
    found = [rows for verdict in verdicts if (rows := pairs_of_sides(verdict.result.known.sides))]
    if found:
        return next((rows for rows in found if any(pair.marked for pair in rows)), found[0])
    if sample is None or not any(map(_is_trajectory, (sample.target, *(turn.reference for turn in sample.turns)))):
        return None

    try:
        return pairs_of_sides(_sides(sample, trajectory, [verdict.scorer for verdict in verdicts]))
    except (
        BadInput
    ):  # a reference that cannot be understood, as the scorer says; or rules of a package that is not here
        return None


def _sides(sample: Sample, trajectory: Trajectory, metrics: Iterable[str]) -> list[dict[str, object]]:
    """Return the calls with those expected by the rules of the first metric that has its own, else by the usual ones."""
    for metric in metrics:
        kind, colon, _ = metric.partition(":")
        if colon:
            SCORERS.check_installed(kind)
            if SCORERS.knows(kind) and (sides := SCORERS.find(kind).sides) is not None:
                return sides(sample, trajectory, metric)
    from proctor.trajectory_matching.options import (
        compared,
    )  # slow to load, and few samples say which calls are expected

    return compared(sample, trajectory)


def _is_trajectory(reference: object) -> bool:
    return isinstance(reference, Mapping) and bool({"calls", "alternatives"} & reference.keys())


def _responses(sample: Sample | None, trajectory: Trajectory) -> tuple[str, str]:
    """Return the expected responses next to the actual ones, turn by turn; the answer alone if none is expected."""
    turns = sample.turns if sample is not None else ()
    wanted = [turn.reference.get("response") if isinstance(turn.reference, Mapping) else None for turn in turns]
    places = [index for index, value in enumerate(wanted) if isinstance(value, str)]
    if not places:
        return "", trajectory.answer
    came = [answer(trajectory, index) for index in places]
    if len(turns) == 1:
        return str(wanted[0]), came[0]
    numbered = [
        "\n".join(f"{index + 1}. {text}" for index, text in zip(places, texts, strict=True))
        for texts in ([wanted[index] for index in places], came)
    ]
    return numbered[0], numbered[1]


def _expected_calls(sample: Sample | None) -> tuple[tuple[ShownCall, ...], str]:
    """Return the calls that are expected, or else the text."""
    if sample is None:
        return (), ""
    references = [turn.reference for turn in sample.turns if turn.reference is not None]
    wanted: object = sample.target
    if wanted is None and references:
        wanted = references[0] if len(references) == 1 else references
    if calls := calls_in(wanted, allowed=True):
        return calls, ""
    if wanted is None or wanted == []:
        return (), ""
    if isinstance(wanted, list) and all(isinstance(item, str) for item in wanted):
        return (), " | ".join(wanted)
    return (), wanted if isinstance(wanted, str) else value_text(wanted)


def _made_calls(trajectory: Trajectory, verdicts: Sequence[Verdict]) -> tuple[tuple[ShownCall, ...], str]:
    """Return the calls that were made, natively or as a scorer read them in the text, or else the answer."""
    judged = [verdict.result for verdict in verdicts if isinstance(verdict.result, Score)]
    calls = calls_in(trajectory.calls()) or next(
        (read for score in judged if (read := calls_in(score.known.calls))), ()
    )
    if calls:
        return calls, ""
    answer = next((score.answer for score in judged if score.answer is not None), None)
    return (), trajectory.answer if answer is None else answer
