"""Upload eval sets to CozeLoop: one item for each turn, with its input, the expected response and the expected calls.

    POST {url}/v1/loop/evaluation/evaluation_sets/{id}/items                       at most 100 items at a time

What the server took is noted next to the data, so that a second upload sends only the rest; every item has a key of its
content too, by which the server knows one that comes twice because a reply was lost. Source: volcengine/veadk-python,
veadk/cli/cli_uploadevalset.py, release 1.1.19; coze-dev/coze-loop, idl/thrift/coze/loop/evaluation,
coze.loop.evaluation.openapi.thrift and domain_openapi/eval_set.thrift.
"""

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from urllib.parse import quote

import msgspec

from proctor.core.digest import digest
from proctor.core.errors import BadInput, EndpointRefused, PartFailed
from proctor.core.sentence import Sentence, say
from proctor.core.validation import in_words
from proctor.runtime.files import write_whole
from proctor.transport.client import Client
from proctor.transport.faults import NotAccepted
from proctor.transport.retry import RetryPolicy
from proctor.transport.target import RequestTarget
from proctor.transport.terms import RequestTerms
from proctor_adapters.evalsets.schema import EvalSet, Invocation, texts

URL = "https://api.coze.cn"
BATCH = 100
CALLS_FIELD = "tool_calls"
SECONDS = 30.0  # for a batch to be taken
POLICY = RetryPolicy(attempts=5, attempts_at_first=3, longest_wait_seconds=10.0)
NO_RIGHTS = (401, 403, 4100, 4101)  # codes of the API that come with status 200 too


class CozeLoopItem(msgspec.Struct, frozen=True, kw_only=True):
    """One turn of a case, in the form in which it is uploaded."""

    key: str
    case: str
    turn: int
    fields: Mapping[str, str]


class Destination(msgspec.Struct, frozen=True, kw_only=True):
    """The workspace and the dataset to upload to, with the key for it."""

    workspace_id: str
    evalset_id: str
    api_key: str
    url: str = URL

    @property
    def place(self) -> str:
        """Return the key of this destination in the state file."""
        return f"{self.url.rstrip('/')} {self.evalset_id}"


class RejectedItem(msgspec.Struct, frozen=True, kw_only=True):
    """An item that was not taken, and why."""

    item: CozeLoopItem
    reason: str | Sentence


def items_of(eval_set: EvalSet, calls_field: str = CALLS_FIELD) -> tuple[list[CozeLoopItem], list[Sentence]]:
    """Return the turns of a set with all their text parts, and notes on what cannot be uploaded.

    Args:
        calls_field: the field that the expected calls go to, as JSON; '' leaves them out.
    """
    items, notes = [], []
    for case in eval_set.eval_cases:
        if case.conversation is None:
            notes.append(say("'{case}' is a scenario, which has no turns yet; it is left out.", case=case.eval_id))
        for number, turn in enumerate(case.conversation or (), start=1):
            fields = _fields(turn, calls_field)
            key = digest([eval_set.eval_set_id, case.eval_id, number, fields])
            items.append(CozeLoopItem(key=key, case=case.eval_id, turn=number, fields=fields))
            if any(part.inline_data or part.file_data for part in turn.user_content.parts or ()):
                notes.append(say("'{case}', turn {turn}: only its text is uploaded.", case=case.eval_id, turn=number))
    return items, notes


def body_of(items: Sequence[CozeLoopItem], workspace_id: str) -> dict[str, object]:
    return {
        "workspace_id": workspace_id,
        "is_allow_partial_add": True,
        "is_skip_invalid_items": True,
        "items": [
            {
                "item_key": item.key,
                "turns": [
                    {
                        "field_datas": [
                            {"name": name, "content": {"content_type": "Text", "text": text}}
                            for name, text in item.fields.items()
                        ]
                    }
                ],
            }
            for item in items
        ],
    }


async def upload(items: Sequence[CozeLoopItem], to: Destination, uploaded: "UploadState") -> list[RejectedItem]:
    """Upload the items that were not accepted before, in order; each accepted one is noted at once.

    A batch that fails after all retries ends the upload; what was not sent is among the rejected.

    Raises:
        Refused: the key, the workspace or the set is refused; nothing more is sent.
    """
    rejected: list[RejectedItem] = []
    todo = [item for item in items if item.key not in uploaded.keys]
    target = RequestTarget(
        f"{to.url.rstrip('/')}/v1/loop/evaluation/evaluation_sets/{quote(to.evalset_id, safe='')}/items",
        headers={"Authorization": f"Bearer {to.api_key}", "Content-Type": "application/json"},
        advice=say("Check the API key, the workspace and the evaluation set."),
        terms=RequestTerms(seconds=SECONDS, policy=POLICY),
    )
    async with Client(concurrency=1) as client:
        for start in range(0, len(todo), BATCH):
            batch = todo[start : start + BATCH]
            body = msgspec.json.encode(body_of(batch, to.workspace_id))
            try:
                reply = await client.post(target, body, msgspec.json.decode)
            except NotAccepted as error:
                rejected.extend(RejectedItem(item=item, reason=error.sentence) for item in batch)
                continue
            except PartFailed as error:
                rejected.extend(RejectedItem(item=item, reason=error.sentence) for item in batch)
                rejected.extend(
                    RejectedItem(item=item, reason=say("It was not sent.")) for item in todo[start + BATCH :]
                )
                break
            reasons = _reasons(reply, len(batch), target.where)
            uploaded.add(item.key for index, item in enumerate(batch) if index not in reasons)
            rejected.extend(RejectedItem(item=batch[index], reason=reason) for index, reason in sorted(reasons.items()))
    return rejected


class UploadState:
    """The keys of uploaded items, kept in a small file next to the data; several destinations share the file."""

    def __init__(self, path: Path, place: str) -> None:
        self.path = path
        self.place = place
        self.keys: set[str] = set(self._read().get(place, ()))

    def add(self, keys: Iterator[str]) -> None:
        """Note which items were accepted.

        Raises:
            BadInput: the file cannot be written.
        """
        self.keys.update(keys)
        everything = {**self._read(), self.place: sorted(self.keys)}
        write_whole(self.path, json.dumps(everything, indent=1))

    def _read(self) -> dict[str, list[str]]:
        try:
            return msgspec.json.decode(self.path.read_bytes(), type=dict[str, list[str]])
        except FileNotFoundError:
            return {}
        except (OSError, msgspec.DecodeError, UnicodeDecodeError) as error:
            raise BadInput(
                "{path} should say what was uploaded, but cannot be read: {error}. Delete it to upload everything again.",
                path=self.path,
                error=in_words(error),
            ) from None


def state_file(data: Path) -> Path:
    """Return the file that holds the state of an upload.

    >>> state_file(Path("shop.evalset.json")).name
    'shop.evalset.json.cozeloop'
    """
    return data.with_name(f"{data.name}.cozeloop")


def _fields(turn: Invocation, calls_field: str) -> dict[str, str]:
    fields = {"input": "\n".join(texts(turn.user_content)), "output": "\n".join(texts(turn.final_response))}
    calls = turn.intermediate_data.calls() if turn.intermediate_data is not None else []
    if calls and calls_field:
        plain = [{"name": call.name, "args": call.args or {}} for call in calls]
        fields[calls_field] = json.dumps(plain, ensure_ascii=False)
    return fields


def _reasons(reply: object, count: int, where: str) -> dict[int, str | Sentence]:
    """Return why items of a batch were not taken, by their index.

    Raises:
        Refused: the reply says that the key has no right to do this.
    """
    said = reply if isinstance(reply, Mapping) else {}
    code, message = said.get("code") or 0, str(said.get("msg") or "-")[:300]
    if code in NO_RIGHTS:
        raise EndpointRefused("{where} refuses the key (code {code}): {text}", where=where, code=code, text=message)
    if code != 0 or not isinstance(reply, Mapping):
        reason: str | Sentence = say("The server refused the batch (code {code}): {text}", code=code, text=message)
        return dict.fromkeys(range(count), reason)
    data = said.get("data")
    data = data if isinstance(data, Mapping) else {}
    errors = _objects(data.get("errors"))
    reasons: dict[int, str | Sentence] = {index: text for index, text in _errors(errors) if 0 <= index < count}
    taken = _taken_indices(data)
    unnamed = sum(_number(group.get("error_count")) or 0 for group in errors)
    for index in range(count):
        if taken is not None and index not in taken:
            reasons.setdefault(index, say("The server did not take it, and gave no reason."))
        elif taken is None and unnamed > len(reasons):  # it names a few of each kind only
            reasons.setdefault(
                index, say("The server refused {count} items of the batch, perhaps this one.", count=unnamed)
            )
    return reasons


def _objects(value: object) -> list[Mapping[str, object]]:
    """Return the objects of a list; none where it is no list."""
    return [item for item in value if isinstance(item, Mapping)] if isinstance(value, list) else []


def _errors(groups: Sequence[Mapping[str, object]]) -> Iterator[tuple[int, str]]:
    """Yield each index that an error names, alone or in a range."""
    for group in groups:
        kind = str(
            group.get("error_message") or group.get("summary") or group.get("error_code") or group.get("type") or "-"
        )
        for detail in _objects(group.get("details")):
            text = str(detail.get("message") or kind)[:300]
            index = _number(detail.get("index"))
            first, last = _number(detail.get("start_index")), _number(detail.get("end_index"))
            if first is not None and last is not None and last > first:
                yield from ((position, text) for position in range(first, min(last, first + BATCH) + 1))
            elif (position := index if index is not None else first) is not None:
                yield position, text


def _taken_indices(data: Mapping[str, object]) -> set[int] | None:
    """Return the indices of the items that were taken; None if the reply does not say."""
    outputs = data.get("itemOutputs", data.get("item_outputs"))
    if isinstance(outputs, list):
        places = (_number(item.get("item_index", item.get("itemIndex", 0))) for item in _objects(outputs))
        return {index for index in places if index is not None}
    added = data.get("added_items", data.get("addedItems"))
    if isinstance(added, Mapping):
        return {index for key in added if (index := _number(key)) is not None}
    return None


def _number(value: object) -> int | None:
    """Read a number, which may come as text."""
    if isinstance(value, str) and re.fullmatch(r"-?[0-9]{1,9}", value):
        return int(value)
    return value if isinstance(value, int) and not isinstance(value, bool) else None
