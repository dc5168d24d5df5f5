"""The metrics and thresholds of the sets of a folder: its `test_config.json`, of which only what changed is written."""

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Annotated, Any

import msgspec

from proctor.core.digest import digest_bytes
from proctor.core.errors import BadInput
from proctor.core.sentence import Sentence, say
from proctor.core.validation import in_words
from proctor.runtime.files import locked, write_whole
from proctor_adapters.evalsets import criteria
from proctor_adapters.evalsets.json_edit import rewrite
from proctor_adapters.evalsets.noun import camel
from proctor_adapters.evalsets.read import file_bytes
from proctor_judging.matching.adk_rules import MatchType
from proctor_web.evalset_files import Conflict, SetReference, folder_of, inside, list_sets
from proctor_web.workspace import Workspace

ABOUT: Mapping[str, Sentence] = {
    "tool_trajectory_avg_score": say("The calls of each turn are those that are expected."),
    "response_match_score": say("Words that the response shares with the expected one (ROUGE-1)."),
    "final_response_match_v2": say("A judge: the response says the same as the expected one."),
    "rubric_based_final_response_quality_v1": say("A judge: the response has the properties of the rubrics."),
    "rubric_based_tool_use_quality_v1": say("A judge: the calls have the properties of the rubrics."),
    "rubric_based_multi_turn_trajectory_quality_v1": say(
        "A judge: the whole conversation has the properties of the rubrics."
    ),
    "hallucinations_v1": say("A judge: every sentence is supported by what the agent was given."),
    "per_turn_user_simulator_quality_v1": say("A judge: the simulated user keeps to its plan."),
}
Threshold = Annotated[float, msgspec.Meta(ge=0, le=1)]


class MetricChoice(msgspec.Struct, frozen=True, kw_only=True):
    """A metric to score by. `samples` is how often a judge is asked, None for the usual."""

    name: str
    threshold: Threshold
    match_type: MatchType = "EXACT"
    samples: Annotated[int, msgspec.Meta(ge=1, le=50)] | None = None


class CriterionRow(msgspec.Struct, frozen=True, kw_only=True):
    """A metric that can be chosen, and how it is used if it is."""

    name: str
    about: Sentence
    needs_judge: bool
    chosen: MetricChoice | None = None


class CriteriaView(msgspec.Struct, frozen=True, kw_only=True):
    """The criteria of a folder; `digest` is '' where it has no file and the defaults of ADK count."""

    path: str
    digest: str
    metrics: tuple[CriterionRow, ...]
    others: tuple[str, ...] = ()
    sets: tuple[str, ...] = ()
    notes: tuple[Sentence, ...] = ()
    problem: Sentence | None = None


class CriteriaChange(SetReference, frozen=True, kw_only=True):
    """The metrics to score by; `digest` is that of the criteria as they were read."""

    digest: str
    metrics: tuple[MetricChoice, ...]


def get_criteria(workspace: Workspace, given: SetReference) -> CriteriaView:
    """Show by which metrics and thresholds a set is scored."""
    folder = folder_of(workspace)
    return _view(folder, _path(folder, given.file))


def change_criteria(workspace: Workspace, given: CriteriaChange) -> CriteriaView:
    """Choose metrics and thresholds for all sets of a folder."""
    folder = folder_of(workspace)
    path = _path(folder, given.file)
    if not given.metrics:
        raise BadInput("Choose at least one metric, so that something is scored.")
    with locked(path):
        data = file_bytes(path) if path.exists() else b""
        if (digest_bytes(data) if data else "") != given.digest:
            raise Conflict("{file} was changed by someone else meanwhile; nothing was written.", file=path.name)
        text = data.decode("utf-8-sig") if data else '{\n  "criteria": {}\n}\n'
        try:
            value = json.loads(text)
            if not isinstance(value, dict):
                raise BadInput("{path} is no JSON object, so it has to be repaired by hand.", path=path.name)
            value["criteria"] = _chosen(value.get("criteria"), given.metrics)
            criteria.of_config(value, path.name, allow_code=True)
            changed = rewrite(text, value)
        except (ValueError, RecursionError) as error:
            raise BadInput("{path} cannot be changed: {error}.", path=path.name, error=in_words(error)) from None
        write_whole(path, changed, durable=True)
    return _view(folder, path)


def _path(folder: Path, file: str) -> Path:
    """Return the criteria file of the folder of a set, which may be missing; a link that leads out is refused."""
    path = inside(folder, file).parent / criteria.FILE
    if not path.resolve().is_relative_to(folder.resolve()):
        raise BadInput("'{file}' is no file of the folder of eval sets.", file=criteria.FILE)
    return path


def _view(folder: Path, path: Path) -> CriteriaView:
    root = folder.resolve()
    here = path.parent.relative_to(root).as_posix().removeprefix(".")
    sets = tuple(summary.file for summary in list_sets(folder) if summary.file.rpartition("/")[0] == here)
    data = b""
    problem: Sentence | None = None
    notes: tuple[Sentence, ...] = ()
    config: dict[str, Any] = {"criteria": criteria.DEFAULT}
    if path.exists():
        try:
            data = file_bytes(path)
            config = json.loads(data.decode("utf-8-sig"))
            notes = criteria.of_config(config, path.name, allow_code=True).notes
        except BadInput as error:
            problem = error.sentence
        except (ValueError, RecursionError) as error:
            problem = say("{path} is no JSON object: {error}.", path=path.name, error=in_words(error))
    given = config.get("criteria") if isinstance(config, dict) else None
    entries: dict[str, Any] = given if isinstance(given, dict) else {}
    return CriteriaView(
        path=path.relative_to(root).as_posix(),
        digest=digest_bytes(data) if data else "",
        metrics=tuple(
            CriterionRow(
                name=name, about=about, needs_judge=name in criteria.JUDGED, chosen=_choice(name, entries.get(name))
            )
            for name, about in ABOUT.items()
        ),
        others=tuple(str(name) for name in entries if name not in ABOUT),
        sets=sets,
        notes=notes,
        problem=problem,
    )


def _choice(name: str, entry: object) -> MetricChoice | None:
    """Return how a file uses a metric; None if it does not, or cannot be understood."""
    if entry is None:
        return None
    try:
        read = criteria.of({name: entry})
    except BadInput:
        return None
    judged = read.judged.get(name)
    threshold = judged.threshold if judged is not None else read.thresholds[name]
    samples = None
    if judged is not None and isinstance(entry, dict):
        options = entry.get("judge_model_options") or entry.get("judgeModelOptions") or {}
        samples = options.get("num_samples", options.get("numSamples")) and judged.num_samples
    return MetricChoice(name=name, threshold=min(max(threshold, 0.0), 1.0), match_type=read.match_type, samples=samples)


def _chosen(given: object, metrics: Sequence[MetricChoice]) -> dict[str, object]:
    """Return the criteria with these metrics, and those that cannot be chosen here as they are."""
    before = given if isinstance(given, dict) else {}
    chosen = {metric.name: metric for metric in metrics}
    for name in chosen:
        if name not in ABOUT:
            raise BadInput("'{name}' is no metric that can be chosen here.", name=name)
    kept = {name: entry for name, entry in before.items() if name in chosen or name not in ABOUT}
    for name, choice in chosen.items():
        old = before.get(name)
        if old is None or choice != _choice(name, old):
            kept[name] = _entry(choice, old)
    return kept


def _entry(choice: MetricChoice, old: object) -> object:
    """Return the entry of a metric: a number where that says it all, else an object; other keys of an old one stay."""
    new: dict[str, Any] = {"threshold": choice.threshold}
    if choice.match_type != "EXACT" or (
        isinstance(old, dict) and criteria.of({choice.name: old}).match_type != "EXACT"
    ):
        new["match_type"] = choice.match_type
    if choice.samples is not None:
        new["judge_model_options"] = {"num_samples": choice.samples}
    if not isinstance(old, dict):
        return choice.threshold if len(new) == 1 else new
    return _merged(old, new)


def _merged(old: Mapping[str, object], new: Mapping[str, object]) -> dict[str, object]:
    """Return an object with other values, under the keys that it has in either spelling; equal numbers stay as they are."""
    merged = dict(old)
    for key, value in new.items():
        name = camel(key) if camel(key) in old else key
        before = old.get(name)
        if isinstance(value, dict):
            merged[name] = _merged(before if isinstance(before, dict) else {}, value)
        elif before != value:
            merged[name] = value
    return merged
