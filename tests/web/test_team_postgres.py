"""Two servers on one store in PostgreSQL: one ledger, one set of sessions, and a backup that brings all of it back."""

import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest
from postgres_server import binaries, server
from starlette.testclient import TestClient
from web_site import ADDRESS, AppSite, capitals

from proctor import evaluate
from proctor.api.numbers import estimates
from proctor.core.errors import BadInput
from proctor_web.auth import Access
from proctor_web.site import site as app_of
from proctor_web.users.database import LedgerFailed, open_database
from proctor_web.users.ledger import AuditEntry, Ledger, Pass, Person


class TeamServer(AppSite):
    """A server of a team, such as one of several with the same address."""

    def __init__(self, folder: Path, store: str) -> None:
        folder.mkdir()
        super().__init__(folder, stores=[store])
        self.ledger = Ledger(open_database(store))
        self.access = Access(7860, ledger=self.ledger, url=ADDRESS)
        self.app = app_of(self.workspace, self.access, "en")

    def close(self) -> None:
        self.workspace.close()
        self.ledger.close()


@pytest.fixture(scope="module")
def store() -> str:
    return server().database()


@pytest.fixture
def servers(tmp_path: Path, store: str) -> Iterator[tuple[TeamServer, TeamServer]]:
    one, other = TeamServer(tmp_path / "one", store), TeamServer(tmp_path / "other", store)
    yield one, other
    one.close()
    other.close()


def test_what_one_server_is_told_the_other_shows_and_backups_bring_back(
    servers: tuple[TeamServer, TeamServer], store: str, tmp_path: Path
) -> None:
    one, other = servers
    run = evaluate(capitals(), agent=lambda question: "Paris", store=store, run_id="shared")
    browser = one.browser("ann")
    elsewhere = TestClient(other.app, base_url=ADDRESS)
    elsewhere.cookies = browser.cookies
    csrf = {"x-csrf-token": elsewhere.get("/account").text.partition('name="csrf" value="')[2].partition('"')[0]}
    assert browser.post("/runs/shared/notes", data={"add_tags": "nightly"}, headers=csrf).status_code == 200
    assert "nightly" in elsewhere.get("/runs").text
    assert [len(other.ledger.entries(run=run)) for run in ("shared", "share", "shared@x")] == [1, 0, 0]
    other.ledger.note(AuditEntry(name="ann", role="admin", via="login", address="::1", what="x", run="a@b", status=303))
    assert [len(other.ledger.entries(run=run)) for run in ("a", "a@b", "b")] == [1, 1, 0]
    assert [(line.name, line.run, line.status) for line in other.ledger.entries(run="shared")] == [
        ("ann", "shared", 303)
    ]

    link = one.access.link(Person(name="bob"))
    came = [TestClient(server.app, base_url=ADDRESS).get(link, follow_redirects=False) for server in (other, one)]
    assert [answer.status_code for answer in came] == [303, 401], "a link is used once, wherever"

    for_reviews = one.access.link(Person(name="bob", only="/review/q/items-of", role="reader"))
    (issued,) = other.ledger.issued_for("/review/q/items-of")
    assert (issued.kind, issued.name, other.ledger.revoke(issued.id)) == ("link", "bob", True)
    assert TestClient(one.app, base_url=ADDRESS).get(for_reviews).status_code == 401, "revoked wherever"

    file, found = tmp_path / "backup", binaries()
    assert found is not None
    schemas = ("--schema=proctor", "--schema=proctor_web")
    subprocess.run([found / "pg_dump", "--format=custom", *schemas, f"--file={file}", store], check=True)
    restored = server().database()
    subprocess.run([found / "pg_restore", "--exit-on-error", "--no-owner", f"--dbname={restored}", file], check=True)
    again = TeamServer(tmp_path / "again", restored)
    back = TestClient(again.app, base_url=ADDRESS)
    back.cookies = browser.cookies
    assert "nightly" in back.get("/runs").text
    assert back.post("/runs/shared/notes", data={"add_tags": "restored"}, headers=csrf).status_code == 200
    assert len(again.ledger.entries(run="shared")) == 2
    found_run = again.workspace.find_run("shared")
    assert estimates(found_run.record, found_run.store) == run.estimates
    again.close()


def test_the_line_may_be_cut_and_the_log_is_only_added_to(servers: tuple[TeamServer, TeamServer], store: str) -> None:
    import psycopg

    one, other = servers
    secret = one.ledger.issue("session", Pass(name="ann"))
    with psycopg.connect(store, autocommit=True) as db:
        db.execute(
            "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE pid <> pg_backend_pid() AND datname = current_database()"
        )
        assert one.ledger.find("session", secret) == Pass(name="ann")
        for deed in (
            "DELETE FROM proctor_web.audit",
            "UPDATE proctor_web.audit_ends SET status = 1",
            "TRUNCATE proctor_web.audit",
        ):
            with pytest.raises(psycopg.errors.RaiseException, match="only added to"):
                db.execute(deed)
    assert other.ledger.take("session", secret) == Pass(name="ann")
    assert one.ledger.find("session", secret) is None


def test_a_log_that_is_not_there_is_not_made_by_reading_it() -> None:
    empty = server().database()
    with pytest.raises(BadInput, match="no ledger"):
        open_database(empty, creates=False)


def test_a_ledger_that_lost_a_table_is_said_in_a_sentence_without_the_password() -> None:
    import psycopg

    store = server().database()
    database = open_database(store)
    with psycopg.connect(store, autocommit=True) as db:
        db.execute("DROP TABLE proctor_web.passes")
    with pytest.raises(LedgerFailed, match=r"cannot be used: relation \"passes\" does not exist\.$"):
        Ledger(database).issued()
    database.close()
