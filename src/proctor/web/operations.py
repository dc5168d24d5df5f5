"""What the pages and programs can ask for: functions over a workspace, with the types they take and return.

A function takes the workspace and `given`, a struct whose fields come from the address, the query and the body; one that also
takes `by` gets the name of the person. Pages call it and show what it returns; `/api/v1` returns the same as JSON.
"""

import inspect
from collections.abc import Callable, Mapping, Sequence
from functools import cache
from typing import Any, NamedTuple, TypeVar, get_type_hints

import msgspec
from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from proctor.core.errors import BadInput
from proctor.web.app import API
from proctor.web.auth import session_of
from proctor.web.workspace import Workspace

T = TypeVar("T")
IN_QUERY = frozenset({"GET", "DELETE"})  # methods without a body


class Operation(NamedTuple):
    """A function that is served: at `path` below `/api/v1`, whose parts in braces are fields of what it is given."""

    method: str
    path: str
    call: Callable[..., Any]

    @property
    def given(self) -> type[Any] | None:
        """Return the type of what it is given; None for nothing."""
        found: type[Any] | None = _hints(self.call).get("given")
        return found

    @property
    def returns(self) -> Any:
        """Return the type of what it returns."""
        return _hints(self.call)["return"]

    @property
    def takes_person(self) -> bool:
        """True if it wants to know who asks."""
        return "by" in _hints(self.call)


def api_routes(workspace: Workspace, operations: Sequence[Operation]) -> list[Route]:
    """Return the routes that answer programs."""
    return [_route(workspace, one) for one in operations]


def _route(workspace: Workspace, operation: Operation) -> Route:
    async def answer(request: Request) -> Response:
        values: dict[str, object] = {}
        if operation.given is not None:
            values["given"] = await _given(request, operation)
        if operation.takes_person:
            values["by"] = session_of(request).person.name
        if inspect.iscoroutinefunction(operation.call):
            made = await operation.call(workspace, **values)
        else:
            made = await run_in_threadpool(operation.call, workspace, **values)
        if isinstance(made, Response):
            return made
        if made is None:
            return Response(status_code=204)
        return Response(msgspec.json.encode(made), media_type="application/json")

    return Route(f"{API}{operation.path}", answer, methods=[operation.method], name=operation.call.__name__)


async def _given(request: Request, operation: Operation) -> Any:
    kind = operation.given
    assert kind is not None
    if operation.method in IN_QUERY:
        return read(request, kind)
    body = await request.body()
    try:
        fields = msgspec.json.decode(body or b"{}", type=dict[str, Any])
        return msgspec.convert({**fields, **request.path_params}, kind)
    except msgspec.DecodeError as error:
        raise BadInput("The body cannot be read: {error}.", error=error) from None


def read(request: Request, kind: type[T]) -> T:
    """Return what the address and the query say, as a struct; a field left empty has its default.

    Raises:
        BadInput: a value has the wrong form.
    """
    query, several = request.query_params, _lists(kind)  # type: ignore[arg-type]  # a class is hashable
    named = {name: query.getlist(name) if name in several else query[name] for name in query if query[name] != ""}
    return convert({**named, **request.path_params}, kind)


def convert(texts: Mapping[str, object], kind: type[T]) -> T:
    """Return texts, as a query or a form has them, as a struct; fields that it does not have are left out.

    Raises:
        BadInput: a value has the wrong form.
    """
    known = {field.name for field in msgspec.structs.fields(kind)}  # type: ignore[arg-type]  # a struct
    try:
        return msgspec.convert({name: text for name, text in texts.items() if name in known}, kind, strict=False)
    except msgspec.ValidationError as error:
        raise BadInput("The address cannot be read: {error}.", error=error) from None


@cache
def _lists(kind: type[Any]) -> frozenset[str]:
    """Return the fields that may be given several times."""
    info = msgspec.inspect.type_info(kind)
    assert isinstance(info, msgspec.inspect.StructType)
    several = (msgspec.inspect.VarTupleType, msgspec.inspect.ListType, msgspec.inspect.SetType)
    return frozenset(field.name for field in info.fields if isinstance(field.type, several))


@cache
def _hints(call: Callable[..., Any]) -> Mapping[str, Any]:
    return get_type_hints(call, include_extras=True)
