"""What may be started from a browser: nothing but what the folders hold and names reach, however it is written."""

import typing
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import msgspec
import pytest
from web_site import AppSite

from proctor import evaluate, registry
from proctor.core.errors import BadInput
from proctor.core.run import RunSpec
from proctor_ci.request import RunRequest, again, words_of
from proctor_web.runs.choices import list_choices
from proctor_web.runs.options import OUTSIDE, agent_fields, task_fields, values
from proctor_web.runs.permitted import check, folder_to_resume, locate

HARMLESS = {  # texts that name neither files nor code nor places; a new option has to be put here, or into OUTSIDE
    *("model", "base_url", "address", "headers", "stop", "tools", "sub_agent", "reply", "calls", "extra_body", "body"),
    *("level", "attack", "version", "oracle", "subject", "image_type", "answer_position", "user", "api_key_env"),
    *(
        "revision",
        "lang",
        "image_place",
        "missing_image",
        "scoring",
        "split",
        "agent",
        "replay",
        "method",
        "mode",
        "names",
    ),
    *("fallback", "tool_results", "max_steps", "rejections"),
    "simulator",  # a model, by its name; one in a file is code, as that of a user
    *("host", "partner"),  # models too
    *("sites", "sparql"),  # addresses, as base_url
    "thinking",  # a word or a number
    "format",  # the name of a reader
}


@pytest.fixture
def site(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[AppSite]:
    monkeypatch.chdir(tmp_path)
    site = AppSite(tmp_path)
    (site.agents / "mine.py").write_text("def answer(q): return q\n", encoding="utf-8")
    (site.agents / "shop").mkdir()
    (site.agents / "shop" / "agent.py").write_text("root_agent = object()\n", encoding="utf-8")
    (site.evalsets / "a.evalset.json").write_text("{}", encoding="utf-8")
    (tmp_path / "outside.py").write_text("def answer(q): return q\n", encoding="utf-8")
    (site.agents / "link.py").symlink_to(tmp_path / "outside.py")
    yield site
    site.workspace.close()


def spec(**given: Any) -> RunSpec:
    return RunSpec(**{"task": "bfcl/simple_python", "agent": "openai:gpt-x", **given})


ALLOWED: list[dict[str, Any]] = [
    {},
    {"agent": "agents/mine.py:answer"},
    {"agent": "adk:agents/shop"},
    {"agent": "langgraph:agents/mine.py:answer"},
    {"agent": "a2a:https://agent.example/card"},
    {"agent": "http://127.0.0.1:9000/ask"},
    {"agent": "baseline:oracle"},
    {"agent": "local:smollm2-135m"},
    {"agent": "openai:meta-llama/Llama-3"},
    {"task": "evalsets/a.evalset.json"},
    {"task": "evalsets/a.evalset.json:one,two"},
    {"task": "agents/mine.py:answer"},
    {"scorers": ("exact", "exact:contains", "rubric:answer-quality")},
    {"judge": "openai:a, openai:b", "judge_options": {"repeats": 3}},
    {"user": "model:openai:gpt-x"},
    {"agent_options": {"temperature": 0, "base_url": "http://127.0.0.1:8000/v1", "api_key_env": "MY_API_KEY"}},
    {"task_options": {"user": "openai:gpt-x", "mode": "prompt"}},
]
REFUSED: list[dict[str, Any]] = [
    {"agent": "process:sh -c id"},
    {"agent": "outside.py:answer"},
    {"agent": "./agents/../outside.py:answer"},
    {"agent": "agents/link.py:answer"},
    {"agent": "adk:."},
    {"agent": "adk:outside"},
    {"agent": "adk:os.path:join"},
    {"agent": "langgraph:os:system"},
    {"agent": "os:system"},
    {"agent": "replay:/etc/passwd"},
    {"agent": "local:/tmp/model.gguf"},
    {"agent": "local:../model.gguf"},
    {"agent": "openai:"},
    {"agent": "http:https://evil.example/{env:OPENAI_API_KEY}"},
    {"agent": ""},
    {"task": "os:system"},
    {"task": "outside.py:answer"},
    {"task": "/etc/passwd"},
    {"task": "judged-items:/etc/passwd"},
    {"task": "bfcl/../../etc"},
    {"task": "nothing"},
    {"task": "x" * 5_000},
    {"agent": "x" * 5_000},
    {"scorers": ("x" * 5_000,)},
    {"scorers": ("os:system",)},
    {"scorers": ("outside.py:answer",)},
    {"scorers": ("rubric:/etc/rubric.toml",)},
    {"judge": "scripted:/etc/passwd"},
    {"judge": "openai:a, ./outside.py:model"},
    {"user": "scripted:/etc/passwd"},
    {"user": "outside.py:answer"},
    {"environment": ("mcp:sh -c id",)},
    {"environment": ("process:id",)},
    {"environment": ("python:outside.py:Shop",)},
    {"task_options": {"search": "os:system"}},
    {"task_options": {"cassette": "new-file.json"}},
    {"task_options": {"data": "/etc"}},
    {"task_options": {"browser": "id"}},
    {"task_options": {"python": "id"}},
    {"task_options": {"partner": "./outside.py:model"}},
    {"task_options": {"host": {"model": "outside.py:model"}}},
    {"task_options": {"allow_code": True}},
    {"task_options": {"allow_code": 1}},
    {"task_options": {"user": {"model": "./outside.py:model"}}},
    {"task_options": {"criteria": {"custom_metrics": {"x": {"code_config": {"name": "os:system"}}}}}},
    {"agent_options": {"headers": {"x": "env:HOME"}}},
    {"agent_options": {"headers": {"x": "Bearer {env:HOME}"}}},
    {"agent_options": {"client_certificate": "/etc/key.pem"}},
    {"agent_options": {"api_key_env": "AWS_SECRET_ACCESS_KEY"}},
    {"judge_options": {"anything": ["~/x"]}},
]


@pytest.mark.parametrize("given", ALLOWED, ids=str)
def test_what_the_folders_hold_and_names_reach_may_be_started(site: AppSite, given: dict[str, Any]) -> None:
    check(site.workspace, spec(**given))


LOCATED: list[tuple[str, str, str]] = [  # the field, the name of a stored run, and where it is here
    ("task", "sets/a.evalset.json", "evalsets/a.evalset.json"),
    ("task", "/elsewhere/evalsets/a.evalset.json:one", "evalsets/a.evalset.json:one"),
    ("task", "./mine.py:answer", "agents/mine.py:answer"),
    ("agent", "../old/agents/mine.py:answer", "agents/mine.py:answer"),
    ("agent", "adk:/srv/agents/shop", "adk:agents/shop"),
    ("agent", "./link.py:answer", "./link.py:answer"),  # which leads out of the folder
    ("agent", "openai:gpt-x", "openai:gpt-x"),
    ("task", "bfcl/simple_python", "bfcl/simple_python"),
    ("task", "../../etc/passwd", "../../etc/passwd"),
]


@pytest.mark.parametrize(("field", "name", "here"), LOCATED)
def test_what_a_stored_run_names_is_found_where_it_is_here(site: AppSite, field: str, name: str, here: str) -> None:
    asked = msgspec.structs.replace(RunRequest(task="bfcl", agent="openai:m"), **{field: name})
    assert getattr(locate(site.workspace, asked), field) == here


def test_a_run_is_run_again_from_another_folder_or_its_page_says_why_not(
    site: AppSite, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (site.evalsets / "q.jsonl").write_text('{"question": "a?", "answer": "a?"}\n', encoding="utf-8")
    (tmp_path / "other.jsonl").write_text('{"question": "a?", "answer": "a?"}\n', encoding="utf-8")
    for folder, name in ((site.evalsets, "q"), (tmp_path, "other")):
        monkeypatch.chdir(folder)
        evaluate(f"{name}.jsonl", agent="baseline:echo", store=site.store, run_id=name)
    monkeypatch.chdir(site.agents)
    browser = site.browser()
    assert "/runs/new?from=q" in browser.get("/runs/q").text
    form = browser.get("/runs/new?from=q").text
    assert str(site.evalsets / "q.jsonl") in form
    page = browser.get("/runs/other").text
    assert "/runs/new?from=other" not in page
    assert "Not run again from here" in page
    assert "is not one that may be started from here" in page


def test_a_run_is_resumed_only_in_a_folder_from_which_all_it_names_is_inside(
    site: AppSite, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(site.evalsets)
    workspace = site.workspace
    assert folder_to_resume(workspace, spec()) == site.evalsets
    assert folder_to_resume(workspace, spec(task="a.evalset.json")) == site.evalsets
    assert folder_to_resume(workspace, spec(agent="./agents/mine.py:answer")) == tmp_path
    assert folder_to_resume(workspace, spec(task="evalsets/a.evalset.json", agent="agents/mine.py:answer")) == tmp_path
    for refused in (
        spec(agent="./outside.py:answer"),  # it is there, seen from the folder of the run
        spec(agent="agents/link.py:answer"),
        spec(task="a.evalset.json", agent="agents/mine.py:answer"),  # from two folders
        spec(agent="agents/mine.py:answer", environment=("python:./outside.py:answer",)),
        spec(agent="agents/mine.py:answer", agent_options={"headers": "./outside.py"}),
    ):
        with pytest.raises(BadInput):
            folder_to_resume(workspace, refused)


@pytest.mark.parametrize("given", REFUSED, ids=lambda given: str(given)[:80])
def test_anything_else_is_refused(site: AppSite, given: dict[str, Any]) -> None:
    with pytest.raises(BadInput):
        check(site.workspace, spec(**given))
    body = {"task": "bfcl", "agent": "openai:x", **msgspec.to_builtins(given)}
    answer = site.program().post("/api/v1/runs", json=body)
    assert answer.status_code == 400
    assert not (site.agents.parent / "runs.db.starts").exists()


def test_options_of_proctor_toml_are_the_users_own(site: AppSite) -> None:
    Path("proctor.toml").write_text('[agent_options]\nheaders = {x = "env:MY_TOKEN"}\n', encoding="utf-8")
    check(site.workspace, spec(agent_options={"headers": {"x": "env:MY_TOKEN"}}))
    with pytest.raises(BadInput):
        check(site.workspace, spec(agent_options={"headers": {"x": "env:OTHER"}}))


def test_every_text_that_an_option_takes_was_thought_about() -> None:
    """A new option of a part is offered in the browser: it must name neither files nor code, or be in OUTSIDE."""
    agents = {
        field.name
        for name in registry.AGENTS.names()
        for field in agent_fields(f"{name}:x")
        if field.kind in ("text", "json")
    }
    tasks = {
        field.name
        for name in registry.BENCHMARKS.names()
        for field in task_fields(name)
        if field.kind in ("text", "json")
    }
    assert (agents | tasks) <= HARMLESS
    assert not HARMLESS & OUTSIDE


def test_the_form_offers_the_options_that_parts_declare() -> None:
    fields = {field.name: field for field in agent_fields("openai:x")}
    assert (fields["temperature"].kind, fields["max_tokens"].kind, fields["stream"].kind) == (
        "number",
        "integer",
        "yes_no",
    )
    assert fields["tools"].choices == ("native", "prompt")
    assert "environment variable that holds the key" in fields["api_key_env"].help
    assert "client_certificate" not in fields
    assert {field.name for field in task_fields("bfcl/simple_python")} == {"mode", "names", "calls", "mended"}
    assert task_fields("evalsets/a.evalset.json") == agent_fields("agents/mine.py:answer") == ()
    given = {"temperature": "0.5", "stop": "5", "stream": "true", "seed": "many", "model": ""}
    assert values([*fields.values()], given) == {"temperature": 0.5, "stop": "5", "stream": True, "seed": "many"}


def test_the_folders_are_read_without_running_their_code(site: AppSite) -> None:
    (site.agents / "evil.py").write_text(
        "open('ran', 'w').close()\nfrom proctor import Task\n\ndef sums() -> Task: ...\n\nasync def reply(q): ...\n",
        encoding="utf-8",
    )
    (site.agents / "broken.py").write_text("def (", encoding="utf-8")
    found = list_choices(site.workspace)
    assert {"adk:agents/shop", "agents/mine.py:answer", "agents/evil.py:reply", "baseline:oracle"} <= {
        one.name for one in found.agents
    }
    assert {"agents/evil.py:sums", "evalsets/a.evalset.json", "bfcl"} <= {one.name for one in found.tasks}
    assert not Path("ran").exists()


def test_a_request_is_the_command_of_the_terminal_and_no_value_becomes_a_flag() -> None:
    request = RunRequest(
        task="--help",
        agent="openai:--yes",
        limit=5,
        tags={"level": "--1"},
        agent_options={"stop": "5", "temperature": 0.5},
        scorers=("exact", "json"),
        budget=typing.cast(Any, msgspec.convert({"minutes": 2}, type(RunRequest(task="", agent="").budget))),
    )
    words = words_of(request, run="r", store="runs.db")
    assert words == [
        *("run", "--agent=openai:--yes", "--limit=5", "--tag=level=--1", "--scorer=exact", "--scorer=json"),
        *("--budget=minutes=2.0", '--agent-set=stop="5"', "--agent-set=temperature=0.5", "--run=r", "--store=runs.db"),
        *("--", "--help"),
    ]
    with pytest.raises(BadInput, match="no name of an option"):
        words_of(RunRequest(task="t", agent="a", agent_options={"a.b": 1}), run="r", store="s")


def test_a_run_is_asked_for_again_with_the_same_options(site: AppSite) -> None:
    run = site.run("first", attempts=2)
    record = msgspec.structs.replace(run.record, provenance={})
    asked = again(record)
    assert (asked.task, asked.attempts, asked.scorers) == ("capitals", 2, ("exact",))
    with pytest.raises(BadInput, match="made from Python objects"):
        again(run.record)
