"""The expected actions as a user and as an agent: canaries that know the answer, each doing its own part in turn."""

from collections.abc import Sequence

from proctor.core.sample import Message, Sample, Tool, ToolCall
from proctor.core.trajectory import Step, Trajectory
from proctor_benchmarks.tau2.dataset import ExpectedAction, Tau2Task, parsed
from proctor_benchmarks.tau2.messages import STOP
from proctor_benchmarks.tau2.wording import DONE


class GoldModel:
    """A model that makes the user's expected calls when it is their turn, and stops when nothing is left to do."""

    name = "gold"

    def __init__(self, sample: Sample) -> None:
        parts = parts_of(parsed(sample.meta["task"]))
        self._left = [(of_user, bool(of_agent)) for of_user, of_agent in parts]
        self._said = 0

    async def complete(
        self, messages: Sequence[Message], tools: Sequence[Tool] = (), *, response_format: object = None
    ) -> Step:
        while self._left:
            of_user, agent_follows = self._left[0]
            if of_user:
                self._said += 1
                return Step(message=_calling(of_user.pop(0), f"user_{self._said}"))
            self._left.pop(0)
            if agent_follows:
                return Step(message=Message.of("assistant", "Please go on." if self._said else "Hello, I need help."))
        if not any(message.role == "assistant" for message in messages):  # the agent has to be heard once
            return Step(message=Message.of("assistant", "Hello, I need help."))
        return Step(message=Message.of("assistant", f"Thank you. {STOP}"))


def oracle(sample: Sample, *, solo: bool = False) -> Trajectory:
    """Return the agent's part of the expected actions, turn by turn; the last message says what has to be said."""
    task = parsed(sample.meta["task"])
    if solo:
        messages = [_calling(action, f"agent_{number}") for number, action in enumerate(task.actions)]
        end = _calling(ExpectedAction(name=DONE, arguments={}), "done")
        return Trajectory(steps=tuple(Step(message=message) for message in (*messages, end)))
    blocks = [of_agent for _, of_agent in parts_of(task) if of_agent] or [[]]
    info = (task.evaluation_criteria.communicate_info if task.evaluation_criteria else None) or ()
    steps: list[Step] = []
    for turn, block in enumerate(blocks):
        steps += [
            Step(message=_calling(action, f"agent_{turn}_{number}"), turn=turn) for number, action in enumerate(block)
        ]
        words = " ".join(["Done.", *(info if turn == len(blocks) - 1 else ())])
        steps.append(Step(message=Message.of("assistant", words), turn=turn))
    return Trajectory(steps=tuple(steps), tools="native")


def parts_of(task: Tau2Task) -> list[tuple[list[ExpectedAction], list[ExpectedAction]]]:
    """Return the expected actions in turns: what the user does, then what the agent does."""
    parts: list[tuple[list[ExpectedAction], list[ExpectedAction]]] = []
    for action in task.actions:
        if not parts or (action.requestor == "user" and parts[-1][1]):
            parts.append(([], []))
        parts[-1][action.requestor == "assistant"].append(action)
    return parts


def _calling(action: ExpectedAction, id: str) -> Message:
    return Message(role="assistant", parts=(ToolCall(name=action.name, arguments=action.arguments, id=id),))
