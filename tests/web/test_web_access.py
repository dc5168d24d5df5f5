"""Who comes in besides by a link: a program with a token, a user a login proxy names; and who may not write."""

from collections.abc import Mapping
from typing import Any

import pytest
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route
from starlette.testclient import TestClient

from proctor.core.errors import BadInput
from proctor_web.attempts import MOST_WRONG
from proctor_web.auth import Access, UserNaming, session_of
from proctor_web.guard import MOST_BYTES, MOST_BYTES_BY_PATH, Guard
from proctor_web.login_proxy import MOST_CHARACTERS, LoginProxy
from proctor_web.users.ledger import Person

ADDRESS = "http://127.0.0.1:7860"


async def say_who(request: Request) -> Response:
    session = session_of(request)
    size = len(await request.body())
    return JSONResponse(
        {
            "name": session.person.name,
            "csrf": session.csrf,
            "size": size,
            "theme": request.state.theme,
            "lang": request.state.lang,
        }
    )


class Server:
    """A guarded page that says who asks, and how much was sent."""

    def __init__(self, access: Access | None = None, **options: Any) -> None:
        from starlette.applications import Starlette

        self.access = access or Access(7860)
        inner = Starlette(routes=[Route("/{rest:path}", say_who, methods=["GET", "POST", "DELETE", "PUT", "PATCH"])])
        self.app = Guard(inner, self.access, "en", **options)

    def client(self, address: str = "127.0.0.1") -> TestClient:
        return TestClient(self.app, base_url=ADDRESS, client=(address, 50_000))

    def browser(self) -> TestClient:
        client = self.client()
        client.get(self.access.link(Person(name="ann")), follow_redirects=False)
        return client

    def token(self) -> Mapping[str, str]:
        return {"authorization": f"Bearer {self.access.token(Person(name='bot'))}"}


def test_who_tries_tokens_is_refused_even_with_a_right_one_and_told_how_long() -> None:
    server = Server()
    right = server.token()
    guesser = server.client("192.0.2.1")
    for number in range(MOST_WRONG):
        assert guesser.get("/", headers={"authorization": f"Bearer {number}"}).status_code == 401
    refused = guesser.get("/api/v1/runs", headers=right)
    assert refused.status_code == 429
    assert int(refused.headers["retry-after"]) > 0
    assert refused.json()["error"]["kind"] == "too_many_attempts"
    link = server.access.link(Person(name="ann"))
    assert guesser.get(link).status_code == 429
    assert server.client("192.0.2.2").get(link, follow_redirects=False).status_code == 303, "it was not used up"
    assert server.client().get("/", headers=right).status_code == 200


def test_links_are_tried_no_more_often_than_tokens() -> None:
    client = Server().client()
    statuses = [client.get(f"/enter?token=guess{number}").status_code for number in range(MOST_WRONG + 1)]
    assert statuses == [401] * MOST_WRONG + [429]


def test_who_is_in_stays_in_while_another_of_the_same_address_guesses() -> None:
    server = Server()
    browser, guesser = server.browser(), server.client()
    for number in range(MOST_WRONG + 1):
        guesser.get(f"/enter?token=guess{number}")
    assert browser.get("/").json()["name"] == "ann"


@pytest.mark.parametrize("kind", ["image", "iframe", "script", "empty"])
def test_the_page_of_another_site_cannot_use_up_the_attempts(kind: str) -> None:
    server = Server()
    client = server.client()
    for number in range(MOST_WRONG + 1):
        answer = client.get(f"/enter?token={number}", headers={"sec-fetch-dest": kind, "sec-fetch-site": "cross-site"})
        assert answer.status_code == 405
    link = server.access.link(Person(name="ann"))
    assert client.get(link, headers={"sec-fetch-dest": "document"}, follow_redirects=False).status_code == 303


def test_a_login_proxy_names_the_user() -> None:
    client = Server(Access(7860, naming=UserNaming(login_proxy=LoginProxy("X-Forwarded-User")))).client()
    assert client.get("/", headers={"x-forwarded-user": "ann"}).json()["name"] == "ann"
    assert client.get("/", headers={b"x-forwarded-user": "王芳".encode()}).json()["name"] == "王芳"
    assert client.get("/").status_code == 401


@pytest.mark.parametrize("name", ["", " ", "a\x07b", "a" * (MOST_CHARACTERS + 1), "a\u202eb"])
def test_a_name_that_is_none_lets_nobody_in(name: str) -> None:
    client = Server(Access(7860, naming=UserNaming(login_proxy=LoginProxy("X-Forwarded-User")))).client()
    assert client.get("/", headers={b"x-forwarded-user": name.encode()}).status_code == 401


def test_a_user_named_twice_is_not_believed() -> None:
    client = Server(Access(7860, naming=UserNaming(login_proxy=LoginProxy("X-Forwarded-User")))).client()
    twice = [("x-forwarded-user", "ann"), ("x-forwarded-user", "bob")]
    assert client.get("/", headers=twice).status_code == 401


@pytest.mark.parametrize(
    ("proxies", "client", "believed"),
    [
        ((), "127.0.0.1", True), ((), "::1", True), ((), "::ffff:127.0.0.1", True), ((), "10.0.0.5", False), ((), "testclient", False),
        (("10.0.0.0/24",), "10.0.0.5", True), (("10.0.0.5",), "10.0.0.5", True), (("10.0.0.5",), "10.0.0.6", False),
        (("10.0.0.5",), "127.0.0.1", False), (("2001:db8::/32",), "2001:db8::7", True), (("10.0.0.5",), "::ffff:10.0.0.5", True),
    ],
)  # fmt: skip
def test_only_a_proxy_is_believed(proxies: tuple[str, ...], client: str, believed: bool) -> None:
    server = Server(Access(7860, naming=UserNaming(login_proxy=LoginProxy("Remote-User", proxies))))
    assert server.client(client).get("/", headers={"remote-user": "ann"}).status_code == (200 if believed else 401)


def test_no_header_is_believed_where_none_was_named() -> None:
    for header in ("x-forwarded-user", "remote-user", "x-remote-user"):
        assert Server().client().get("/", headers={header: "ann"}).status_code == 401


def test_a_user_of_a_proxy_needs_the_token_of_a_form_too() -> None:
    client = Server(Access(7860, naming=UserNaming(login_proxy=LoginProxy("Remote-User")))).client()
    ann, bob = {"remote-user": "ann"}, {"remote-user": "bob"}
    csrf = client.get("/", headers=ann).json()["csrf"]
    assert len(csrf) == 64
    assert client.post("/", headers=ann).status_code == 403
    assert client.post("/", headers={**ann, "x-csrf-token": csrf}).status_code == 200
    assert client.post("/", headers={**bob, "x-csrf-token": csrf}).status_code == 403


@pytest.mark.parametrize("header", ["", "Host", "Cookie", "a b", "x:y", "é", "x" * 61, "Authorization"])
def test_a_header_that_browsers_send_by_themselves_names_nobody(header: str) -> None:
    with pytest.raises(BadInput, match="X-Forwarded-User"):
        LoginProxy(header)


@pytest.mark.parametrize("proxy", ["", "example.org", "10.0.0.5:80", "10.0.0.0/64"])
def test_a_proxy_is_named_by_its_address(proxy: str) -> None:
    with pytest.raises(BadInput, match=r"10\.0\.0\.5"):
        LoginProxy("Remote-User", [proxy])


def test_an_alias_is_answered_and_opens_nothing_else() -> None:
    access = Access(7860, aliases=["eval.example.org"])
    assert access.answers("eval.example.org", "10.0.0.5")
    assert not access.answers("10.0.0.5", "10.0.0.5")


@pytest.mark.parametrize("method", ["POST", "PUT", "PATCH", "DELETE"])
def test_read_only_refuses_every_write_and_says_why(method: str) -> None:
    server = Server(read_only=True)
    browser = server.browser()
    csrf = browser.get("/").json()["csrf"]
    for client, headers in ((browser, {"x-csrf-token": csrf}), (server.client(), server.token())):
        answer = client.request(method, "/api/v1/runs", headers=headers)
        assert answer.status_code == 403
        assert "--read-only" in answer.json()["error"]["message"]
        assert client.get("/", headers=headers).status_code == 200


def test_an_upload_is_bounded_by_its_path() -> None:
    server = Server(most_bytes={"/files": MOST_BYTES * 3})
    client, headers = server.client(), server.token()
    large = b"x" * (MOST_BYTES + 1)
    assert client.post("/files/a", content=large, headers=headers).json()["size"] == len(large)
    assert client.post("/filesystem", content=large, headers=headers).status_code == 413
    assert client.post("/files/a", content=large * 3, headers=headers).status_code == 413
    refused = client.post("/api/v1/runs", content=large, headers=headers)
    assert refused.json()["error"]["kind"] == "too_large"


@pytest.mark.parametrize(
    "path", ["/api/v1/evalsets", "/api/v1/chats", "/evalsets", "/chat", "/apps", "/run", "/run_sse"]
)
def test_what_holds_an_eval_set_or_attachments_may_be_larger(path: str) -> None:
    server = Server(most_bytes=MOST_BYTES_BY_PATH)
    large = b"x" * (MOST_BYTES + 1)
    assert server.client().post(f"{path}/a", content=large, headers=server.token()).status_code == 200


@pytest.mark.parametrize("other", ['a={"x": 1}', "a(b)=1", "alone", "a=é", "a=b c", "@a=1", '"', "a=[1]"])
def test_cookies_of_other_servers_of_this_machine_keep_nobody_out(other: str) -> None:
    server = Server()
    own = server.browser().cookies[server.access.cookie]
    cookies = f"{other}; {server.access.cookie}={own}; proctor-theme=dark"
    answer = server.client().get("/", headers={b"cookie": cookies.encode()})
    assert answer.status_code == 200
    assert answer.json()["theme"] == "dark"


def test_a_theme_and_a_language_once_chosen_are_remembered() -> None:
    browser = Server().browser()
    assert browser.get("/").json()["theme"] == "auto"
    chosen = browser.get("/?theme=dark&lang=zh")
    assert (chosen.json()["theme"], chosen.json()["lang"]) == ("dark", "zh")
    assert all("HttpOnly" in one and "SameSite=strict" in one for one in chosen.headers.get_list("set-cookie"))
    again = browser.get("/").json()
    assert (again["theme"], again["lang"]) == ("dark", "zh")
    assert browser.get("/?theme=auto").json()["theme"] == "auto"


@pytest.mark.parametrize("theme", ["", "DARK", 'dark"; x', "%0d%0aset-cookie: a=b"])
def test_a_theme_that_is_none_is_not_kept(theme: str) -> None:
    answer = Server().browser().get("/", params={"theme": theme})
    assert answer.json()["theme"] == "auto"
    assert "set-cookie" not in answer.headers
