"""`scripted:FILE`: a user that says what is written, in order or by rule; for tests, and for conversations without a model.

A file holds JSON or JSON lines: a list of texts, said in order; `{"when": "which city", "say": "Rome"}` is said whenever the
agent's words hold that text, and `"say": null` ends the conversation. An object has a list for each sample id, `"*"` for the
others. Without a file the script is that of the sample's scenario. When nothing is left to say, the conversation is over.
"""

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Annotated

import msgspec

from proctor.config import converted
from proctor.core.errors import BadInput
from proctor.core.parts import UserPart
from proctor.core.sample import Message, Sample, Turn
from proctor.core.scenario import ScriptedLine, begin, scenario_of
from proctor.core.sentence import say
from proctor.core.trajectory import Trajectory
from proctor.core.validation import in_words
from proctor.users.conduct import MOST_TURNS, AtLimit, UserExchange, check_limit

OTHERS = "*"

Script = Sequence[str | ScriptedLine | None]


class ScriptedUserOptions(msgspec.Struct, frozen=True, kw_only=True):
    """What can be set for a scripted user; see `model:`."""

    max_turns: Annotated[int, msgspec.Meta(ge=1)] = MOST_TURNS
    at_limit: AtLimit = "fail"


def make(argument: str, options: Mapping[str, object]) -> "ScriptedUser":
    """Return the user `scripted:FILE`, or `scripted` for scripts that come with the samples.

    Raises:
        BadInput: no such file, a script that is malformed, or a wrong option.
    """
    script_by_sample = _read(Path(argument).expanduser()) if argument else {}
    return ScriptedUser(script_by_sample, converted(options, ScriptedUserOptions, "scripted"))


class ScriptedUser:
    """Says the lines of a script: of one for all samples, or by the id of the sample."""

    def __init__(
        self,
        script: Script | Mapping[str, Script] = (),
        options: ScriptedUserOptions = ScriptedUserOptions(),  # noqa: B008 - frozen
    ) -> None:
        by_sample = script if isinstance(script, Mapping) else {OTHERS: script}
        self._script_by_sample = {
            id: [_checked(line, say("the script of '{id}'", id=id)) for line in lines]
            for id, lines in by_sample.items()
        }
        self._options = options

    async def reply(self, sample: Sample, trajectory: Trajectory) -> Turn | None:
        """Return what the user says next; None when the script ends.

        Raises:
            UserFailed: its rules come to no end.
        """
        scenario = scenario_of(sample)
        script = self._script_by_sample.get(sample.id) or self._script_by_sample.get(OTHERS) or []
        if not script and scenario is not None:
            opening = [scenario.opening] if scenario.opening and not sample.turns else []
            script = [_checked(line, sample.id) for line in (*opening, *scenario.script)]
        said = UserExchange(sample, trajectory)
        text = _next(script, said.answered)
        if text is None:
            return None
        most = scenario.max_turns if scenario is not None else None
        check_limit(said, most or self._options.max_turns, self._options.at_limit)
        return Turn(messages=(Message.of("user", text),)) if said.turns else begin(scenario, text)


def _next(script: Script, answers: Sequence[str]) -> str | None:
    """Return the answer to the last of the agent's answers; the earlier ones tell how much of the script was said."""
    rules = [(line.when.casefold(), line.say) for line in script if isinstance(line, ScriptedLine) and line.when]
    rest = iter([line.say if isinstance(line, ScriptedLine) else line for line in script if not _has_rule(line)])
    text: str | None = None
    for answer in answers:
        words = answer.casefold()
        text = next((said for when, said in rules if when in words), None) if _fits(rules, words) else next(rest, None)
    return text


def _fits(rules: Sequence[tuple[str, str | None]], words: str) -> bool:
    return any(when in words for when, _ in rules)


def _has_rule(line: str | ScriptedLine | None) -> bool:
    return isinstance(line, ScriptedLine) and bool(line.when)


def _checked(line: str | ScriptedLine | None, where: object) -> str | ScriptedLine | None:
    text = line.say if isinstance(line, ScriptedLine) else line
    if text is not None and not text.strip():
        raise BadInput("{where}: a line of a simulated user is empty.", where=where)
    return line


def _read(path: Path) -> Mapping[str, Script]:
    try:
        text = path.read_text(encoding="utf-8-sig")
    except (OSError, UnicodeDecodeError) as error:
        why = (error.strerror if isinstance(error, OSError) else None) or str(error)
        raise BadInput("The script {path} cannot be read: {error}.", path=path, error=why) from None
    try:
        values = list(_values(text))
        value = values[0] if len(values) == 1 else values
        is_by_sample = isinstance(value, dict) and not value.keys() <= {"when", "say"}
        given = value if is_by_sample else {OTHERS: value if isinstance(value, list) else [value]}
        return msgspec.convert(given, dict[str, list[str | ScriptedLine | None]])
    except (msgspec.DecodeError, msgspec.ValidationError, RecursionError, UnicodeError) as error:
        raise BadInput("{path} is no script: {error}.", path=path, error=in_words(error)) from None


def _values(text: str) -> Iterator[object]:
    try:
        yield msgspec.json.decode(text)
    except msgspec.DecodeError:
        lines = [line for line in text.splitlines() if line.strip()]
        if len(lines) < 2:
            raise
        for line in lines:
            yield msgspec.json.decode(line)


PART = UserPart(make=make, options=ScriptedUserOptions)
