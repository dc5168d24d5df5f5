"""Eval-set files as a task: every case a sample, every invocation a turn with its expected calls and response."""

import json
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import msgspec

from proctor.core.errors import BadInput
from proctor.core.parity import Checked
from proctor.core.parts import TaskFilesPart
from proctor.core.sample import File, JsonObject, Message, Part, Sample, Text, ToolCall, ToolResult, Turn
from proctor.core.task import Task, User
from proctor.core.trajectory import Step, Trajectory
from proctor.trajectory_matching.arguments import check_matchers
from proctor_adapters.evalsets import cases, criteria
from proctor_adapters.evalsets.criteria import EvalCriteria
from proctor_adapters.evalsets.custom import KEY as CUSTOM
from proctor_adapters.evalsets.custom import scorer_of
from proctor_adapters.evalsets.noun import as_json
from proctor_adapters.evalsets.read import Loaded, read, set_id
from proctor_adapters.evalsets.schema import Content, EvalCase, Invocation, inline, texts
from proctor_adapters.users.adk import ScenarioUser, user_of
from proctor_judging.judges import adk_judged

SUFFIXES = (".evalset.json", ".test.json")


class EvalSetSource(msgspec.Struct, frozen=True, kw_only=True):
    """One file of a task: the set, the cases chosen from it, its criteria, and the prefix of its sample ids."""

    path: Path
    loaded: Loaded
    chosen: Sequence[EvalCase]
    criteria: EvalCriteria
    prefix: str = ""


def is_evalset(name: str) -> bool:
    """True if a name of a task means an eval-set file, cases of one (`shop.evalset.json:a,b`), or a folder of files.

    >>> is_evalset("shop.evalset.json"), is_evalset("dir/x.test.json:case1"), is_evalset("bfcl")
    (True, True, False)
    """
    path, _ = _select(name)
    return path.name.endswith(SUFFIXES) or next(_files(path), None) is not None


def task_of(
    path: str | Path,
    *,
    config: str | None = None,
    criteria: Mapping[str, object] | None = None,
    user: str | Mapping[str, object] | User | None = None,
    allow_code: bool = False,
) -> Task:
    """Return the task of a file, of some cases of one, or of all files in a folder and those in it.

    Args:
        path: the file, with the ids of cases after a colon if not all are meant; or the folder.
        config: another file than the `test_config.json` next to the set.
        criteria: the criteria themselves, such as {"response_match_score": 0.5}.
        user: the model of the simulated user, for cases that are scenarios: `openai:MODEL`, or an object with `model`,
            `max_turns` and options of the model; or the user itself.
        allow_code: functions that a criteria file names under `custom_metrics`, or a matcher, may run.

    Raises:
        BadInput: a file that cannot be read, without cases, with an empty conversation, or with one that needs a
            simulated user where none is named; criteria that need a judge.
    """
    return _task(str(path), config, criteria, user, allow_code=allow_code)


def files_of(path: Path) -> list[Path]:
    """Return the file, or all eval-set files in a folder and below.

    Raises:
        BadInput: a folder without any.
    """
    files = sorted(_files(path)) if path.is_dir() else [path]
    if not files:
        raise BadInput("There is no *.evalset.json and no *.test.json in {path}.", path=path)
    return files


def validated(file: Path) -> Loaded:
    """Read a file and check that it can be run: every case has something to ask, and the criteria next to it can be computed.

    Raises:
        BadInput: it cannot; says why.
    """
    source = _source(file, file, (), None, None, allow_code=True)  # no code is loaded here
    for _ in _samples(source, simulated=True):
        pass
    return msgspec.structs.replace(source.loaded, notes=(*source.loaded.notes, *source.criteria.notes))


def task_from(name: str, sources: Sequence[EvalSetSource], user: User | None = None) -> Task:
    """Return the task of sets that are read already.

    Raises:
        BadInput: as `task_of`.
    """
    samples = [sample for source in sources for sample in _samples(source, simulated=user is not None)]
    metrics = dict.fromkeys(metric for source in sources for metric in source.criteria.thresholds)
    judged = dict.fromkeys(metric for source in sources for metric in source.criteria.judged)
    custom = {
        (name, metric.function): source.path.parent
        for source in sources
        for name, metric in source.criteria.custom.items()
    }
    return Task(
        name=sources[0].loaded.eval_set.eval_set_id if len(sources) == 1 else name,
        version=_version(sources),
        samples=samples,
        scorers=[
            *(f"adk:{metric}" for metric in metrics),
            *(["adk:passed"] if len(metrics) > 1 and not judged and not custom else []),
            *(f"{adk_judged.KEY}:{metric}" for metric in judged),
            *(scorer_of(name, function, folder) for (name, function), folder in custom.items()),
        ],
        user=user,
        oracle=_oracle,
        provenance={
            "files": {source.path.name: source.loaded.digest for source in sources},
            "notes": [str(note) for source in sources for note in (*source.loaded.notes, *source.criteria.notes)],
        },
        spread_by="set" if len(sources) > 1 else None,
        planned=len(samples),
    )


def _task(
    name: str,
    config: str | None,
    given: Mapping[str, object] | None,
    user: str | Mapping[str, object] | User | None,
    *,
    allow_code: bool,
) -> Task:
    path, ids = _select(name)
    sources = [_source(file, path, ids, config, given, allow_code=allow_code) for file in files_of(path)]
    most = min((source.criteria.max_turns for source in sources if source.criteria.max_turns is not None), default=None)
    if isinstance(user, str | Mapping):
        user = user_of(user, most)
    elif isinstance(user, ScenarioUser) and user.max_turns is None:
        user = ScenarioUser(user.model, most)
    return task_from(path.name, sources, user)


def _select(name: str) -> tuple[Path, tuple[str, ...]]:
    """Return the path, and the ids after a colon; that of a Windows drive is none."""
    path, mark, ids = name.partition(".json:")
    if not mark:
        return Path(name).expanduser(), ()
    return Path(f"{path}.json").expanduser(), tuple(id.strip() for id in ids.split(",") if id.strip())


def _files(folder: Path) -> Iterator[Path]:
    """Yield the eval-set files in a folder and below, but for hidden folders."""
    if not folder.is_dir():
        return
    for entry in folder.iterdir():
        if entry.is_dir() and not entry.name.startswith("."):
            yield from _files(entry)
        elif entry.name.endswith(SUFFIXES) and entry.is_file():
            yield entry


def _source(
    file: Path,
    root: Path,
    ids: Sequence[str],
    config: str | None,
    given: Mapping[str, object] | None,
    *,
    allow_code: bool,
) -> EvalSetSource:
    loaded = read(file)
    eval_set = loaded.eval_set
    if not eval_set.eval_cases:
        raise BadInput("{path} has no eval cases.", path=file)
    if given is not None:
        chosen = criteria.of(given)
    elif config is not None:
        chosen = criteria.read(Path(config).expanduser(), allow_code=allow_code)
    else:
        chosen = criteria.criteria_next_to(file, allow_code=allow_code)
    for case in eval_set.eval_cases:
        check_matchers(case.extra.get("trajectory"), where=f"{file}, '{case.eval_id}'", allow_code=allow_code)
    return EvalSetSource(
        path=file,
        loaded=loaded,
        chosen=[cases.find(eval_set, id) for id in ids] if ids else eval_set.eval_cases,
        criteria=chosen,
        prefix=f"{_relative(file, root)}/" if root.is_dir() else "",
    )


def _relative(file: Path, root: Path) -> str:
    inside = file.relative_to(root)
    return (inside.parent / set_id(inside)).as_posix()


def _version(sources: Sequence[EvalSetSource]) -> str:
    from proctor.core.digest import digest

    return digest([(source.loaded.digest, msgspec.Raw(criteria.as_first(source.criteria))) for source in sources])[:12]


def _samples(source: EvalSetSource, *, simulated: bool) -> Iterator[Sample]:
    eval_set = source.loaded.eval_set
    for case in source.chosen:
        where = f"{source.path}, '{case.eval_id}'"
        if case.conversation is None and not simulated:
            raise BadInput(
                "{where} is a scenario, which needs a simulated user: name a model for it with --set user=openai:MODEL. Or choose the other cases: {path}:ID,ID",
                where=where,
                path=source.path,
            )
        yield Sample(
            id=f"{source.prefix}{case.eval_id}",
            turns=_turns(case, where, thoughts=source.criteria.count_thoughts),
            tags={"set": eval_set.eval_set_id} if source.prefix else {},
            meta=_meta(case, eval_set.eval_set_id, source.criteria),
        )


def _turns(case: EvalCase, where: str, *, thoughts: bool) -> tuple[Turn, ...]:
    """Return the turns of a conversation; of a scenario the first one, of which nothing is expected."""
    if (scenario := case.conversation_scenario) is not None:
        if not scenario.starting_prompt.strip():
            raise BadInput("{where}: the user says nothing.", where=where)
        return (Turn(messages=(Message.of("user", scenario.starting_prompt),)),)
    if not case.conversation:
        raise BadInput("{where} has an empty conversation: there is nothing to ask.", where=where)
    return tuple(
        _turn(turn, f"{where}, {number}", thoughts=thoughts) for number, turn in enumerate(case.conversation, start=1)
    )


def _meta(case: EvalCase, eval_set_id: str, chosen: EvalCriteria) -> dict[str, object]:
    """Return what scorers and result files need, and all that a judge may want to know."""
    thresholds = chosen.thresholds
    adk: dict[str, object] = {"match_type": chosen.match_type, "criteria": list(thresholds)}
    flags = {"ignore_args": chosen.ignore_args, "count_thoughts": chosen.count_thoughts}
    adk |= {key: True for key, wanted in flags.items() if wanted}
    for name, key in (
        ("tool_trajectory_avg_score", "trajectory_threshold"),
        ("response_match_score", "response_threshold"),
    ):
        if name in thresholds:
            adk[key] = thresholds[name]
    meta: dict[str, Any] = {
        "eval_set_id": eval_set_id,
        "eval_id": case.eval_id,
        "adk": adk,
        "invocations": [
            {"invocation_id": turn.invocation_id, "rubrics": [as_json(one) for one in turn.rubrics or ()]}
            for turn in case.conversation or ()
        ],
    }
    if chosen.judged:
        meta[adk_judged.KEY] = msgspec.to_builtins(chosen.judged)
    if chosen.custom:
        meta[CUSTOM] = {"metrics": msgspec.to_builtins(chosen.custom)}
        if case.conversation is not None:
            meta[CUSTOM]["conversation"] = [as_json(turn) for turn in case.conversation]
    if case.conversation_scenario is not None:
        meta["scenario"] = as_json(case.conversation_scenario)
    if case.session_input is not None:
        meta["session"] = as_json(case.session_input)
    if case.rubrics:
        meta["rubrics"] = [as_json(rubric) for rubric in case.rubrics]
    if case.final_session_state:
        meta["final_session_state"] = case.final_session_state
    data = [turn.intermediate_data for turn in case.conversation or () if turn.intermediate_data is not None]
    if results := [pair for item in data for pair in item.results()]:
        meta["tool_results"] = [
            {"name": call.name, "args": call.args, "response": result.response} for call, result in results
        ]
    if isinstance(case.extra.get("trajectory"), Mapping):
        meta["trajectory"] = case.extra["trajectory"]
    return meta


def _turn(turn: Invocation, where: str, *, thoughts: bool) -> Turn:
    parts = _parts(turn.user_content)
    if not parts:
        raise BadInput("{where}: the user says nothing.", where=where)
    data = turn.intermediate_data
    calls = None if data is None else [as_json(call) for call in data.calls()]
    reference = {
        "calls": None if calls is None else [_call(call) for call in calls],
        "response": "\n".join(texts(turn.final_response, thoughts=thoughts))
        if turn.final_response is not None
        else None,
    }
    return Turn(messages=(Message(role="user", parts=parts),), reference=reference)


def _call(call: Mapping[str, object]) -> dict[str, object]:
    names = {"name": "name", "args": "arguments", "id": "id"}
    return {"name": "", **{names[key]: value for key, value in call.items() if key in names}}


def _parts(content: Content) -> tuple[Part, ...]:
    """Return all parts; texts that follow each other become one, a line each."""
    parts: list[Part] = []
    for part in content.parts or ():
        if part.text:
            text = part.text.encode("utf-8", "replace").decode()  # half of a surrogate pair cannot be stored
            if parts and isinstance(last := parts[-1], Text):
                parts[-1] = Text(text=f"{last.text}\n{text}")
            else:
                parts.append(Text(text=text))
        elif (blob := part.inline_data) is not None:
            media_type = blob.mime_type or "application/octet-stream"
            parts.append(File(name=blob.display_name or "", media_type=media_type, data=inline(blob.data or "")))
        elif (file := part.file_data) is not None:
            media_type = file.mime_type or "application/octet-stream"
            parts.append(File(name=file.display_name or "", media_type=media_type, url=file.file_uri))
        elif (result := part.function_response) is not None:
            content_text = json.dumps(result.response, ensure_ascii=False, default=str)
            parts.append(ToolResult(name=result.name or "", content=content_text, id=result.id or ""))
    return tuple(parts)


def _oracle(sample: Sample) -> Trajectory:
    """Return the expected calls and responses, as an agent with native tools would give them."""
    steps = []
    for index, turn in enumerate(sample.turns):
        reference = turn.reference or {}
        calls = tuple(_as_made(call) for call in reference.get("calls") or ())
        if calls:
            steps.append(Step(message=Message(role="assistant", parts=calls), turn=index))
        steps.append(Step(message=Message.of("assistant", reference.get("response") or ""), turn=index))
    return Trajectory(steps=tuple(steps), tools="native")


def _as_made(call: JsonObject) -> ToolCall:
    arguments = call.get("arguments")
    if arguments is None:
        return ToolCall(name=call["name"], id=call.get("id", ""), raw="null")
    return ToolCall(name=call["name"], arguments=arguments, id=call.get("id", ""))


def _check_corpus(path: Path, data: str | None = None) -> Iterator[Checked]:
    from proctor_adapters.evalsets import parity

    return parity.check_corpus(path, data)


PART = TaskFilesPart(is_mine=is_evalset, task=task_of, plays_scenarios=True, check_corpus=_check_corpus)
