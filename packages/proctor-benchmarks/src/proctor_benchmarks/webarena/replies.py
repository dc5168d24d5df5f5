"""Read and write recorded runs: the official result folder, and lines with what an agent left.

    <folder>/render_118.html            a task: every page with its address and the action on it, the last one `stop [ANSWER]`
    <folder>/merged_log.txt             `[Result] (PASS) …/118.json`; log_files/*.log too
    <folder>/log_files/log_….log

    {"task_id": 118, "answer": "done", "url": "http://shop.test:7770/", "contents": ["<p>…</p>"]}

An official folder has no contents of pages. For tasks that they decide, the verdict in its logs counts where there is one.

Source: web-arena-x/webarena, commit f62e0b99bc7d, `run.py`, `browser_env/helper_functions.py` (`RenderHelper`).
"""

import re
from collections.abc import Iterable, Iterator
from html import escape
from pathlib import Path

import msgspec

from proctor.core.errors import BadInput
from proctor.core.sample import Message, Sample, ToolCall, ToolResult
from proctor.core.trajectory import Step, Trajectory
from proctor.core.trial import Trial, TrialFailure
from proctor.runtime.files import reading, write_whole
from proctor.runtime.json_file import read_json_lines
from proctor_benchmarks.webarena import actions, rules
from proctor_benchmarks.webarena.dataset import Config, config_of

LOG = "merged_log.txt"
MOST_BYTES = 200_000_000  # of one file, which holds a picture of every page
_NAME = re.compile(r"render_(\d+)\.html")
_URL = re.compile(r"<h3 class='url'><a href=[^>]*>URL: (.*?)</a></h3>", re.DOTALL)
_ACTION = re.compile(r"<div class='parsed_action'[^>]*><pre>(.*?)</pre></div>", re.DOTALL)
_RESULT = re.compile(r"\[Result\] \((PASS|FAIL)\) .*?(\d+)\.json")
_STOP = re.compile(r"stop \[(.*)\]", re.DOTALL)


class Left(msgspec.Struct, frozen=True, kw_only=True):
    """What an agent left at the end of a task."""

    task_id: int
    answer: str = ""
    url: str | None = None
    contents: list[str] | None = None


def read(path: Path) -> Iterator[tuple[str, Trajectory | TrialFailure]]:
    """Yield what was left, by task.

    Raises:
        BadInput: nothing to read, or a file or line that cannot be read.
    """
    if path.is_file() and not _NAME.fullmatch(path.name):
        for _, line in read_json_lines(path, Left):
            state = {"answer": line.answer, "url": line.url, "contents": line.contents}
            known = {name: value for name, value in state.items() if value is not None}
            yield str(line.task_id), Trajectory(steps=_said(line.answer), state=known)
        return
    folder = path if path.is_dir() else path.parent
    files = [path] if path.is_file() else [one for one in path.iterdir() if _NAME.fullmatch(one.name)] if path.is_dir() else []  # fmt: skip
    if not files:
        raise BadInput("There is no {name} in {path}.", name="render_*.html", path=path)
    passed = _verdicts(folder)
    for file in sorted(files, key=_number):
        id = _number(file)
        yield str(id), _rendered(file, passed.get(id))


def _number(path: Path) -> int:
    matched = _NAME.fullmatch(path.name)
    assert matched is not None
    return int(matched[1])


def _text(path: Path) -> str:
    with reading(path):
        if path.stat().st_size > MOST_BYTES:
            raise BadInput("{path} is larger than {count} bytes.", path=path, count=MOST_BYTES)
        return path.read_text(encoding="utf-8", errors="replace")


def _verdicts(folder: Path) -> dict[int, bool]:
    """Return what the logs of a folder say of each task; the last line about one counts."""
    logs = [path for path in (folder / LOG, *sorted((folder / "log_files").glob("*.log"))) if path.is_file()]
    return {int(number): said == "PASS" for log in logs for said, number in _RESULT.findall(_text(log))}


def _rendered(path: Path, passed: bool | None) -> Trajectory:
    text = _text(path)
    urls, actions = _URL.findall(text), _ACTION.findall(text)
    if not urls:
        raise BadInput("{path} is no official result: it shows no page.", path=path)
    stopped = _STOP.fullmatch(actions[-1].strip()) if actions else None
    answer = stopped[1] if stopped else ""
    calls = [Step(message=Message(role="assistant", parts=(ToolCall(name="act", arguments={"action": action}),))) for action in actions[:-1]]  # fmt: skip
    recorded = {} if passed is None else {"recorded": passed}
    state = {"answer": answer, "url": urls[-1], **recorded}
    return Trajectory(steps=(*calls, *_said(answer)), state=state)


def _said(answer: str) -> tuple[Step, ...]:
    return (Step(message=Message.of("assistant", answer)),) if answer else ()


def write(trials: Iterable[tuple[Sample, Trial]], folder: Path, model: str) -> list[Path]:  # noqa: ARG001 - the layout has no model
    """Write the first attempts that were scored as official pages, without pictures, and what their targets held as a log.

    Raises:
        BadInput: a sample that is not of WebArena, or nothing to write.
    """
    written, log = [], ""
    for sample, trial in trials:
        config = config_of(sample)
        if config is None:
            raise BadInput("The sample '{id}' is not of WebArena.", id=sample.id)
        if trial.attempt == 0 and trial.outcome == "scored":
            written.append(write_whole(folder / f"render_{config.task_id}.html", _render(config, trial.trajectory)))
            log += _verdict(config, trial.trajectory)
    if not written:
        raise BadInput("The run holds no scored trial to export.")
    return [*written, write_whole(folder / LOG, log)] if log else written


def _verdict(config: Config, trajectory: Trajectory) -> str:
    """Return the line of the log for a task with targets, which no page tells."""
    state, evaluation = trajectory.state or {}, config.evaluation
    held = state.get("held")
    if not isinstance(held, list) or not held or "string_match" in evaluation.eval_types:
        return ""
    at_place = "url_match" not in evaluation.eval_types or rules.is_expected_url(state["url"], evaluation.reference_url or "")  # fmt: skip
    return f"[Result] ({'PASS' if all(held) and at_place else 'FAIL'}) config_files/{config.task_id}.json\n"


def _render(config: Config, trajectory: Trajectory) -> str:
    """Return every page with the action on it; texts are not escaped, as officially, but for those of pages."""
    state = trajectory.state or {}
    last_url, said = str(state.get("url") or config.start_url), state.get("answer")
    url, shown, parts = config.start_url, "", [_task(config)]
    for step in trajectory.steps:
        for part in step.message.parts:
            if isinstance(part, ToolCall) and part.name not in (actions.STOP, actions.LOOK):
                parts.append(_page(url, shown, actions.written(part)))
            elif isinstance(part, ToolResult) and part.name != actions.STOP:
                shown, url = part.content, actions.url_of(part.content) or url
    answer = said if isinstance(said, str) else trajectory.answer
    parts.append(_page(last_url, shown, f"stop [{answer}]"))
    return f"<!DOCTYPE html>\n<html>\n<body>\n{''.join(parts)}</body>\n</html>\n"


def _task(config: Config) -> str:
    fields = msgspec.to_builtins(config)
    return "<pre>" + "".join(f"{name}: {escape(str(value))}\n" for name, value in fields.items()) + "</pre>\n"


def _page(url: str, shown: str, action: str) -> str:
    return (
        f"<h2>New Page</h2>\n<h3 class='url'><a href={url}>URL: {url}</a></h3>\n"
        f"<div class='state_obv'><pre>{escape(shown, quote=False)}</pre><div>\n"
        "<div class='predict_action'><div class='raw_parsed_prediction' style='background-color:grey'><pre></pre></div>"
        f"<div class='parsed_action' style='background-color:yellow'><pre>{action}</pre></div></div>\n"
    )
