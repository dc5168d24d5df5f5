"""Ask a running `proctor web` from Python, with the types of the functions that answer.

    from proctor_web.client import Client
    from proctor_web.runs.listing import list_runs
    from proctor_web.runs.ordering import RunFilter

    with Client("http://127.0.0.1:7860", token) as client:
        page = client.call(list_runs, RunFilter(task="gaia"))     # a RunPage

What is called is the function that the server calls itself, so that a type checker knows what it takes and returns. The token
is printed by `proctor web --json`.
"""

import inspect
from collections.abc import Awaitable, Callable, Iterator
from http.client import HTTPConnection, HTTPException, HTTPResponse, HTTPSConnection
from typing import Any, Concatenate, NamedTuple, ParamSpec, Self, TypeVar, overload
from urllib.parse import quote, urlencode, urlsplit

import msgspec

from proctor.core.errors import BadInput, ProctorError
from proctor_web.failures import API, Failure
from proctor_web.operations import IN_QUERY, Operation, path_fields
from proctor_web.workspace import Workspace

P = ParamSpec("P")
G = TypeVar("G")
R = TypeVar("R")


class Unanswered(ProctorError):
    """The server refused a request, or did not answer.

    Attributes:
        status: that of HTTP, 0 if there was no answer.
        kind: a short name to tell failures apart by, such as "not_found".
    """

    def __init__(self, status: int, kind: str, message: str) -> None:
        super().__init__("The server did not do it ({kind}): {message}", kind=kind, message=message)
        self.status = status
        self.kind = kind


class Event(NamedTuple):
    """One of the events of a stream."""

    name: str
    data: str


class Client:
    """A connection with a server; one thread uses it at a time."""

    def __init__(self, address: str, token: str, *, seconds: float = 60.0) -> None:
        """Prepare the connection, which is opened by the first call.

        Args:
            address: as `proctor web` prints it, without the path.
            seconds: to wait for an answer, or for the next event.

        Raises:
            BadInput: the address is none of HTTP.
        """
        parts = urlsplit(address)
        if parts.scheme not in ("http", "https") or not parts.hostname:
            raise BadInput("{address} is no address of a server. Write it as http://127.0.0.1:7860.", address=address)
        kind = HTTPSConnection if parts.scheme == "https" else HTTPConnection
        self._connection = kind(parts.hostname, parts.port, timeout=seconds)
        self._base = parts.path.rstrip("/") + API
        self._token = token

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Close the connection; the next call opens it again."""
        self._connection.close()

    @overload
    def call(self, function: Callable[Concatenate[Workspace, G, P], Awaitable[R]], given: G) -> R: ...
    @overload
    def call(self, function: Callable[Concatenate[Workspace, G, P], R], given: G) -> R: ...
    @overload
    def call(self, function: Callable[[Workspace], R]) -> R: ...
    def call(self, function: Callable[..., Any], given: Any = None) -> Any:
        """Have the server call a function, and return what it returns.

        Raises:
            Unanswered: the server refused, or cannot be reached.
        """
        operation = _operation_of(function)
        body = self._ask(operation, given).read()
        if operation.returns in (None, type(None)):
            return None
        try:
            return msgspec.json.decode(body, type=operation.returns)
        except msgspec.DecodeError as error:
            raise Unanswered(200, "unreadable", str(error)) from None

    def events(self, function: Callable[Concatenate[Workspace, G, P], object], given: G) -> Iterator[Event]:
        """Yield the events of a function that streams them, until the server ends or the caller stops.

        Raises:
            Unanswered: the server refused, or cannot be reached.
        """
        answer = self._ask(_operation_of(function), given)
        name, data = "message", list[str]()
        try:
            for line in answer:
                text = line.decode("utf-8", "replace").rstrip("\r\n")
                field, _, value = text.partition(":")
                match field:
                    case "event":
                        name = value.removeprefix(" ")
                    case "data":
                        data.append(value.removeprefix(" "))
                    case "" if not text and data:  # an empty line ends an event; one with a colon is a comment
                        yield Event(name, "\n".join(data))
                        name, data = "message", []
        finally:
            self.close()  # what is left of the stream is not waited for

    def _ask(self, operation: Operation, given: object) -> HTTPResponse:
        fields = _given_fields(given) if isinstance(given, msgspec.Struct) else {}
        path = self._base + operation.path
        for name in path_fields(operation.path):
            path = path.replace(f"{{{name}:path}}", f"{{{name}}}").replace(
                f"{{{name}}}", quote(str(fields.pop(name)), safe="")
            )
        headers = {"Authorization": f"Bearer {self._token}", "Accept": "application/json, text/event-stream"}
        body = None
        if operation.method in IN_QUERY:
            query = urlencode({name: _text(value) for name, value in fields.items() if value is not None}, doseq=True)
            path += f"?{query}" if query else ""
        else:
            body, headers["Content-Type"] = msgspec.json.encode(fields), "application/json"
        try:
            self._connection.request(operation.method, path, body, headers)
            answer = self._connection.getresponse()
            if answer.status < 400:
                return answer
            said = answer.read()
        except (OSError, HTTPException) as error:
            self.close()
            raise Unanswered(0, "no_answer", str(error) or type(error).__name__) from None
        try:
            fault = msgspec.json.decode(said, type=Failure).error
        except msgspec.DecodeError:  # a proxy answered
            raise Unanswered(answer.status, "refused", said[:500].decode("utf-8", "replace")) from None
        raise Unanswered(answer.status, fault.kind, fault.message)


def _given_fields(given: msgspec.Struct) -> dict[str, object]:
    """Return the fields of a struct that differ from their defaults, as JSON has them."""
    fields: dict[str, Any] = {}
    for field in msgspec.structs.fields(given):
        value = getattr(given, field.name)
        if field.required or value != field.default:
            fields[field.encode_name] = msgspec.to_builtins(value)
    return fields


def _text(value: object) -> object:
    """Return a value as a query has it: true and false as in JSON."""
    if isinstance(value, bool):
        return "true" if value else "false"
    return [_text(item) for item in value] if isinstance(value, list) else value


def _operation_of(function: Callable[..., Any]) -> Operation:
    from proctor_web.site import operations

    for operation in operations():
        if operation.call is inspect.unwrap(function):
            return operation
    raise BadInput(
        "{name} is not one of the functions that the server offers.", name=getattr(function, "__name__", function)
    )
