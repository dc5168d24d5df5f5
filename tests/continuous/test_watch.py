"""A watch: when it runs, what people are told, and that nothing is run twice or forgotten."""

import threading
from collections.abc import Callable
from pathlib import Path

import pytest
from msgspec.structs import replace

import proctor
from proctor import Sample, Task
from proctor.core.errors import BadInput, ProviderFailed
from proctor.core.sentence import Sentence, say
from proctor_ci import channels
from proctor_ci.firing import Fired, Order
from proctor_ci.gate import Decision
from proctor_ci.watch import FileWatcher, read_state
from proctor_ci.watch_file import read_watch_file

DAILY = """
channels = ["ALERTS"]
timezone = "UTC"
{top}
[[watch]]
name = "nightly"
task = "./shop.py:task"
schedule = "0 3 * * *"
{more}
"""
DAY = 86_400.0
NIGHT = 20_000 * DAY + 3 * 3_600  # 3:00


class World:
    """A clock, an agent whose quality can be set, channels that can fail, and what was said."""

    def __init__(self, folder: Path) -> None:
        self.folder, self.now = folder, NIGHT - 3_600
        self.fired: list[Order] = []
        self.sent: list[tuple[str, str]] = []
        self.told: list[str] = []
        self.right, self.fail = 38, ""
        self.is_down = False
        self.error: Sentence | None = None
        self.decision_of_gate: Decision | None = None
        self.controls: tuple[str, ...] = ()

    def watcher(self, *, top: str = "", more: str = "") -> FileWatcher:
        path = self.folder / "watch.toml"
        path.write_text(DAILY.format(top=top, more=more))
        return FileWatcher(
            read_watch_file(path),
            store="runs.db",
            tell=lambda sentence: self.told.append(str(sentence)),
            now=lambda: self.now,
            fire=self.fire,
            send=self.send,
        )

    def fire(self, order: Order) -> Fired:
        self.fired.append(order)
        if self.error is not None:
            return Fired(error=self.error)
        number = len(self.fired)

        async def agent(question: str) -> str:
            if self.is_down:
                raise ProviderFailed("Overloaded.", kind="http_503")
            moved = (int(question) + number) % 40  # other samples each time, as of an agent that is not sure
            return "yes" if moved < self.right else "no"

        agent.name = "bot"  # type: ignore[attr-defined]
        samples = [Sample.ask(str(n), str(n), target="yes") for n in range(40)]
        task = Task(name="t", samples=samples, scorers=["exact"])
        run = proctor.evaluate(task, agent=agent, store="runs.db", run_id=f"run-{number}", max_failed=1.0)
        store = run.store

        async def dated() -> None:
            record = replace(run.record, created=self.now)
            await store.begin(record)
            await store.end(record)

        import asyncio

        asyncio.run(dated())
        return Fired(runs=(run.id,), decisions=(self.decision_of_gate,), controls=self.controls)

    def send(self, address: str, title: str, body: str) -> str:
        if not self.fail:
            self.sent.append((address, body))
        return self.fail

    def night(self, watcher: FileWatcher) -> None:
        """Let a day pass until it is time, and the alerts be delivered."""
        self.now += DAY
        watcher.step()
        watcher.courier.deliver()

    @property
    def bodies(self) -> list[str]:
        return [body for _, body in self.sent]


@pytest.fixture
def world(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> World:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "data"))
    monkeypatch.setenv("ALERTS", "json://127.0.0.1:1/one")
    return World(tmp_path)


def test_it_runs_when_it_is_time_and_once_for_all_that_was_missed(world: World) -> None:
    watcher = world.watcher()
    watcher.step()
    assert world.fired == []
    world.now = NIGHT + 1
    watcher.step()
    watcher.step()
    assert len(world.fired) == 1
    assert "nightly: ended: run-1 95.0% [83.5–98.6%]" in world.told
    world.now += 5 * DAY
    again = world.watcher()  # after a restart
    again.step()
    again.step()
    assert len(world.fired) == 2


def test_jumps_of_the_clock_neither_repeat_a_run_nor_stop_the_watch(world: World) -> None:
    watcher = world.watcher()
    watcher.step()
    world.now = NIGHT + 60
    watcher.step()
    world.now = NIGHT - 600  # back, and past three again
    watcher.step()
    world.now = NIGHT + 30
    watcher.step()
    assert len(world.fired) == 1
    world.now = NIGHT + 100 * 365 * DAY
    watcher.step()
    world.now = NIGHT + DAY - 60
    watcher.step()
    assert len(world.fired) == 2
    assert any("the clock went back" in one for one in world.told)
    world.now = NIGHT + DAY + 60
    watcher.step()
    assert len(world.fired) == 3


def test_a_run_that_was_cut_off_is_resumed_with_the_time_it_began(world: World) -> None:
    watcher = world.watcher()
    watcher.step()
    world.now = NIGHT + 1

    def killed(order: Order) -> Fired:
        world.fired.append(order)
        raise KeyboardInterrupt

    watcher._fire = killed
    with pytest.raises(KeyboardInterrupt):
        watcher.step()
    world.now += 7_200
    world.watcher().step()
    assert [order.began for order in world.fired] == [NIGHT + 1, NIGHT + 1]
    assert any("resumed" in one for one in world.told)
    world.watcher().step()
    assert len(world.fired) == 2


def test_a_change_of_a_file_runs_it_once_the_file_holds_still(world: World) -> None:
    prompt = world.folder / "prompt.md"
    prompt.write_text("one")
    watcher = world.watcher(more='signals = ["*.md"]')
    watcher.step()
    prompt.write_text("tw")
    watcher.step()
    prompt.write_text("two")
    watcher.step()
    assert world.fired == []
    watcher.step()
    watcher.step()
    assert len(world.fired) == 1
    assert any("*.md changed" in one for one in world.told)


def test_a_fall_is_said_once_and_so_is_the_recovery(world: World) -> None:
    watcher = world.watcher()
    watcher.step()
    for _ in range(9):
        world.night(watcher)
    assert world.sent == []
    world.right = 18
    for _ in range(4):
        world.night(watcher)
    [body] = world.bodies
    assert body.startswith("nightly: t: a fall since run-10, from 95.0% (mean of 9 runs) to 45.0%")
    world.right = 38
    for _ in range(4):
        world.night(watcher)
    assert len(world.bodies) == 2
    assert "over: t: a rise since run-14" in world.bodies[1]


def test_a_gate_and_a_lost_infrastructure_are_said_once(world: World) -> None:
    watcher = world.watcher()
    watcher.step()
    for decision in ("no_go", "no_go", "inconclusive", "go"):
        world.decision_of_gate = decision
        world.night(watcher)
    assert ["NO-GO" in one for one in world.bodies] == [True, False]
    assert "over: t: GO by the gate again" in world.bodies[1]
    world.sent.clear()
    world.decision_of_gate = None
    world.is_down = True
    world.night(watcher)
    world.is_down = False
    world.night(watcher)
    assert ["40 of 40 trials were lost" in world.bodies[0], "holds again" in world.bodies[1]] == [True, True]


def test_failures_in_a_row_are_said_when_there_are_enough(world: World) -> None:
    watcher = world.watcher(more="failures = 3")
    watcher.step()
    world.error = say("the agent is gone")
    for _ in range(5):
        world.night(watcher)
    assert world.bodies == ["nightly: Failed 3 times in a row: the agent is gone"]
    world.error = None
    world.night(watcher)
    assert world.bodies[1:] == ["nightly: over: It runs again."]


def test_a_store_that_goes_away_fails_the_run_and_not_the_watch(world: World) -> None:
    watcher = world.watcher(more="failures = 1")
    watcher.step()
    watcher._url = str(world.folder / "watch.toml" / "runs.db")
    world.night(watcher)
    assert "Failed 1 times in a row" in world.bodies[0]
    watcher._url = "runs.db"
    world.night(watcher)
    assert "It runs again." in world.bodies[1]


def test_spending_is_counted_by_month(world: World) -> None:
    watcher = world.watcher(more="per_month = { minutes = 0.000000001 }")
    watcher.step()
    world.night(watcher)
    world.night(watcher)
    assert len(world.bodies) == 1
    assert "minutes" in world.bodies[0]


def test_nobody_is_told_in_quiet_hours_and_then_all_at_once(world: World) -> None:
    watcher = world.watcher(top='quiet = "22:00-07:30"', more="failures = 1")
    watcher.step()
    world.error = say("no")
    world.night(watcher)
    world.error = None
    world.night(watcher)
    assert world.sent == []
    world.now += 6 * 3_600
    watcher.courier.deliver()
    [body] = world.bodies
    assert body.splitlines() == ["nightly: Failed 1 times in a row: no", "nightly: over: It runs again."]


def test_a_channel_that_fails_is_tried_later_and_later_and_is_told(world: World) -> None:
    watcher = world.watcher(more="failures = 1")
    watcher.step()
    world.error, world.fail = say("no"), "connection refused"
    world.night(watcher)
    watcher.courier.deliver()
    assert [one for one in world.told if "not delivered" in one] == [
        "ALERTS#1: not delivered (connection refused); again in 30 s."
    ]
    world.now += 31
    watcher.courier.deliver()
    [letter] = read_state(watcher._file).letters
    assert (letter.tries, letter.why) == (2, "connection refused")
    world.fail = ""
    world.now += 61
    world.watcher().courier.deliver()  # also after a restart
    assert len(world.sent) == 1
    assert read_state(watcher._file).letters == []


def test_a_slow_channel_does_not_block_the_run(world: World) -> None:
    watcher = world.watcher(more="failures = 1")
    go, waits = threading.Event(), threading.Event()

    def slow(*_: str) -> str:
        waits.set()
        go.wait(10)
        return ""

    watcher.courier._send = slow
    world.error = say("no")
    watcher.step()
    world.now += DAY
    watcher.step()
    watcher.courier.start()
    assert waits.wait(10)
    world.now += DAY
    watcher.step()
    assert len(world.fired) == 2
    go.set()
    watcher.courier.stop(10)


def test_two_watches_of_one_file_do_not_run_at_once(world: World) -> None:
    first, second = world.watcher(), world.watcher()
    with first._alone(), pytest.raises(BadInput, match="watched by process"), second._alone():
        pass
    with second._alone():
        pass


def test_the_judge_is_told_apart_by_controls(world: World, make_controls: Callable[[bool], str]) -> None:
    watcher = world.watcher(more='controls = "controls.jsonl"')
    watcher.step()
    for night in range(12):
        is_low = night >= 9
        world.right = 18 if is_low else 38
        world.controls = (make_controls(is_low),)
        world.night(watcher)
    said = "\n".join(world.bodies)
    assert "a fall since control-10" in said
    assert "the control items moved, so the judge did" in said
    assert "the control items moved too, so it may be the judge" in said


@pytest.fixture
def make_controls(world: World) -> Callable[[bool], str]:
    (world.folder / "controls.jsonl").write_text("{}\n")
    count = iter(range(1, 100))

    def make(is_low: bool) -> str:
        number = next(count)
        samples = [Sample.ask(str(n), str(n), target="yes") for n in range(30)]
        task = Task(name="t", samples=samples, scorers=["exact"])

        async def recorded(question: str) -> str:
            return "yes" if not is_low or int(question) % 3 == 0 else "no"

        recorded.name = "recorded"  # type: ignore[attr-defined]
        run = proctor.evaluate(task, agent=recorded, store="runs.db", run_id=f"control-{number}")
        return run.id

    return make


@pytest.mark.parametrize(
    ("text", "part"),
    [
        ("", "no [[watch]]"),
        ("[[watch]]\nname = 'a'\ntask = 't'\nshedule = '0 3 * * *'", "schedule"),
        ("[[watch]]\nname = 'a'\ntask = 't'\nschedule = '0 25 * * *'", "no schedule"),
        ("[[watch]]\nname = 'a'\ntask = 't'\nschedule = '0 3 31 2 *'", "no schedule"),
        ("[[watch]]\nname = 'a'\ntask = 't'", "never run"),
        ("[[watch]]\nname = 'a'\nschedule = '0 3 * * *'", "either a tier or a task"),
        ("[[watch]]\nname = 'a'\ntier = 'nightly'\nschedule = '0 3 * * *'", "tier"),
        ("[[watch]]\nname = 'a'\ntask = 't'\nschedule = '0 3 * * *'\ndrop = 3", "share"),
        ("[[watch]]\nname = 'a'\ntask = 't'\nschedule = '0 3 * * *'\nper_month = { dollars = 3 }", "dollars"),
        ("[[watch]]\nname = 'a'\ntask = 't'\nschedule = '0 3 * * *'\n" * 2, "two watches"),
        ("channels = ['json://secret-token@host']\n[[watch]]\nname = 'a'\ntask = 't'\nsignals = ['git']", "environment variable"),
        ("channels = ['NOWHERE']\n[[watch]]\nname = 'a'\ntask = 't'\nsignals = ['git']", "NOWHERE"),
        ("quiet = 'at night'\n[[watch]]\nname = 'a'\ntask = 't'\nsignals = ['git']", "22:00-08:00"),
        ("timezone = 'Asia/Beijing'\n[[watch]]\nname = 'a'\ntask = 't'\nsignals = ['git']", "Asia/Beijing"),
        ("[[watch]\n", "cannot be read"),
    ],
)  # fmt: skip
def test_what_cannot_be_right_is_found_before_anything_runs(world: World, text: str, part: str) -> None:
    path = world.folder / "watch.toml"
    path.write_text(text)
    with pytest.raises(BadInput) as error:
        read_watch_file(path)
    assert part in str(error.value)
    assert "secret-token" not in str(error.value)


def test_an_address_that_apprise_does_not_know_is_refused_without_its_text(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ALERTS", "nosuch://secret-token")
    with pytest.raises(BadInput, match="ALERTS#1") as error:
        channels.addresses(["ALERTS"])
    assert "secret-token" not in str(error.value)


@pytest.fixture(autouse=True)
def no_waiting(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(channels, "POLL_SECONDS", 0.01)
