"""The files of the container, as far as they run without an engine: what they name is there, and does what it says."""

import json
import os
import re
import subprocess
import threading
from fnmatch import fnmatch
from pathlib import Path
from typing import Any

import click
import pytest
import yaml
from web_site import AppSite

from proctor_web.commands.web import command
from proctor_web.serving import listen, make_server

ROOT = Path(__file__).resolve().parents[2]
DOCKERFILE = (ROOT / "Dockerfile").read_text()
COMPOSE: dict[str, Any] = yaml.safe_load((ROOT / "compose.yaml").read_text())
LINES = re.sub(r"\\\n", " ", DOCKERFILE).splitlines()


def words_of(name: str) -> list[list[str]]:
    return [json.loads(line.split(maxsplit=1)[1]) for line in LINES if line.startswith(f"{name} [")]


def test_the_image_runs_as_no_root_from_pinned_packages() -> None:
    last = DOCKERFILE.rpartition("\nFROM ")[2]
    assert re.search(r"^USER 10001$", last, re.M)
    assert "--require-hashes" in DOCKERFILE
    pinned = (ROOT / "requirements" / "server.txt").read_text()
    for package in ("starlette", "uvicorn", "psycopg", "joserfc", "msgspec"):
        assert re.search(rf"^{package}==\S+ \\\n    --hash=sha256:", pinned, re.M)
    assert "://" not in pinned


def test_what_the_image_copies_is_there_and_nothing_else_is_sent() -> None:
    allowed = [line[1:] for line in (ROOT / ".dockerignore").read_text().splitlines() if line.startswith("!")]
    assert (ROOT / ".dockerignore").read_text().splitlines()[1] == "*"
    sources = [source for line in LINES if line.startswith("COPY ") and "--from" not in line for source in line.split()[1:-1] if not source.startswith("--")]  # fmt: skip
    assert sources
    for source in sources:
        assert (ROOT / source).exists(), source
        assert any(fnmatch(source, one) for one in allowed), source
    assert not any(fnmatch(name, one) for name in ("secrets/PGPASSWORD", ".git", ".venv", "runs.db") for one in allowed)


def test_the_health_command_knows_a_server_that_is_well(tmp_path: Path) -> None:
    (line,) = [line for line in LINES if line.startswith("HEALTHCHECK")]
    check = json.loads(line.partition("CMD ")[2])
    site = AppSite(tmp_path)
    socket = listen(17_860)
    port = socket.getsockname()[1]
    server = make_server(site.app)
    thread = threading.Thread(target=server.run, kwargs={"sockets": [socket]})
    thread.start()
    asks = [one.replace("7860", str(port)) for one in check]
    assert subprocess.run(asks, check=False).returncode == 0
    server.should_exit = True
    thread.join()
    socket.close()
    assert subprocess.run(asks, check=False, capture_output=True).returncode != 0
    site.workspace.close()


def test_secrets_in_files_become_variables_of_the_program(tmp_path: Path) -> None:
    secrets = {"PGPASSWORD": "a b'$(id)\"\\\n", "OPENAI_API_KEY": "sk-1", "db-password": "x", "lower": "x", "1A": "x"}
    for name, text in secrets.items():
        (tmp_path / name).write_text(text)
    program = ["python3", "-c", "import os, json; print(json.dumps(dict(os.environ)))"]
    done = subprocess.run(
        [ROOT / "docker" / "entrypoint.sh", *program], env={"PATH": os.environ["PATH"], "PROCTOR_SECRETS": str(tmp_path)},
        capture_output=True, check=True,
    )  # fmt: skip
    seen = json.loads(done.stdout)
    assert (seen["PGPASSWORD"], seen["OPENAI_API_KEY"]) == ("a b'$(id)\"\\", "sk-1")
    assert not {"db-password", "lower", "1A"} & seen.keys()


def test_the_words_of_the_image_and_of_compose_are_a_command_we_know() -> None:
    web = COMPOSE["services"]["web"]
    set_by_user = {"PROCTOR_URL": "https://eval.example.org", "PROCTOR_OIDC": "https://id.example.org"}
    for words in (words_of("CMD")[0], web["command"]):
        filled = [
            re.sub(r"\$\{(\w+):[?-]([^}]*)\}", lambda found: set_by_user.get(found[1], "x"), word) for word in words
        ]
        assert filled[:2] == ["proctor", "web"]
        with click.Context(command) as context:
            command.parse_args(context, filled[2:])
        assert context.params["host"] == "0.0.0.0"
        assert context.params["port"] == 7860


def test_the_database_is_not_published_and_the_app_on_this_machine_only() -> None:
    db, web = COMPOSE["services"]["db"], COMPOSE["services"]["web"]
    assert "ports" not in db
    assert db["networks"] == ["inside"]
    assert COMPOSE["networks"]["inside"]["internal"] is True
    assert all(one.startswith("127.0.0.1:") for one in web["ports"])
    assert web["read_only"] is True
    assert web["cap_drop"] == ["ALL"]
    assert set(web["secrets"]) | set(db["secrets"]) == set(COMPOSE["secrets"])
    assert all("file" in one for one in COMPOSE["secrets"].values())
    text = (ROOT / "compose.yaml").read_text()
    assert not re.search(r"POSTGRES_PASSWORD:|PGPASSWORD:\s*\S+$", text.replace("/run/secrets/PGPASSWORD", ""), re.M)


@pytest.mark.parametrize("name", ["PGPASSWORD", "PROCTOR_OIDC_SECRET"])
def test_secrets_stay_out_of_the_repository(name: str) -> None:
    assert "secrets/" in (ROOT / ".gitignore").read_text().splitlines()
    assert COMPOSE["secrets"][name]["file"] == f"./secrets/{name}"
