"""Nobody gets in without a token, no other site can write, and a page can load nothing from outside."""

import re
from pathlib import Path

import pytest
import review_data
from review_site import ADDRESS, Site, csrf
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from proctor_web.app import app
from proctor_web.auth import Access
from proctor_web.guard import MOST_BYTES
from proctor_web.reviewing.item_pages import ReviewPages
from proctor_web.users.ledger import Person

FORM = {**{f"score:{name}": str(score) for name, score in review_data.SCORES.items()}, "status": "approved"}
PATHS = ["/", "/items", "/items/1", "/statistics", "/conflicts", "/nowhere"]


@pytest.fixture
def site(tmp_path: Path) -> Site:
    return Site(review_data.write(tmp_path))


@pytest.mark.parametrize("path", PATHS)
def test_nobody_gets_in_without_a_token(site: Site, path: str) -> None:
    answer = site.stranger().get(path)
    assert answer.status_code == 401
    assert "gen_aime" not in answer.text


def test_a_link_lets_one_browser_in_once(site: Site) -> None:
    link = site.access.link(Person(name="ann"))
    first = site.stranger()
    came = first.get(link, follow_redirects=False)
    assert (came.status_code, came.headers["location"]) == (303, "/")
    assert re.fullmatch(r"proctor-7860=[\w-]{43}; HttpOnly; Path=/; SameSite=strict", came.headers["set-cookie"])
    assert first.get("/items/1").status_code == 200
    assert first.get(link, follow_redirects=False).status_code == 303, "the same browser may open it again"
    assert site.stranger().get(link).status_code == 401


@pytest.mark.parametrize("token", ["", "x", "../../etc/passwd", "%00", "é" * 100])
def test_a_wrong_token_lets_nobody_in(site: Site, token: str) -> None:
    site.access.link(Person(name="ann"))
    assert site.stranger().get("/enter", params={"token": token}).status_code == 401


def test_a_preview_of_a_link_does_not_use_it_up(site: Site) -> None:
    link = site.access.link(Person(name="ann"))
    assert site.stranger().head(link).status_code == 405
    assert site.stranger().get(link, headers={"sec-purpose": "prefetch;prerender"}).status_code == 405
    assert site.stranger().get(link, follow_redirects=False).status_code == 303


def test_the_cookie_of_another_server_is_no_cookie(site: Site, tmp_path: Path) -> None:
    other = Access(7861)
    assert other.cookie != site.access.cookie
    client = site.stranger()
    client.cookies.set(site.access.cookie, "A" * 43)
    assert client.get("/items/1").status_code == 401


@pytest.mark.parametrize("cookie", ["proctor-7860", "proctor-7860=", "=;;=", "proctor-7860=é", '"', "a" * 5000])
def test_a_broken_cookie_is_no_cookie(site: Site, cookie: str) -> None:
    assert site.stranger().get("/", headers={b"cookie": cookie.encode()}).status_code == 401


def test_a_program_comes_in_with_a_token_of_its_own(site: Site) -> None:
    token = site.access.token(Person(name=""))
    client = site.stranger()
    assert client.get("/items/1", headers={"authorization": f"Bearer {token}"}).status_code == 200
    saved = client.post("/items/1", data=FORM, headers={"authorization": f"Bearer {token}"}, follow_redirects=False)
    assert saved.status_code == 303
    for wrong in (f"Bearer {token}x", f"Basic {token}", token, "Bearer", ""):
        assert client.get("/items/1", headers={"authorization": wrong}).status_code == 401


@pytest.mark.parametrize(
    "host", ["evil.example", "127.0.0.1.evil.example", "169.254.169.254", "", "[", "localhost@evil"]
)
def test_a_foreign_host_name_is_not_answered(site: Site, host: str) -> None:
    client = site.browser()
    for path in (*PATHS, "/static/app.css", site.access.link(Person(name=""))):
        assert client.get(path, headers={"host": host}).status_code == 400, path


@pytest.mark.parametrize("host", ["127.0.0.1:7860", "localhost:7860", "LOCALHOST", "[::1]:9", "127.0.0.1:9999"])
def test_this_machine_is_answered_by_its_names(site: Site, host: str) -> None:
    assert site.browser().get("/items/1", headers={"host": host}).status_code == 200


@pytest.mark.parametrize("path", ["/items/1", "/undo", "/link", "/conflicts/1"])
@pytest.mark.parametrize(
    "headers",
    [
        {},
        {"x-csrf-token": "wrong"},
        {"origin": "https://evil.example"},
        {"origin": "http://127.0.0.1:7861"},
        {"origin": "http://localhost:7860"},
        {"sec-fetch-site": "cross-site"},
        {"sec-fetch-site": "same-site"},
    ],
)
def test_no_other_site_can_write(site: Site, path: str, headers: dict[str, str]) -> None:
    client = site.browser(Person(name="", decides=True))
    given = {"csrf": csrf(client)} if "origin" in headers or "sec-fetch-site" in headers else {}
    assert client.post(path, data=FORM | given, headers=headers).status_code == 403
    assert not site.review.file.exists()


def test_a_form_of_another_session_cannot_write(site: Site) -> None:
    other = csrf(site.browser())
    assert site.browser().post("/items/1", data=FORM | {"csrf": other}).status_code == 403


@pytest.mark.parametrize("headers", [{"origin": ADDRESS}, {"origin": "null", "sec-fetch-site": "same-origin"}, {}])
def test_our_own_page_can_write(site: Site, headers: dict[str, str]) -> None:
    client = site.browser()
    given = FORM | {"csrf": csrf(client)}
    assert client.post("/items/1", data=given, headers=headers, follow_redirects=False).status_code == 303
    assert site.review.progress().done == 1


def test_a_write_with_the_token_in_a_header_is_ours(site: Site) -> None:
    client = site.browser()
    token = csrf(client)
    answer = client.post("/items/1", data=FORM, headers={"x-csrf-token": token}, follow_redirects=False)
    assert answer.status_code == 303


def test_reading_changes_nothing(site: Site) -> None:
    client = site.browser(Person(name="", decides=True))
    for path in [*PATHS, "/undo", "/link", "/items/1?" + "&".join(f"{key}={value}" for key, value in FORM.items())]:
        client.get(path)
    assert not site.review.file.exists()


@pytest.mark.parametrize("path", [*PATHS, "/static/app.css", "/static/none.js", "/enter?token=x"])
def test_every_answer_carries_the_safety_headers(site: Site, path: str) -> None:
    for client in (site.browser(), site.stranger(), site.stranger("http://evil.example")):
        headers = client.get(path, follow_redirects=False).headers
        policy = headers["content-security-policy"]
        assert "default-src 'self'" in policy
        assert "frame-ancestors 'none'" in policy
        assert "unsafe" not in policy
        assert "http" not in policy
        assert headers["x-content-type-options"] == "nosniff"
        assert headers["referrer-policy"] == "no-referrer"
        assert headers["x-frame-options"] == "DENY"
        assert "access-control-allow-origin" not in headers


def test_also_an_error_of_ours_carries_them_and_tells_no_more_than_its_kind() -> None:
    def broken(request: Request) -> Response:
        raise RuntimeError("a secret")

    from starlette.testclient import TestClient

    access = Access(1)
    inside = TestClient(app([Route("/", broken)], access, "en"), base_url=ADDRESS, raise_server_exceptions=False)
    answer = inside.get("/", headers={"authorization": f"Bearer {access.token(Person(name=''))}"})
    assert answer.status_code == 500
    assert "RuntimeError" in answer.text
    assert "a secret" not in answer.text
    assert "default-src 'self'" in answer.headers["content-security-policy"]


def test_no_page_has_a_script_or_style_of_its_own(site: Site) -> None:
    client = site.browser(Person(name="", decides=True))
    for path in PATHS:
        text = client.get(path).text
        assert not re.search(r"<script(?![^>]* src=)|<style|\sstyle=|\son\w+=|javascript:", text), path
        assert not re.search(r"(?:src|href|action)=\"(?:https?:)?//", text), path


@pytest.mark.parametrize("chunked", [False, True])
def test_a_request_that_is_too_large_is_refused(site: Site, chunked: bool) -> None:
    client = site.browser()
    token = csrf(client)
    body = b"comments=" + b"x" * MOST_BYTES
    content = (body[at : at + 65_536] for at in range(0, len(body), 65_536)) if chunked else body
    answer = client.post("/items/1", content=content, headers={"x-csrf-token": token})
    assert answer.status_code == 413


@pytest.mark.parametrize("body", [b"&" * 1000, b"a=1&" * 500, b"%ff%fe=%", b"\xff\xfe", b'{"json": 1}'])
def test_a_strange_body_is_no_label(site: Site, body: bytes) -> None:
    client = site.browser()
    token = csrf(client)
    answer = client.post("/items/1", content=body, headers={"x-csrf-token": token})
    assert answer.status_code == 422
    assert not site.review.file.exists()


@pytest.mark.parametrize(
    "path", ["/static/../auth.py", "/static/%2e%2e/auth.py", "/static/..%2fauth.py", "/static//etc/passwd"]
)
def test_static_files_are_those_of_the_folder_only(site: Site, path: str) -> None:
    assert site.browser().get(path).status_code == 404


def test_the_vendored_script_has_its_licence_and_names_no_host() -> None:
    from importlib.resources import files

    static = files("proctor_web").joinpath("static")
    assert "4.0.1" in static.joinpath("htmx.LICENSE.txt").read_text(encoding="utf-8")
    for name in ("htmx.min.js", "review.js", "app.css"):
        assert "://" not in static.joinpath(name).read_text(encoding="utf-8"), name


def open_site(tmp_path: Path) -> Site:
    """A review that listens on the network."""
    site = Site(review_data.write(tmp_path))
    site.access = Access(7860, ["192.0.2.7", "mybox"])
    site.app = app(ReviewPages(site.review, site.access).routes(), site.access, "en")
    return site


@pytest.mark.parametrize("host", ["192.0.2.7:7860", "mybox:7860", "MYBOX", "127.0.0.1:7860"])
def test_a_server_on_the_network_answers_by_its_names_and_asks_for_a_token(tmp_path: Path, host: str) -> None:
    site = open_site(tmp_path)
    assert site.browser().get("/items/1", headers={"host": host}).status_code == 200
    stranger = site.stranger()
    for path in PATHS:
        answer = stranger.get(path, headers={"host": host})
        assert answer.status_code == 401
        assert answer.headers["x-frame-options"] == "DENY"


@pytest.mark.parametrize("host", ["evil.example", "192.0.2.8", "mybox.evil.example", "", "[", "169.254.169.254"])
def test_a_server_on_the_network_answers_no_foreign_name(tmp_path: Path, host: str) -> None:
    assert open_site(tmp_path).browser().get("/items/1", headers={"host": host}).status_code == 400


def test_the_address_a_request_was_sent_to_is_a_name_only_on_the_network() -> None:
    assert Access(7860, ["mybox"]).answers("10.0.0.5:7860", "10.0.0.5")
    assert not Access(7860, ["mybox"]).answers("10.0.0.6:7860", "10.0.0.5")
    assert not Access(7860).answers("10.0.0.5:7860", "10.0.0.5")


def test_a_link_of_one_reviewer_is_used_up_on_the_network_too(tmp_path: Path) -> None:
    site = open_site(tmp_path)
    link = site.access.link(Person(name="ann"))
    assert site.stranger("http://mybox:7860").get(link, follow_redirects=False).status_code == 303
    assert site.stranger("http://mybox:7860").get(link).status_code == 401
