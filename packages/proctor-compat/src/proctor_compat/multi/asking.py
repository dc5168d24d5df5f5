"""Ask a model at an OpenAI-compatible endpoint about one thing after the other, several at once."""

import argparse
import asyncio
import os
from collections.abc import Callable, Iterable, Sequence
from typing import TypeVar

from proctor.core.errors import BadInput, PartFailed
from proctor.core.sample import Message

Item = TypeVar("Item")


def add_endpoint(flags: argparse.ArgumentParser, *, model: str) -> None:
    """Add the flags that say which model is asked, where, and how many requests are sent at once."""
    flags.add_argument("--model_version", "-v", default=model)
    flags.add_argument("--api_key", help="better in OPENAI_API_KEY; never written down")
    flags.add_argument("--api_url", default="https://api.openai.com/v1/chat/completions")
    flags.add_argument("--num_workers", "-n", type=int, default=8)


def ask_each(
    items: Iterable[Item],
    args: argparse.Namespace,
    prompt: Callable[[Item], Sequence[Message]],
    keep: Callable[[Item, str], None],
    *,
    max_tokens: int,
) -> None:
    """Call `keep` with each item and the whole reply about it; an item whose request fails, or is cut off, is left out.

    Raises:
        BadInput: the endpoint refuses; what was kept before stays.
    """
    from proctor.models.openai import ChatModel, options_of
    from proctor.transport.client import Client

    if args.api_key:
        os.environ["OPENAI_API_KEY"] = args.api_key  # options may be stored, so it goes no other way
    options = {"base_url": args.api_url, "max_tokens": max_tokens, "temperature": 0, "top_p": 1}
    model = ChatModel(args.model_version, options_of(options))
    left = iter(items)  # shared by all workers

    async def work() -> None:
        for item in left:
            try:
                step = await model.complete(prompt(item))
            except PartFailed:
                continue
            if step.stop == "done":
                keep(item, step.message.text.strip())

    async def ask_all() -> None:
        workers = max(args.num_workers, 1)
        async with Client(concurrency=workers), asyncio.TaskGroup() as group:
            for _ in range(workers):
                group.create_task(work())

    try:
        asyncio.run(ask_all())
    except* BadInput as errors:
        raise errors.exceptions[0] from None
