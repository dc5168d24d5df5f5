"""Names that are looked for on objects are declared in a type; where that cannot be, the reason stands here."""

import ast
import re
from pathlib import Path

import pytest

PACKAGES = Path(__file__).parents[2] / "packages"
SOURCE = {  # by the place in the package; in the kernel, without its name
    path.relative_to(root).as_posix().removeprefix("proctor/"): path
    for root in sorted(PACKAGES.glob("*/src"))
    for path in sorted(root.rglob("*.py"))
}
LIBRARY = "objects of another library, whose versions differ"
ARGUMENTS = "arguments as the original scripts read them: a name that is not there has a default"
ALLOWED = {
    "proctor_adapters/agents/adk_events.py": LIBRARY,
    "proctor_adapters/agents/_adk_plugins.py": LIBRARY,
    "proctor_adapters/agents/_adk_folder.py": "modules of the user, read as google-adk reads them",
    "agents/agent_errors.py": "errors of any provider's library",
    "proctor_adapters/agents/_library_agents.py": LIBRARY,
    "proctor_adapters/agents/_adk_imports.py": LIBRARY,
    "proctor_adapters/agents/_adk_waiting.py": LIBRARY,
    "proctor_adapters/agents/_langchain_interrupts.py": LIBRARY,
    "proctor_adapters/agents/_langchain.py": LIBRARY,
    "proctor_adapters/agents/a2a.py": LIBRARY,
    "proctor_adapters/agents/adk.py": LIBRARY,
    "proctor_adapters/agents/hello_agents.py": LIBRARY,
    "proctor_adapters/agents/langgraph.py": LIBRARY,
    "proctor_adapters/agents/openai_agents.py": LIBRARY,
    "proctor_adapters/agents/pydantic_ai.py": LIBRARY,
    "proctor_adapters/agents/smolagents.py": LIBRARY,
    "proctor_judging/matching/values.py": "numbers of Python, mpmath and fractions, of which only some are complex",
    "api/loop.py": "signals that only some systems have",
    "proctor_compat/hello_agents/_llm.py": LIBRARY,
    "proctor_compat/hello_agents/_playing.py": "agents of any make, for their name",
    "proctor_compat/hello_agents/gaia_tool.py": LIBRARY,
    "proctor_compat/multi/functions.py": ARGUMENTS,
    "proctor_compat/multi/adapter.py": "evaluators of the user, as the original loads them",
    "proctor_compat/multi/article.py": ARGUMENTS,
    "proctor_compat/multi/inspecting.py": ARGUMENTS,
    "proctor_compat/veadk/adk.py": LIBRARY,
    "proctor_compat/veadk/adk_evaluator.py": LIBRARY,
    "proctor_compat/veadk/deepeval_evaluator.py": LIBRARY,
    "proctor_compat/veadk/metrics.py": LIBRARY,
    "proctor_compat/veadk/sets.py": LIBRARY,
    "proctor_benchmarks/boxes/cli_agents.py": "an environment, or what acts on one for an episode",
    "core/declared.py": "the one place that reads what parts say of themselves",
    "proctor_adapters/datasets/tables.py": LIBRARY,
    "environments/_signatures.py": "types of Pydantic, and the remarks of any library on types",
    "proctor_adapters/evalsets/recording.py": LIBRARY,
    "proctor_adapters/evalsets/noun.py": LIBRARY,
    "proctor_judging/judges/deepeval.py": LIBRARY,
    "proctor_adapters/bridge/guests/guest_data.py": LIBRARY,
    "proctor_adapters/bridge/guests/guest_tasks.py": LIBRARY,
    "proctor_adapters/bridge/guests/lmeval_worker_program.py": LIBRARY,
    "proctor_adapters/models/litellm.py": LIBRARY,
    "models/cache.py": "errors that SQLite itself raised have its code, others do not",
    "proctor_ci/pytest_plugin.py": "items and reports of other plugins",
    "stores/_opening.py": "errors that SQLite itself raised have its code, others do not",
    "proctor_web/app.py": "the state of a request, where the guard sets it only for a session",
}
LOOKED_FOR = ("getattr", "hasattr", "setattr", "delattr")


def undeclared(path: Path) -> list[str]:
    """Return the lines that look for an attribute by a literal name; names that Python itself declares are no concern."""
    code = path.read_text(encoding="utf-8")
    if not any(f"{name}(" in code for name in LOOKED_FOR):  # which is quick to see
        return []
    return [
        f"{path.relative_to(PACKAGES).as_posix()}:{node.lineno}: {ast.unparse(node)}"
        for node in ast.walk(ast.parse(code))
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id in LOOKED_FOR
        if len(node.args) > 1 and isinstance(node.args[1], ast.Constant)
        if not str(node.args[1].value).startswith("__")
    ]


def test_no_attribute_is_looked_for_that_no_type_declares() -> None:
    wrong = [line for name, path in SOURCE.items() if name not in ALLOWED for line in undeclared(path)]
    assert not wrong, "declare the name in core/declared.py or a Protocol, or give a reason here:\n" + "\n".join(wrong)


@pytest.mark.parametrize("name", ALLOWED)
def test_every_reason_is_still_needed(name: str) -> None:
    assert undeclared(SOURCE[name])


def test_the_type_checker_is_overruled_in_few_places_and_never_about_attributes() -> None:
    lines = [
        f"{path.name}: {line.strip()}"
        for path in SOURCE.values()
        for line in path.read_text(encoding="utf-8").splitlines()
        if re.search(r"#\s*type:\s*ignore", line)
    ]
    assert len(lines) <= 10, "\n".join(lines)
    assert not [line for line in lines if "attr-defined" in line]
