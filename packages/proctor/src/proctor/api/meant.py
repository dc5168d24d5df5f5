"""Tell what may have been meant by a name that means nothing: an object in the code here, a model, a data set elsewhere."""

import re
from collections.abc import Collection, Iterator
from contextlib import suppress
from pathlib import Path

from proctor.core.errors import BadInput
from proctor.core.near import near

PROVIDERS = {"claude": "anthropic", "gemini": "gemini"}  # how names of models begin that others than OpenAI have
HUBS = ("hf:", "hf://", "huggingface:", "https://huggingface.co/datasets/")
MOST_FILES = 200


def agents_meant(given: str, known: Collection[str]) -> list[str]:
    """Return the agents that a name may mean, the likeliest first; `known` are the kinds, each with its colon.

    >>> agents_meant("openai/gpt-4o", ["openai:"]), agents_meant("claude-x", ["openai:"]), agents_meant("gpt-4o", [])
    (['openai:gpt-4o'], ['anthropic:claude-x'], ['openai:gpt-4o'])
    """
    if here := [*_objects_here(given)]:
        return sorted(here, key=lambda one: "agent" not in one)[:3]
    kind, colon, argument = given.partition(":")
    provider, slash, model = given.partition("/")
    if slash and f"{provider}:" in known:
        return [f"{provider}:{model}"]
    if kinds := near(f"{kind}:", known):
        return [f"{text}{argument}" for text in kinds]
    provider = next((name for start, name in PROVIDERS.items() if given.lower().startswith(start)), "openai")
    return [] if colon else [f"{provider}:{given}"]  # a model's name alone


def tasks_elsewhere(name: str) -> BadInput | None:
    """Return the error for a task that is named by its address; None for any other name."""
    for hub in HUBS:
        if name.startswith(hub):
            owned = name.removeprefix(hub).strip("/")
            return BadInput(
                "A data set of the hub is named otherwise: proctor run hub:{name} --agent AGENT", name=owned
            )
    if name.startswith(("http://", "https://")):
        return BadInput("{address} is not fetched. Fetch it, and name the file: curl -LO {address}", address=name)
    return None


def _objects_here(given: str) -> Iterator[str]:
    """Yield `./file.py:name` for a name alone, with a dot, or with a space in place of the colon."""
    words = re.split(r"[ .:]+", given.removeprefix("./").replace(".py", ""))
    if not all(word.isidentifier() for word in words) or len(words) > 2:
        return
    *module, name = words
    files = [Path(f"{module[0]}.py")] if module else sorted(Path().glob("*.py"))[:MOST_FILES]
    pattern = re.compile(rf"^(?:(?:async )?def {name}\b|{name} *=)", re.MULTILINE)
    for file in files:
        with suppress(OSError, UnicodeDecodeError):
            if pattern.search(file.read_text(encoding="utf-8")):
                yield f"./{file}:{name}"
