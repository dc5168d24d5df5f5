"""`container:` as the environment of any task, on each backend that this machine has."""

import json
import os
import re
import signal
import socket
import subprocess
import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, suppress
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import msgspec
import pytest
from machine_image import import_image, skip_without

from proctor.api import Run, evaluate
from proctor.core.errors import BadInput
from proctor.core.sample import Sample, ToolResult
from proctor.core.score import Score, Unscored
from proctor.core.task import Task
from proctor.core.trajectory import Trajectory
from proctor_benchmarks import harbor
from proctor_benchmarks.boxes import host_proxy
from proctor_benchmarks.boxes.container import make
from proctor_benchmarks.boxes.engines import LABEL, owner_of_boxes
from proctor_benchmarks.boxes.host_proxy import HostProxy, check_hosts, is_public
from proctor_benchmarks.boxes.namespace import lacks
from proctor_benchmarks.harbor.task_folder import HarborSettings, NotRunnable, network_of

Messages = list[dict[str, Any]]
START = {"files": {"numbers.txt": "1\n2\n3\n"}, "setup": "tr '\\n' ' ' < numbers.txt > line.txt"}


def agent_of(*calls: tuple[str, Mapping[str, object]], before: Callable[[int], object] = int) -> Callable[..., Any]:
    """Return an agent that makes these calls, one after the other."""

    def answer(messages: Messages, tools: Sequence[Any]) -> str | dict[str, Any]:
        number = sum(message["role"] == "tool" for message in messages)
        before(number)
        if number == len(calls):
            return "Done."
        name, arguments = calls[number]
        call = {"name": name, "arguments": json.dumps(arguments)}
        return {"role": "assistant", "content": None, "tool_calls": [{"id": str(number), "type": "function", "function": call}]}  # fmt: skip

    return answer


def has_sum(sample: Sample, trajectory: Trajectory) -> Score:
    files = (trajectory.state or {})["files"]
    return Score(points=files.get("/app/sum.txt", "").strip() == sample.target)


def play(backend: str, agent: Callable[..., Any], **options: object) -> Run:
    sample = Sample.ask("sum", "Write the sum into sum.txt.", target="6", meta={"environment": START})
    argument = backend if backend == "bubblewrap" else import_image(backend)
    own = {} if backend == "bubblewrap" else {"backend": backend}
    task = Task(name="sums", samples=[sample], scorers=[has_sum], environment=f"container:{argument}")
    return evaluate(task, agent=agent, store=":memory:", environment_options={"memory_mb": 256, **own, **options})


def results(run: Run) -> list[str]:
    (trial,) = run.trials()
    parts = [part for step in trial.trajectory.steps for part in step.message.parts]
    return [part.content for part in parts if isinstance(part, ToolResult)]


def test_an_agent_works_in_a_box_and_scorers_see_its_files(backend: str) -> None:
    script = "awk '{s += $1} END {print s}' numbers.txt > sum.txt; head -c 9 /dev/zero > zeros; cat line.txt"
    calls: tuple[tuple[str, Mapping[str, object]], ...] = (
        ("run", {"command": script}),
        ("run", {"command": "echo begun; sleep 60", "seconds": 1}),
        ("run", {"command": "exit 3"}),
        ("write_file", {"path": "new/a.txt", "content": "A"}),
        ("read_file", {"path": "/app/new/a.txt"}),
        ("read_file", {"path": "none"}),
    )
    run = play(backend, agent_of(*calls))
    (trial,) = run.trials()
    (verdict,) = run.verdicts()
    assert isinstance(verdict.result, Score), trial.failure
    assert verdict.result.points == 1
    first, late, code, wrote, read, missing = results(run)
    assert first == "1 2 3 "
    assert late.startswith("begun\n")
    assert "timed out" in late
    assert (code, wrote, read) == ("[exit code 3]", "wrote 1 bytes", "A")
    assert "exit code" in missing
    state = trial.trajectory.state or {}
    assert (state["backend"], state["commands"]) == (backend, 3)
    assert ("image" in state) == (backend != "bubblewrap")
    assert re.fullmatch(r"(sha256:)?[0-9a-f]{64}|", state.get("image", "")), state["image"]
    assert sorted(state["files"]) == ["/app/line.txt", "/app/new/a.txt", "/app/numbers.txt", "/app/sum.txt", "/app/zeros"]  # fmt: skip
    assert state["files"]["/app/new/a.txt"] == "A"


def test_bytes_that_are_no_text_are_named_by_size_and_digest(backend: str) -> None:
    (trial,) = play(
        backend, agent_of(("run", {"command": "printf '\\377\\376' > sum.txt"})), keep=["/app/sum.txt"]
    ).trials()
    assert (trial.outcome, trial.failure and trial.failure.kind) == ("scored", None)
    ((path, entry),) = (trial.trajectory.state or {})["files"].items()
    assert (path, entry["bytes"]) == ("/app/sum.txt", 2)


@pytest.mark.parametrize("engine", ["docker", "podman"])
def test_a_folder_with_a_dockerfile_is_built(engine: str, tmp_path: Path) -> None:
    skip_without(engine)
    (tmp_path / "Dockerfile").write_text(f"FROM {import_image(engine)}\nCOPY sum.txt /app/\n", "utf-8")
    (tmp_path / "sum.txt").write_text("6", "utf-8")
    task = Task(name="sums", samples=[Sample.ask("sum", "?", target="6")], scorers=[has_sum], environment=f"container:{tmp_path}")  # fmt: skip
    run = evaluate(task, agent=agent_of(), store=":memory:", environment_options={"backend": engine})
    (verdict,) = run.verdicts()
    assert isinstance(verdict.result, Score), run.trials()
    assert verdict.result.points == 1


@pytest.mark.parametrize("engine", ["docker", "podman"])
def test_a_dockerfile_that_is_a_link_is_known_by_its_content(engine: str, tmp_path: Path) -> None:
    skip_without(engine)
    (tmp_path / "box").mkdir()
    (tmp_path / "box" / "Dockerfile").symlink_to("../original")
    task = Task(name="sums", samples=[Sample.ask("sum", "?", target="6")], scorers=[has_sum], environment=f"container:{tmp_path / 'box'}")  # fmt: skip
    points = []
    for text in ("7", "6"):
        (tmp_path / "original").write_text(
            f"FROM {import_image(engine)}\nRUN mkdir -p /app && echo {text} > /app/sum.txt\n", "utf-8"
        )
        (verdict,) = evaluate(
            task, agent=agent_of(), store=":memory:", environment_options={"backend": engine}
        ).verdicts()
        points.append(verdict.result.points if isinstance(verdict.result, Score) else verdict.result)
    assert points == [0, 1]


def kill_box(backend: str) -> None:
    """End the boxes of this process from outside."""
    if backend == "bubblewrap":
        listed = subprocess.run(["ps", "axwwo", "ppid,pid,args"], check=True, capture_output=True, text=True).stdout
        for parent, process, command in (line.split(maxsplit=2) for line in listed.splitlines()):
            if parent == str(os.getpid()) and "bwrap" in command:
                os.kill(int(process), signal.SIGKILL)
        return
    own = [backend, "ps", "-aq", "--filter", f"label={LABEL}={owner_of_boxes()}"]
    names = subprocess.run(own, check=True, capture_output=True, text=True).stdout.split()
    subprocess.run([backend, "rm", "-f", *names], check=True, capture_output=True)


@pytest.mark.parametrize(("blame", "outcome"), [("agent", "agent_failed"), ("environment", "environment_failed")])
def test_who_is_to_blame_for_a_dead_box_is_an_option(backend: str, blame: str, outcome: str) -> None:
    calls = [("run", {"command": "echo fine"})] * 2
    agent = agent_of(*calls, before=lambda number: kill_box(backend) if number == 1 else None)
    (trial,) = play(backend, agent, blame_death=blame).trials()
    assert trial.outcome == outcome, trial.failure


@pytest.mark.parametrize(
    ("argument", "options", "message"),
    [
        ("", {}, "needs an image"),
        ("./nowhere", {}, "there is no folder .*nowhere"),
        (str(Path(__file__).parent), {}, "has no Dockerfile"),
        ("bubblewrap", {"programs": "/nowhere"}, "there is no folder /nowhere"),
        ("bubblewrap", {"backend": "docker"}, "docker needs an image"),
        ("bubblewrap", {"network": "open"}, "have no network"),
        ("bubblewrap", {"network": ["example.com"]}, "no host with a port"),
        ("bubblewrap", {"files": "/nowhere"}, "there is no folder /nowhere"),
        ("bubblewrap", {"keep": ["app"]}, "'app' is no absolute path"),
        ("bubblewrap", {"memory": 3}, "memory_mb"),
        ("an-image", {"backend": "bubblewrap"}, "the task has an image"),
    ],
)
def test_what_cannot_be_run_is_said_before_anything_is(argument: str, options: dict[str, object], message: str) -> None:
    with pytest.raises(BadInput, match=message):
        make(argument, options)


class Host(ThreadingHTTPServer):
    """A host on this machine."""

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), Page)


class Page(BaseHTTPRequestHandler):
    def do_GET(self) -> None:
        self.send_response(200)
        self.end_headers()
        self.wfile.write(b"a page")

    def log_message(self, *_: object) -> None:
        pass


@pytest.fixture
def port() -> Iterator[int]:
    with Host() as server:
        threading.Thread(target=server.serve_forever, args=(0.02,), daemon=True).start()
        yield server.server_address[1]
        server.shutdown()


VISIT = """
import http.client, os, sys
def visit(host, port):
    connection = http.client.HTTPConnection("127.0.0.1", 8701, timeout=20)
    try:
        connection.set_tunnel(host, port)
        connection.request("GET", "/")
        return connection.getresponse().read().decode()
    except OSError as error:
        return str(error).split()[-1]
print(visit("127.0.0.1", PORT), visit("localhost", PORT), visit("127.0.0.1", 22), visit("nothing.invalid", 443), sep="|")
plain = http.client.HTTPConnection("127.0.0.1", 8701, timeout=20)
plain.request("GET", "http://127.0.0.1:PORT/")
print(plain.getresponse().status, os.environ["https_proxy"])
"""


def test_listed_hosts_are_all_that_a_box_reaches_and_each_request_is_counted(backend: str, port: int) -> None:
    hosts = [f"127.0.0.1:{port}", f"LOCALHOST:{port + 1}", "nothing.invalid:443"]
    script = VISIT.replace("PORT", str(port))
    run = play(backend, agent_of(("run", {"command": f"python3 - <<'E'\n{script}\nE"})), network=hosts)
    assert results(run)[0].split() == ["a", "page|Forbidden|Forbidden|Gateway", "403", "http://127.0.0.1:8701"]
    (trial,) = run.trials()
    network = (trial.trajectory.state or {})["network"]
    assert network["allowed"] == sorted(host.lower() for host in hosts)
    assert network["connections"] == {f"127.0.0.1:{port}": 1}
    assert network["refused"] == {f"localhost:{port}": 1, "127.0.0.1:22": 1, "no request to connect": 1}
    assert network["failed"] == {"nothing.invalid:443": 1}
    assert network["bytes"]["sent"] > 0


TASK_NETWORK = """[task]
name = "a/b"
[environment]
network_mode = "no-network"
[agent]
network_mode = "allowlist"
allowed_hosts = ["127.0.0.1"]
"""


@pytest.mark.skipif(bool(lacks()), reason=f"needs {lacks()}")
@pytest.mark.parametrize(("network", "points"), [("task", 1), ("none", 0)])
def test_the_hosts_that_a_task_of_harbor_lists_are_reached_where_the_user_allows_it(network: str, points: float, port: int, tmp_path: Path) -> None:  # fmt: skip
    visit = VISIT.partition("print(")[0].replace("PORT", str(port)) + f"print(visit('127.0.0.1', {port}))"
    files = {"task.toml": TASK_NETWORK, "instruction.md": "Visit.", "tests/test.sh": "#!/bin/sh\nif grep -qx 'a page' page; then echo 1; else echo 0; fi > /logs/verifier/reward.txt\n", "solution/solve.sh": f"#!/bin/sh\npython3 - > page <<'E'\n{visit}\nE\n"}  # fmt: skip
    for name, text in files.items():
        (tmp_path / "t" / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / "t" / name).write_text(text, "utf-8")
    task = harbor.task(f"harbor:{tmp_path / 't'}", network=network)
    (verdict,) = evaluate(task, agent="baseline:oracle", store=":memory:").verdicts()
    if points:
        assert isinstance(verdict.result, Score), verdict.result
        assert (verdict.result.points, task.notes) == (1, [])
    else:
        assert isinstance(verdict.result, Unscored)  # its own solution fails too
        assert [str(note) for note in task.notes] == ["1 of 1 tasks list hosts that their agents expect; network=task lets boxes reach those."]  # fmt: skip


@pytest.mark.parametrize(
    ("settings", "expected"),
    [
        ('[environment]\nnetwork_mode = "allowlist"\nallowed_hosts = ["*.example.org", "::1"]', ("allowlist", ["*.example.org:*", "[::1]:*"])),
        ('[environment]\nnetwork_mode = "allowlist"\nallowed_hosts = ["a.org"]\n[agent]\nnetwork_mode = "no-network"', ("no-network", [])),
        ("[environment]\nallow_internet = false", ("no-network", [])),
        ("", ("public", [])),
        ('[environment]\nallowed_hosts = ["a.org"]', "allowed_hosts goes with"),
        ('[environment]\nnetwork_mode = "allowlist"\nallowed_hosts = ["10.0.0.0/8"]', "10.0.0.0/8"),
        ('[agent]\nnetwork_mode = "allowlist"\nallowed_hosts = ["https://a.org"]', "https://a.org"),
    ],
)  # fmt: skip
def test_the_network_of_an_agent_is_its_own_or_that_of_its_environment(settings: str, expected: object) -> None:
    read = msgspec.toml.decode(settings, type=HarborSettings)
    if isinstance(expected, str):
        with pytest.raises(NotRunnable, match=re.escape(expected)):
            network_of(read)
    else:
        assert network_of(read) == expected


@pytest.mark.skipif(bool(lacks()), reason=f"needs {lacks()}")
def test_without_hosts_there_is_no_way_out() -> None:
    (shown,) = results(play("bubblewrap", agent_of(("run", {"command": "env | grep -ic proxy; ls /run/door"}))))
    assert shown.splitlines()[0] == "0"
    assert "hosts.sock" not in shown


def test_a_listed_name_does_not_lead_to_private_addresses_that_are_not(tmp_path: Path) -> None:
    assert HostProxy(tmp_path, ["localhost:9"])._connect("localhost", 9) is None
    with pytest.raises(ConnectionRefusedError):
        HostProxy(tmp_path, ["localhost:9", "127.0.0.1:9"])._connect("localhost", 9)


@pytest.mark.parametrize("address", ["127.0.0.1", "10.1.2.3", "169.254.169.254", "100.64.0.1", "0.0.0.0", "224.0.0.1", "::1", "fe80::1%eth0", "fd00::1", "::ffff:10.0.0.1", "64:ff9b::7f00:1", "2002:7f00:1::", "::127.0.0.1", "fec0::1", "4000::1"])  # fmt: skip
def test_addresses_of_this_network_are_not_public(address: str) -> None:
    assert not is_public(address)


@pytest.mark.parametrize("host", ["::1:443", "2001:db8::443", "[::1:443", "example.com:0", "example.com"])
def test_a_host_is_written_with_its_port_and_an_address_with_colons_in_brackets(host: str) -> None:
    with pytest.raises(BadInput, match="no host with a port"):
        check_hosts([host])


def test_hosts_are_listed_in_any_way_that_they_are_asked_for(tmp_path: Path) -> None:
    hosts = HostProxy(tmp_path, ["[::1]:0443", "Example.com.:443"]).counts()["allowed"]
    assert hosts == ["[::1]:443", "example.com:443"]
    with socket.create_server(("::1", 0), family=socket.AF_INET6) as server:
        port = server.getsockname()[1]
        connection = HostProxy(tmp_path, [f"[::1]:{port}"])._connect("::1", port)
        assert connection is not None
        connection.close()


WILD = ["*.example.org:443", "exact.example.net:*", "*.both.example.com:*", "127.0.0.1:*"]


@pytest.mark.parametrize(
    ("asked", "is_listed"),
    [
        ("a.example.org:443", True),
        ("A.b.EXAMPLE.org.:0443", True),
        ("xn--bcher-kva.example.org:443", True),
        ("exact.example.net:8443", True),
        ("a.both.example.com:1", True),
        ("127.0.0.1:80", True),
        ("example.org:443", False),
        ("a.example.org:80", False),
        ("a.example.org.evil:443", False),
        ("example.org.evil.com:443", False),
        ("notexample.org:443", False),
        ("evil-example.org:443", False),
        ("a.example.org.:443.evil.com:443", False),
        ("*.example.org:443", False),
        (".example.org:443", False),
        ("evil.com/.example.org:443", False),
        ("evil.com#.example.org:443", False),
        ("evil.com@a.example.org:443", False),
        ("evil.com\x00.example.org:443", False),
        ("evil.com%00.example.org:443", False),
        ("evil.com\N{IDEOGRAPHIC FULL STOP}example.org:443", False),
        ("a..example.org:443", False),
        ("a.exact.example.net:443", False),
        ("exact.example.net:*", False),
        ("127.0.0.2:80", False),
        ("127.1:80", False),
        ("2130706433:80", False),
        ("0x7f000001:80", False),
        ("0177.0.0.1:80", False),
        ("[::ffff:127.0.0.1]:80", False),
        ("127.0.0.1.:80", True),  # the same name
    ],
)
def test_a_wildcard_matches_the_names_below_it_and_nothing_that_looks_like_one(asked: str, is_listed: bool, tmp_path: Path) -> None:  # fmt: skip
    plain = host_proxy._plain(asked)
    assert (plain is not None and HostProxy(tmp_path, WILD)._is_listed(plain)) == is_listed


@pytest.mark.parametrize("host", ["*:443", "*.org:443", "*.0.0.1:443", "*.1:443", "*.0x7f.0x1:443", "*.[::1]:443", "a.*.org:443", "*example.org:443", "*.*.example.org:443", "**.example.org:443", "*.example.org", "*.exa mple.org:443", "*.example.org/x:443", "10.0.0.0/8:*"])  # fmt: skip
def test_a_wildcard_is_a_star_before_a_name_of_several_parts(host: str) -> None:
    with pytest.raises(BadInput, match="no host with a port"):
        check_hosts([host])


def test_a_name_below_a_wildcard_does_not_lead_to_private_addresses(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:  # fmt: skip
    monkeypatch.setattr(socket, "getaddrinfo", lambda *_, **__: [(socket.AF_INET, socket.SOCK_STREAM, 6, "", ("10.1.2.3", 443))])  # fmt: skip
    assert HostProxy(tmp_path, ["*.example.org:443"])._connect("a.example.org", 443) is None


def ask(folder: Path, request: bytes) -> bytes:
    with socket.socket(socket.AF_UNIX) as client:
        client.settimeout(20)
        client.connect(str(folder / "hosts.sock"))
        if request:
            client.sendall(request)
        return client.recv(100)


def test_a_name_that_cannot_be_one_is_counted_as_failed(tmp_path: Path) -> None:
    with HostProxy(tmp_path, ["a..b:443"]) as proxy:
        assert b"502" in ask(tmp_path, b"CONNECT a..b:443 HTTP/1.1\r\n\r\n")
        assert proxy.counts()["failed"] == {"a..b:443": 1}


def test_connections_that_ask_for_nothing_are_ended_and_counted(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(host_proxy, "HEADER_SECONDS", 0.3)
    with HostProxy(tmp_path, []) as proxy, socket.socket(socket.AF_UNIX) as client:
        client.connect(str(tmp_path / "hosts.sock"))
        deadline = time.monotonic() + 20
        while not proxy.counts()["refused"] and time.monotonic() < deadline:
            with suppress(OSError):
                client.sendall(b"C")  # a byte at a time, which is never too late by itself
            time.sleep(0.05)
        assert proxy.counts()["refused"] == {host_proxy.NO_REQUEST: 1}


def test_a_box_has_no_more_connections_at_once_than_are_allowed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(host_proxy, "MOST_CONNECTIONS", 2)
    with HostProxy(tmp_path, []) as proxy, ExitStack() as stack:
        for _ in range(2):
            client = stack.enter_context(socket.socket(socket.AF_UNIX))
            client.connect(str(tmp_path / "hosts.sock"))
        deadline = time.monotonic() + 20
        while proxy._served < 2 and time.monotonic() < deadline:
            time.sleep(0.01)
        assert b"502" in ask(tmp_path, b"")
        assert proxy.counts()["failed"] == {host_proxy.CROWDED: 1}
