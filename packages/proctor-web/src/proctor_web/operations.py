"""What the pages and programs can ask for: functions over a workspace, with the types they take and return.

A function takes the workspace and `given`, a struct whose fields come from the address, the query and the body; one that also
takes `by` gets the name of the person. Pages call it and show what it returns; `/api/v1` returns the same as JSON.
"""

import inspect
import re
from collections.abc import Callable, Collection, Mapping, Sequence
from functools import cache
from typing import Any, NamedTuple, TypeVar, get_type_hints

import msgspec
from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from proctor.core.errors import BadInput
from proctor.registry import unknown
from proctor_web.auth import session_of
from proctor_web.failures import API
from proctor_web.workspace import Workspace

T = TypeVar("T")
MOST_NUMBER = 2**63 - 1  # that a store takes
OF_ALL_PAGES = frozenset({"lang", "theme"})
IN_QUERY = frozenset({"GET", "DELETE"})  # methods without a body


class RunReference(msgspec.Struct, frozen=True, kw_only=True):
    """A run as addresses name it."""

    run: str


class Operation(NamedTuple):
    """A function that is served: at `path` below `/api/v1`, whose parts in braces are fields of what it is given.

    Attributes:
        media_type: of a function that makes a response itself, such as a stream of events.
    """

    method: str
    path: str
    call: Callable[..., Any]
    media_type: str = "application/octet-stream"

    @property
    def name(self) -> str:
        return self.call.__name__

    @property
    def room(self) -> str:
        """Return the package of pages it belongs to."""
        return self.call.__module__.removeprefix("proctor_web.").partition(".")[0]

    @property
    def given(self) -> type[Any] | None:
        """Return the type of what it is given; None for nothing."""
        kind: type[Any] | None = _hints(self.call).get("given")
        return kind

    @property
    def returns(self) -> Any:
        return _hints(self.call)["return"]


def path_fields(path: str) -> Sequence[str]:
    """Return the fields that an address holds.

    >>> path_fields("/runs/{run}/samples/{sample:path}")
    ('run', 'sample')
    """
    return tuple(re.findall(r"\{(\w+)(?::\w+)?\}", path))


def api_routes(workspace: Workspace, operations: Sequence[Operation]) -> list[Route]:
    return [_route(workspace, operation) for operation in operations]


def _route(workspace: Workspace, operation: Operation) -> Route:
    async def answer(request: Request) -> Response:
        values: dict[str, object] = {}
        if operation.given is not None:
            values["given"] = await _given(request, operation)
        if "by" in _hints(operation.call):  # it wants to know who asks
            values["by"] = session_of(request).person.name
        if inspect.iscoroutinefunction(operation.call):
            result = await operation.call(workspace, **values)
        else:
            result = await run_in_threadpool(operation.call, workspace, **values)
        if isinstance(result, Response):
            return result
        if result is None:
            return Response(status_code=204)
        # such as a path in a sentence
        return Response(msgspec.json.encode(result, enc_hook=str), media_type="application/json")

    return Route(f"{API}{operation.path}", answer, methods=[operation.method], name=operation.name)


async def _given(request: Request, operation: Operation) -> object:
    """Return what a program gives; a name that the operation does not know is a mistake, and not left out."""
    kind = operation.given
    assert kind is not None
    if operation.method in IN_QUERY:
        return read_filter(request, kind)
    try:
        fields = msgspec.json.decode(await request.body() or b"{}", type=dict[str, Any])
        types = get_type_hints(kind, include_extras=True)
        in_path = msgspec.defstruct(kind.__name__, [(name, types[name]) for name in path_fields(operation.path)])
        named = msgspec.convert(request.path_params, in_path, strict=False)
        return checked({**fields, **msgspec.structs.asdict(named)}, kind)
    except (msgspec.DecodeError, RecursionError) as error:
        raise BadInput("The body cannot be read: {error}.", error=error) from None


def checked(values: Mapping[str, Any], kind: type[T]) -> T:
    """Return JSON that a program gave as a struct.

    Raises:
        BadInput: it has a name that the struct does not have.
        msgspec.ValidationError: a value has the wrong form.
    """
    _check_known([*values], kind)
    return _checked(msgspec.convert(values, kind))


def read_filter(request: Request, kind: type[T], *, also: Collection[str] = ()) -> T:
    """Return what the address and the query say, as `read` does; a filter that is mistyped would filter nothing.

    Args:
        also: what else the page reads out of its query.

    Raises:
        BadInput: a value has the wrong form, or a field is not known.
    """
    _check_known([name for name in request.query_params if name not in {*OF_ALL_PAGES, *also}], kind)
    return read(request, kind)


def read(request: Request, kind: type[T]) -> T:
    """Return what the address and the query say, as a struct; a field left empty has its default.

    Raises:
        BadInput: a value has the wrong form.
    """
    query = request.query_params
    named = {name: query.getlist(name) if name in _lists(kind) else query[name] for name in query if query[name] != ""}
    return convert({**named, **request.path_params}, kind)


def convert(texts: Mapping[str, object], kind: type[T]) -> T:
    """Return texts, as a query or a form has them, as a struct; fields that it does not have are left out.

    Raises:
        BadInput: a value has the wrong form.
    """
    known = _names(kind)
    try:
        return _checked(
            msgspec.convert({name: text for name, text in texts.items() if name in known}, kind, strict=False)
        )
    except msgspec.ValidationError as error:
        raise BadInput("The address cannot be read: {error}.", error=error) from None


def checked_filter(texts: Mapping[str, object], kind: type[T]) -> T:
    """Return texts as `convert` does.

    Raises:
        BadInput: a value has the wrong form, or a field is not known.
    """
    _check_known([name for name in texts if name not in OF_ALL_PAGES], kind)
    return convert(texts, kind)


def _checked(given: T) -> T:
    """Return it if stores and files can take its numbers and texts."""
    assert isinstance(given, msgspec.Struct)
    for field in msgspec.structs.fields(given):
        value = getattr(given, field.name)
        for item in value if isinstance(value, list | tuple) else (value,):
            if isinstance(item, int) and abs(item) > MOST_NUMBER:
                raise msgspec.ValidationError(f"Number out of range - at `$.{field.encode_name}`")
            if isinstance(item, str) and "\0" in item:
                raise msgspec.ValidationError(f"Text with a NUL character - at `$.{field.encode_name}`")
    return given


def _check_known(names: Sequence[str], kind: type[Any]) -> None:
    known = _names(kind)
    for name in names:
        if name not in known:
            raise BadInput(unknown("field", name, sorted(known), paths=False).sentence)


def _names(kind: type[Any]) -> frozenset[str]:
    return frozenset(field.encode_name for field in msgspec.structs.fields(kind))


def _lists(kind: type[Any]) -> frozenset[str]:
    """Return the fields that may be given several times."""
    info = msgspec.inspect.type_info(kind)
    assert isinstance(info, msgspec.inspect.StructType)
    several = (msgspec.inspect.VarTupleType, msgspec.inspect.ListType, msgspec.inspect.SetType)
    return frozenset(field.encode_name for field in info.fields if isinstance(field.type, several))


@cache
def _hints(call: Callable[..., Any]) -> Mapping[str, Any]:
    return get_type_hints(call, include_extras=True)
