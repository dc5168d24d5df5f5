"""A store in PostgreSQL whose server is encrypted, full, or away at the start, in the middle and at the end."""

import asyncio
import shutil
import socket
import subprocess
import threading
from collections.abc import Iterator
from pathlib import Path

import psycopg
import pytest
from postgres_server import USER, PostgresServer

from proctor.core.errors import BadInput
from proctor.stores import open_store
from proctor.testing.records import a_record, a_sample, a_trial, a_verdict, begun
from proctor_adapters.postgresql import PostgresStore

FULL = """
CREATE FUNCTION full_disk() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN RAISE EXCEPTION 'could not extend file: No space left on device' USING ERRCODE = 'disk_full'; END $$;
CREATE TRIGGER full_disk BEFORE INSERT ON proctor.records FOR EACH STATEMENT EXECUTE FUNCTION full_disk();
"""


@pytest.fixture(scope="module")
def server() -> Iterator[PostgresServer]:
    started = PostgresServer()  # a killed process loses nothing that the system has
    yield started
    started.stop()


async def test_a_full_disk_is_named_what_was_acknowledged_is_kept_and_it_goes_on(server: PostgresServer) -> None:
    address = server.database()
    store = PostgresStore(address)
    await begun(store, [a_sample(id) for id in ("a", "b", "c")])
    await store.add(a_trial("a"), [a_verdict("a")])
    with psycopg.connect(address, autocommit=True) as db:
        db.execute(FULL)
        for id in ("b", "b"):
            with pytest.raises(BadInput, match=r"The disk of the database .* is full"):
                await store.add(a_trial(id), [a_verdict(id)])
        with pytest.raises(BadInput, match="is full"):
            await store.judge([a_verdict("a", points=0)])
        assert store.outcomes("r") == {"scored": 1}
        db.execute("DROP TRIGGER full_disk ON proctor.records")
    await asyncio.gather(*(store.add(a_trial(id), [a_verdict(id)]) for id in ("b", "c")))
    await store.end(a_record(state="finished"))
    assert store.outcomes("r") == {"scored": 3}
    assert sum(1 for _ in store.history("r")) == 6
    store.close()


async def test_a_server_that_is_away_is_named_at_the_start_and_waited_for_at_the_end(server: PostgresServer) -> None:
    address = server.database()
    store = PostgresStore(address)
    await begun(store, [a_sample("a")])
    await store.add(a_trial("a"), [a_verdict("a")])
    server.kill()
    with pytest.raises(BadInput, match="cannot be reached"):
        PostgresStore(address, patience=0.3)
    back = threading.Thread(target=server.start)
    back.start()
    await store.end(a_record(state="finished"))
    back.join()
    assert store.run("r").state == "finished"
    assert store.writer("r") is None
    store.close()


def _certificates(folder: Path) -> None:
    """Make an authority of our own and a certificate for localhost, readable by the user of the server alone."""

    def openssl(*arguments: object) -> None:
        subprocess.run(["openssl", *map(str, arguments)], check=True, capture_output=True, cwd=folder)

    key = ("-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes")
    openssl("req", "-x509", *key, "-keyout", "ca.key", "-out", "ca.pem", "-days", "2", "-subj", "/CN=ours")
    openssl("req", "-x509", *key, "-keyout", "other.key", "-out", "other.pem", "-days", "2", "-subj", "/CN=others")
    openssl("req", *key, "-keyout", "server.key", "-out", "server.csr", "-subj", "/CN=localhost")
    (folder / "names").write_text("subjectAltName=DNS:localhost")
    openssl("x509", "-req", "-in", "server.csr", "-CA", "ca.pem", "-CAkey", "ca.key", "-CAcreateserial", "-out", "server.pem", "-days", "2", "-extfile", "names")  # fmt: skip


async def test_an_encrypted_line_is_checked_against_the_authority_and_the_name(
    server: PostgresServer, tmp_path: Path
) -> None:
    _certificates(tmp_path)
    for name in ("server.key", "server.pem"):
        target = server.folder / name
        shutil.copy(tmp_path / name, target)
        target.chmod(0o600)
        if tmp_path.stat().st_uid == 0:
            shutil.chown(target, USER)
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    database = server.database().partition("@/")[2].partition("?")[0]
    with (server.folder / "data" / "pg_hba.conf").open("a") as rules:
        rules.write("hostssl all all 127.0.0.1/32 trust\nhostnossl all all 127.0.0.1/32 reject\n")
    hba = server.folder / "data" / "pg_hba.conf"
    lines = [line for line in hba.read_text().splitlines() if not line.startswith("host ")]
    hba.write_text("\n".join(lines) + "\n")
    server.kill()
    server.settings = f" -c ssl=on -c ssl_cert_file={server.folder}/server.pem -c ssl_key_file={server.folder}/server.key -c listen_addresses=127.0.0.1 -c port={port}"  # fmt: skip
    server.start()

    def address(host: str, **options: object) -> str:
        asked = "&".join(f"{name}={value}" for name, value in options.items())
        return f"postgresql://tester@{host}:{port}/{database}?hostaddr=127.0.0.1&{asked}"

    store = open_store(address("localhost", sslmode="verify-full", sslrootcert=tmp_path / "ca.pem"))
    await begun(store, [a_sample("a")])
    await store.add(a_trial("a"), [a_verdict("a")])
    await store.end(a_record())
    assert store.outcomes("r") == {"scored": 1}
    store.close()
    for wrong, why in (
        (address("localhost", sslmode="verify-full", sslrootcert=tmp_path / "other.pem"), "certificate verify failed"),
        (address("db.example.org", sslmode="verify-full", sslrootcert=tmp_path / "ca.pem"), "does not match host name"),
        (address("localhost", sslmode="disable"), "pg_hba.conf rejects connection"),
    ):
        with pytest.raises(BadInput, match=why):
            open_store(wrong)
