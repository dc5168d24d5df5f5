"""Play a lateral thinking puzzle: the agent asks, a model that knows the truth answers, and keys of the truth are hit.

An item of `data/lateralthinkingpuzzle/*.xlsx` is a story, its truth, and the keys of both, one on each line.

Source: THUDM/AgentBench, v0.2, commit 41e6807349f7, `src/server/tasks/ltp/task.py`; its prompts are read from the clone.
"""

import math
from collections import Counter
from collections.abc import Awaitable, Callable, Sequence
from pathlib import Path
from typing import Any

import msgspec

from proctor.core.errors import EnvironmentFailed
from proctor.core.sample import Message, Sample
from proctor_benchmarks.agentbench.conversation import EndedSample, History, Loop
from proctor_benchmarks.agentbench.official import Status
from proctor_benchmarks.agentbench.source_texts import SourceTexts

ROUNDS = 25
ABORTS = 5  # that end a game; an invalid question counts two
LIKE_THE_STORY = 0.85
SOURCE = "src/server/tasks/ltp/task.py"
_OPENING = 10  # messages with which each question to the host begins
FORBIDDEN = (
    "new story", "other story", "new game", "other game", "new question", "other question",
    "other round", "new round", "Great job", "further question",
)  # fmt: skip

Ask = Callable[[list[Message]], Awaitable[str]]


class Puzzle(msgspec.Struct, frozen=True, kw_only=True):
    """One item."""

    story: str
    truth: str
    story_key: str
    answer_key: str


class PuzzleWording:
    """The official prompts of the player and of the host, by the names of the methods that return them."""

    def __init__(self, root: Path) -> None:
        self._texts = SourceTexts(root / SOURCE)

    def __call__(self, name: str, **values: object) -> Any:
        """Return what a method of the official prompter returns."""
        return self._texts.returned(name, "ENPrompter", **values)

    def opening(self, puzzle: Puzzle) -> list[Message]:
        """Return the messages with which each question to the host begins."""
        given = self("hosting_instruction", story=puzzle.story, answer=puzzle.truth, story_key=puzzle.story_key, answer_key=puzzle.answer_key)  # fmt: skip
        return [Message.of(item["role"], item["content"]) for item in given][:_OPENING]

    def question(self, known: Sequence[str], asked: str) -> list[Message]:
        """Return the question to the host, after what is known by now."""
        with_known, without = self("hosting_append_messages", known=known, solver=asked)
        return [Message.of(item["role"], item["content"]) for item in (with_known if known else without)]


class PuzzleGame:
    """The host's side of one game."""

    def __init__(self, puzzle: Puzzle, ask: Ask, wording: PuzzleWording, rounds: int) -> None:
        self.log = [f"Story: {puzzle.story}", f"Truth: {puzzle.truth}"]
        self._ask = ask
        self._wording = wording
        self._rounds = rounds
        self._opening = wording.opening(puzzle)
        self._story_keys = puzzle.story_key.split("\n")
        self._answer_keys = puzzle.answer_key.split("\n")
        self._hints = len(self._answer_keys)
        self._known: list[str] = []
        self._pending: list[str] = []  # what is known since the last hit
        self._hits: dict[str, str] = {}
        self._hit_count = self._correct = self._relevant = 0
        self._finish_round: int | None = None

    async def answer(self, asked: str, round: int) -> str:
        """Return what the host says to a question, and note what it brings."""
        if self._is_in_story(asked):
            return str(self._wording("solver_hint_appeared_in_story"))
        said = await self._ask([*self._opening, *self._wording.question(self._known, asked)])
        if said.startswith(("Yes", "yes")):
            self._correct += 1
            await self._note(asked, "hosting_summary", round)
        elif said.startswith(("No", "no")):
            await self._note(asked, "hosting_summary_opposite", round)
        return said

    def result(self) -> dict[str, Any]:
        """Return what the official code keeps of a game."""
        finish_round = self._finish_round or self._rounds
        return {
            "accuracy": self._correct / self._rounds,
            "efficiency": 1 - finish_round / self._rounds,
            "relevance": self._relevant / self._rounds,
            "progress": self._hit_count / self._hints,
            "finish_round": finish_round,
            "finished": self._finish_round is not None,
            "hit_keys": self._hits,
            "history": self.log,
        }

    def _is_in_story(self, asked: str) -> bool:
        # upstream also looks for the question in what was asked, with a bound that no likeness is above
        keys = (strip_number(key) for line in self._story_keys if (key := line.strip()))
        return any(likeness(key, asked.replace("?", ".")) > LIKE_THE_STORY for key in keys)

    async def _note(self, asked: str, restate: str, round: int) -> None:
        self._relevant += 1
        summary = await self._request(restate, solver=asked)
        self._known.append(summary)
        self._pending.append(summary)
        if len(self._pending) > 1:
            summary = await self._request("hosting_simplify", reasoning=self._pending)
        for line in self._answer_keys:
            if not (key := line.strip()):
                continue
            text = strip_number(key)
            if len(asked.replace("?", "")) < len(text):
                continue
            if (await self._request("hosting_compare", key1=text, merge=summary)).startswith(("Yes", "yes")):
                self._hit_count += 1
                self._pending = []
                self._hits[text] = summary
                if line != key:
                    raise EnvironmentFailed("A key of this puzzle has whitespace around it, which the official code cannot remove.", kind="puzzle")  # fmt: skip
                self._answer_keys.remove(key)
                break
        if self._finish_round is None and self._hit_count >= len(self._answer_keys):  # those that are left, as upstream
            self._finish_round = round

    async def _request(self, name: str, **values: object) -> str:
        return await self._ask([Message.of("user", self._wording(name, **values))])


class PuzzlesPart:
    """Plays puzzles; `ask` returns what the host says."""

    def __init__(self, wording: PuzzleWording, ask: Ask, rounds: int = ROUNDS) -> None:
        self._wording = wording
        self._ask = ask
        self._rounds = rounds

    async def __call__(self, sample: Sample, history: History) -> Loop:
        """Play a game. It does not end when all keys are hit, only when the player gives up, or after all rounds.

        Raises:
            EnvironmentFailed: a key that the official code cannot read or remove.
            UserFailed: the host failed.
        """
        puzzle = msgspec.convert(sample.meta["item"], Puzzle)
        game = PuzzleGame(puzzle, self._ask, self._wording, self._rounds)
        said = str(self._wording("solver_instruction", story=puzzle.story))
        aborts = 0
        status: Status = "task limit reached"
        for round in range(1, self._rounds + 1):
            history.append(Message.of("user", said))
            reply = yield None
            if not reply:
                status = "agent context limit" if reply is None else "completed"
                break
            asked = reply.split("\n")[0].strip()
            game.log.append(f"Round {round}: {asked}")
            if any(phrase in asked for phrase in FORBIDDEN):
                aborts += 2
                said = str(self._wording("solver_hint_invalid"))
            else:
                said = await game.answer(asked, round)
            game.log.append(said)
            if aborts >= ABORTS:
                status = "completed"
                break
        yield EndedSample(status=status, result=game.result())


def strip_number(key: str) -> str:
    """Return a key without the number, or the dash, of its line.

    Raises:
        EnvironmentFailed: it has less than three characters, which officially is an error of the task.
    """
    try:
        is_numbered = key[1] == "." or key[2] == "." or key[0] == "-"
    except IndexError:
        raise EnvironmentFailed("A key of this puzzle is too short for the official code: {key}", kind="puzzle", key=key) from None  # fmt: skip
    return " ".join(key.split(" ")[1:]) if is_numbered else key


def likeness(reference: str, text: str) -> float:
    """Return the share of the characters of a text that are in a reference (BLEU-1), less for a text that is shorter.

    >>> likeness("A man leaves.", "A man leaves."), round(likeness("A man leaves.", "A man"), 2)
    (1.0, 0.2)
    """
    common = (Counter(text) & Counter(reference)).total()
    if not common:
        return 0.0
    brevity = 1.0 if len(text) > len(reference) else math.exp(1 - len(reference) / len(text))
    return brevity * math.exp(math.log(common / len(text)))
