"""Read sample logs of lm-evaluation-harness: `samples_TASK_TIME.jsonl` (`--log_samples`), and `results_TIME.json` next to it.

Read as lm_eval 0.4.13 writes them: a line for each sample and filter, with metrics as keys.

    {"doc_id": 0, "doc": {"q": "2+2"}, "target": "4", "arguments": {"gen_args_0": {"arg_0": "Q: 2+2\\nA:", "arg_1": {…}}},
     "resps": [["4"]], "filtered_resps": ["4"], "filter": "none", "metrics": ["exact_match"], "exact_match": 1.0}
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from typing import Any

from proctor.core.errors import BadInput
from proctor.core.parts import ImportPart
from proctor.core.sample import Sample, Turn
from proctor.core.score import Score, Unscored
from proctor.core.sentence import say
from proctor.core.trajectory import Trajectory
from proctor_adapters.imports._foreign import ForeignRun, ForeignTrial, LogReading, Reported
from proctor_adapters.imports._messages import text_of
from proctor_adapters.imports._records import question
from proctor_adapters.imports._source import ImportSource
from proctor_adapters.imports._values import by_name, moment, number, scores, seconds, tags

UNFILTERED = "none"
MOST_FILTERS = 200
MOST_SHOWN = 100  # characters of an id
_NAME = re.compile(r"samples_(.+?)_(\d{4}-\d\d-\d\dT[\d\-.:]+)\.jsonl")

Line = Mapping[str, object]


def knows(source: ImportSource) -> bool:
    """True if a file is a log of samples of lm-evaluation-harness, or its table of results."""
    return _has_samples(source) or {"results", "lm_eval_version"} <= source.head.keys()


def _has_samples(source: ImportSource) -> bool:
    return {"doc_id", "doc", "filtered_resps"} <= source.head.keys()


def read(source: ImportSource, how: LogReading) -> list[ForeignRun]:
    """Return the run of one task.

    Raises:
        BadInput: it is a table of results only, or no log of samples.
    """
    if not _has_samples(source):
        raise BadInput(
            "{path} holds no samples. Import the file samples_….jsonl, which --log_samples writes.", path=source.path
        )
    named = _NAME.fullmatch(source.name)
    task = named[1] if named else source.stem
    results = _results(source, named[2]) if named else {}
    config = results.get("config")
    model = config.get("model") if isinstance(config, Mapping) else None
    no_results = say("There is no file of results next to it, so the model is not known: name it with --agent.")
    versions = results.get("versions")
    return [
        ForeignRun(
            format="lm_eval",
            version=str(results.get("lm_eval_version") or ""),
            task=task,
            task_version=str(versions.get(task, "1")) if isinstance(versions, Mapping) else "1",
            agent=":".join(map(str, filter(None, (model, results.get("model_name"))))) or "lm_eval",
            created=moment(results.get("date")),
            seconds=seconds(results.get("total_evaluation_time_seconds")),
            trials=partial(_trials, source, how),
            reported=tuple(_reported(results, task, how.scales)),
            provenance={"model_args": text_of(config.get("model_args"))[:2_000]} if isinstance(config, Mapping) else {},
            notes=() if results else (no_results,),
        )
    ]


def _results(source: ImportSource, time: str) -> Mapping[str, object]:
    paths = [source.path.with_name(f"results_{time}.json{end}") for end in ("", ".gz")]
    return next((ImportSource(path).document(dict[str, Any]) for path in paths if path.is_file()), {})


def _reported(
    results: Mapping[str, object], task: str, scales: Mapping[str, tuple[float, float]]
) -> Iterator[Reported]:
    figures = results.get("results")
    of_task = figures.get(task) if isinstance(figures, Mapping) else None
    for key, value in of_task.items() if isinstance(of_task, Mapping) else ():
        metric, comma, filter = key.partition(",")
        figure = number(value)
        if comma and figure is not None and not metric.endswith("_stderr"):
            name = _scorer(metric, filter)
            low, high = scales.get(name, (0.0, 1.0))
            yield Reported(scorer=name, metric=metric, value=(figure - low) / (high - low))


def _scorer(metric: str, filter: object) -> str:
    return metric if filter in (None, "", UNFILTERED) else f"{metric},{filter}"


def _trials(source: ImportSource, how: LogReading) -> Iterator[ForeignTrial]:
    """Yield a line as a trial, and those of further filters as more scores of it.

    Raises:
        BadInput: a filter has a sample twice, or one that the first filter does not have.
    """
    bit_by_filter: dict[str, int] = {}
    filters_by_id: dict[str, int] = {}  # each a bit
    for line_number, line in source.numbered_lines(dict[str, Any]):
        id, filter = str(line.get("doc_id", "")), str(line.get("filter", UNFILTERED))
        bit, known = bit_by_filter.setdefault(filter, 1 << len(bit_by_filter)), filters_by_id.get(id, 0)
        if len(bit_by_filter) > MOST_FILTERS:
            raise BadInput("{path} has more than {count} different filters.", path=source.path, count=MOST_FILTERS)
        first = next(iter(bit_by_filter))
        about = {"path": source.path, "line": line_number, "filter": filter, "id": id[:MOST_SHOWN], "first": first}
        if known & bit:
            raise BadInput(
                "{path}, line {line}: the filter '{filter}' has the sample '{id}' a second time. Lines of several logs may be in this file: import each log by itself.",
                **about,
            )
        if filter != first and not known:
            raise BadInput(
                "{path}, line {line}: the filter '{filter}' has the sample '{id}', which has no line of the filter '{first}' further up. Each sample needs one of the log's first filter: import the whole file that --log_samples wrote, or leave out the lines of '{filter}'.",
                **about,
            )
        filters_by_id[id] = known | bit
        yield _trial(line, how, again=filter != first)


def _trial(line: Line, how: LogReading, *, again: bool) -> ForeignTrial:
    document = line.get("doc")
    document = document if isinstance(document, Mapping) else {"doc": document}
    contexts, choices = _arguments(line.get("arguments"))
    target, answer = line.get("target"), _answer(line, choices)
    if choices and (wanted := number(target)) is not None and wanted.is_integer() and 0 <= wanted < len(choices):
        target = choices[int(wanted)]
    sample = Sample(
        id=str(line.get("doc_id", "")),
        turns=() if again else (Turn(messages=question(contexts[0] if contexts else ""), reference=target),),
        target=target,
        tags=tags(document, how.tags),
        meta={"metadata": document, **({"options": choices} if choices else {})},
    )
    said, found = Trajectory.of(answer) if answer else Trajectory(), by_name(_scores(line, how, answer))
    return ForeignTrial(sample=sample, trajectory=said, scores=found, again=again)


def _arguments(raw: object) -> tuple[list[object], list[str]]:
    """Return the prompts, and the continuations where the likelihood of several was compared; older logs write lists."""
    calls = list(raw.values()) if isinstance(raw, Mapping) else raw if isinstance(raw, list) else []
    pairs = [list(call.values()) if isinstance(call, Mapping) else call for call in calls]
    pairs = [arguments for arguments in pairs if isinstance(arguments, list) and arguments]
    choices = [arguments[1].strip() for arguments in pairs if len(arguments) > 1 and isinstance(arguments[1], str)]
    return [arguments[0] for arguments in pairs], choices if len(choices) > 1 else []


def _answer(line: Line, choices: Sequence[str]) -> str:
    """Return the reply after filtering; of compared continuations the most likely one."""
    replies = line.get("filtered_resps")
    replies = replies if isinstance(replies, list) else [replies]
    if choices and len(replies) >= len(choices):
        likely = [
            number(reply[0]) if isinstance(reply, list) and reply else number(reply)
            for reply in replies[: len(choices)]
        ]
        known = [(value, -index) for index, value in enumerate(likely) if value is not None]
        return choices[-max(known)[1]] if known else ""
    return text_of(replies[0]) if replies else ""


def _scores(line: Line, how: LogReading, answer: str) -> Iterator[tuple[str, Score | Unscored]]:
    metrics = line.get("metrics")
    for metric in metrics if isinstance(metrics, list) else ():
        if isinstance(metric, str):
            yield from scores(_scorer(metric, line.get("filter")), line.get(metric), how.scales, answer=answer)


PART = ImportPart(read=read, knows=knows)
