"""Speak the batch APIs of OpenAI and Anthropic: submit many requests at once, ask how far they are, read their results.

The shapes are those of the packages openai 3.54.0 (types/batch.py, the batch input and output files) and anthropic 2.12.0
(types/messages/message_batch.py). The results of a line are a reply as that of a single request, or why there is none.

Neither API has a key by which it would know a batch that it is sent twice. So what tells a batch from others is written
down before it is sent, and one whose reply was lost, by the network or by a kill, is looked for in the list of batches before
it is sent again.
"""

import asyncio
import secrets
import time
from collections.abc import Awaitable, Callable, Iterable, Mapping
from typing import Protocol
from urllib.parse import quote

import msgspec

from proctor.chat.anthropic_messages import STATUS_BY_ERROR
from proctor.core.errors import BadInput, ProctorError
from proctor.core.sentence import say
from proctor.transport.client import Client
from proctor.transport.faults import RequestFault, fault_of_status, shown
from proctor.transport.repair import repaired
from proctor.transport.target import RequestTarget

_ENDS = ("completed", "expired", "cancelled", "failed")
LOOKS_AFTER_SECONDS = (1.0, 4.0, 15.0)  # for a batch whose reply was lost: the provider may still be making it
MOST_LISTED = 100  # on one page, the newest ones first
MOST_PAGES = 50
CLOCKS_DIFFER_SECONDS = 3600.0  # at most, between a provider and this machine

IsKnown = Callable[[str], bool]
Note = Callable[[bytes], Awaitable[None]]


class BatchLine(msgspec.Struct, frozen=True, kw_only=True):
    """What a batch has for one request: a reply, or the fault that it ended with."""

    reply: bytes | None = None
    fault: RequestFault | None = None


class BatchApi(Protocol):
    """One way to send a batch."""

    async def submit(self, client: Client, body_by_id: Mapping[str, bytes], is_known: IsKnown, note: Note) -> str:
        """Send requests, and return the id of their batch.

        Args:
            is_known: True for a batch that other requests of ours went with.
            note: writes down, right before the request that costs, what `find` needs.

        Raises:
            Fault: the reply was lost, and whether there is a batch cannot be seen.
            ProctorError: it was refused, or failed.
        """
        ...

    async def find(self, client: Client, noted: bytes, is_known: IsKnown) -> str | None:
        """Return the id of the batch that a process was submitting when it ended; None if it was never made.

        Raises:
            Fault: that cannot be seen.
        """
        ...

    async def results(self, client: Client, batch: str) -> Mapping[str, BatchLine] | None:
        """Return the results by id; None while the batch is not over.

        Raises:
            Fault: the batch failed as a whole.
            ProctorError: it cannot be asked for.
        """
        ...


class _Noted(msgspec.Struct, frozen=True, kw_only=True):
    """What tells a batch that is about to be submitted from those of others.

    Attributes:
        file: the file it is made of, at OpenAI.
        earlier, count: the newest batches there were before it, and how many requests it holds, at Anthropic.
        nonce: keeps two submissions apart that are alike in everything else.
    """

    file: str = ""
    earlier: tuple[str, ...] = ()
    count: int = 0
    at: float
    nonce: str


class _Batch(msgspec.Struct):
    id: str = ""
    status: str = ""
    created_at: object = None
    processing_status: str = ""
    request_counts: object = None
    input_file_id: str | None = None
    output_file_id: str | None = None
    error_file_id: str | None = None
    errors: object = None


class _List(msgspec.Struct):
    data: list[_Batch]
    has_more: bool | None = False


class _Response(msgspec.Struct):
    body: msgspec.Raw = msgspec.Raw(b"null")
    status_code: int = 0


class _BatchResult(msgspec.Struct):
    type: str = ""
    message: msgspec.Raw = msgspec.Raw()
    error: object = None


class _Row(msgspec.Struct):
    custom_id: str
    response: _Response | None = None
    error: object = None
    result: _BatchResult | None = None


_noted = msgspec.json.Decoder(_Noted)
_batch = msgspec.json.Decoder(_Batch)
_list = msgspec.json.Decoder(_List)
_row = msgspec.json.Decoder(_Row)


class OpenAIBatches:
    """Batches of chat completions or responses: a file of lines, a batch of that file, and a file of results.

    Args:
        target: the address of single requests, which ends in `path`.
    """

    def __init__(self, target: RequestTarget, path: str) -> None:
        self._target = target
        self._base = str(target.url).removesuffix(path)
        self._path = path

    async def submit(self, client: Client, body_by_id: Mapping[str, bytes], is_known: IsKnown, note: Note) -> str:
        head = b'{"custom_id":%b,"method":"POST","url":"/v1%b","body":%b}'
        lines = [head % (msgspec.json.encode(id), self._path.encode(), body) for id, body in body_by_id.items()]
        kind, form = _form(b"\n".join(lines))
        upload = self._target.at(f"{self._base}/files", headers={"Content-Type": kind})
        file = await client.post(upload, form, _batch.decode)
        asked = {"input_file_id": file.id, "endpoint": f"/v1{self._path}", "completion_window": "24h"}
        noted = _Noted(file=file.id, at=time.time(), nonce=secrets.token_hex(8))
        await note(msgspec.json.encode(noted))
        target = self._target.at(f"{self._base}/batches")
        return await client.post(target, msgspec.json.encode(asked), _id_of, look=lambda: self._look(client, noted))

    async def find(self, client: Client, noted: bytes, is_known: IsKnown) -> str | None:
        return await self._look(client, _noted.decode(noted))

    async def _look(self, client: Client, noted: _Noted) -> str | None:
        def is_older(batch: _Batch) -> bool:
            return isinstance(batch.created_at, int) and batch.created_at < noted.at - CLOCKS_DIFFER_SECONDS

        listed = _Listed(client, self._got("batches"), "after", is_older)
        return await _look(listed, lambda batch: batch.input_file_id == noted.file)

    async def results(self, client: Client, batch: str) -> Mapping[str, BatchLine] | None:
        found = await client.post(self._got(f"batches/{quote(batch, safe='')}"), None, _batch.decode)
        if found.status not in _ENDS:
            return None
        lines: dict[str, BatchLine] = {}
        for file in (found.error_file_id, found.output_file_id):  # a reply wins over an error
            if file:
                lines |= await client.post(self._got(f"files/{quote(file, safe='')}/content"), None, self._lines)
        if not lines and found.errors:
            body = msgspec.json.encode({"error": {"message": _reasons(found.errors)}})
            raise fault_of_status(400, {}, body, self._target.secrets)
        return lines

    def _got(self, path: str) -> RequestTarget:
        return self._target.at(f"{self._base}/{path}", method="GET")

    def _lines(self, data: bytes) -> dict[str, BatchLine]:
        return _by_id((row.custom_id, self._line(row)) for row in _rows(data))

    def _line(self, row: _Row) -> BatchLine:
        if row.response is not None and 200 <= row.response.status_code < 300:
            return BatchLine(reply=bytes(row.response.body))
        status = row.response.status_code if row.response is not None else 0
        code = row.error.get("code") if isinstance(row.error, dict) else ""
        if code == "batch_expired":
            return BatchLine(fault=RequestFault("batch_expired", "the batch was not finished in time", again=False))
        body = bytes(row.response.body) if row.response is not None else msgspec.json.encode({"error": row.error})
        return BatchLine(fault=fault_of_status(status or 400, {}, body, self._target.secrets))


def openai_batches(target: RequestTarget, path: str) -> OpenAIBatches:
    """Return the batch API that belongs to the address of single requests.

    Raises:
        BadInput: the address has a query, so that there is no address next to it.
    """
    _check_address(target, path)
    return OpenAIBatches(target, path)


class AnthropicBatches:
    """Batches of messages.

    Args:
        target: the address of single requests.
    """

    def __init__(self, target: RequestTarget) -> None:
        self._target = target
        self._url = f"{target.url}/batches"

    async def submit(self, client: Client, body_by_id: Mapping[str, bytes], is_known: IsKnown, note: Note) -> str:
        newest = await self._listed(client).page()
        noted = _Noted(
            earlier=tuple(batch.id for batch in newest.data),
            count=len(body_by_id),
            at=time.time(),
            nonce=secrets.token_hex(8),
        )
        await note(msgspec.json.encode(noted))
        line = b'{"custom_id":%b,"params":%b}'
        lines = [line % (msgspec.json.encode(id), body) for id, body in body_by_id.items()]
        return await client.post(
            self._target.at(self._url),
            b'{"requests":[%b]}' % b",".join(lines),
            _id_of,
            look=lambda: self._look(client, noted, is_known),
        )

    async def find(self, client: Client, noted: bytes, is_known: IsKnown) -> str | None:
        return await self._look(client, _noted.decode(noted), is_known)

    async def _look(self, client: Client, noted: _Noted, is_known: IsKnown) -> str | None:
        def is_earlier(batch: _Batch) -> bool:
            return batch.id in noted.earlier

        def is_ours(batch: _Batch) -> bool:  # the list does not say more than how many requests it has
            counts = batch.request_counts.values() if isinstance(batch.request_counts, dict) else ()
            total = sum(count for count in counts if isinstance(count, int))
            return not is_earlier(batch) and total == noted.count and not is_known(batch.id)

        return await _look(self._listed(client, is_earlier), is_ours)

    def _listed(self, client: Client, is_older: Callable[[_Batch], bool] = lambda _: False) -> "_Listed":
        return _Listed(client, self._target.at(self._url, method="GET"), "after_id", is_older)

    async def results(self, client: Client, batch: str) -> Mapping[str, BatchLine] | None:
        url = f"{self._url}/{quote(batch, safe='')}"
        found = await client.post(self._target.at(url, method="GET"), None, _batch.decode)
        if found.processing_status != "ended":
            return None
        return await client.post(self._target.at(f"{url}/results", method="GET"), None, self._lines)

    def _lines(self, data: bytes) -> dict[str, BatchLine]:
        return _by_id((row.custom_id, self._line(row.result or _BatchResult())) for row in _rows(data))

    def _line(self, result: _BatchResult) -> BatchLine:
        match result.type:
            case "succeeded":
                return BatchLine(reply=bytes(result.message))
            case "errored":
                error = result.error.get("error", result.error) if isinstance(result.error, dict) else result.error
                body = msgspec.json.encode({"error": error})
                kind = error.get("type") if isinstance(error, dict) else None
                status = STATUS_BY_ERROR.get(str(kind), 400)
                return BatchLine(fault=fault_of_status(status, {}, body, self._target.secrets))
            case "expired" | "canceled":
                return BatchLine(
                    fault=RequestFault(f"batch_{result.type}", "the batch ended before this request", again=False)
                )
        return BatchLine(fault=RequestFault("no_reply", f"a result of the type {result.type!r}", again=False))


def anthropic_batches(target: RequestTarget, path: str) -> AnthropicBatches:
    """Return the batches below an address of single requests.

    Raises:
        BadInput: the address has a query, so that there is no address below it.
    """
    _check_address(target, path)
    return AnthropicBatches(target)


def _check_address(target: RequestTarget, path: str) -> None:
    if target.url.query or not str(target.url).endswith(path):
        raise BadInput("The option 'batch' wants an address up to /v1, not the whole address of requests.")


def _id_of(data: bytes) -> str:
    if not (id := _batch.decode(data).id):
        raise RequestFault("no_reply", "a batch without an id")
    return id


class _Listed(msgspec.Struct, frozen=True):
    """The batches at an address, page by page, down to the first that is older than the one looked for.

    Attributes:
        cursor: the parameter that names the last batch of the page before.
    """

    client: Client
    batches: RequestTarget
    cursor: str
    is_older: Callable[[_Batch], bool]

    async def page(self, last: str = "") -> _List:
        after = f"&{self.cursor}={quote(last, safe='')}" if last else ""
        newest = self.batches.at(f"{self.batches.url}?limit={MOST_LISTED}{after}")
        return await self.client.post(newest, None, _list.decode)

    async def read(self) -> list[_Batch]:
        batches: list[_Batch] = []
        for _ in range(MOST_PAGES):
            page = await self.page(batches[-1].id if batches else "")
            batches += page.data
            if not page.has_more or not page.data or any(map(self.is_older, page.data)):
                break
        return batches


async def _look(listed: _Listed, is_ours: Callable[[_Batch], bool]) -> str | None:
    """Return the batch that a request made whose reply was lost; None if there is none, also after a while.

    Raises:
        Fault: the list cannot be read, or several may be it.
    """
    for pause in LOOKS_AFTER_SECONDS:
        await asyncio.sleep(pause)
        try:
            ids = [batch.id for batch in await listed.read() if is_ours(batch)]
        except ProctorError as error:
            raise _unknown(str(error)) from None
        if len(ids) > 1:
            raise _unknown(", ".join(ids))
        if ids:
            return ids[0]
    return None


def _unknown(text: str) -> RequestFault:
    said = say(
        "the reply to a batch was lost, and it cannot be seen whether the batch was made ({text}). Look at the list of batches at the provider; --retry-failed sends the requests again",
        text=shown(text),
    )
    return RequestFault("batch_unknown", said, again=False)


def _by_id(found: Iterable[tuple[str, BatchLine]]) -> dict[str, BatchLine]:
    """Return the lines by their ids; of several for one id a reply wins over a fault, and replies that differ are none."""
    lines: dict[str, BatchLine] = {}
    replies: dict[str, set[bytes]] = {}
    for id, line in found:
        if line.reply is not None:
            replies.setdefault(id, set()).add(line.reply)
        if line.reply is not None or id not in replies:
            lines[id] = line
    several = [id for id, texts in replies.items() if len(texts) > 1]
    return lines | dict.fromkeys(
        several, BatchLine(fault=RequestFault("no_reply", "the batch has two replies to this request", again=False))
    )


def _rows(data: bytes) -> list[_Row]:
    """Return the lines that can be read; the others are missing, and do not take the rest with them.

    Raises:
        msgspec.DecodeError: there are lines, and none can be read.
    """
    rows, wrong = [], None
    for line in data.splitlines():
        if not line.strip():
            continue
        try:
            rows.append(_decoded(line))
        except (ValueError, RecursionError) as error:  # msgspec's errors are ValueErrors
            wrong = error
    if wrong is not None and not rows:
        raise msgspec.DecodeError(str(wrong))
    return rows


def _decoded(line: bytes) -> _Row:
    try:
        return _row.decode(line)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        return _row.decode(repaired(line))


def _reasons(errors: object) -> str:
    """Return what a batch that failed says of itself, in a few words."""
    listed = errors.get("data") if isinstance(errors, dict) else None
    first = listed[0] if isinstance(listed, list) and listed else errors
    return str(first.get("message") or first if isinstance(first, dict) else first)[:500]


def _form(lines: bytes) -> tuple[str, bytes]:
    """Return a form with a file of lines, and its content type (RFC 7578)."""
    mark = f"proctor-{secrets.token_hex(16)}"
    purpose = f'--{mark}\r\nContent-Disposition: form-data; name="purpose"\r\n\r\nbatch\r\n'
    file = f'--{mark}\r\nContent-Disposition: form-data; name="file"; filename="batch.jsonl"\r\nContent-Type: application/jsonl\r\n\r\n'
    return f"multipart/form-data; boundary={mark}", f"{purpose}{file}".encode() + lines + f"\r\n--{mark}--\r\n".encode()
