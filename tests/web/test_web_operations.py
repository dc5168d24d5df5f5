"""What programs ask for: fields from the address, the query and the body, typed; errors as JSON; a description; a client."""

import asyncio
import threading
from collections.abc import Iterator
from typing import Annotated, Any, Literal

import jsonschema
import msgspec
import pytest
from starlette.responses import Response, StreamingResponse
from starlette.testclient import TestClient

from proctor.core.errors import BadInput
from proctor_web import site
from proctor_web.app import app
from proctor_web.auth import Access
from proctor_web.client import Client, Unanswered
from proctor_web.openapi import describe
from proctor_web.operations import Operation, api_routes
from proctor_web.serving import listen, make_server
from proctor_web.users.ledger import Person
from proctor_web.workspace import NotFound, Workspace


class Cup(msgspec.Struct, frozen=True, kw_only=True):
    """A cup of something."""

    id: str
    holds: str
    size: int


class Wish(msgspec.Struct, frozen=True, kw_only=True):
    holds: str = "tea"
    size: Annotated[int, msgspec.Meta(ge=1)] = 2
    is_warm: bool | None = None
    with_: tuple[Literal["milk", "sugar"], ...] = msgspec.field(default=(), name="with")


class CupId(msgspec.Struct, frozen=True, kw_only=True):
    id: str


class Change(msgspec.Struct, frozen=True, kw_only=True):
    id: str
    size: int
    notes: dict[str, str] = {}


def list_cups(workspace: Workspace, given: Wish) -> list[Cup]:
    """List the cups there are.

    All of them hold something.

    Raises:
        BadInput: there is no coffee.
    """
    if given.holds == "coffee":
        raise BadInput("There is no coffee.")
    return [Cup(id=f"{given.is_warm} {','.join(given.with_)}", holds=given.holds, size=given.size)]


async def show_cup(workspace: Workspace, given: CupId) -> Cup:
    """Show a cup."""
    await asyncio.sleep(0)
    if given.id == "none":
        raise NotFound("There is no cup {id}.", id=given.id)
    return Cup(id=given.id, holds="tea", size=1)


def change_cup(workspace: Workspace, given: Change, *, by: str) -> Cup:
    """Change a cup."""
    return Cup(id=given.id, holds=f"{by} {given.notes}", size=given.size)


def break_cup(workspace: Workspace, given: CupId) -> None:
    """Break a cup."""


def count_cups(workspace: Workspace) -> int:
    """Count the cups."""
    raise RuntimeError("a secret")


def lock_cups(workspace: Workspace) -> None:
    """Lock the cups away, which is not served."""


def watch_cup(workspace: Workspace, given: CupId) -> Response:
    """Watch a cup."""
    lines = [f"event: steam\ndata: {given.id}\n\n", ": still there\n\n", "data: one\ndata: two\n\n"]
    return StreamingResponse(iter(lines), media_type="text/event-stream")


OPERATIONS = (
    Operation("GET", "/cups", list_cups),
    Operation("GET", "/cups/count", count_cups),
    Operation("GET", "/cups/{id}/steam", watch_cup, "text/event-stream"),
    Operation("GET", "/cups/{id:path}", show_cup),
    Operation("PATCH", "/cups/{id:path}", change_cup),
    Operation("DELETE", "/cups/{id:path}", break_cup),
)
ACCESS = Access(7860)
TOKEN = ACCESS.token(Person(name="ann"))


def cupboard() -> Any:
    workspace = Workspace({})
    return app(api_routes(workspace, OPERATIONS), ACCESS, "en", workspace=workspace)


@pytest.fixture(scope="module")
def program() -> TestClient:
    headers = {"authorization": f"Bearer {TOKEN}"}
    return TestClient(cupboard(), "http://127.0.0.1:7860", raise_server_exceptions=False, headers=headers)


def test_fields_come_from_the_query_with_their_types(program: TestClient) -> None:
    answer = program.get("/api/v1/cups?holds=null&size=5&is_warm=true&with=milk&with=sugar&lang=zh")
    assert answer.json() == [{"id": "True milk,sugar", "holds": "null", "size": 5}]
    assert program.get("/api/v1/cups?holds=&size=").json() == [{"id": "None ", "holds": "tea", "size": 2}]


@pytest.mark.parametrize(
    ("query", "says"),
    [
        ("size=x", "$.size"), ("size=0", "$.size"), ("size=" + "9" * 30, "$.size"), ("is_warm=maybe", "$.is_warm"), ("with=salt", "$.with"),
        ("holds=%00", "NUL"), ("sise=3", "Did you mean 'size'"), ("holds=coffee", "There is no coffee."),
    ],
)  # fmt: skip
def test_a_query_that_cannot_be_read_is_refused_with_the_reason(program: TestClient, query: str, says: str) -> None:
    answer = program.get(f"/api/v1/cups?{query}")
    assert answer.status_code == 400
    assert answer.json()["error"]["kind"] == "bad_input"
    assert says in answer.json()["error"]["message"]


def test_fields_come_from_the_path_and_the_body_and_the_person_is_known(program: TestClient) -> None:
    answer = program.patch("/api/v1/cups/a/b%20c", json={"size": 3, "notes": {"k": "v"}})
    assert answer.json() == {"id": "a/b c", "holds": "ann {'k': 'v'}", "size": 3}


@pytest.mark.parametrize(
    ("body", "says"),
    [
        (b"", "size"), (b"[]", "object"), (b"{", "The body"), (b"\xff", "The body"), (b"[" * 100_000, "The body"), (b'{"size": "3"}', "$.size"),
        (b'{"size": 3, "sice": 1}', "'sice'"), (b'{"size": 1e999}', "The body"), (b'{"size": ' + b"9" * 400 + b"}", "$.size"),
    ],
)  # fmt: skip
def test_a_body_that_cannot_be_read_is_refused_with_the_reason(program: TestClient, body: bytes, says: str) -> None:
    answer = program.patch("/api/v1/cups/a", content=body)
    assert answer.status_code == 400
    assert says in answer.json()["error"]["message"]


def test_what_is_not_there_what_returns_nothing_and_what_breaks(program: TestClient) -> None:
    assert program.get("/api/v1/cups/none").json() == {
        "error": {"kind": "not_found", "message": "There is no cup none."}
    }
    assert program.delete("/api/v1/cups/a").status_code == 204
    broken = program.get("/api/v1/cups/count")
    assert (broken.status_code, broken.json()["error"]["kind"]) == (500, "internal_error")
    assert "secret" not in broken.text
    assert program.put("/api/v1/cups").json()["error"]["kind"] == "method_not_allowed"
    assert program.get("/api/v1/cups/none?lang=zh").headers["content-type"] == "application/json"


def test_a_stranger_is_told_so_in_json() -> None:
    answer = TestClient(cupboard(), "http://127.0.0.1:7860").get("/api/v1/cups")
    assert (answer.status_code, answer.json()["error"]["kind"]) == (401, "not_signed_in")


def test_the_description_follows_the_types() -> None:
    found = msgspec.json.decode(msgspec.json.encode(describe(OPERATIONS)))
    assert found["openapi"] == "3.1.0"
    for schema in found["components"]["schemas"].values():
        jsonschema.Draft202012Validator.check_schema(schema)
    cups = found["paths"]["/api/v1/cups"]["get"]
    assert (cups["operationId"], cups["summary"], cups["description"]) == (
        "list_cups",
        "List the cups there are.",
        "All of them hold something.",
    )
    by_name = {one["name"]: one for one in cups["parameters"]}
    assert by_name["size"]["schema"] == {"type": "integer", "minimum": 1, "default": 2}
    assert by_name["with"]["explode"]
    one = found["paths"]["/api/v1/cups/{id}"]
    assert [(two["name"], two["in"], two["required"]) for two in one["patch"]["parameters"]] == [("id", "path", True)]
    body = one["patch"]["requestBody"]
    assert body["required"]
    assert [*body["content"]["application/json"]["schema"]["properties"]] == ["size", "notes"]
    assert [*one["delete"]["responses"]] == ["204", "4XX", "503"]
    assert {*found["components"]["schemas"]} == {"Cup", "Failure", "Fault"}


@pytest.fixture
def client(monkeypatch: pytest.MonkeyPatch) -> Iterator[Client]:
    monkeypatch.setattr(site, "operations", lambda: OPERATIONS)
    on = listen(17_860)
    server = make_server(cupboard())
    thread = threading.Thread(target=server.run, kwargs={"sockets": [on]})
    thread.start()
    with Client(f"http://127.0.0.1:{on.getsockname()[1]}", TOKEN, seconds=10) as found:
        yield found
    server.should_exit = True
    thread.join()
    on.close()


def test_the_client_calls_a_function_and_returns_what_it_returns(client: Client) -> None:
    [cup] = client.call(list_cups, Wish(holds="水 & milk", size=3, is_warm=False, with_=("milk", "sugar")))
    assert cup == Cup(id="False milk,sugar", holds="水 & milk", size=3)
    assert client.call(show_cup, CupId(id="a/b ?#é")).id == "a/b ?#é"
    assert client.call(change_cup, Change(id="x", size=4, notes={"水": "é"})).holds == "ann {'水': 'é'}"
    client.call(break_cup, CupId(id="x"))


def test_the_client_yields_events_as_they_come_and_can_be_used_again(client: Client) -> None:
    events = client.events(watch_cup, CupId(id="x"))
    assert [*events] == [("steam", "x"), ("message", "one\ntwo")]
    next(client.events(watch_cup, CupId(id="x")))
    assert client.call(show_cup, CupId(id="x")).id == "x"


def test_the_client_raises_what_the_server_says(client: Client) -> None:
    with pytest.raises(Unanswered, match="There is no cup none") as refused:
        client.call(show_cup, CupId(id="none"))
    assert (refused.value.status, refused.value.kind) == (404, "not_found")
    assert client.call(show_cup, CupId(id="x")).id == "x", "the connection is used again"
    with pytest.raises(BadInput, match="lock_cups is not one of the functions"):
        client.call(lock_cups)
    with pytest.raises(BadInput, match=r"http://127\.0\.0\.1:7860"):
        Client("127.0.0.1:7860", "x")


def test_the_client_says_that_nobody_answered(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(site, "operations", lambda: OPERATIONS)
    with pytest.raises(Unanswered) as refused:
        Client("http://127.0.0.1:9", "x").call(show_cup, CupId(id="x"))
    assert refused.value.kind == "no_answer"
