"""Share what the judges of HelloAgents need: problems as items, runs of them, numbers with intervals."""

import json
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from datetime import datetime
from pathlib import Path
from typing import Any

import proctor
from proctor.api.run import Run
from proctor.core.digest import digest
from proctor.core.errors import BadInput
from proctor.core.judge import JudgedFigure
from proctor.core.run import Estimate
from proctor.core.sample import JsonObject, Sample
from proctor.core.sentence import say
from proctor.core.tally import Case, tally
from proctor.core.task import Task
from proctor.core.trial import Trial, Verdict
from proctor.engine.judge_figures import on_scale
from proctor.engine.progress import Progress
from proctor.engine.status import RunStatus
from proctor.stats.estimate import estimate
from proctor_compat.hello_agents._llm import model_of, name_of
from proctor_compat.hello_agents._settings import judge_model as usual_judge
from proctor_compat.hello_agents._words import tell
from proctor_judging.generation.files import write
from proctor_judging.generation.generator import as_text
from proctor_judging.judges.pairwise import PairwiseJudge
from proctor_judging.judges.rubric import RubricJudge
from proctor_judging.tasks.fields import JudgedItem

ROLES = {"problem": "question", "answer": "answer", "solution": "solution"}
Problem = JsonObject
Dict = dict[str, Any]


class JudgingEvaluator:
    """The base of both evaluators that ask a judge: its model, renamed fields, and the run they made.

    Attributes:
        field_mapping: standard names of fields with those of the data.
        run: the stored run of the last evaluation of a batch; None before, and where there were several.
    """

    def __init__(self, llm: object, judge_model: str | None, field_mapping: Mapping[str, str] | None) -> None:
        self.llm = llm
        self.judge_model = usual_judge(judge_model) if llm is None else name_of(llm)
        self.field_mapping = dict(field_mapping or {})
        self.run: Run | None = None
        self._model = model_of(llm, self.judge_model)

    def export_results(self, results: Mapping[str, object], output_path: str | Path) -> None:
        text = json.dumps(results, ensure_ascii=False, indent=2, default=str)
        tell(say("✅ Results written: {path}", path=write(Path(output_path), text, replace=True)))

    def _rename_all(self, problems: Iterable[Problem]) -> list[Dict]:
        return [rename_fields(problem, self.field_mapping) for problem in problems]

    def _item(self, problem: Problem, usual: str = "unknown") -> JudgedItem:
        return item(rename_fields(problem, self.field_mapping), id_of(problem, usual))


class Judging(Progress):
    """Notes how many seconds each item took, one item after the other, and reports its verdict."""

    def __init__(self, report: Callable[[Verdict], None] | None = None) -> None:
        super().__init__()
        self.seconds: dict[str, float] = {}
        self._report = report
        self._since = 0.0

    def begin(self, status: RunStatus) -> None:
        super().begin(status)
        self._since = time.perf_counter()

    def added(self, trial: Trial, verdicts: Sequence[Verdict]) -> None:
        now = time.perf_counter()
        self.seconds[trial.sample_id], self._since = now - self._since, now
        if self._report is not None:
            for verdict in verdicts:
                self._report(verdict)


def play(name: str, samples: Sequence[Sample], judge: RubricJudge | PairwiseJudge, progress: Judging) -> Run:
    """Judge samples in order, one at a time, as a run in the default store."""
    task = Task(name=name, version=digest([list(samples), judge.version])[:12], samples=samples, scorers=[judge])
    return proctor.evaluate(task, agent="recorded:", concurrency=1, order="official", progress=progress)


def now() -> str:
    """Return the moment as results have it: ISO, local."""
    return datetime.now().astimezone().replace(tzinfo=None).isoformat()


def mean(values: Sequence[float], planned: int, low: float = 0.0, high: float = 1.0) -> Estimate:
    """Return the mean of values on a scale, with its interval."""
    width = high - low
    cases = [Case(cluster=str(index), values=((value - low) / width,), planned=1) for index, value in enumerate(values)]
    missing = [Case(cluster="-", values=(), planned=1)] * (planned - len(values))
    return on_scale(estimate("mean", tally([*cases, *missing])), JudgedFigure(name="mean", low=low, high=high))


def from_cache(runs: Iterable[Run]) -> int:
    """Count the replies of the judge that came from the reply cache, and tell the user if there are any."""
    count = sum(verdict.result.known.replies_from_cache for run in runs for verdict in run.verdicts())
    if count:
        tell(say("ℹ️ {count} replies of the judge came from the reply cache: it was not asked again.", count=count))
    return count


def items(problems: Iterable[Mapping[str, object]]) -> list[JudgedItem]:
    """Return problems as items, with ids that are different."""
    judged_items: list[JudgedItem] = []
    seen: set[str] = set()
    for number, problem in enumerate(problems):
        id = id_of(problem, f"problem-{number}")
        id = f"{id}-{number}" if id in seen else id
        seen.add(id)
        judged_items.append(item(problem, id))
    return judged_items


def item(problem: Mapping[str, object], id: str) -> JudgedItem:
    texts = {role: as_text(problem[name]) for name, role in ROLES.items() if problem.get(name) not in (None, "")}
    if not texts:
        raise BadInput("The problem '{id}' has neither problem, answer nor solution.", id=id)
    return JudgedItem(id=id, texts=texts)


def id_of(problem: Mapping[str, object], usual: str) -> str:
    id = problem.get("problem_id", problem.get("id"))
    return usual if id in (None, "") else str(id)


def rename_fields(problem: Problem, mapping: Mapping[str, str]) -> Dict:
    """Return a problem with its fields under the standard names; `mapping` goes from standard to source.

    >>> rename_fields({"code": "x = 1", "id": 7}, {"problem": "code"})
    {'problem': 'x = 1', 'id': 7}
    """
    taken = {standard: problem[source] for standard, source in mapping.items() if source in problem}
    rest = {key: value for key, value in problem.items() if key not in mapping.values() and key not in taken}
    return {**taken, **rest}
