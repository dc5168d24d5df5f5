"""Play recorded episodes of the official package again, and compare what the page says at every point.

A line is one of `replies.py` with `utterance` and `dom`, the elements that the agent saw before each action as upstream serialises
them, shortened (`elements_of`). The rewards depend on the page alone, `reward` also on the time taken, so that it is not compared.
"""

import asyncio
import hashlib
from collections.abc import Iterator, Mapping
from pathlib import Path

from proctor.core.errors import EpisodeOver
from proctor.core.parity import Checked
from proctor.core.sample import JsonObject, ToolCall
from proctor.runtime.json_file import read_json_lines
from proctor_adapters.environments.browser import Chromium
from proctor_benchmarks.miniwob import official
from proctor_benchmarks.miniwob.environment import MiniwobEpisode
from proctor_benchmarks.miniwob.replies import PlayedLine


def check_corpus(path: Path, source: str | None = None) -> Iterator[Checked]:
    """Check every line.

    Args:
        path: the corpus.
        source: where the package is, see `official.locate`.

    Raises:
        BadInput: a line that cannot be read, no package, or no browser.
    """
    folder = official.locate(source)
    chromium = Chromium()
    with asyncio.Runner() as runner:
        runner.run(chromium.__aenter__())
        try:
            for _, line in read_json_lines(path, PlayedLine):
                yield runner.run(_check(line, folder, chromium))
        finally:
            runner.run(chromium.__aexit__(None, None, None))


async def _check(line: PlayedLine, folder: Path, chromium: Chromium) -> Checked:
    episode = MiniwobEpisode(folder, chromium, {"task": line.task, "seed": line.seed, "mode": line.mode}, "none")
    seen: list[str] = []
    async with episode:
        utterance = (await episode.look()).utterance
        for name, arguments in line.actions:
            dom = (await episode.look()).dom
            seen.append(digest(dom) if dom else "")
            try:
                await episode.call(ToolCall(name=name, arguments=arguments))
            except EpisodeOver:
                break
        state = await episode.state()
    ours = {name: state[name] for name in ("done", "raw_reward", "reason")} | {
        "utterance": utterance,
        "dom": tuple(seen),
    }
    theirs = {name: getattr(line, name) for name in ours}
    wrong = [name for name in ours if theirs[name] is not None and ours[name] != theirs[name]]
    if line.reason is None and "reason" in wrong:
        wrong.remove("reason")
    return Checked(
        id=line.id,
        agrees=not wrong,
        ours=str({name: ours[name] for name in wrong})[:300],
        official=str({name: theirs[name] for name in wrong})[:300],
        rule=line.task,
    )


def digest(dom: Mapping[str, object]) -> str:
    """Return a digest of the elements as upstream lists them: ref, parent, tag, text, value, id and classes."""
    lines = "\n".join(_elements(dom, 0))
    return hashlib.sha256(lines.encode()).hexdigest()[:16]


def _elements(node: JsonObject, parent: int) -> Iterator[str]:
    children, text = node["children"], node.get("text")
    if children and all(child["tag"].lower() == "t" for child in children):
        children, text = [], " ".join(child["text"] for child in children)
    classes = node.get("classes", "")
    fields = (
        node["tag"] == "t" or node["ref"],
        parent,
        node["tag"].lower(),
        text or "",
        str(node.get("value") or ""),
        node.get("id", ""),
    )
    yield repr((*fields, classes if isinstance(classes, str) else "SVG_CLASS"))
    for child in children:
        yield from _elements(child, node["ref"])
