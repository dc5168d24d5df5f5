"""Each kind of evidence, gathered: what one part raises costs that part only."""

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from statistics import median
from typing import Any, TypeVar

import msgspec
from msgspec.structs import replace

from proctor.api import Run, RunOptions, run_task
from proctor.api.options import budget_of
from proctor.core.digest import digest_file
from proctor.core.errors import BadInput, ProctorError
from proctor.core.judge import JudgedFigure
from proctor.core.run import Budget, Estimate
from proctor.core.score import Score
from proctor.core.sentence import Sentence, say
from proctor.core.tally import Case, tally
from proctor.core.task import Task
from proctor.datasets.columns import ITEM_NAMES
from proctor.datasets.formats import is_empty
from proctor.datasets.rows import DataRow
from proctor.engine.judge_figures import about, on_scale
from proctor.runtime.visible import one_line
from proctor.stats.estimate import estimate
from proctor.transport.redact import quoted
from proctor_judging.generation import answer_check, reference_set
from proctor_judging.generation.answer_check import SolverEvidence
from proctor_judging.generation.evidence import (
    FaultyItem,
    JudgeEvidence,
    NoveltyEvidence,
    PeopleEvidence,
    WeakItem,
    WinRateEvidence,
    Wish,
)
from proctor_judging.generation.generator import OWN_KEYS, Generator, RejectedRecord, as_text
from proctor_judging.generation.novelty import MEANING, Novelty, NoveltyLikeness
from proctor_judging.judges.pairwise import warnings
from proctor_judging.judges.rubric_file import JudgeRubric, Lang, rubric
from proctor_judging.review import labels
from proctor_judging.review.agree import Agreement, agree
from proctor_judging.tasks.item_rows import filled_column, items_in

T = TypeVar("T")
Item = Mapping[str, Any]
SCALE = (1.0, 5.0)  # of the scores of people
SHOWN = 10
WEAK_CHARACTERS = 160  # of the text of a weak item
LANGS: tuple[Lang, ...] = ("en", "zh")
ROLES = {"id": "id", "problem": "question", "answer": "answer", "solution": "solution", "topic": "topic"}


class Gathering:
    """Gathers the kinds of evidence, one method each; `failures` has the reason of each that failed.

    All runs are made with the same options; their budget is one for all together.
    """

    def __init__(
        self,
        wish: Wish,
        kind: Generator,
        options: RunOptions,
        tell: Callable[[Sentence], None] | None,
        runs: Mapping[str, Run],
    ) -> None:
        self.failures: dict[str, Sentence] = {}
        self.items = items_of(Path(wish.data), kind)
        self._wish = wish
        self._kind = kind
        self._options = replace(options, budget=budget_of(options.budget), seed=wish.seed)
        self._tell = tell
        self._runs = runs

    def attempt(self, name: str, step: Callable[[], T]) -> T | None:
        """Return what a part finds; None when it fails."""
        try:
            return step()
        except ProctorError as error:
            self.failures[name] = error.sentence
        except Exception as error:  # noqa: BLE001 - one part must not cost the others
            self.failures[name] = say("It broke: {kind}: {error}", kind=type(error).__name__, error=quoted(error))
        if self._tell is not None:
            self._tell(say("{part} failed: {reason}", part=name, reason=self.failures[name]))
        return None

    def novelty(self) -> NoveltyEvidence:
        """Return the items against the reference set, and against each other."""
        limit = MEANING if self._wish.meaning else None
        known, own = Novelty(meaning=limit), Novelty(meaning=limit)
        if self._wish.reference is not None:
            known.extend(
                (example.id, example.text(self._kind.main))
                for example in reference_set.load(self._wish.reference).items
            )
        copies: list[tuple[str, NoveltyLikeness]] = []
        repeated: list[tuple[str, NoveltyLikeness]] = []
        nearest = []
        for item in self.items:
            text = self._kind.text(item)
            if not text.strip():
                continue
            like, closest = known.like(text), known.nearest(text)
            nearest.append(closest.similarity if closest is not None else 0.0)
            if like is not None:
                copies.append((item["id"], like))
            if (earlier := own.admit(item["id"], text)) is not None:
                repeated.append((item["id"], earlier))
        old = {id for id, _ in (*copies, *repeated)}
        cases = [Case(cluster=item["id"], values=(float(item["id"] not in old),), planned=1) for item in self.items]
        return NoveltyEvidence(
            compared=len(known),
            copies=copies,
            repeated=repeated,
            typical=median(nearest) if nearest and len(known) else None,
            share=estimate("new", tally(cases)),
        )

    def judge(self) -> tuple[Run, JudgeEvidence]:
        """Return every item by the rubric."""
        criteria = rubric(self._wish.rubric or self._kind.rubric)
        if "judge" in self._runs:
            return self._runs["judge"], self._judged(self._runs["judge"], criteria)
        options: dict[str, object] = {}
        if self._wish.reference is not None:
            options = {"reference": str(reference_set.located(self._wish.reference)[0]), "seed": self._wish.seed}
        run = self._judge(f"judged-items:{self._wish.data}", f"rubric:{criteria.name}", options)
        return run, self._judged(run, criteria)

    def _judged(self, run: Run, criteria: JudgeRubric) -> JudgeEvidence:
        texts = {item["id"]: one_line(self._kind.text(item), WEAK_CHARACTERS) for item in self.items}
        weak = []
        for verdict in run.verdicts():
            result = verdict.result
            if isinstance(result, Score) and (mean := result.known.mean) is not None and mean < criteria.high:
                comment = result.reason.values.get("comment", "") if isinstance(result.reason, Sentence) else ""
                weak.append(
                    WeakItem(
                        id=verdict.sample_id,
                        text=texts.get(verdict.sample_id, ""),
                        mean=mean,
                        points=result.known.dimensions,
                        comment=str(comment),
                    )
                )
        weak.sort(key=lambda one: one.mean)
        return JudgeEvidence(
            run=run.id,
            judge=_model_of(run),
            rubric=criteria.name,
            scale=(criteria.low, criteria.high),
            dimensions=tuple(dimension.name for dimension in criteria.dimensions),
            titles={
                lang: {
                    dimension.name: dimension.words(lang).title or dimension.name for dimension in criteria.dimensions
                }
                for lang in LANGS
            },
            estimates=_whole(run),
            weakest=weak[:SHOWN],
            failed=_failed(run),
        )

    def compare(self) -> WinRateEvidence:
        """Compare items with items of the reference set, in both orders."""
        run = self._runs.get("win_rate")
        if run is None:
            criteria = self._wish.rubric or self._kind.rubric
            reference = str(reference_set.located(str(self._wish.reference))[0])
            options = {"sets": [self._wish.data, reference], "pairing": "random", "seed": self._wish.seed}
            run = self._judge("judged-pairs:", f"pairwise:{criteria}", options, limit=self._wish.comparisons)
        return WinRateEvidence(
            run=run.id,
            judge=_model_of(run),
            estimates=_whole(run),
            notes=warnings(run.estimates),
            failed=_failed(run),
        )

    def solve(self) -> SolverEvidence:
        """Return every item with a stated answer, solved again."""
        answer = self._kind.answer
        if answer is None:
            raise BadInput("The generator {name} names no answer that could be solved for.", name=self._kind.name)
        items = [item for item in self.items if not is_empty(item.get(answer)) and self._kind.text(item)]
        if not items:
            raise BadInput("No item has a problem with an answer.")
        path = Path(self._wish.data)
        task = answer_check.task(items, self._kind, path.stem, digest_file(path)[:12])
        run = self._run(
            task,
            agent=self._wish.solver,
            agent_options=self._wish.solver_options,
            attempts=self._wish.votes,
        )
        return answer_check.solved(run, {item["id"]: as_text(item[answer]) for item in items}, self._wish.votes)

    def people(self, run: Run | None) -> PeopleEvidence | None:
        """Return the labels that people gave these items; None if there are none."""
        asked = self._wish.verifications
        path = Path(asked) if asked is not None else labels.file_of(self._wish.data)
        if asked is None and not path.is_file():
            return None
        given = labels.verdicts(path)
        ids = {item["id"] for item in self.items}
        mine = [label for label in given if label.item in ids]
        if not mine:
            raise BadInput("{path} has no label of these items. Is it of other data?", path=path)
        agreement = None
        if run is not None:
            agreement = self.attempt("agreement", lambda: agree([run, path]))
        return _people(path, mine, len(given) - len(mine), agreement, len(ids))

    def _judge(self, task: str, scorer: str, options: Mapping[str, Any], limit: int | None = None) -> Run:
        return self._run(
            task,
            agent="recorded:",
            scorers=[scorer],
            options=options,
            judge=self._wish.judge,
            judge_options=self._wish.judge_options,
            limit=limit,
        )

    def _run(self, task: str | Task, **how: object) -> Run:
        """Run a part, and take what it cost out of the budget."""
        left = budget_of(self._options.budget)
        if any(bound is not None and bound <= 0 for bound in msgspec.structs.astuple(left)):
            raise BadInput("The budget is spent.")
        run = run_task(task, replace(self._options, **how))
        self._options = replace(self._options, budget=rest_of(left, run))
        return run


def items_of(path: Path, kind: Generator) -> list[Item]:
    """Return the rows of a file, each with an id; common other names of columns are changed to those of the generator.

    Raises:
        BadInput: no such file, nothing in it, or an id twice.
    """
    wanted = kind.schema["properties"]
    names = {
        own: [name for name in ITEM_NAMES[role] if name not in wanted]
        for own, role in ROLES.items()
        if own in wanted or own == "id"
    }

    def make(row: DataRow) -> Item:
        cells = {name: value for name, value in row.cells.items() if not is_empty(value)}
        for own, usual in names.items():
            if own not in cells and (other := filled_column(usual, cells)) is not None:
                cells[own] = cells.pop(other)
        return {**cells, "id": as_text(cells.get("id", f"row-{row.number}"))}

    return list(items_in(path, make, lambda item: str(item["id"])))


def faulty(items: Sequence[Item], kind: Generator) -> list[FaultyItem]:
    faulty_items = []
    for item in items:
        try:
            kind.checked({name: value for name, value in item.items() if name not in OWN_KEYS})
        except RejectedRecord as rejected:
            faulty_items.append(FaultyItem(id=item["id"], reason=rejected.reason))
    return faulty_items


def topics(items: Sequence[Item], kind: Generator) -> list[tuple[str, int]]:
    if kind.topic is None:
        return []
    counts: dict[str, int] = {}
    for item in items:
        topic = as_text(item.get(kind.topic, ""))
        counts[topic] = counts.get(topic, 0) + 1
    return sorted(counts.items(), key=lambda one: -one[1])


def rest_of(budget: Budget, run: Run) -> Budget:
    """Return what a run leaves of a budget."""
    used = run.usage
    spent = {
        "money": used.cost or 0.0,
        "tokens": used.input_tokens + used.output_tokens,
        "requests": used.requests,
        "minutes": run.record.seconds / 60,
    }
    left = {name: bound - spent[name] for name in spent if (bound := getattr(budget, name)) is not None}
    return Budget(**left)


def _people(
    path: Path, given: Sequence[labels.ReviewLabel], others: int, agreement: Agreement | None, items: int
) -> PeopleEvidence:
    statuses: dict[str, int] = {status: sum(label.status == status for label in given) for status in labels.STATUSES}
    approved = [Case(cluster=label.item, values=(float(label.status == "approved"),), planned=1) for label in given]
    means: dict[str, list[Case]] = {}
    for label in given:
        for name, score in label.scores.items():
            if SCALE[0] <= score <= SCALE[1]:
                share = (score - SCALE[0]) / (SCALE[1] - SCALE[0])
                means.setdefault(name, []).append(Case(cluster=label.item, values=(share,), planned=1))
    figure = JudgedFigure(name="", low=SCALE[0], high=SCALE[1])
    return PeopleEvidence(
        path=str(path),
        labelled=len(given),
        others=others,
        statuses=statuses,
        approved=estimate("approved", tally([*approved, Case(cluster="", values=(), planned=items - len(given))])),
        estimates={name: on_scale(estimate(name, tally(cases)), figure) for name, cases in means.items()},
        agreement=agreement,
    )


def _model_of(run: Run) -> str:
    judge_info = about(run.record, run.record.scorers[0])
    return judge_info.model if judge_info is not None else run.record.spec.judge or ""


def _whole(run: Run) -> dict[str, Estimate]:
    return {figure.name: figure for figure in run.estimates if not figure.slice}


def _failed(run: Run) -> int:
    return sum(not isinstance(verdict.result, Score) for verdict in run.verdicts())
