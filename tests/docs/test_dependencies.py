"""What a package imports, it declares; what it declares, it imports."""

import ast
import re
import sys
from collections.abc import Iterator, Mapping, Sequence
from functools import cache
from importlib import metadata
from itertools import chain
from pathlib import Path

import pytest
from our_packages import PROJECTS, declared, name_of, needed_of_ours, required
from pages import ROOT, SOURCES, source_files

import proctor
from proctor.cli.tree import COMMANDS
from proctor.core.packages import BROUGHT
from proctor_benchmarks.agentdojo import official as agentdojo
from proctor_benchmarks.bfcl import environment as bfcl
from proctor_benchmarks.tau2 import upstream as tau2
from sources import imports_in

pytestmark = pytest.mark.xdist_group("source")  # read once
OURS = {folder.name for folder in SOURCES}
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
    "proctor_adapters/agents/_a2a": "a2a",
    "proctor_adapters/ray/": "ray",
    "proctor_adapters/agents/_adk": "adk",
    "proctor_adapters/agents/_langchain": "langgraph",
    "proctor_adapters/agents/langgraph": "langgraph",
    "proctor_adapters/agents/openai_agents": "openai-agents",
    "proctor_adapters/agents/pydantic_ai": "pydantic-ai",
    "proctor_adapters/agents/smolagents": "smolagents",
    "proctor_judging/matching/": "math",
    "api/loop": "fast",  # taken where it is there
    "proctor_benchmarks/miniwob/": "browser",
    "proctor_benchmarks/multi/figures": "plots",
    "proctor_compat/veadk/deepeval_evaluator": "deepeval",
    "proctor_adapters/exports/otel": "otel",
    "proctor_adapters/environments/_mcp_client": "mcp",
    "proctor_adapters/models/_llama": "local",
    "api/run": "frames,plots",  # types only
    "api/comparison": "plots",  # likewise
    "proctor_ci/plan": "plots",  # likewise
    "proctor_ci/trends": "plots",  # likewise
    "proctor_adapters/exports/figures": "plots",
    "proctor_judging/scorers/token_embedding_f1": "semantic",
    "proctor_adapters/postgresql/": "postgres",
    "trajectory_matching/": "matching",
    "proctor_web/team/oidc": "oidc",
    "proctor_web/users/database": "postgres",
    "proctor_web/mcp_server": "mcp",
}


def package_of(path: Path) -> str:
    return path.relative_to(ROOT / "packages").parts[0]


def inside(path: Path) -> str:
    """Return the place of a file in its package; that of the kernel's without the package."""
    return path.relative_to(ROOT / "packages" / package_of(path) / "src").as_posix().removeprefix("proctor/")


@cache
def distributions_by_module() -> Mapping[str, Sequence[str]]:
    """Return what `importlib.metadata` says; it reads the list of files of everything that is installed."""
    return metadata.packages_distributions()


@cache
def imported() -> Sequence[tuple[str, Path]]:
    """The modules of others that our code imports, by statement or by name."""
    return list(_imported())


def _imported() -> Iterator[tuple[str, Path]]:
    for path in source_files():
        names = [alias.name for node in imports_in(path) if isinstance(node, ast.Import) for alias in node.names]
        names += [
            node.module
            for node in imports_in(path)
            if isinstance(node, ast.ImportFrom) and node.module and not node.level
        ]
        for name in [*names, *_imported_by_name(path)]:
            yield name.partition(".")[0], path


def _imported_by_name(path: Path) -> Iterator[str]:
    code = path.read_text(encoding="utf-8")
    if "import_module" not in code:
        return
    for node in ast.walk(ast.parse(code)):
        match node:
            case ast.Call(args=[ast.Constant(value=str(module)), *_]) if "import_module" in ast.unparse(node.func):
                yield module


def imported_here() -> Iterator[tuple[str, Path]]:
    """Those that our own processes import: a worker runs where the official code is, which brings its own."""
    return (one for one in imported() if not one[1].stem.endswith("worker_program") and "guests" not in one[1].parts)


def test_what_is_imported_is_declared() -> None:
    distributions = distributions_by_module()
    missing = set()
    for module, path in imported_here():
        if module in sys.stdlib_module_names or module in OF_OTHERS | OURS:
            continue
        known = set[str]().union(*map(declared, needed_of_ours(package_of(path))))
        if not {name_of(one) for one in distributions.get(module, [module])} & known:
            missing.add(f"{module} ({inside(path)})")
    assert not missing


def test_the_core_needs_msgspec_and_the_standard_library_only() -> None:
    core = {module for module, path in imported() if inside(path).startswith("core/")}
    assert core - sys.stdlib_module_names == {"msgspec", "proctor"}


def test_the_kernel_itself_needs_eight_libraries() -> None:
    """What only an option needs is an extra, or comes with the package that has the option."""
    assert len(required("proctor")) <= 8


@pytest.mark.parametrize("package", PROJECTS)
def test_what_is_declared_is_imported(package: str) -> None:
    distributions = distributions_by_module()
    official = {
        *agentdojo.NEEDS,
        *tau2.NEEDED,
        *chain.from_iterable(bfcl.NEEDS.values()),
    }  # what official code in a worker imports
    modules = {module for module, path in imported() if package_of(path) == package}
    modules |= official if package == "proctor-benchmarks" else set()
    used = {name_of(one) for module in modules for one in distributions.get(module, [module])}
    assert not declared(package) - used - OF_OTHERS


def test_what_is_imported_is_in_the_core_or_in_the_extra_that_is_asked_for() -> None:
    """Else a `MissingExtra` would name an extra that does not bring what is missing."""
    distributions = distributions_by_module()
    wrong = set()
    for module, path in imported_here():
        if module in sys.stdlib_module_names or module in OF_OTHERS | OURS:
            continue
        asked = set(re.findall(r"(?:MissingExtra|needs)\(\"([\w-]+)\"", path.read_text(encoding="utf-8")))
        asked |= {
            extra
            for start, extras in CHECKED_BY.items()
            if inside(path).startswith(start)
            for extra in extras.split(",")
        }
        brought = required(package_of(path)) | required("proctor", asked)
        if not brought & {name_of(one) for one in distributions.get(module, [module])}:
            wrong.add(f"{inside(path)} imports {module}, {sorted(asked)} do not bring it")
    assert not wrong


def test_all_packages_have_one_version_and_need_each_other_at_that() -> None:
    versions = {project["version"] for project in PROJECTS.values()}
    assert versions == {proctor.__version__}
    for project in PROJECTS.values():
        needed = chain(project["dependencies"], *project.get("optional-dependencies", {}).values())
        ours = [one for one in needed if name_of(one) in PROJECTS and one.partition("[")[0] != project["name"]]
        assert all(one.endswith(f"=={proctor.__version__}") for one in ours), ours


def test_the_kernel_knows_what_the_other_packages_bring() -> None:
    """So that whoever asks for it reads the line that installs it."""
    said = {
        (package, group, name)
        for package, project in PROJECTS.items()
        for group, points in project.get("entry-points", {}).items()
        if package != "proctor" and group.startswith("proctor.") and group != "proctor.locales"
        for name in points
    }
    extras = PROJECTS["proctor"]["optional-dependencies"]
    known = {
        (name_of(extras[extra][0]), group, name)
        for extra, groups in BROUGHT.items()
        for group, names in groups.items()
        for name in names
    }
    assert known == said
    commands = {path.replace(" ", ".") for path, entry in COMMANDS.items() if not entry.code}
    assert commands == {name for _, group, name in said if group == "proctor.commands"}
    assert {*map(str, PROJECTS)} - {"proctor"} == {
        f"proctor-{extra}" for extra in BROUGHT if f"proctor-{extra}" in PROJECTS
    }
