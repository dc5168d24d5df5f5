"""Embed texts by a model at any `/v1/embeddings`, with the pace, retries, cache and budget of chat models."""

import math
import os
from collections.abc import Sequence
from functools import partial

import msgspec
from msgspec.structs import replace

from proctor.chat.dialect import Json, ModelReply, bearer, count_of, url_of
from proctor.chat.messages import UsageReply
from proctor.core.errors import BadInput
from proctor.core.sample import Text
from proctor.core.trajectory import Usage
from proctor.models import cache, ledger, prices
from proctor.models.addresses import EndpointOptions
from proctor.models.openai import access
from proctor.transport.client import Client
from proctor.transport.faults import RequestFault
from proctor.transport.target import RequestTarget

KIND = "openai:"
_PATH = "/embeddings"


class _EmbeddingRow(msgspec.Struct):
    embedding: list[float]
    index: int = 0


class _Reply(msgspec.Struct):
    data: list[_EmbeddingRow]
    usage: UsageReply | None = None


_decoder = msgspec.json.Decoder(_Reply)
_rows = msgspec.json.Decoder(list[list[float]])


class Embedder:
    """An embedding model; safe to share between tasks.

    Args:
        name: `openai:MODEL`.
        base_url, api_key_env: as for a chat model of that kind.

    Raises:
        BadInput: another kind, no model, or the variable is not set.
    """

    def __init__(self, name: str, *, base_url: str | None = None, api_key_env: str | None = None) -> None:
        self.name = name.removeprefix(KIND)
        if self.name == name or not self.name:
            raise BadInput(
                "The embedder '{name}' is none. Write openai:MODEL, for any server with /v1/embeddings.", name=name
            )
        base, variable = access(EndpointOptions(base_url=base_url, api_key_env=api_key_env))
        key = os.environ.get(variable, "").strip()
        self._target = RequestTarget(url_of(base, _PATH), headers={"Content-Type": "application/json", **bearer(key)})
        self._table = prices.table_of(self.name, str(self._target.url))

    async def embed(self, texts: Sequence[str]) -> list[list[float]]:
        """Return a vector of length 1 for each text.

        Raises:
            ProviderFailed: the endpoint failed after all retries, or returned other vectors than were asked for.
            Refused: it refuses key, model or address.
        """
        body: Json = {"model": self.name, "input": [text.encode("utf-8", "replace").decode() for text in texts]}
        with cache.used():
            entry = cache.place_of(str(self._target.url), body)
            answer = await entry.answer() if entry is not None else None
            if answer is None:
                said = await self._asked(body)
                cost = self._table.cost(said.usage) if self._table is not None else None
                ledger.spend(replace(said.usage, cost=cost), model=self.name)
                answer = cache.CachedAnswer(said=said, seconds=0.0)
                if entry is not None:
                    entry.keep(answer)
            elif entry is not None:
                entry.hit(answer.said.usage)
        return _rows.decode("".join(part.text for part in answer.said.parts if isinstance(part, Text)))

    async def _asked(self, body: Json) -> ModelReply:
        client = Client.current()
        if client is None:
            async with Client():
                return await self._asked(body)
        return await client.post(self._target, msgspec.json.encode(body), partial(_read, len(body["input"])))


def _read(count: int, data: bytes) -> ModelReply:
    reply = _decoder.decode(data)
    rows = [row.embedding for row in sorted(reply.data, key=lambda row: row.index)]
    if len(rows) != count or len({len(row) for row in rows}) != 1 or not rows[0]:
        raise RequestFault("no_reply", f"{len(rows)} vectors for {count} texts", again=False)
    usage = reply.usage
    tokens = count_of(usage.prompt_tokens) if usage is not None else 0
    unit = [[value / length for value in row] if (length := math.hypot(*row)) else row for row in rows]
    return ModelReply(
        parts=(Text(text=msgspec.json.encode(unit).decode()),), usage=Usage(input_tokens=tokens, requests=1)
    )


def likeness(one: Sequence[float], other: Sequence[float]) -> float:
    """Return the cosine of two vectors of length 1.

    >>> likeness([1.0, 0.0], [0.6, 0.8])
    0.6
    """
    return float(sum(a * b for a, b in zip(one, other, strict=True)))
