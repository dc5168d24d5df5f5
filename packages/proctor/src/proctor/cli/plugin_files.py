"""The package that `proctor init plugin` writes: a part with its entry point, and tests that it keeps what such a part promises."""

import re
from collections.abc import Mapping
from pathlib import Path
from typing import NamedTuple

from proctor.cli import plugin_texts
from proctor.cli.templates import write_files
from proctor.cli.words import t
from proctor.core.errors import BadInput
from proctor.core.version import __version__


class StarterPart(NamedTuple):
    """What is written for a kind of part: its module, the test of it, and the command that uses it.

    Attributes:
        others: further modules with what they hold, and their entry points.
    """

    group: str
    module: str
    text: str
    test: str
    example: str
    others: Mapping[str, str] = {}


PARTS = {
    "scorer": StarterPart(
        "proctor.scorers",
        "scorer",
        plugin_texts.SCORER,
        plugin_texts.SCORER_TEST,
        "proctor run questions.jsonl --agent ./agent.py:answer --scorer {project}",
        {"command": plugin_texts.COMMAND},
    ),
    "benchmark": StarterPart(
        "proctor.benchmarks",
        "benchmark",
        plugin_texts.BENCHMARK,
        plugin_texts.BENCHMARK_TEST,
        "proctor run {project} --agent baseline:oracle",
    ),
    "store": StarterPart(
        "proctor.stores",
        "store",
        plugin_texts.STORE,
        plugin_texts.STORE_TEST,
        "proctor runs list --store {scheme}://quality",
    ),
    "agent": StarterPart(
        "proctor.agents",
        "agent",
        plugin_texts.AGENT,
        plugin_texts.AGENT_TEST,
        "proctor run questions.jsonl --agent {project}:indeed",
    ),
}


def write_plugin(folder: Path, kind: str) -> None:
    """Write a package with a part of a kind; the folder's name is that of the package and of the part.

    Raises:
        BadInput: the folder's name cannot be that of a package, or a file is there.
    """
    project = folder.resolve().name
    if not re.fullmatch(r"[a-z][a-z0-9]*([-_][a-z0-9]+)*", project):
        raise BadInput(
            "'{name}' cannot be the name of a package: use small letters, digits and '-', and begin with a letter, such as my-scorer.",
            name=project,
        )
    part, module = PARTS[kind], project.replace("-", "_")
    words = {
        "project": project,
        "module": module,
        "type": "".join(word.capitalize() for word in module.split("_")),
        "scheme": project.replace("_", "-"),
        "variable": f"{module.upper()}_FOLDER",
    }
    points = [(part.group, words["scheme"], f"{module}.{part.module}")]
    points += [("proctor.commands", f"runs.{project}", f"{module}.{name}:command") for name in part.others]
    about = t("A part of Proctor.")
    texts = {
        "pyproject.toml": plugin_texts.PYPROJECT.format(
            **words, about=about, version=__version__, points=_entry_points(points)
        ),
        "README.md": plugin_texts.README.format(
            **words,
            about=about,
            example=part.example.format(**words),
            hint=t(
                "What the tests check is what every such part promises; `proctor list` shows the part once it is installed."
            ),
        ),
        f"src/{module}/__init__.py": "",
        f"tests/test_{module}.py": part.test.format(**words),
    }
    texts |= {f"src/{module}/{name}.py": text.format(**words) for name, text in {part.module: part.text, **part.others}.items()}  # fmt: skip
    write_files(folder, texts, "{where}pip install -e '.[test]' && pytest")


def _entry_points(points: list[tuple[str, str, str]]) -> str:
    return "".join(f'\n[project.entry-points."{group}"]\n"{name}" = "{value}"\n' for group, name, value in points)
