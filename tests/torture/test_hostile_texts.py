"""Hostile texts in every place a text can have, through every output that there is: found in the registries, so that the next one is walked too.

Nothing is executed or fetched, no terminal is steered, files stay in their folder, and no text takes much longer than a plain one of its length.
"""

import asyncio
import re
import time
from collections.abc import Iterator, Mapping
from contextlib import closing
from pathlib import Path
from typing import Any
from urllib.parse import quote

import click
import pytest
from click.testing import CliRunner, Result
from hostile_texts import LONG, NAME, TEXTS, faults_of, harmless, in_html, in_json, in_json_lines, on_a_terminal, run_of
from page_fuzz import Ask, Asker, crawl
from starlette.routing import Route
from web_site import AppSite

import proctor
from proctor import registry
from proctor.cli import app
from proctor_web.mcp_server import TOOLS, make_server
from proctor_web.site import operations, pages

SLOWER = 12  # times a plain text of the same length, at most
LEAST_SECONDS = 1.0  # what is quicker says nothing about the text
FILLED = {"RUN": "hostile", "A": "hostile", "B": "again", "[RUN]...": "hostile", "RUN|FILE...": "hostile"}
ABOUT_RUNS = {
    "runs explain",
    "ci baseline set",
    "runs list",
    "ci trends",
    "judge agree",
}  # that are asked by hand below, or for no RUN alone
CHANGES = {"runs delete", "runs copy", "runs fork"}
OPTIONS = {
    "ci gate": ["--against", "again"],
    "runs report": ["--out", "page.html"],
    "runs export": ["--format", "junit"],
}
SUFFIXES = (".html", ".md", ".json", ".xml")


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory, request: pytest.FixtureRequest) -> Path:
    """A folder in another one, with a store of two hostile runs and a plain one."""
    folder = tmp_path_factory.mktemp("around") / "inside"
    folder.mkdir()
    texts = TEXTS | LONG if request.config.getoption("--torture") else dict([*TEXTS.items()][::3])
    for name, run_id in ((NAME, "hostile"), (NAME, "again")):
        assert run_of(texts, name, run_id, str(folder / "runs.db")).outcomes["scored"]
    plain = {key: harmless(text) for key, text in texts.items()}
    run_of(plain, harmless(NAME), "plain", str(folder / "runs.db"))
    return folder


@pytest.fixture(autouse=True)
def inside(folder: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Work in that folder; nothing may be written outside of it."""
    monkeypatch.chdir(folder)
    monkeypatch.setenv("PROCTOR_STORE", str(folder / "runs.db"))
    monkeypatch.setenv("PROCTOR_HOME", str(folder / "home"))
    yield
    assert [one.name for one in folder.parent.iterdir()] == ["inside"]


def said(*words: str) -> Result:
    """What a command says; nothing in it steers a terminal, and it is no error of ours."""
    done = CliRunner().invoke(app, words)
    assert done.exception is None or isinstance(done.exception, SystemExit), (words, done.exception)
    assert done.exit_code in (0, 1, 2, 3), (words, done.stderr[-500:])
    assert not on_a_terminal(done.stdout), words
    assert not on_a_terminal(done.stderr), words
    return done


def commands(command: click.Command = app, path: tuple[str, ...] = ()) -> Iterator[tuple[str, click.Command]]:
    if isinstance(command, click.Group):
        for name in command.list_commands(click.Context(command)):
            found = command.get_command(click.Context(command), name)
            assert found is not None
            yield from commands(found, (*path, name))
    else:
        yield " ".join(path), command


def about_runs() -> Iterator[tuple[str, click.Command, list[str]]]:
    """Every command that is given runs, with hostile ones."""
    for name, command in commands():
        given = [one.make_metavar(click.Context(command)) for one in command.params if isinstance(one, click.Argument)]
        if given and set(given) <= FILLED.keys() and name not in CHANGES:
            yield name, command, [*name.split(), *(FILLED[one] for one in given), *OPTIONS.get(name, [])]


def test_every_command_that_is_given_runs_is_walked() -> None:
    walked = {name for name, _, _ in about_runs()}
    assert {
        "show",
        "runs samples",
        "runs report",
        "runs export",
        "compare",
        "ci delta",
        "ci gate",
        "runs check",
    } <= walked
    named = {
        name
        for name, command in commands()
        for one in command.params
        if isinstance(one, click.Argument) and "RUN" in one.make_metavar(click.Context(command))
    }
    assert named <= walked | ABOUT_RUNS | CHANGES, "say here how it is walked"


@pytest.mark.parametrize("name", [name for name, _, _ in about_runs()])
def test_a_command_steers_no_terminal_and_writes_files_that_harm_nobody(name: str, folder: Path) -> None:
    [(command, words)] = [(command, words) for one, command, words in about_runs() if one == name]
    options = {option for one in command.params for option in one.opts}
    assert said(*words).exit_code in (0, 1, 3)
    for option, check in (("--json", in_json), ("--jsonl", in_json_lines)):
        if option in options:
            assert not check(said(*words, option).stdout)
    for flag in {"--failures"} & options:
        said(*words, flag)
    for word in {"--search"} & options:
        said(*words, word, NAME)
    for suffix in SUFFIXES if "--out" in options and name != "runs export" else ():
        for audience in ("developer", "user") if "--for" in options and suffix == ".html" else ("",):
            path = folder / f"{name}{audience}{suffix}"
            said(*words, "--out", str(path), *(["--for", audience] if audience else []))
            assert not path.exists() or not faults_of(path), path


def test_the_story_of_every_sample_is_told(folder: Path) -> None:
    with closing(proctor.open_run("hostile", store=str(folder / "runs.db")).store) as store:
        ids = [trial.sample_id for trial in store.trials("hostile")]
    for id in ids:
        assert said("runs", "explain", "hostile", "--", id).exit_code == 0, id
    said("ci", "trends"), said("runs"), said("ci", "baseline", "set", NAME, "hostile"), said("ci", "baseline", "list")
    assert not in_json(said("runs", "--json").stdout)


@pytest.mark.parametrize("words", [["show"], ["run"], ["run", "bfcl", "--agent"], ["runs", "export", "hostile", "--format"], ["list"], [], ["runs", "report", "hostile", "--out"]])  # fmt: skip
@pytest.mark.parametrize("key", ["clipboard", "turned", "rich"])
def test_a_hostile_name_is_refused_visibly(words: list[str], key: str) -> None:
    assert said(*words, TEXTS[key]).exit_code == 2


@pytest.mark.parametrize("format", registry.EXPORTS.names())
def test_an_export_stays_in_its_place_and_is_what_it_promises(
    format: str, folder: Path, request: pytest.FixtureRequest
) -> None:
    part = registry.EXPORTS.find(format)
    place = folder / f"exports-{format}"
    place.mkdir()
    others = {"x.csv", "x.jsonl", "x.json"} if request.config.getoption("--torture") or format == "table" else set()
    for out in {f"x{part.suffix}", *others}:
        said("runs", "export", "hostile", "--format", format, "--out", str(place / out))
    for file in place.rglob("*"):
        own = file.name == f"x{part.suffix}" or out_of_folder(file, place)
        if file.is_file() and (own or format in ("table", "otel")):
            assert not faults_of(file), file


def out_of_folder(file: Path, place: Path) -> bool:
    """True for a file of a folder that an export wrote."""
    return file.parent != place


async def asked(folder: Path, long: bool) -> tuple[set[str], list[str]]:
    """Ask for every page; return the shapes of the addresses, and what was wrong."""
    site = AppSite(folder)
    try:
        [(name, value)] = site.browser().cookies.items()
        asker = Asker(site.app, {"cookie": f"{name}={value}"})
        ids = [trial.sample_id for trial in proctor.open_run("hostile", store=site.store).trials()]
        starts = [f"/runs/hostile/samples/{quote(id, safe='')}" for id in (ids if long else ids[::4])]
        routes = [one for one in pages(site.workspace) if isinstance(one, Route) and "GET" in (one.methods or ())]
        templates = [one.path for one in routes] + [f"/api/v1{one.path}" for one in operations() if one.method == "GET"]
        starts += [address for one in templates if (address := filled(one, ids[0])) and not one.endswith("/events")]
        starts += [f"/compare{more}?run=hostile&run=again" for more in ("", "/why")] + [
            "/gate?run=hostile&against=again"
        ]
        asks = await crawl(asker, starts, most=2_000 if long else 45)
        wrong = []
        for ask in asks:
            if ask.method == "GET" and not ask.path.endswith(("/events", "/report.json", ".zip")):
                wrong += await faults_at(asker, ask)
        return {ask.path for ask in asks}, wrong
    finally:
        site.workspace.close()


def filled(template: str, sample: str) -> str:
    known = {"run": "hostile", "sample": quote(sample, safe=""), "task": quote(NAME, safe=""), "attempt": "1"}
    names = re.findall(r"\{(\w+)", template)
    return re.sub(r"\{(\w+)[^}]*\}", lambda one: known[one[1]], template) if set(names) <= known.keys() else ""


async def faults_at(asker: Asker, ask: Ask) -> list[str]:
    answer = await asker.ask(ask)
    found = [] if 0 < answer.status < 500 and not answer.error else [f"{answer.status} {answer.error[-500:]}"]
    kind = answer.headers.get("content-type", "")
    if "html" in kind:
        found += in_html(answer.text)
    found += on_a_terminal("".join(f"{name}: {value} " for name, value in answer.headers.items()))
    return [f"{ask}: {one}" for one in found]


def test_no_page_runs_or_fetches_what_a_text_says(folder: Path, request: pytest.FixtureRequest) -> None:
    paths, wrong = asyncio.run(asked(folder, bool(request.config.getoption("--torture"))))
    assert len(paths) > 20
    assert not wrong, "\n".join(wrong[:10])


async def test_an_assistant_is_told_of_hostile_runs_in_json(folder: Path) -> None:
    from mcp import Client

    site = AppSite(folder)
    given: Mapping[str, Any] = {"run": "hostile", "task": NAME, "sample": "-"}
    try:
        async with Client(make_server(site.workspace, "en")) as client:
            for tool in (await client.list_tools()).tools:
                names = tool.input_schema.get("required", [])
                result: Any = await client.call_tool(tool.name, {name: given.get(name, "hostile") for name in names})
                assert result.content[0].text
            assert len(TOOLS) > 5
    finally:
        site.workspace.close()


@pytest.mark.torture
@pytest.mark.parametrize("words", [words for _, _, words in about_runs()], ids=lambda words: words[0])
def test_no_text_takes_much_longer_than_a_plain_one(words: list[str]) -> None:
    def seconds(*given: str) -> float:
        start = time.perf_counter()
        said(*given)
        return time.perf_counter() - start

    alone = [word for word in words if word not in ("again", "--against")]
    if words[0] == "compare" or words[:2] in (["ci", "delta"], ["ci", "gate"]):
        plain = seconds(*[{"hostile": "plain", "again": "plain"}.get(word, word) for word in words])
    else:
        plain = seconds(*[{"hostile": "plain"}.get(word, word) for word in alone])
    assert seconds(*words) < SLOWER * max(plain, LEAST_SECONDS)


@pytest.mark.torture
@pytest.mark.parametrize("key", LONG)
def test_no_scorer_stalls_on_a_text_made_for_it(key: str, folder: Path) -> None:
    plain = harmless(LONG[key])
    for name in registry.SCORERS.names():
        took = []
        for text in (plain, LONG[key]):
            task = proctor.Task(
                name="t", version="1", samples=[proctor.Sample.ask("a", text, target=text)], scorers=[name]
            )
            start = time.perf_counter()
            try:
                proctor.evaluate(
                    task, agent=lambda question: question, store=str(folder / f"s{len(list(folder.iterdir()))}.db")
                )
            except proctor.BadInput:  # it is not for a task like this, or needs options
                break
            took.append(time.perf_counter() - start)
        else:
            assert took[1] < SLOWER * max(took[0], LEAST_SECONDS), (name, took)
