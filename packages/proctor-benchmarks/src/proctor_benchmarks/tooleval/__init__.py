"""ToolEval (ToolBench, StableToolBench): does an agent with many APIs solve what a user asks, as a judge sees it?

`tooleval` is the six sets of solvable queries of StableToolBench, `tooleval/G1_instruction` is one of them. APIs are answered
from recorded responses, and by a model that imitates them; queries and all prompts are read from the user's clone. Three
queries come with Proctor (`--set data=example`).
"""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Annotated

import msgspec

from proctor.config import converted
from proctor.core.digest import digest_bytes
from proctor.core.errors import BadInput
from proctor.core.parts import BenchmarkPart
from proctor.core.sample import Message, Sample, ToolCall
from proctor.core.task import Model, Task
from proctor.core.trajectory import Step, Trajectory
from proctor.models import named
from proctor_benchmarks.tooleval import dataset, export, parity, replies
from proctor_benchmarks.tooleval.answers import ToolEvalExample
from proctor_benchmarks.tooleval.conversion import Edition
from proctor_benchmarks.tooleval.environment import ToolServer
from proctor_benchmarks.tooleval.judging import Evaluator
from proctor_benchmarks.tooleval.scorer import Measure, ToolEvalRules, ToolEvalScorer
from proctor_benchmarks.tooleval.summary import summarise

Positive = Annotated[int, msgspec.Meta(ge=1)]


class ToolEvalOptions(msgspec.Struct, frozen=True, kw_only=True):
    """Where queries, responses and judgements come from.

    Attributes:
        data: a clone of StableToolBench, or `example`; PROCTOR_TOOLEVAL_DATA when None.
        edition: by whose rules an answer passes: `stable` (solved, without asking whether it can be) or `toolbench`.
        times: judgements of each answer; 3 are usual for `stable`, 4 for `toolbench`.
        fac: also judge the final answer alone.
        reference: answers to compare with, a folder or file in the official layout.
        evaluator: whose rule compares answers.
        cache: a folder of recorded responses; the example has its own.
        descriptions: a folder that describes whole tools; it comes with the recorded responses.
        simulator: the model that imitates APIs of which no response is recorded, or an object with `model` and its options.
        record: keep the simulator's responses in the cache.
        most_nodes: the official limit of a chain; a reply counts one for its words and two for each call.
        method: with `--replies`, which raw files are read: those with this text in their names.
    """

    data: str | None = None
    edition: Edition = "stable"
    times: Positive | None = None
    fac: bool = False
    reference: str | None = None
    evaluator: Evaluator = "default"
    cache: str | None = None
    descriptions: str | None = None
    simulator: str | Mapping[str, object] | None = None
    record: bool = False
    most_nodes: Positive = 12
    method: str | None = None


def task(category: str | Sequence[str] | None = None, **options: object) -> Task:
    """Return the task of some sets; queries, prompts and reference answers are read and checked here.

    Args:
        category: a set, or several with commas; all six, or those of the example, when None.
        options: the fields of `ToolEvalOptions`.

    Raises:
        BadInput: no clone, an unknown set or option, or a file in another layout.
    """
    how = converted(options, ToolEvalOptions, "tooleval")
    clone = dataset.locate(how.data)
    is_example = clone.root == dataset.locate(dataset.EXAMPLE).root
    names = dataset.sets_of(category or (dataset.EXAMPLE_SETS if is_example else None))
    samples = list(dataset.samples(clone, names, _folder(how.descriptions)))
    if not samples:
        raise BadInput("{path} holds no queries of {sets}.", path=clone.root, sets=", ".join(names))
    if how.record and how.cache is None:
        raise BadInput("Responses are recorded in a cache: --set cache=FOLDER.")
    rules = ToolEvalRules(
        edition=how.edition,
        times=how.times or (4 if how.edition == "toolbench" else 3),
        evaluator=how.evaluator,
        reference=_reference(how, names),
    )
    measures: list[Measure] = ["pass_rate"]
    measures += ["fac"] if how.fac else []
    measures += ["preference"] if how.reference else []
    return Task(
        name="tooleval" if category is None else f"tooleval/{','.join(names)}",
        version=dataset.EXAMPLE if is_example else dataset.COMMIT[:12],
        samples=samples,
        scorers=[ToolEvalScorer(measure, clone, rules) for measure in measures],
        environment=_server(how, clone, is_example=is_example),
        oracle=_solution if is_example else None,
        summarise=summarise,
        spread_by="set",
        planned=len(samples),
        provenance={
            **(
                {"data": dataset.EXAMPLE}
                if is_example
                else {"repository": "THUNLP-MT/StableToolBench", "commit": dataset.COMMIT, "licence": "Apache-2.0"}
            ),
            "files": {name: digest_bytes(clone.query_file(name).read_bytes()) for name in names},
        },
    )


def _server(how: ToolEvalOptions, clone: dataset.Clone, *, is_example: bool) -> ToolServer:
    own = clone.root / "tool_response_cache" if is_example and how.cache is None else None
    return ToolServer(
        cache=own or _folder(how.cache, is_made=how.record),
        prompt=clone.simulator_prompt() if how.simulator is not None else "",
        simulator=_simulator(how.simulator),
        record=how.record,
        most_nodes=how.most_nodes,
    )


def _solution(sample: Sample) -> Trajectory:
    calls = [ToolCall(name=name, arguments=given) for name, given in sample.meta["solution"]]
    return Trajectory(steps=tuple(Step(message=Message(role="assistant", parts=(call,))) for call in calls))


def _reference(how: ToolEvalOptions, names: Sequence[str]) -> Mapping[str, ToolEvalExample]:
    if how.reference is None:
        return {}
    path = Path(how.reference).expanduser()
    examples = {id: one for id, one in replies.answers(path, names, edition=how.edition) if isinstance(one, ToolEvalExample)}  # fmt: skip
    if not examples:
        raise BadInput("{path} holds no answers to queries of {sets}.", path=path, sets=", ".join(names))
    return examples


def _folder(given: str | None, *, is_made: bool = False) -> Path | None:
    if given is None:
        return None
    path = Path(given).expanduser()
    if not is_made and not path.is_dir():
        raise BadInput("There is no folder {path}.", path=path)
    return path


def _simulator(given: str | Mapping[str, object] | None) -> Model | None:
    if given is None:
        return None
    options = {"model": given} if isinstance(given, str) else dict(given)
    return named.model(str(options.pop("model", "")), options, defaults={"temperature": 0.0, "max_tokens": 1_024})


PART = BenchmarkPart(
    task=task,
    options=ToolEvalOptions,
    summarise=summarise,
    replies=replies.read,
    export=export.write,
    check_corpus=parity.check_corpus,
)
