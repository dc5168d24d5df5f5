"""Keep tests apart from a person's own runs, keys and language; in CI, make an unexpected skip a failure."""

import asyncio
import atexit
import functools
import gc
import itertools
import linecache
import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import weakref
from collections.abc import Callable, Generator, Iterator, Mapping
from importlib import import_module
from pathlib import Path
from typing import Any, Protocol

import hypothesis
import pytest
import simulated

from proctor.api.sources import git_state
from proctor.cli import words
from proctor.runtime.garbage import gc_paused
from seconds import Seconds, dearest_first

ROOT = Path(__file__).resolve().parent.parent
ON_BOTH_LOOPS = ("test_wire", "test_opening", "test_bodies", "test_messages_between_processes")
IN_CI = os.environ.get("CI") == "true"
RARELY = 5_000  # objects before a look at the youngest; less than what a run sets

for name in list(os.environ):  # at import, so that workers and their subprocesses never see them
    if name.startswith(("OPENAI_", "LLM_", "HF_", "LC_")) or name in (
        "LANGUAGE",
        "PROCTOR_LANG",
        "PROCTOR_STORE",
        "PROCTOR_JUDGE",
    ):
        del os.environ[name]
os.environ["LANG"] = "C.UTF-8"
os.environ["HF_HUB_DISABLE_TELEMETRY"] = "1"  # the library of the hub would tell the hub who uses it

for one in (
    signal.SIGINT,
    signal.SIGHUP,
):  # of a shell's background and of `nohup`; processes of the tests would ignore them too
    if signal.getsignal(one) == signal.SIG_IGN:
        signal.signal(one, signal.default_int_handler)

MEMORY, ROOM = Path("/dev/shm"), 8 << 30


def has_memory_for_files() -> bool:
    """Say if the folder in memory has room for what the tests write, and programs in it may be run."""
    try:
        found = os.statvfs(MEMORY)
    except OSError:
        return False
    is_closed = found.f_flag & os.ST_NOEXEC or not os.access(MEMORY, os.W_OK)
    return not is_closed and found.f_bavail * found.f_frsize >= ROOM


if (
    "TMPDIR" not in os.environ and has_memory_for_files()
):  # where nothing waits for a disk; workers are told by the variable
    os.environ["TMPDIR"] = tempfile.tempdir = tempfile.mkdtemp(prefix="t", dir=MEMORY)
    Path(tempfile.tempdir).chmod(0o711)  # servers and boxes of other users are in it
    atexit.register(shutil.rmtree, tempfile.tempdir, ignore_errors=True)

hypothesis.settings.register_profile("dev", deadline=None)
hypothesis.settings.register_profile("ci", deadline=None, derandomize=True)
hypothesis.settings.load_profile("ci" if IN_CI else "dev")


started: list[tuple[asyncio.AbstractEventLoop, asyncio.SubprocessTransport]] = []  # by asyncio, in this test
opened: weakref.WeakSet["subprocess.Popen[Any]"] = weakref.WeakSet()  # by subprocess, in any test
start_process = asyncio.BaseEventLoop.subprocess_exec


async def start_noted(self: asyncio.BaseEventLoop, *arguments: Any, **options: Any) -> Any:
    """Start a process as the event loop does, and note it."""
    transport, protocol = await start_process(self, *arguments, **options)
    started.append((self, transport))
    opened.discard(transport.get_extra_info("subprocess"))  # whose pipes are the event loop's
    return transport, protocol


asyncio.BaseEventLoop.subprocess_exec = start_noted  # type: ignore[method-assign]

open_process = subprocess.Popen.__init__


def open_noted(self: "subprocess.Popen[Any]", *arguments: Any, **options: Any) -> None:
    """Start a process as subprocess does, and note it."""
    open_process(self, *arguments, **options)
    opened.add(self)


subprocess.Popen.__init__ = open_noted  # type: ignore[method-assign]
numbers = itertools.count()  # of folders; numbered by pytest, each costs a look at all that are there

LONGEST_NAME = 200  # of a text that names a test

LoopFactory = Callable[[], asyncio.AbstractEventLoop]


class Golden(Protocol):
    def __call__(self, name: str, text: str) -> None: ...


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--rewrite-golden", action="store_true", help="write the golden files instead of comparing")
    parser.addoption("--rewrite-seconds", action="store_true", help="write tests/seconds.txt instead of comparing")
    parser.addoption(
        "--torture",
        action="store_true",
        help="the long form of the fault suite in tests/torture, and of the fuzz of pages; browsers far from the server",
    )


def pytest_configure(config: pytest.Config) -> None:
    config.pluginmanager.register(Seconds(config), "seconds")
    simulated.long = config.getoption("--torture")
    if IN_CI:
        config.pluginmanager.register(UnexpectedSkips(), "unexpected-skips")


def pytest_make_parametrize_id(val: object, argname: str) -> str | None:
    """Name bytes and long texts by their argument.

    Bytes may differ between the workers, as the time in a gzip header does; a text may have millions of characters, and
    each worker sends the names of all tests.
    """
    return argname if isinstance(val, bytes) or (isinstance(val, str) and len(val) > LONGEST_NAME) else None


@pytest.hookimpl(optionalhook=True)
def pytest_asyncio_loop_factories(config: pytest.Config, item: pytest.Item) -> Mapping[str, LoopFactory]:
    """Run the tests of connections on both event loops that a run may use."""
    if item.path.stem not in ON_BOTH_LOOPS:
        return {"asyncio": asyncio.new_event_loop}
    import uvloop

    return {"asyncio": asyncio.new_event_loop, "uvloop": uvloop.new_event_loop}


def pytest_itemcollected(item: pytest.Item) -> None:
    """Keep the tests of a file in one worker: what they import and set up together is then needed once."""
    if item.get_closest_marker("xdist_group") is None:
        item.add_marker(pytest.mark.xdist_group(item.nodeid.partition("::")[0]))


@pytest.hookimpl(trylast=True)
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Leave out what is for `--torture` alone, and begin with what takes longest; fail where xdist does not group.

    Where it does not, each worker sets up every browser and server, and nothing else says so.
    """
    if not config.getoption("--torture"):
        config.hook.pytest_deselected(items=[item for item in items if item.get_closest_marker("torture")])
        items[:] = [item for item in items if not item.get_closest_marker("torture")]
    if config.getoption("loadgroup", False):
        assert all("@" in item.nodeid for item in items), "pytest-xdist ignores xdist_group"
        items[:] = dearest_first(items)


@pytest.hookimpl(wrapper=True)
def pytest_report_to_serializable() -> Generator[None, dict[str, object] | None, dict[str, object] | None]:
    """Send no names and marks of a test with its three reports: they are most of what workers send, and nobody reads them."""
    data = yield
    if data is not None and "keywords" in data:
        data["keywords"] = {}
    return data


@pytest.hookimpl(wrapper=True)
def pytest_collection() -> Generator[None, object, object]:
    """Look for no garbage while hundreds of modules are imported, nor afterwards in what they hold.

    That is two million objects, which stay: each full collection would take more than a second.
    """
    with gc_paused():
        collected = yield
    gc.freeze()
    gc.set_threshold(RARELY, *gc.get_threshold()[1:])
    linecache.clearcache()  # else each doctest looks whether the thousand files in it have changed
    return collected


@pytest.hookimpl(tryfirst=True)
def pytest_unconfigure() -> None:
    """Look for garbage once more, and let pytest, which looks twice, find nothing to look at until Python ends."""
    gc.collect()
    gc.freeze()
    atexit.register(gc.unfreeze)


@pytest.hookimpl(wrapper=True, tryfirst=True)
def pytest_runtest_teardown() -> Iterator[None]:
    """Fail a test that leaves a process behind with nobody to reap it: its event loop is closed, and the process is not.

    The same for the pipes of a process that has ended.

    Python would warn of it as well, but only when the object is collected, in whichever test runs then.
    """
    yield
    over = [transport for loop, transport in started if loop.is_closed()]
    started[:] = [(loop, transport) for loop, transport in started if not loop.is_closed()]
    left = [one for one in over if one.get_returncode() is None or not one.is_closing()]
    assert not left, f"started by asyncio, and neither ended nor closed when the event loop was: {left}"
    unclosed = [one for one in opened if one.returncode is not None and has_open_pipes(one)]
    opened.difference_update(unclosed)  # one test is to blame, not those after it as well
    assert not unclosed, f"ended, and its pipes are open: {[one.args for one in unclosed]}"


def has_open_pipes(process: "subprocess.Popen[Any]") -> bool:
    return any(pipe is not None and not pipe.closed for pipe in (process.stdin, process.stdout, process.stderr))


class UnexpectedSkips:
    """Fails the session when a test was skipped for a reason that .ci/allowed-skips.txt does not hold."""

    def __init__(self) -> None:
        lines = (ROOT / ".ci" / "allowed-skips.txt").read_text(encoding="utf-8").splitlines()
        self.allowed = {line.strip() for line in lines if line.strip() and not line.startswith("#")}
        self.unexpected: list[str] = []

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        if not hasattr(report, "wasxfail"):
            self._note(report)

    def pytest_collectreport(self, report: pytest.CollectReport) -> None:
        self._note(report)

    def _note(self, report: pytest.TestReport | pytest.CollectReport) -> None:
        if not report.skipped:
            return
        reason = report.longrepr[2] if isinstance(report.longrepr, tuple) else str(report.longrepr)
        reason = reason.removeprefix("Skipped: ")
        if reason not in self.allowed:
            self.unexpected.append(f"{report.nodeid}: {reason}")

    @pytest.hookimpl(trylast=True)
    def pytest_sessionfinish(self, session: pytest.Session) -> None:
        if self.unexpected and session.exitstatus == pytest.ExitCode.OK:
            session.exitstatus = pytest.ExitCode.TESTS_FAILED

    def pytest_terminal_summary(self, terminalreporter: pytest.TerminalReporter) -> None:
        if self.unexpected:
            terminalreporter.section("skipped for a reason that is not in .ci/allowed-skips.txt", red=True)
            for line in self.unexpected:
                terminalreporter.write_line(line)


@pytest.fixture(autouse=True)
def _own_store(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """Each test has a default store of its own, and no language; the cache of downloads stays the person's, and is shared."""
    with pytest.MonkeyPatch.context() as patch:
        folder = make_folder(tmp_path_factory, "store-")
        patch.setenv("PROCTOR_STORE", str(folder / "runs.db"))
        patch.setattr(words, "_chosen", None)  # a command that is run in this process chooses one
        patch.setattr(sys, "path", list(sys.path))  # a person's agent brings its folder
        yield


@pytest.fixture(autouse=True, scope="session")
def _git_asked_once() -> Iterator[None]:
    """What git says of this repository stays while the tests run, and is not asked for by each of thousands of runs."""
    asked, once = git_state, functools.cache(git_state)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(
            import_module("proctor.api.prepare"),
            "git_state",
            lambda folder: (once if folder == ROOT else asked)(folder),
        )
        yield


@pytest.fixture(scope="module")
def unfrozen() -> Iterator[None]:
    """Return what the tests have frozen to the collector while the tests of a file run that need it."""
    gc.unfreeze()
    yield
    gc.collect()  # else what is garbage would be frozen as well
    gc.freeze()


@pytest.fixture(scope="session")
def replies_read_once() -> Iterator[None]:
    """`answer` reads a reply once, although a test asks whether it is right for several targets."""
    replies = import_module("proctor_judging.matching.replies")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(replies, "read_weighed_claims", functools.lru_cache(maxsize=16)(replies.read_weighed_claims))
        yield


@pytest.fixture
def tmp_path(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder of the test's own, as pytest makes one, at a hundredth of the cost where there are thousands."""
    return make_folder(tmp_path_factory, re.sub(r"\W", "_", request.node.name)[:30])


def make_folder(factory: pytest.TempPathFactory, name: str) -> Path:
    """Make a folder as `mktemp` does, which resolves two paths for each; tests ask for 30,000."""
    folder = factory.getbasetemp() / f"{name}{next(numbers)}"
    folder.mkdir(mode=0o700)
    return folder


@pytest.fixture
def golden(request: pytest.FixtureRequest) -> Golden:
    """Compares a text with `tests/golden/<name>`, or writes that file under `--rewrite-golden` (`make golden`)."""

    def compare(name: str, text: str) -> None:
        path = ROOT / "tests" / "golden" / name
        if request.config.getoption("--rewrite-golden"):
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text, encoding="utf-8")
        assert text == path.read_text(encoding="utf-8"), f"{name} changed; `make golden` rewrites it if that is meant"

    return compare
