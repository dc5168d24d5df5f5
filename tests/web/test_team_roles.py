"""Who may do what: every route and method of the app, asked by every role."""

import re
import sqlite3
from collections.abc import AsyncIterator, Iterator
from pathlib import Path

import msgspec
import pytest
from starlette.datastructures import Headers
from starlette.responses import StreamingResponse
from starlette.routing import BaseRoute, Mount, Route
from starlette.testclient import TestClient
from web_site import ADDRESS, AppSite

from proctor.core.errors import BadInput
from proctor_web.auth import Access, UserNaming
from proctor_web.guard import Guard
from proctor_web.login_proxy import LoginProxy, Proxies
from proctor_web.reviewing import pages as reviewing
from proctor_web.site import operations, pages
from proctor_web.site import site as app_of
from proctor_web.team import pages as team_pages
from proctor_web.users.database import InFile, open_database
from proctor_web.users.ledger import AuditEntry, Ledger, Pass, Person
from proctor_web.users.roles import ROLES, Role, is_enough, read_grants, role_needed

ADMIN = {
    ("POST", "/runs/{run}/delete"), ("DELETE", "/api/v1/runs/{run}"), ("GET", "/team"), ("POST", "/team/revoke"),
    ("GET", "/api/v1/team/audit"), ("GET", "/api/v1/team/sessions"), ("DELETE", "/api/v1/team/sessions/{id}"),
}  # fmt: skip
NO_ROLE = "ann has no role here. Ask an admin for one, or sign in as another user."
READERS_WRITE = {("POST", "/logout"), ("POST", "/account/tokens"), ("POST", "/account/revoke")}


class TeamSite(AppSite):
    """An app whose users a proxy names, with their groups."""

    def __init__(self, folder: Path, *grants: str) -> None:
        super().__init__(folder)
        self.ledger = Ledger(InFile(str(folder / "ledger")))
        proxy = LoginProxy("Remote-User", [], "Remote-Groups")
        self.access = Access(
            7860,
            naming=UserNaming(login_proxy=proxy, grants=read_grants(grants) if grants else None),
            ledger=self.ledger,
        )
        self.app = app_of(self.workspace, self.access, "en")

    def program_of(self, role: Role) -> TestClient:
        client = self.stranger()
        client.headers["authorization"] = f"Bearer {self.access.token(Person(name=role, role=role))}"
        return client

    def proxied(self, user: str, groups: str = "") -> TestClient:
        """A browser of a user that the proxy names."""
        client = TestClient(self.app, base_url=ADDRESS, client=("127.0.0.1", 50_000), raise_server_exceptions=False)
        client.headers.update({"remote-user": user, "remote-groups": groups})
        return client


def csrf_of(client: TestClient) -> str:
    found = re.search(r'name="csrf" value="([^"]+)"', client.get("/account").text)
    assert found
    return found[1]


@pytest.fixture
def site(tmp_path: Path) -> Iterator[TeamSite]:
    site = TeamSite(tmp_path, "reader=*", "runner=lab", "admin=chiefs", "admin=user:root")
    yield site
    site.workspace.close()
    site.ledger.close()


def every_route(site: AppSite) -> Iterator[tuple[str, str]]:
    routes: list[BaseRoute] = [*pages(site.workspace), *reviewing.routes(site.workspace, site.access)]
    routes += team_pages.routes(site.workspace, site.access)
    for route in routes:
        if isinstance(route, Mount):  # the items of a queue
            yield from (("GET", f"{route.path}/items"), ("POST", f"{route.path}/items/1"))
            continue
        assert isinstance(route, Route)
        yield from ((method, route.path) for method in sorted(route.methods or ()))
    yield from ((one.method, f"/api/v1{one.path}") for one in operations())


def filled(template: str) -> str:
    return re.sub(r"\{(\w+)[^}]*\}", r"\1", re.sub(r"\{\w+:int\}", "1", template))


def expected(method: str, path: str) -> Role:
    if (method.replace("HEAD", "GET"), path) in ADMIN:
        return "admin"
    if method in ("GET", "HEAD") or (method, path) in READERS_WRITE or "/items-of" in path:
        return "reader"
    return "runner"


def test_every_route_and_method_is_refused_to_roles_that_are_too_low(site: TeamSite) -> None:
    clients = {role: site.program_of(role) for role in ROLES}
    count = 0
    for method, template in set(every_route(site)):
        path = filled(template)
        needed = expected(method, template)
        assert role_needed(method, path) == needed, (method, template)
        for role, client in clients.items():
            if is_enough(role, needed):
                continue
            answer = client.request(method, path, follow_redirects=False)
            assert answer.status_code == 403, (role, method, path)
            count += 1
    assert count > 80


def test_every_route_lets_in_the_role_that_it_needs(site: TeamSite) -> None:
    clients = {role: site.program_of(role) for role in ROLES}
    for method, template in set(every_route(site)):
        if template.endswith("/events"):
            continue
        path = filled(template)
        answer = clients[expected(method, template)].request(method, path, follow_redirects=False)
        assert answer.status_code not in (401, 403), (method, path, answer.text)


def test_groups_of_the_proxy_make_the_role_and_the_pages_show_what_it_may(site: TeamSite) -> None:
    site.run()
    reader, runner, admin = (site.proxied("ann"), site.proxied("bob", "x, lab"), site.proxied("eve", "chiefs"))
    assert "Your role here: reader" in reader.get("/account").text
    assert "Your role here: runner" in runner.get("/account").text
    assert "sees who did what" in admin.get("/account").text
    assert "New run" not in reader.get("/runs").text
    assert "New run" in runner.get("/runs").text
    assert "/delete" not in runner.get("/runs/first").text
    assert "/delete" in admin.get("/runs/first").text
    assert 'href="/team"' in admin.get("/runs").text
    assert 'href="/team"' not in runner.get("/runs").text
    refused = runner.post("/runs/first/delete", data={"csrf": csrf_of(runner)})
    assert refused.status_code == 403
    assert refused.text == "Your role here is runner; this is for admins."
    gone = admin.post("/runs/first/delete", data={"csrf": csrf_of(admin)}, follow_redirects=False)
    assert gone.status_code == 303


def test_a_page_of_admins_is_not_saved_by_others(site: TeamSite) -> None:
    for view in ("/team", "/%74eam", "/team?name=x", "/save?view=%2Fteam", "/team/"):
        assert site.proxied("ann").get("/save", params={"view": view}).status_code == 400, view
    assert site.proxied("eve", "chiefs").get("/save", params={"view": "/team"}).status_code == 200


def test_a_reader_whom_a_review_names_labels_and_stays_a_reader(site: TeamSite) -> None:
    site.run()
    runner, reader = site.proxied("bob", "lab"), site.proxied("ann")
    queue = {"csrf": csrf_of(runner), "name": "q", "run": "first", "reviewer": "ann", "count": "3"}
    assert runner.post("/review", data=queue, follow_redirects=False).status_code == 303
    assert reader.get("/review/q/items-of/items/1").status_code == 200
    made = reader.post("/review/q/items-of/link", data={"csrf": csrf_of(reader)})
    found = re.search(r"/enter\?token=[\w-]+", made.text)
    assert found
    other = site.stranger()
    other.get(found[0], follow_redirects=False)
    assert other.get("/review/q/items-of/items/1").status_code == 200
    assert other.get("/account", follow_redirects=False).headers["location"] == "/review/q/items-of/"
    given = runner.post("/review/q/link", data={"csrf": csrf_of(runner), "person": "ann"})
    found = re.search(r"/enter\?token=[\w-]+", given.text)
    assert found
    guest = site.stranger()
    guest.get(found[0], follow_redirects=False)
    assert guest.get("/review/q/items-of/items/1").status_code == 200
    assert guest.get("/runs", follow_redirects=False).headers["location"] == "/review/q/items-of/"
    guest.post("/runs/first/notes", data={"note": "x"}, follow_redirects=False)
    entries = [(one.what, one.status) for one in site.ledger.entries(name="ann") if one.via == "link"]
    assert entries == [("POST /runs/first/notes", 303), ("ENTER", 303), ("ENTER", 303)]
    assert "Links to this queue" not in reader.get("/review/q").text
    ids = re.findall(r'name="id" value="(\w+)"', runner.get("/review/q").text)
    assert reader.post("/review/q/revoke", data={"csrf": csrf_of(reader), "id": ids[0]}).status_code == 403
    for id in ids:
        runner.post("/review/q/revoke", data={"csrf": csrf_of(runner), "id": id}, follow_redirects=False)
    assert [one.get("/review/q/items-of/items/1").status_code for one in (other, guest)] == [401, 401]
    revoked = [(one.name, one.status) for one in site.ledger.entries() if one.what == "POST /review/q/revoke"]
    assert revoked == [("bob", 303)] * 2 + [("ann", 403)]


def test_who_is_granted_nothing_does_not_come_in(tmp_path: Path) -> None:
    site = TeamSite(tmp_path, "runner=lab")
    refused = site.proxied("ann").get("/runs")
    assert (refused.status_code, refused.text) == (403, NO_ROLE)
    assert site.proxied("ann", "user:root, lab").get("/runs").status_code == 200
    unnamed = site.proxied("ann", "x")
    del unnamed.headers["remote-user"]
    assert unnamed.get("/runs").status_code == 401
    site.workspace.close()


@pytest.mark.parametrize(
    ("lang", "said"), [("en", "Your role here is reader; this is for runners."), ("zh", "此操作仅限运行者。")]
)
def test_a_browser_that_is_refused_is_shown_a_page_in_its_language_and_a_program_none(
    site: TeamSite, lang: str, said: str
) -> None:
    reader = site.proxied("ann")
    csrf = {"csrf": csrf_of(reader)}
    opened = reader.post(f"/runs?lang={lang}", data=csrf, headers={"accept": "text/html,*/*;q=0.8"})
    assert opened.status_code == 403
    assert opened.headers["content-type"] == "text/html; charset=utf-8"
    assert opened.headers["x-frame-options"] == "DENY"
    assert said in opened.text
    assert 'href="/account"' in opened.text, "the page of one who is signed in"
    for headers in ({"accept": "text/html", "hx-request": "true"}, {}):
        line = reader.post(f"/runs?lang={lang}", data=csrf, headers=headers)
        assert line.status_code == 403
        assert line.headers["content-type"] == "text/plain; charset=utf-8"
    program = reader.get("/api/v1/team/audit", headers={"accept": "text/html"})
    assert program.json()["error"]["kind"] == "forbidden"
    stranger = site.stranger().get("/runs", headers={"accept": "text/html"})
    assert stranger.status_code == 401
    assert "Open the link that the terminal shows." in stranger.text
    assert "/account" not in stranger.text


def test_a_server_that_is_read_only_still_ends_sessions_and_tokens(site: TeamSite) -> None:
    site.workspace.read_only = True
    site.app = app_of(site.workspace, site.access, "en")
    admin = site.proxied("eve", "chiefs")
    csrf = {"csrf": csrf_of(admin)}
    lost, other = (site.access.token(Person(name="ann", groups=("lab",)), label=label) for label in ("lost", "other"))
    first, second = (one.id for one in site.ledger.issued("ann"))
    assert admin.post("/team/revoke", data={**csrf, "id": first}).status_code == 200
    assert admin.delete(f"/api/v1/team/sessions/{second}", headers={"x-csrf-token": csrf["csrf"]}).status_code == 204
    assert [site.ledger.find("token", token) for token in (lost, other)] == [None, None]
    assert admin.post("/logout", data=csrf).status_code == 200
    for write in ("/runs/first/delete", "/runs", "/logout/more", "/review"):
        assert "--read-only" in admin.post(write, data=csrf).text


def test_a_reader_is_not_told_that_nobody_can_start_runs(site: TeamSite) -> None:
    for page in ("/runs/new", "/chat"):
        assert "You can look at everything here, but start no" in site.proxied("ann").get(page).text


def test_a_group_called_like_a_user_is_not_the_user() -> None:
    grants = read_grants(["admin=user:ann", "reader=lab"])
    assert grants.role("eve", ["user:ann"]) is None
    assert grants.role("eve", ["user:ann", "lab"]) == "reader"
    assert grants.role("ann", ["lab"]) == "admin"


def test_two_headers_with_groups_are_not_believed(site: TeamSite) -> None:
    client = site.proxied("ann")
    twice = [("remote-user", "ann"), ("remote-groups", "lab"), ("remote-groups", "chiefs")]
    del client.headers["remote-user"], client.headers["remote-groups"]
    assert client.get("/runs", headers=twice).status_code == 401


@pytest.mark.parametrize("text", ["", "admin", "admin=", "boss=ann", "admin=user:"])
def test_a_grant_that_cannot_be_read_is_refused(text: str) -> None:
    with pytest.raises(BadInput):
        read_grants([text])


def test_the_log_says_who_changed_what_on_which_run_and_holds_no_secret(site: TeamSite) -> None:
    site.run()
    runner, admin = site.proxied("bob", "lab"), site.proxied("eve", "chiefs")
    token = csrf_of(runner)
    runner.post("/runs/first/notes", data={"csrf": token, "add_tags": "nightly", "note": "sk-secret-1234567890"})
    runner.post("/runs/first/delete", data={"csrf": token})
    runner.get("/runs/first")
    site.stranger().post("/runs/first/delete")
    admin.delete("/api/v1/runs/nowhere", headers={"x-csrf-token": csrf_of(admin)})
    entries = site.ledger.entries()
    assert [(one.name, one.role, one.what, one.run, one.status) for one in entries] == [
        ("eve", "admin", "DELETE /api/v1/runs/nowhere", "nowhere", 404),
        ("bob", "runner", "POST /runs/first/delete", "first", 403),
        ("bob", "runner", "POST /runs/first/notes", "first", 303),
    ]
    assert {one.address for one in entries} == {"127.0.0.1"}
    seen = admin.get("/api/v1/team/audit", params={"name": "bob", "count": 1}).json()
    assert [one["status"] for one in seen["entries"]] == [403]
    assert (
        admin.get("/api/v1/team/audit", params={"name": "bob", "after": seen["next"]}).json()["entries"][0]["status"]
        == 303
    )
    assert "POST /runs/first/delete" in admin.get("/team?run=first").text
    assert b"sk-secret" not in Path(site.store).with_name("ledger").read_bytes()


def test_a_run_is_found_in_the_log_whichever_store_it_is_in() -> None:
    ledger = Ledger(InFile())
    line = AuditEntry(name="ann", role="admin", via="login", address="::1", what="POST /runs", status=0)
    for run in ("a", "a@b", "a@c", "aa@b", "A"):
        ledger.note(msgspec.structs.replace(line, id=run, run=run))
    ledger.note(line)
    ledger.note_end(line.id, 303, "a@d")
    assert sorted(one.run for one in ledger.entries(run="a")) == ["a", "a@b", "a@c", "a@d"]
    assert [one.run for one in ledger.entries(run="a@b")] == ["a@b"]
    assert len(ledger.entries()) == 6
    ledger.close()


@pytest.mark.parametrize("deed", ["DELETE FROM audit", "UPDATE audit SET name = 'x'", "DELETE FROM audit_ends"])
def test_the_log_is_only_added_to(tmp_path: Path, deed: str) -> None:
    database = open_database(str(tmp_path / "runs.db"))
    ledger = Ledger(database)
    ledger.note(
        AuditEntry(id="1", at=1.0, name="a", role="admin", via="link", address="", what="x", run="", status=200)
    )
    with pytest.raises(BadInput, match="only added to"):
        database.rows(deed)
    ledger.close()
    assert (tmp_path / "runs.db.team").stat().st_mode & 0o077 == 0


def test_what_cannot_be_noted_is_not_done(site: TeamSite, tmp_path: Path) -> None:
    site.run()
    admin = site.proxied("eve", "chiefs")
    token = csrf_of(admin)
    with sqlite3.connect(tmp_path / "ledger") as db:
        db.execute("DROP TABLE audit")
    assert admin.post("/runs/first/delete", data={"csrf": token}).status_code == 503
    assert admin.get("/runs/first").status_code == 200


def test_a_token_does_no_more_than_its_user_and_ends_when_it_is_revoked(site: TeamSite) -> None:
    site.run()
    runner = site.proxied("bob", "lab")
    made = runner.post("/account/tokens", data={"csrf": csrf_of(runner), "label": "ci", "days": "7", "role": "admin"})
    found = re.search(r"<code>([\w-]{40,})</code>", made.text)
    assert found
    assert found[1] not in runner.get("/account").text
    program = site.stranger()
    program.headers["authorization"] = f"Bearer {found[1]}"
    assert program.get("/api/v1/runs").status_code == 200
    assert program.delete("/api/v1/runs/first").status_code == 403
    assert program.post("/account/tokens", data={"label": "more"}).status_code == 400
    own = site.ledger.issued("bob")[0].id
    assert program.post("/account/revoke", data={"id": own}).status_code == 400, "a lost token locks nobody out"
    admin = site.proxied("eve", "chiefs")
    (issued,) = [one for one in admin.get("/api/v1/team/sessions").json() if one["label"] == "ci"]
    other = site.proxied("ann", "lab")
    assert other.post("/account/revoke", data={"csrf": csrf_of(other), "id": issued["id"]}).status_code == 404
    admin.post("/team/revoke", data={"csrf": csrf_of(admin), "id": issued["id"]})
    assert program.get("/api/v1/runs").status_code == 401


def test_a_pass_ends_when_its_time_is_over_and_a_link_is_used_once(tmp_path: Path) -> None:
    now = [1_000.0]
    ledger = Ledger(InFile(str(tmp_path / "ledger")), session_seconds=60.0, clock=lambda: now[0])
    other = Ledger(InFile(str(tmp_path / "ledger")), clock=lambda: now[0])
    secret, link = ledger.issue("session", Pass(name="ann")), ledger.issue("link", Pass(name="bob"))
    assert other.find("session", secret) == Pass(name="ann")
    assert other.find("token", secret) is None
    assert [one.take("link", link) for one in (other, ledger)] == [Pass(name="bob"), None]
    assert ledger.key("csrf") == other.key("csrf")
    now[0] += 61
    assert ledger.find("session", secret) is None
    assert secret.encode() not in (tmp_path / "ledger").read_bytes()
    for one in (ledger, other):
        one.close()


def test_the_server_says_to_anybody_that_it_is_well_and_nothing_else(
    site: TeamSite, caplog: pytest.LogCaptureFixture
) -> None:
    answer = site.stranger().get("/healthz")
    assert (answer.status_code, answer.text) == (200, "ok")
    site.ledger.close()
    down = site.stranger().get("/healthz")
    assert (down.status_code, down.text) == (503, "The database of the server does not answer. Try again soon.")
    assert "/ledger cannot be used" in caplog.text, "the log of the server says why"


def test_the_address_is_what_a_proxy_of_ours_added_last() -> None:
    access = Access(7860, naming=UserNaming(proxies=Proxies(["10.0.0.0/8"])))
    two = Headers(raw=[(b"x-forwarded-for", b"1.1.1.1, 2.2.2.2"), (b"x-forwarded-for", b"3.3.3.3")])
    assert access.address(two, "10.0.0.5") == "3.3.3.3", "a proxy may add a line of its own below that of the browser"
    assert access.address(two, "9.9.9.9") == "9.9.9.9"


def test_nobody_makes_up_lines_of_the_log(site: TeamSite) -> None:
    reader = site.proxied("ann")
    made_up = "/runs/a%0A2026-01-01 eve (admin, login, ::1)  POST %1B[31m%2500/notes"
    assert reader.post(made_up, data={"csrf": csrf_of(reader)}).status_code == 403
    (entry,) = site.ledger.entries()
    assert entry.what.isprintable()
    assert entry.run == "a%0A2026-01-01 eve (admin, login, ::1)  POST %1B[31m%00"
    forwarded = Headers({"x-forwarded-for": "fe80::1%admin  POST"})
    assert Access(7860, naming=UserNaming(proxies=Proxies(["::1"]))).address(forwarded, "::1") == "::1"


def test_what_the_terminal_shows_lets_in_no_longer_than_a_session(tmp_path: Path) -> None:
    now = [1_000.0]
    ledger = Ledger(InFile(str(tmp_path / "ledger")), session_seconds=60.0, clock=lambda: now[0])
    access = Access(7860, ledger=ledger)
    link, token = access.link(Person(name="")), access.token(Person(name=""))
    reviewer = access.link(Person(name="ann", only="/review/q/items-of", role="reader"))
    bearer = Headers({"authorization": f"Bearer {token}"})
    assert access.session(bearer) is not None
    now[0] += 61
    assert access.session(bearer) is None, "the ledger outlives the server"
    assert access.enter(link.partition("=")[2]) is None
    assert access.enter(reviewer.partition("=")[2]) is not None
    ledger.close()


@pytest.mark.parametrize("is_revoked", [True, False])
def test_events_end_with_the_session(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, is_revoked: bool) -> None:
    monkeypatch.setattr("proctor_web.guard.AGAIN_SECONDS", -1.0)
    ledger = Ledger(InFile(str(tmp_path / "ledger")))
    access = Access(7860, ledger=ledger)
    token = access.token(Person(name="ann"))

    async def events() -> AsyncIterator[bytes]:
        yield b"before"
        if is_revoked:
            assert ledger.revoke(ledger.issued()[0].id)
        yield b" after"
        yield b" and after"

    app = Guard(StreamingResponse(events(), media_type="text/event-stream"), access, "en")
    client = TestClient(app, base_url=ADDRESS, headers={"authorization": f"Bearer {token}"})
    assert client.get("/x").text == ("before" if is_revoked else "before after and after")
    ledger.close()
