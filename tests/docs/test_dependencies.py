"""What the package imports, it declares; what it declares, it imports."""

import ast
import re
import sys
import tomllib
from collections.abc import Iterator, Sequence
from functools import cache
from importlib.metadata import packages_distributions
from itertools import chain
from pathlib import Path

import pytest

import proctor
from proctor.benchmarks.agentdojo import official as agentdojo
from proctor.benchmarks.bfcl import environment as bfcl
from proctor.benchmarks.tau2 import upstream as tau2

pytestmark = pytest.mark.xdist_group("source")  # read once
SOURCE = Path(proctor.__file__).parent
PROJECT = tomllib.loads((SOURCE.parents[1] / "pyproject.toml").read_text(encoding="utf-8"))["project"]
OF_OTHERS = {
    "hello_agents",
    "veadk",
    "deepeval",
    "pytest",
    "google",
    "agentdojo",
    "tau2",
    *("tool_manager", "apis"),  # of API-Bank, and next of AgentBench: what only worker processes import
    "alfworld",
    "textworld",
    "utils",
    *("mlflow", "mlflow-skinny", "sqlalchemy", "alembic"),  # in the environment of tests/compat/trackers.txt
    "litellm",  # in that of tests/compat/litellm.txt
}  # systems whose faces we wear, and who runs us


CHECKED_BY = {  # modules that are imported only where another one has found the extra
    "agents/_a2a": "a2a",
    "engine/ray_": "ray",
    "agents/_adk": "adk",
    "agents/_langchain": "langgraph",
    "agents/langgraph": "langgraph",
    "agents/openai_agents": "openai-agents",
    "agents/pydantic_ai": "pydantic-ai",
    "agents/smolagents": "smolagents",
    "answer_matching/": "math",
    "api/loop": "fast",  # taken where it is there
    "benchmarks/miniwob/": "browser",
    "benchmarks/multi/figures": "plots",
    "compat/veadk/deepeval_evaluator": "deepeval",
    "cli/serving": "web",
    "compat/multi/service": "web",
    "exports/otel": "otel",
    "environments/_mcp_client": "mcp",
    "models/_llama": "local",
    "api/run": "frames",  # types only
    "reports/figures": "plots",
    "scorers/token_embedding_f1": "semantic",
    "stores/postgresql/": "postgres",
    "trajectory_matching/": "matching",
    "web/": "web",
    "web/team/oidc": "oidc",
    "web/users/database": "postgres",
    "web/mcp_server": "mcp",
}


def _name(requirement: str) -> str:
    return re.sub(r"[-_.]+", "-", re.split(r"[ \[<>=!~;@]", requirement, maxsplit=1)[0]).lower()


def declared() -> set[str]:
    extras = PROJECT["optional-dependencies"]
    return {_name(one) for group in (PROJECT["dependencies"], *extras.values()) for one in group} - {"proctor"}


@cache
def imported() -> Sequence[tuple[str, Path]]:
    """The modules of others that our code imports, by statement or by name."""
    return list(_imported())


def _imported() -> Iterator[tuple[str, Path]]:
    for path in SOURCE.rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            match node:
                case ast.Import(names=names):
                    found = [one.name for one in names]
                case ast.ImportFrom(module=str(module), level=0):
                    found = [module]
                case ast.Call(args=[ast.Constant(value=str(module)), *_]) if "import_module" in ast.unparse(node.func):
                    found = [module]
                case _:
                    continue
            yield from ((one.partition(".")[0], path) for one in found)


def imported_here() -> Iterator[tuple[str, Path]]:
    """Those that our own processes import: a worker runs where the official code is, which brings its own."""
    return (one for one in imported() if not one[1].stem.endswith("worker_program"))


def test_what_is_imported_is_declared() -> None:
    known, distributions = declared(), packages_distributions()
    missing = set()
    for module, path in imported_here():
        if module in sys.stdlib_module_names or module in OF_OTHERS or module == "proctor":
            continue
        names = {_name(one) for one in distributions.get(module, [module])}
        if not names & known:
            missing.add(f"{module} ({path.relative_to(SOURCE)})")
    assert not missing


def test_the_core_needs_msgspec_and_the_standard_library_only() -> None:
    core = {module for module, path in imported() if path.is_relative_to(SOURCE / "core")}
    assert core - sys.stdlib_module_names == {"msgspec", "proctor"}


def test_what_is_declared_is_imported() -> None:
    distributions = packages_distributions()
    official = {
        *agentdojo.NEEDS,
        *tau2.NEEDED,
        *chain.from_iterable(bfcl.NEEDS.values()),
    }  # what official code in a worker imports
    modules = {module for module, _ in imported()} | official
    used = {_name(one) for module in modules for one in distributions.get(module, [module])}
    assert not declared() - used - OF_OTHERS


def test_what_is_imported_is_in_the_core_or_in_the_extra_that_is_asked_for() -> None:
    """Else a `MissingExtra` would name an extra that does not bring what is missing."""
    distributions = packages_distributions()
    names = {extra: {_name(one) for one in group} for extra, group in PROJECT["optional-dependencies"].items()}
    core = {_name(one) for one in PROJECT["dependencies"]}
    wrong = set()
    for module, path in imported_here():
        if module in sys.stdlib_module_names or module in OF_OTHERS or module == "proctor":
            continue
        inside = path.relative_to(SOURCE).as_posix()
        asked = set(re.findall(r"(?:MissingExtra|needs)\(\"([\w-]+)\"", path.read_text(encoding="utf-8")))
        asked |= {extra for start, extra in CHECKED_BY.items() if inside.startswith(start)}
        brought = core.union(*(names[extra] for extra in asked))
        if not brought & {_name(one) for one in distributions.get(module, [module])}:
            wrong.add(f"{inside} imports {module}, {sorted(asked)} do not bring it")
    assert not wrong
