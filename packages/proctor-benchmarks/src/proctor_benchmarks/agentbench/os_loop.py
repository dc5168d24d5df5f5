"""Play a problem of the part OS: the agent writes what is typed into a shell, and its answer or its work is checked.

A problem of `data/os_interaction/data/**`:

    {"description": "…how many times Alice sold a stock.", "create": {"init": {"file": "init/stock-log.sh"}}, "evaluation":
     {"check": [null, {"language": "python", "file": "check/integer-match.py"}], "example": {"code": "grep …"}}}

Source: THUDM/AgentBench, v0.2, commit 41e6807349f7, `src/server/tasks/os_interaction/task.py`.
"""

import re
from collections.abc import Callable, Generator, Iterator, Mapping, Sequence
from contextlib import AbstractAsyncContextManager
from pathlib import Path
from typing import Protocol, cast

import msgspec
from msgspec.structs import replace

from proctor.core.declared import MakerInfo
from proctor.core.errors import EnvironmentDied, EnvironmentFailed
from proctor.core.sample import JsonObject, Message, Sample
from proctor_benchmarks.agentbench.conversation import EndedSample, History, Loop
from proctor_benchmarks.agentbench.source_texts import SourceTexts
from proctor_judging.replies.python_source import constants

SOURCE = "src/server/tasks/os_interaction/task.py"
PROMPT = "You are an assistant that will act like a person"  # how it begins
NEXT = "Now, I will start a new problem in a new OS. My problem is:\n\n"
BLOCK, BLOCK_END = "```bash\n", "\n```"
ROUNDS = 8
MOST_CHARACTERS, KEPT_CHARACTERS = 800, 780
SHOWN = "The output of the OS:\n\n"
CUT = "\n[truncated because the output is too long]"


class OsScript(msgspec.Struct, frozen=True, kw_only=True, array_like=True):
    """A program in one of the official languages: bash, python, c or c++."""

    language: str
    code: str


class Problem(msgspec.Struct, frozen=True, kw_only=True):
    """What the machine is made of, and how the end is checked: by `match`, else by `check`.

    Attributes:
        init: run one after the other before the agent is asked; `start` is typed into its shell then.
        check: each is given the answer and what the ones before it printed; None is the `example`.
    """

    description: str = ""
    init: tuple[OsScript, ...] = ()
    start: OsScript | None = None
    match: Mapping[str, object] | None = None
    check: tuple[OsScript | None, ...] | None = None
    example: OsScript | None = None


class Ran(msgspec.Struct, frozen=True, kw_only=True):
    """How a script ended."""

    code: int
    output: str = ""


class OsMachine(Protocol):
    """A computer that belongs to one attempt."""

    async def type(self, command: str) -> str:
        """Return what the shell of the agent prints for a command."""
        ...

    async def run(self, script: OsScript, *arguments: str) -> Ran:
        """Run a script outside of that shell, as root."""
        ...


class ShellAction(msgspec.Struct, frozen=True, kw_only=True):
    """What a reply asks for: `bash` with its commands, `commit` with the answer, if it has one; None if nothing."""

    name: str | None = None
    content: str | None = None


def read_action(text: str) -> ShellAction:
    """Return the action of a reply: that of the last line with `Act:` that has one.

    >>> read_action("Act: answer(3)\\nAct: finish").content, read_action("Act: answer(a (b) c)").content
    (None, 'a (b) c')
    """
    for line in reversed(re.findall(r"Act:\s*(.+)", text)):
        name = line.lower()
        if name.startswith("bash"):
            return ShellAction(name="bash", content="\n\n".join(_blocks(text)))
        if name.startswith("finish"):
            return ShellAction(name="commit")
        if name.startswith("answer"):
            written = line[len("answer") :].strip()
            left, right = written.find("("), written.rfind(")")
            if -1 not in (left, right):
                return ShellAction(name="commit", content=written[left + 1 : right])
    return ShellAction()


def _blocks(text: str) -> Iterator[str]:
    r"""Yield what ```bash\n(.*?)\n``` finds, in a time that a text with many beginnings and no end does not square."""
    end = 0
    while (start := text.find(BLOCK, end)) >= 0:
        start += len(BLOCK)
        end = text.find(BLOCK_END, start)
        if end < 0:
            return
        yield text[start:end]
        end += len(BLOCK_END)


class OsPart:
    """Plays problems, each on a machine of its own."""

    def __init__(
        self, root: Path, make: Callable[[], AbstractAsyncContextManager[OsMachine]], rounds: int = ROUNDS
    ) -> None:
        source = root / SOURCE
        first, *example = constants(source)["ONE_SHOT"]
        prompt = SourceTexts(source).beginning(PROMPT)
        self._opening = [
            Message.of("user", f"{prompt}Now, my problem is:\n\n{first['content']}"),
            *(Message.of("user" if said["role"] == "user" else "assistant", said["content"]) for said in example),
        ]
        self._make = make
        self._rounds = rounds

    async def __call__(self, sample: Sample, history: History) -> Loop:
        """Play a problem.

        Raises:
            EnvironmentFailed: the machine could not be made ready, or broke.
        """
        problem = msgspec.convert(sample.meta["item"], Problem)
        async with self._make() as machine:
            await prepare(problem, machine)
            history += [*self._opening, Message.of("user", f"{NEXT}{problem.description}")]
            for _ in range(self._rounds):
                reply = yield None
                if reply is None:
                    yield EndedSample(status="agent context limit", result={"result": False})
                    return
                action = read_action(reply)
                if action.name is None:
                    yield EndedSample(status="agent invalid action", result={"result": False})
                    return
                if action.name == "commit":
                    yield await judge(problem, machine, action.content)
                    return
                history.append(Message.of("user", show(await _type(machine, action.content or ""))))
            yield EndedSample(status="task limit reached", result={"result": False, "reason": "round limit"})


async def _type(machine: OsMachine, command: str) -> str:
    """Return what a command of the agent prints.

    Raises:
        EnvironmentDied: the machine did not survive it.
    """
    try:
        return await machine.type(command)
    except EnvironmentFailed as failure:
        raise EnvironmentDied(failure.sentence, kind=failure.kind) from failure


async def prepare(problem: Problem, machine: OsMachine) -> None:
    """Make a machine ready for a problem.

    Raises:
        EnvironmentFailed: a script failed, such as one that installs programs from a network that is not there.
    """
    for script in problem.init:
        ran = await machine.run(script)
        if ran.code != 0:
            raise EnvironmentFailed("The machine of this problem could not be made ready (exit code {code}): {said}", kind="init_script", code=ran.code, said=ran.output.strip()[-MOST_CHARACTERS:] or "-")  # fmt: skip
    if problem.start is not None:
        await machine.type(problem.start.code)


def show(output: str) -> str:
    """Return what the agent reads of the output of its command."""
    if len(output) > MOST_CHARACTERS:
        output = output[:KEPT_CHARACTERS] + CUT
    return f"{SHOWN}{output}" if output else "The output of the OS is empty."


def solution(sample: Sample) -> Generator[str, str]:
    """Yield replies that are right: the expected answer, or the official example and then what it printed.

    An answer is one line, so carriage returns part the lines in it.
    """
    problem = msgspec.convert(sample.meta["item"], Problem)
    if problem.example is None:
        yield f"Act: answer({(problem.match or {}).get('answer', '')})"
        return
    said = yield f"Act: bash\n\n{BLOCK}{{\n{problem.example.code}\n}} 2>/dev/null{BLOCK_END}"
    printed = said.removeprefix(SHOWN) if said.startswith(SHOWN) else ""
    yield "Act: answer({})".format("\r".join(printed.splitlines()))


def plant(sample: Sample, text: str) -> Sample:
    """Return a problem with a text in its answer and in the scripts that check it."""
    if sample.tags["part"] != "os":
        return sample
    item = sample.meta["item"]
    check = None if item["check"] is None else [_with_remark(script, text) for script in item["check"]]
    match = item["match"] and {**item["match"], "answer": text}
    planted = {**item, "match": match, "check": check, "example": _with_remark(item["example"], text)}
    return replace(sample, meta={**sample.meta, "item": planted})


def _with_remark(script: Sequence[str] | None, text: str) -> Sequence[str] | None:
    if script is None:
        return None
    language, code = script
    return [language, f"{code}\n{'//' if language.startswith('c') else '#'} {text}"]


def type_command(sample: Sample, command: str) -> str | None:
    """Return the reply by which an agent has a command run; None in another part."""
    return f"Act: bash\n\n{BLOCK}{command}{BLOCK_END}" if sample.tags["part"] == "os" else None


SEARCHED = MakerInfo(plant=plant, typed=type_command)


async def judge(problem: Problem, machine: OsMachine, answer: str | None) -> EndedSample:
    """Return the verdict on an answer, or with None on what was done to the machine.

    Officially the verdict crashes where a pattern is to be found in no answer, and where `strip` is missing: "unknown".
    """
    if problem.match:
        try:
            is_right = matches(problem.match, answer)
        except (KeyError, TypeError) as error:
            return EndedSample(status="unknown", result={"result": False, "error": f"{type(error).__name__}: {error}"})
        return EndedSample(status="completed", result={"result": is_right})
    if not problem.check:
        return EndedSample(status="unknown", result={"result": False})
    arguments = [str(answer)]
    for given in problem.check:
        script = given or problem.example
        if script is None:
            raise EnvironmentFailed("A check of this problem needs its example, which is missing.", kind="problem")
        ran = await machine.run(script, *arguments)
        if ran.code != 0:
            return EndedSample(status="completed", result={"result": False})
        arguments.append(ran.output)
    return EndedSample(status="completed", result={"result": True})


def matches(expected: JsonObject, answer: str | None) -> bool:
    """Return True if an answer is the expected one, or has the expected pattern in it.

    Raises:
        KeyError: there is no `strip`.
        TypeError: there is a pattern, and no answer.
    """
    if answer is not None and expected["strip"]:
        answer = answer.strip()
    if "answer" in expected:
        return bool(answer == expected["answer"])
    return "regex" in expected and re.search(expected["regex"], cast(str, answer)) is not None
