"""Rank the agents of a task, as far as paired tests tell them apart.

The newest finished run of each agent counts. Each two of them are tested on the samples both scored, all tests corrected
by Holm together; an agent's rank lies between one more than how many are surely better, and the number of agents less
how many are surely worse (Mogstad, Romano, Shaikh and Wilhelm 2024, "Inference for Ranks").
"""

from collections.abc import Mapping, Sequence
from functools import partial
from typing import Any

import msgspec

from proctor.core.run import Estimate
from proctor_ci.trends import main_estimate
from proctor_web.comparing.background import Background
from proctor_web.comparing.comparison import compare_each_two
from proctor_web.workspace import Found, Workspace

MOST_AGENTS = 30


class BoardGiven(msgspec.Struct, frozen=True, kw_only=True):
    """The task whose agents are ranked, at a version (the newest by default)."""

    task: str = ""
    version: str = ""


class Rank(msgspec.Struct, frozen=True, kw_only=True):
    """One agent: its newest finished run, its number, and the ranks it may have.

    Attributes:
        options: those of the agent, which are part of what is ranked.
        best, worst: the ends of the range of ranks; both None where nothing was tested.
        beats: the runs of the agents that it is surely better than.
    """

    run: str
    agent: str
    options: Mapping[str, Any]
    created: float
    estimate: Estimate | None
    official: tuple[Estimate, ...]
    cost: float | None
    best: int | None
    worst: int | None
    beats: tuple[str, ...]


class Leaderboard(msgspec.Struct, frozen=True, kw_only=True):
    """The agents of a task, the best number first.

    Attributes:
        tasks: those that have finished runs, the one with the newest first.
        versions: of the task, the newest first.
        tested: pairs of agents that were tested; those without a sample in common are not.
        scorer: the first of the newest run.
        older: finished runs of the same agents that do not count.
        unfinished: runs that do not count because they are not finished.
        left_out: agents beyond the thirty with the newest runs.
    """

    task: str
    tasks: tuple[str, ...]
    version: str
    versions: tuple[str, ...]
    scorer: str = ""
    ranks: tuple[Rank, ...] = ()
    tested: int = 0
    older: int = 0
    unfinished: int = 0
    left_out: int = 0


def rank_agents(workspace: Workspace, given: BoardGiven, *, seconds: float | None = None) -> Leaderboard:
    """Rank the agents of a task by their newest finished runs."""
    runs = workspace.runs()[0]
    finished = [run for run in runs if run.record.state == "finished"]
    tasks = tuple(dict.fromkeys(run.record.task for run in finished))
    task = given.task or next(iter(tasks), "")
    of_task = [run for run in finished if run.record.task == task]
    versions = tuple(dict.fromkeys(run.record.task_version for run in of_task))
    version = given.version or next(iter(versions), "")
    at_version = [run for run in of_task if run.record.task_version == version]
    newest: dict[object, Found] = {}
    for run in at_version:
        options = msgspec.json.encode(run.record.spec.agent_options, order="deterministic")  # part of the agent
        newest.setdefault((run.record.agent, options), run)
    counted = list(newest.values())[:MOST_AGENTS]
    board = Leaderboard(
        task=task,
        tasks=tasks,
        version=version,
        versions=versions,
        older=len(at_version) - len(newest),
        unfinished=sum(run.record.task == task and run.record.state != "finished" for run in runs),
        left_out=len(newest) - len(counted),
    )
    if not counted:
        return board
    key = ("leaderboard", *(run.reference for run in counted))
    return workspace.kept(Background).result(key, counted, partial(_rank, board=board), version=board, seconds=seconds)


def _rank(runs: Sequence[Found], board: Leaderboard) -> Leaderboard:
    scorer = runs[0].record.main_scorer
    rows = compare_each_two(runs, scorer)
    better: dict[int, set[int]] = {at: set() for at in range(len(runs))}  # than the run at a position, surely
    for (first, second), row in rows.items():
        if row.outcome == "better":
            better[first].add(second)
        elif row.outcome == "worse":
            better[second].add(first)
    ranks = [
        Rank(
            run=run.reference,
            agent=run.record.agent,
            options=run.record.spec.agent_options,
            created=run.record.created,
            estimate=main_estimate(run, scorer),
            official=tuple(
                estimate for estimate in run.record.official or () if not estimate.slice and estimate.name == "overall"
            ),
            cost=run.store.usage(run.record.id).cost,
            best=1 + len(better[at]) if rows else None,
            worst=len(runs) - sum(at in others for others in better.values()) if rows else None,
            beats=tuple(runs[other].reference for other, others in better.items() if at in others),
        )
        for at, run in enumerate(runs)
    ]

    def order(rank: Rank) -> tuple[float, int, str]:
        value = rank.estimate.value if rank.estimate is not None else None
        return 1.0 if value is None else -value, rank.best or 0, rank.agent

    ranks.sort(key=order)
    return msgspec.structs.replace(board, scorer=scorer, ranks=tuple(ranks), tested=len(rows))
