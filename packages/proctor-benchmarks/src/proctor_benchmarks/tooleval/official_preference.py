"""Play the official comparison of two systems with a scripted judge, with what in it breaks off.

    votes     what its file holds when it ends: per query the wins of each side, and which rounds are complete
    labels    the table of results: 1 is the reference, 2 the candidate, 3 a tie

Kept as officially: positions are never swapped between rounds; a query that the pass-rate files decide stays incomplete; with
more than one round ToolBench ends in the second, and a query without an answer ends the table.

Source: StableToolBench aa4ed9f4737a and ToolBench d56fdd89faf8, `toolbench/tooleval/eval_preference.py`.
"""

from copy import deepcopy
from typing import Any

import msgspec

from proctor.core.sample import JsonObject
from proctor_benchmarks.tooleval import judging, rates
from proctor_benchmarks.tooleval.answers import ToolEvalExample
from proctor_benchmarks.tooleval.judging import ComparedAnswers, JudgeAsk, UnusableReply

REFERENCE, CANDIDATE = "ref", "cand"
_STATUSES = {f"AnswerStatus.{one}": one for one in judging.ANSWER_STATUSES}
_TASKS = {f"TaskStatus.{one}": one for one in ("Solvable", "Unsolvable", "Unsure")}

Votes = dict[str, dict[str, Any]]


class Outcome(msgspec.Struct, frozen=True, kw_only=True):
    """What the official program leaves when it ends."""

    votes: Any = None
    labels: object = None
    printed: list[str] = []
    raises: bool = False


async def play(line: JsonObject, ask: JudgeAsk) -> Outcome:
    """Return what the program leaves for the answers, labels and replies of a line."""
    rounds = _Rounds(line, ask)
    try:
        for number in range(int(line["evaluate_times"])):
            await rounds.play(number)
        rounds.save()
    except (KeyError, UnusableReply):
        return Outcome(votes=rounds.saved, printed=rounds.printed, raises=True)
    labels: dict[str, str] = {}
    for id, vote in rounds.votes.items():
        if id not in rounds.reference or id not in rounds.candidate:
            return Outcome(votes=rounds.saved, labels=labels, printed=rounds.printed, raises=True)
        labels[id] = rates.label(vote[REFERENCE], vote[CANDIDATE])
    if not labels:
        return Outcome(votes=rounds.saved, labels=labels, printed=rounds.printed, raises=True)
    win, tie = (list(labels.values()).count(label) / len(labels) for label in ("2", "3"))
    said = f"Test set: G1_instruction. Reference model: {REFERENCE}, Candidate model: {CANDIDATE}. Win rate: {win}, Tie rate: {tie}"
    return Outcome(votes=rounds.saved, labels=labels, printed=[*rounds.printed, said])


class _Rounds:
    """The votes so far, and those of the file, which is written after each judgement."""

    def __init__(self, line: JsonObject, ask: JudgeAsk) -> None:
        self.reference, self.candidate = deepcopy(line["reference"]), deepcopy(line["candidate"])
        self.votes: Votes = {}
        self.saved: Votes | None = None
        self.printed: list[str] = []
        self._line = line
        self._ask = ask
        if line["edition"] == "stable":
            for id in line["test_ids"]:
                marks = {f"round_{number}": "incomplete" for number in range(int(line["evaluate_times"]))}
                self.votes[id] = {REFERENCE: 0, CANDIDATE: 0, **marks}

    def save(self) -> None:
        self.saved = deepcopy(self.votes)

    async def play(self, number: int) -> None:
        line = self._line
        mark, judged = f"round_{number}", []
        known = [line["pass_rate"][side] for side in (REFERENCE, CANDIDATE)]
        for id in line["test_ids"]:
            if id not in self.votes:
                self.votes[id] = {REFERENCE: 0, CANDIDATE: 0, mark: "incomplete"}
            elif self.votes[id][mark] == "complete":
                continue
            won = None
            if id in known[0] and id in known[1]:
                won = rates.outright(line["edition"], known[0][id], known[1][id])
            if won is None and id not in self.reference:
                won = 1
            elif won is None and id not in self.candidate:
                self.printed.append(f"Query {id} not in output model converted answers!")
                won = 0
            if won is None:
                judged.append(id)
            else:
                self.votes[id][(REFERENCE, CANDIDATE)[won]] += 1
        for id in judged:
            won = await self._compare(id)
            self.votes[id][(REFERENCE, CANDIDATE)[won]] += 1
            self.votes[id][mark] = "complete"
            self.save()

    async def _compare(self, id: str) -> int:
        line = self._line
        pair = [msgspec.convert(value[id], ToolEvalExample) for value in (self.reference, self.candidate)]
        task, statuses = self._known(id)
        swap = [1, 0] if line["shown_swapped"] else [0, 1]
        answers = [judging.shown(example.answer) for example in pair]
        given = ComparedAnswers(
            query=pair[0].query,
            tools=judging.shown_tools(pair[0].available_tools),
            answers=[answers[index] for index in swap],
            statuses=statuses,  # not shuffled along with the answers, as officially
            task=task,
        )
        return swap[await judging.prefer(self._ask, given, lambda some: some[0])]

    def _known(self, id: str) -> tuple[Any, list[Any]]:
        line = self._line
        if line["use_pass_rate"] != "true":  # noqa: S105 - no password
            return None, [None, None]
        try:
            known = [line["pass_rate"][side][id] for side in (REFERENCE, CANDIDATE)]
            task = _TASKS[known[0]["solvable"]] if line["edition"] == "toolbench" else None
            return task, [_STATUSES[verdict["is_solved"]] for verdict in known]
        except KeyError:
            return None, [None, None]
