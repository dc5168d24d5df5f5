"""Check the stated answers: a model solves the items again several times, and the end of their own solution is compared.

The answers of a solver are grouped by what they mean (`scorers.answer`: 1/2 is 0.5 is \\frac{1}{2}); the one that more than
half of all tries gave is its answer. An item on which it has none is reported apart, and is in no mean.
"""

from collections.abc import Mapping, Sequence

import msgspec

from proctor.api import Run
from proctor.core.run import Estimate
from proctor.core.sample import Sample
from proctor.core.tally import Case, tally
from proctor.core.task import Task
from proctor.stats.estimate import estimate
from proctor_judging.generation.generator import Generator, as_text, rendered
from proctor_judging.matching.extract import BOXED, MARKER
from proctor_judging.scorers.answer import final_answer, match

USUAL = """
{{ problem }}

Solve it. Think step by step, and end with a line of this form:
FINAL ANSWER: ...
"""
NAME = "answer_confirmed"


class AnswerDoubt(msgspec.Struct, frozen=True, kw_only=True):
    """An item whose stated answer differs from the computed one, which is '' if there is none."""

    id: str
    stated: str
    found: str


class SolverEvidence(msgspec.Struct, frozen=True, kw_only=True):
    """The share of stated answers that a solver confirms.

    Attributes:
        confirmed: the share of items whose stated answer the solver found, of those on which it has an answer.
        doubts: items where it found another.
        unsolved: items on which it has no answer that more than half of its tries gave.
    """

    run: str
    solver: str
    votes: int
    confirmed: Estimate
    doubts: Sequence[AnswerDoubt]
    unsolved: Sequence[str]


def task(items: Sequence[Mapping[str, object]], kind: Generator, name: str, version: str) -> Task:
    """Return the items as problems to solve, each with its stated answer."""
    answer = kind.answer
    assert answer is not None

    def samples() -> list[Sample]:
        return [
            Sample.ask(
                str(item["id"]), rendered(kind.solve or USUAL, **_problem(item, kind)), target=as_text(item[answer])
            )
            for item in items
        ]

    return Task(name=f"solve-{name}", version=version, samples=samples, scorers=["answer"], planned=len(items))


def solved(run: Run, stated: Mapping[str, str], votes: int) -> SolverEvidence:
    """Return what a run of the task shows, by the majority of its tries."""
    answers: dict[str, list[str]] = {id: [] for id in stated}
    for trial in run.trials(outcome="scored"):
        answer = final_answer(trial.trajectory.answer)
        if answer is not None:
            answers[trial.sample_id].append(answer)
    majority = {id: _majority(given, votes) for id, given in answers.items()}
    agrees = {id: match(found, stated[id]).right for id, found in majority.items() if found is not None}
    cases = [Case(cluster=id, values=(float(agrees[id]),) if id in agrees else (), planned=1) for id in stated]
    return SolverEvidence(
        run=run.id,
        solver=run.record.agent,
        votes=votes,
        confirmed=estimate(NAME, tally(cases)),
        doubts=[
            AnswerDoubt(id=id, stated=stated[id], found=found)
            for id, found in majority.items()
            if found is not None and not agrees[id]
        ],
        unsolved=[id for id, found in majority.items() if found is None],
    )


def own_doubts(items: Sequence[Mapping[str, object]], kind: Generator) -> list[AnswerDoubt]:
    r"""Return items whose solution ends in another answer than the stated one (`\boxed{…}`, `the answer is …`)."""
    if kind.answer is None or "solution" not in kind.schema["properties"]:
        return []
    doubts = []
    for item in items:
        stated, solution = as_text(item.get(kind.answer, "")), as_text(item.get("solution", ""))
        is_marked = BOXED in solution or MARKER.search(solution) is not None
        end = final_answer(solution) if stated and is_marked else None
        if end is not None and end.strip() and not _ends_in(end, stated):
            doubts.append(AnswerDoubt(id=str(item["id"]), stated=stated, found=end.strip(" .$")))
    return doubts


def _ends_in(end: str, stated: str) -> bool:
    return match(end, stated).right or match(end.rstrip(" ."), stated).right or stated in end.replace(",", "").split()


def _majority(given: Sequence[str], votes: int) -> str | None:
    """Return the answer that more than half of the tries gave; None for none."""
    groups: list[list[str]] = []
    for answer in given:
        group = next((group for group in groups if match(answer, group[0]).right), None)
        if group is None:
            groups.append([answer])
        else:
            group.append(answer)
    return next((group[0] for group in groups if 2 * len(group) > votes), None)


def _problem(item: Mapping[str, object], kind: Generator) -> dict[str, str]:
    """Return what a solver is shown: the problem, never the answer or its solution."""
    shown = {name: as_text(item[name]) for name in kind.main if name in item}
    return {"problem": "\n\n".join(shown.values()), **shown}
