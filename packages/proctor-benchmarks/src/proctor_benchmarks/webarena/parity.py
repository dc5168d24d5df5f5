"""Our rules against recorded results of the official evaluators, with scripted judges and pages.

A line is an answer, the address of the page left open, what the targets' locators return there, and what became of them:

    {"id": "webarena/118", "task_id": 118, "kind": "html_null", "eval_types": ["program_html"], "answer": "done",
     "url": "http://other.test/", "values": [null], "raises": "TypeError"}

The requests to the judge (`judge_messages_sha256`) and the addresses opened (`visited`) have to be the same too.
"""

import asyncio
import hashlib
import json
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import msgspec

from proctor.core.errors import BadInput
from proctor.core.parity import Checked
from proctor.core.sample import Message
from proctor.runtime.json_file import read_json_lines
from proctor_benchmarks.webarena import dataset, rules
from proctor_benchmarks.webarena.scorer import evaluate

ADDRESSES = {
    "shopping": "http://shop.test:7770",
    "shopping_admin": "http://shop.test:7780/admin",
    "reddit": "http://forum.test:9999",
    "gitlab": "http://git.test:8023",
    "map": "http://map.test:3000",
    "homepage": "http://home.test:4399",
    "wikipedia": "http://wiki.test:8888/wikipedia_en_all_maxi_2022-05/A/User:The_other_Kiwix_guy/Landing",
}
LATEST_ORDER = f"{ADDRESSES['shopping']}/sales/order/view/order_id/190/"
_RAISED = "<raises>"


class WebArenaLine(msgspec.Struct, frozen=True, kw_only=True):
    """One recorded result: a score, or the type of what the official code raised."""

    id: str
    task_id: int
    kind: str
    answer: str
    url: str
    score: float | None = None
    raises: str | None = None
    judge_reply: str = ""
    judge_messages_sha256: tuple[str, ...] = ()
    values: tuple[object, ...] | None = None
    visited: tuple[str, ...] = ()


def check_corpus(path: Path, data: str | None = None) -> Iterator[Checked]:
    """Check every line.

    Args:
        data: where the tasks are, see `dataset.locate`.

    Raises:
        BadInput: a line that cannot be read, or of a task that the data do not have.
    """
    configs = {config.task_id: config for config in dataset.read(dataset.locate(data), ADDRESSES)}
    with asyncio.Runner() as runner:
        for number, line in read_json_lines(path, WebArenaLine):
            if (config := configs.get(line.task_id)) is None:
                raise BadInput("{path}, line {number}: there is no task {id}.", path=path, number=number, id=line.task_id)  # fmt: skip
            official = {"score": line.score, "raises": line.raises, "asked": list(line.judge_messages_sha256), "visited": list(line.visited)}  # fmt: skip
            ours = runner.run(_result(line, config))
            yield Checked(id=line.id, agrees=ours == official, ours=str(ours)[:400], official=str(official)[:400], rule=line.kind)  # fmt: skip


async def _result(line: WebArenaLine, config: dataset.Config) -> dict[str, object]:
    asked: list[str] = []
    outcome: dict[str, Any] = {"score": None, "raises": None, "asked": asked, "visited": []}

    async def ask(messages: Sequence[Message]) -> str:
        asked.append(digest(messages))
        return line.judge_reply

    targets = config.evaluation.program_html
    values = None if line.values is None else [_seen(target, value) for target, value in zip(targets, line.values, strict=True)]  # fmt: skip
    try:
        parts = await evaluate(config, line.answer, line.url, values, ask)
        outcome["score"] = float(all(parts.values()))
    except rules.Broken as error:
        outcome["raises"] = error.kind
    if values is not None and outcome["raises"] != "AssertionError":
        for target, value in zip(targets, values, strict=True):
            try:
                opened = rules.page_to_open(target.url, line.url, LATEST_ORDER)
            except (rules.Broken, ValueError) as error:  # the official evaluation ends here
                kind = error.kind if isinstance(error, rules.Broken) else "ValueError"
                outcome.update(score=None, raises=kind)
                break
            if opened is not None:
                outcome["visited"].append(opened)
            if outcome["raises"] and not rules.is_script(target.locator) and value is None:
                break  # the official evaluation ends at this target
    return outcome


def _seen(target: dataset.PageTarget, value: object) -> object:
    return "" if value == _RAISED and rules.is_script(target.locator) else value


def digest(messages: Sequence[Message]) -> str:
    """Return the first 16 hex digits of SHA-256 over role and text of the messages, as compact JSON."""
    text = json.dumps([[message.role, message.text] for message in messages], ensure_ascii=False, separators=(",", ":"))
    return hashlib.sha256(text.encode()).hexdigest()[:16]
