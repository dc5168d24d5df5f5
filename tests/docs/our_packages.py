"""What the packages of this repository declare: their projects by name, and what one needs of the others."""

import re
import tomllib
from collections.abc import Collection
from itertools import chain

from pages import ROOT

PROJECTS = {
    path.parent.name: tomllib.loads(path.read_text(encoding="utf-8"))["project"]
    for path in sorted((ROOT / "packages").glob("*/pyproject.toml"))
}


def name_of(requirement: str) -> str:
    return re.sub(r"[-_.]+", "-", re.split(r"[ \[<>=!~;@]", requirement, maxsplit=1)[0]).lower()


def required(package: str, extras: Collection[str] = ()) -> set[str]:
    """Return what a package of ours needs, with some of its extras, and with what the packages of ours that it needs need."""
    project = PROJECTS[package]
    found: set[str] = set()
    for requirement in chain(project["dependencies"], *(project["optional-dependencies"][extra] for extra in extras)):
        name = name_of(requirement)
        inside = re.search(r"\[(.*)\]", requirement)
        found |= required(name, inside[1].split(",") if inside else ()) if name in PROJECTS else {name}
    return found


def declared(package: str) -> set[str]:
    """Return what a package itself names, in its extras too."""
    project = PROJECTS[package]
    groups = (project["dependencies"], *project.get("optional-dependencies", {}).values())
    return {name_of(one) for group in groups for one in group} - {*PROJECTS}


def needed_of_ours(package: str) -> set[str]:
    """Return a package of ours with those that it needs."""
    direct = [name_of(one) for one in PROJECTS[package]["dependencies"] if name_of(one) in PROJECTS]
    return {package}.union(*map(needed_of_ours, direct))
