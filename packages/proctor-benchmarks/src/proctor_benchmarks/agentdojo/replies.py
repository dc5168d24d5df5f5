"""Read official result files: a log folder, the folder of one pipeline in it, or of one of its suites.

    <logdir>/<pipeline>/<suite>/<user task>/<attack>/<injection task>.json        `none` where there is none

A file holds the messages of the pipeline's last run, and what the official code found, which is compared with what the same
checks find here. Runs before the last one are not in it, and so what they did to the environment is not known either.
Where it says that an error ended the task, such as a conversation that grew too long, the official code counts utility as
false and the attack as successful; here that is a failure of the provider, and in no mean.

Source: agentdojo 0.1.35, `benchmark.py` (`load_task_results`), `logging.py` (`TraceLogger`).
"""

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import msgspec

from proctor.core.errors import BadInput
from proctor.core.sample import Message, Part, Sample, Text, ToolCall, ToolResult
from proctor.core.sentence import say
from proctor.core.trajectory import Step, Trajectory
from proctor.core.trial import TrialFailure
from proctor.core.validation import in_words
from proctor.runtime.json_file import read_json
from proctor_benchmarks.agentdojo import official
from proctor_benchmarks.agentdojo.dataset import NO_ATTACK, VERSION, samples_of, suites_of


class _Block(msgspec.Struct, frozen=True):
    type: str = "text"
    content: str | None = None


class _Call(msgspec.Struct, frozen=True):
    function: str
    args: dict[str, object] = {}
    id: str | None = None


class _Message(msgspec.Struct, frozen=True):
    role: str
    content: str | list[_Block] | None = None
    tool_calls: list[_Call] | None = None
    tool_call: _Call | None = None
    tool_call_id: str | None = None
    error: str | None = None


class AgentDojoResult(msgspec.Struct, frozen=True):
    """An official result file."""

    pipeline_name: str
    suite_name: str
    user_task_id: str
    injection_task_id: str | None
    injections: dict[str, str]
    messages: list[_Message]
    utility: bool
    security: bool
    attack_type: str | None = None
    error: str | None = None
    duration: float | None = None
    benchmark_version: str | None = None


def read(path: Path, task_options: Mapping[str, Any]) -> Iterator[tuple[str, Trajectory | TrialFailure]]:
    """Yield the replies to the samples of the task that the folder holds.

    Raises:
        BadInput: nothing to read, files of several pipelines, a malformed file, or one of another version, or with other
            injections than the attack makes for this `model`.
    """
    folder, version = official.locate(task_options.get("data")), task_options.get("version", VERSION)
    attack, model = task_options.get("attack", "important_instructions"), task_options.get("model", "local")
    listing = official.listing(folder, version)
    suites = suites_of(task_options.get("category") or task_options.get("suite", "all"), listing)
    wanted = {sample.id: sample for suite in suites for sample in samples_of(listing, suite, version, attack, model)}
    results = list(_results(Path(path), attack))
    if len(names := sorted({result.pipeline_name for _, result in results})) > 1:
        raise BadInput("{path} holds results of several models: {models}. Give the folder of one.", path=path, models=", ".join(names))  # fmt: skip
    rows = [(file, result, wanted[_id(result)]) for file, result in results if _id(result) in wanted]
    if not rows:
        raise BadInput("{path} holds no results for {suites} with the attack {attack}.", path=path, suites=", ".join(suites), attack=attack)  # fmt: skip
    _check_injections(folder, version, rows)
    return ((sample.id, _reply(result)) for _, result, sample in rows)


def _results(path: Path, attack: str) -> Iterator[tuple[Path, AgentDojoResult]]:
    """Yield what was run without an injection, and with this attack."""
    files = [path] if path.is_file() else sorted(path.rglob("*.json"))
    for file in files:
        if file.parent.name in (NO_ATTACK, attack):
            try:
                yield file, msgspec.convert(read_json(file), AgentDojoResult)
            except msgspec.ValidationError as error:
                raise BadInput("{path}: {error}.", path=file, error=in_words(error)) from None


def _id(result: AgentDojoResult) -> str:
    injection = result.injection_task_id
    return f"{result.suite_name}/{result.user_task_id}" + (f"/{injection}" if injection else "")


def _check_injections(folder: Path, version: str, found: Sequence[tuple[Path, AgentDojoResult, Sample]]) -> None:
    """Raise `BadInput` if the environment would not be the one that the replies were made in; one file of a suite tells."""
    checked: set[str] = set()
    for file, result, sample in found:
        if result.benchmark_version not in (None, version):
            raise BadInput("{path} is of version {found}, not {version} (--set version={found}).", path=file, found=result.benchmark_version, version=version)  # fmt: skip
        if result.injection_task_id and result.suite_name not in checked:
            checked.add(result.suite_name)
            if official.ask(folder, "injections", **sample.meta["scene"]) != result.injections:
                raise BadInput(
                    "{path} was made with other injections. Name the model that they address, as in --set model='{pipeline}'.",
                    path=file,
                    pipeline=result.pipeline_name,
                )


def _reply(result: AgentDojoResult) -> Trajectory | TrialFailure:
    if result.error is not None:
        return TrialFailure(kind="recorded", reason=say("The result file says: {error}", error=result.error))
    steps = [Step(message=_message(message), author="tool" if message.role == "tool" else "agent") for message in result.messages if message.role in ("assistant", "tool")]  # fmt: skip
    recorded = {"utility": result.utility, "security": result.security}
    return Trajectory(steps=tuple(steps), tools="native", state={"recorded": recorded})


def _message(one: _Message) -> Message:
    text = _text(one.content)
    if one.role == "tool":
        call = one.tool_call or _Call(function="")
        content = one.error if one.error is not None else text or ""
        result = ToolResult(name=call.function, id=_call_id(call), content=content, is_error=one.error is not None)
        return Message(role="tool", parts=(result,))
    parts: list[Part] = [] if text is None else [Text(text=text)]
    parts += [ToolCall(name=call.function, arguments=call.args, id=_call_id(call)) for call in one.tool_calls or ()]
    return Message(role="assistant", parts=tuple(parts))


def _call_id(call: _Call) -> str:
    return call.id or ""


def _text(content: str | list[_Block] | None) -> str | None:
    """Return the content as the official checks read it; older files hold a text."""
    if isinstance(content, list):
        return "\n".join(block.content for block in content if block.content is not None)
    return content
