"""`pytest` runs evaluations: a marker that holds an agent against an eval set, and a fixture to do so in a test.

    @pytest.mark.proctor("shop.evalset.json", agent="./agent.py:answer", each=True, runs=3)
    def test_shop(proctor): ...

    def test_shop_again(proctor):
        run = proctor.evaluate("shop.evalset.json", agent="./agent.py:answer", thresholds={"trajectory": 0.9})

Each item runs what it needs in a store of its own, so that items can be chosen with -k and spread over processes.
"""

import warnings
from collections.abc import Generator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from rich.console import Console

    from proctor.api import Run
    from proctor.api.check import ThresholdCheck
    from proctor.core.task import Task

MARKER = "proctor(task, *, agent, each=False, runs=1, thresholds=None, pass_rate=None, **how): evaluate an agent on an eval-set file or another task; with each=True every case is a test of its own."
CASE = "_proctor_case"
INI = "proctor_inconclusive"
ON_INCONCLUSIVE = ("skip", "fail")
UNDECIDED = "proctor.inconclusive"  # the property of a report that says why
NOT_ASKED_FOR = "a test with the marker proctor takes the fixture 'proctor' too: def test_shop(proctor). Without it the test passes untested where this plugin is not installed."
WHICH = ("options", "limit", "first", "ids", "tags", "seed")  # which cases there are
WANTED = ("thresholds", "pass_rate", "by", "inconclusive")
SHOWN_FAILURES = 10
WIDTH = 110
_run_of = pytest.StashKey["Run"]()
_cases_of = pytest.StashKey[dict[tuple[str, str], "dict[str, Task]"]]()


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addini(INI, "what a gate does that is inconclusive: skip (default) or fail", default="skip")
    parser.getgroup("proctor").addoption(
        "--proctor-inconclusive",
        choices=ON_INCONCLUSIVE,
        dest=INI,
        help=f"what a gate does that is inconclusive (else the ini option {INI}, which is skip by default)",
    )


def pytest_configure(config: pytest.Config) -> None:
    config.addinivalue_line("markers", MARKER)
    if config.getini(INI) not in ON_INCONCLUSIVE:
        raise pytest.UsageError(f"{INI} is 'skip' or 'fail', not {config.getini(INI)!r}")


def pytest_report_teststatus(report: pytest.CollectReport | pytest.TestReport) -> object:
    """Count a gate that is inconclusive apart: of skipped tests the last line of pytest stays green."""
    if report.skipped and _why_undecided(report):
        return "inconclusive", "i", ("INCONCLUSIVE", {"yellow": True})
    return None


def pytest_terminal_summary(terminalreporter: Any) -> None:
    """Say which gates are inconclusive and how to make them fail, at the end and without an option."""
    reports = terminalreporter.stats.get("inconclusive", ())
    if not reports:
        return
    from proctor.i18n import language, speak

    terminalreporter.section("proctor: inconclusive", yellow=True, bold=True)
    for report in reports:
        terminalreporter.line(f"{report.nodeid}: {_why_undecided(report)}")
    how = speak("Neither passed nor failed, and the exit code does not show it. To fail: {option}", language(), option="--proctor-inconclusive=fail")  # fmt: skip
    terminalreporter.line(how, yellow=True)


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    """Make one test of each case, with `each=True`."""
    marker = metafunc.definition.get_closest_marker("proctor")
    if marker is None or not marker.kwargs.get("each"):
        return
    from proctor.core.errors import BadInput

    try:
        ids = [*_cases(marker, metafunc.definition)]
    except BadInput as error:
        raise pytest.Collector.CollectError(_said(error.sentence)) from None
    metafunc.fixturenames.append(CASE)
    metafunc.parametrize(CASE, ids, ids=ids, indirect=True)


@pytest.hookimpl(wrapper=True)
def pytest_runtest_call(item: pytest.Item) -> Generator[None, object, object]:
    """Evaluate what the marker says before the body of the test runs."""
    if item.get_closest_marker("proctor") is not None:
        if "proctor" not in getattr(item, "fixturenames", ("proctor",)):
            warnings.warn(NOT_ASKED_FOR, pytest.PytestWarning, stacklevel=1)
        _evaluate_marker(item)
    return (yield)


class Proctor:
    """Evaluates in a test: `evaluate`, or `await evaluate_async(...)`; `run` is that of the marker."""

    def __init__(self, item: pytest.Item) -> None:
        self._item = item

    @property
    def run(self) -> "Run":
        """The run of this test's marker."""
        if _run_of not in self._item.stash:
            raise pytest.UsageError("proctor.run belongs to a test with the marker proctor; call proctor.evaluate(...)")
        return self._item.stash[_run_of]

    def evaluate(self, task: Any, *, agent: object, **how: object) -> "Run":
        """Evaluate a task with an agent, fail the test if the agent is not good enough, and return the run.

        runs: how often each case. thresholds: the least mean of a number, by the name of its scorer, or one for all.
        pass_rate: the least share of trials that pass. by: "interval" (default) or "value". inconclusive: "skip"
        or "fail", where the interval holds the threshold; by default what --proctor-inconclusive says, or skip. The rest as for `proctor.evaluate`.
        """
        from proctor import evaluate

        task, given, wanted = _arguments(task, agent, how, self._item.path.parent)
        return self._good(evaluate(task, **given), wanted)

    async def evaluate_async(self, task: Any, *, agent: object, **how: object) -> "Run":
        """Evaluate in an async test, and return the run."""
        from proctor import evaluate_async

        task, given, wanted = _arguments(task, agent, how, self._item.path.parent)
        return self._good(await evaluate_async(task, **given), wanted)

    def _good(self, run: "Run", wanted: Mapping[str, Any]) -> "Run":
        """Return the run; fails the test where it is not good enough, with the cases that failed."""
        from proctor.api.check import check

        self._item.addfinalizer(run.store.close)
        wanted = dict(wanted)
        config = self._item.config
        undecided = wanted.pop("inconclusive", None) or config.getoption(INI) or config.getini(INI)
        if undecided not in ON_INCONCLUSIVE:
            raise pytest.UsageError(f"inconclusive= is 'skip' or 'fail', not {undecided!r}")
        result = check(run, **wanted)
        _note(self._item, run, result)
        if result.faults or (result.undecided and undecided == "fail"):
            pytest.fail(_message(run, result), pytrace=False)
        if result.undecided:
            self._item.user_properties.append((UNDECIDED, _inconclusive(result)))
            pytest.skip(_inconclusive(result))
        return run


@pytest.fixture
def proctor(request: pytest.FixtureRequest) -> Proctor:
    """Evaluate agents in a test, and fail it if they are not good enough."""
    return Proctor(request.node)


@pytest.fixture(name=CASE)
def _case(request: pytest.FixtureRequest) -> str:
    return str(request.param)


def _evaluate_marker(item: pytest.Item) -> None:
    from proctor.core.errors import BadInput

    marker = item.get_closest_marker("proctor")
    assert marker is not None
    how = dict(marker.kwargs)
    try:
        task = _task_of(marker.args, how)
        agent = how.pop("agent", None)
        if agent is None:
            agent = _fixture(item, "agent")
        if how.pop("each", False):
            assert isinstance(item, pytest.Function)  # it has parameters
            task = _cases(marker, item)[str(item.callspec.params[CASE])]
            how = {name: value for name, value in how.items() if name not in WHICH}
        item.stash[_run_of] = Proctor(item).evaluate(task, agent=agent, **how)
    except BadInput as error:
        pytest.fail(_said(error.sentence), pytrace=False)


def _task_of(args: tuple[object, ...], how: dict[str, object]) -> Any:
    from proctor.core.errors import BadInput

    given = [*args, *(how.pop(name) for name in ("task", "file") if name in how)]
    if len(given) != 1:
        raise BadInput(
            'The marker proctor takes one task, such as @pytest.mark.proctor("shop.evalset.json", agent=...).'
        )
    return given[0]


def _fixture(item: pytest.Item, name: str) -> object:
    """Return the value of a fixture of the tests, for agents that need some setting up."""
    from proctor.core.errors import BadInput

    try:
        return item._request.getfixturevalue(name) if isinstance(item, pytest.Function) else None
    except pytest.FixtureLookupError:
        raise BadInput("Name the agent in the marker proctor, agent=..., or in a fixture called 'agent'.") from None


def _cases(marker: pytest.Mark, node: pytest.Item | pytest.Function) -> "dict[str, Task]":
    """Return a task of one case for each id; the file is read once a process."""
    from msgspec.structs import replace

    from proctor.api import resolve
    from proctor.core.run import Selection
    from proctor.engine.selection import choose

    how = dict(marker.kwargs)
    task = _resolve_task(_task_of(marker.args, how), node.path.parent)
    which = {name: how.get(name) for name in WHICH}
    known = node.config.stash.setdefault(_cases_of, {})
    key = (str(task) if isinstance(task, str) else str(id(task)), repr(which))
    if key not in known:
        loaded, _ = resolve.task(task, which["options"] or {})
        selection = Selection(
            limit=which["limit"], first=which["first"], ids=tuple(which["ids"] or ()), tags=which["tags"] or {}
        )
        samples = choose(loaded, selection, which["seed"] or 0).read()
        known[key] = {sample.id: replace(loaded, samples=[sample], planned=1) for sample in samples}
    return known[key]


def _arguments(task: Any, agent: Any, how: dict[str, Any], folder: Path) -> tuple[Any, dict[str, Any], dict[str, Any]]:
    """Return the task and the keyword arguments of `evaluate`, and those of `check`."""
    how = dict(how)
    wanted: dict[str, Any] = {name: how.pop(name) for name in WANTED if name in how}
    if "runs" in how:
        how["attempts"] = how.pop("runs")
    how.setdefault("store", ":memory:")
    if wanted.get("thresholds") is not None:
        how.setdefault("bars", wanted["thresholds"])
    return _resolve_task(task, folder), {"agent": _resolve_agent(agent, folder), **how}, wanted


def _resolve_task(task: object, folder: Path) -> Any:
    """Return a path next to the test, or else one in the working directory."""
    if not isinstance(task, str | Path):
        return task
    head, colon, rest = str(task).partition(":")
    path = folder / head
    return f"{path}{colon}{rest}" if head and path.exists() else str(task)


def _resolve_agent(agent: object, folder: Path) -> object:
    if not isinstance(agent, str):
        return agent
    kind, colon, rest = agent.partition(":")
    if (folder / kind).exists():
        return f"{folder / kind}{colon}{rest}"
    if colon and rest and "//" not in rest and kind.isidentifier() and (folder / rest).exists():
        return f"{kind}:{folder / rest}"
    return agent


def _note(item: pytest.Item, run: "Run", found: "ThresholdCheck") -> None:
    """Numbers for JUnit and for `-rA`."""
    noted: dict[str, object] = {
        f"proctor.{estimate.name}": estimate.value for estimate in (found.rate, *run.estimates) if not estimate.slice
    }
    if found.rate.low is not None:
        noted["proctor.pass_rate.interval"] = f"{found.rate.low:.4f} {found.rate.high:.4f}"
    tried: dict[str, list[bool | None]] = {}
    for trial in found.trials:
        tried.setdefault(trial.sample_id, []).append(trial.passed)
    for sample_id, passes in tried.items():
        noted[f"proctor.case[{sample_id}]"] = f"{passes.count(True)}/{len(passes)}"
    item.user_properties.extend((name, value) for name, value in noted.items() if value is not None)


def _message(run: "Run", found: "ThresholdCheck") -> str:
    from proctor.i18n import language, speak
    from proctor.reports.printing import printed
    from proctor.reports.story import stored_story
    from proctor.reports.terminal import failure

    lang = language()
    failed: dict[str, int] = {}
    for trial in found.trials:
        if not trial.passed:
            failed.setdefault(trial.sample_id, trial.attempt)
    cases = len({trial.sample_id for trial in found.trials})
    head = speak(
        "{task} with {agent}: {failed} of {cases} cases did not pass every time.",
        lang,
        task=run.record.task,
        agent=run.record.agent,
        failed=len(failed),
        cases=cases,
    )
    lines = [head, *(f"  {speak(fault, lang)}" for fault in (*found.faults, *found.undecided))]

    def show(console: "Console") -> None:
        for sample_id, attempt in [*failed.items()][:SHOWN_FAILURES]:
            story = stored_story(run.store, run.id, sample_id, attempt, characters=100_000)
            console.print()
            if story is None:
                console.print(speak("{sample}: not run", lang, sample=sample_id), markup=False)
            else:
                failure(story, lang, console, with_attempt=run.record.spec.attempts > 1)
        if len(failed) > SHOWN_FAILURES:
            console.print(speak("… and {count} more.", lang, count=len(failed) - SHOWN_FAILURES), markup=False)

    return "\n".join([*lines, printed(show, WIDTH)])


def _inconclusive(found: "ThresholdCheck") -> str:
    from proctor.i18n import language, speak

    lang = language()
    reasons = "; ".join(speak(reason, lang) for reason in found.undecided)
    return speak("inconclusive: {reasons}. More samples or runs would narrow the interval.", lang, reasons=reasons)


def _why_undecided(report: pytest.CollectReport | pytest.TestReport) -> str:
    """Return why a gate is inconclusive; empty where none is."""
    return next((str(value) for name, value in getattr(report, "user_properties", ()) if name == UNDECIDED), "")


def _said(sentence: Any) -> str:
    from proctor.i18n import language, speak

    return speak(sentence, language())
