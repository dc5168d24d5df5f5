"""Build the documentation as pages: `python .ci/site.py FOLDER`.

The pages stay where they are, in docs/ and docs/zh/; docs/README.md and its translation name the doors and the order. A site is
`FOLDER/LANGUAGE/VERSION/`, so that each version is a plain folder: building another one leaves those before it. Next to each page lies
its Markdown, and `llms.txt` lists them for assistants.
"""

import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
import tomllib
from collections.abc import Iterator
from functools import partial
from pathlib import Path, PurePosixPath
from typing import NamedTuple

ROOT = Path(__file__).resolve().parents[1]
SKILL = ROOT / "skills" / "proctor" / "SKILL.md"  # in English only, as assistants read it
PARTS = Path(__file__).with_suffix("")  # the templates and styles of ours
LINK = re.compile(r"(\]\()([^)\s#]+)((?:#[^)\s]*)?\))")
FENCE = re.compile(r"^(```[^\n]*\n.*?^```)$", re.MULTILINE | re.DOTALL)
TITLED = re.compile(r"^```(\w+) ([^\n]+)\n", re.MULTILINE)
ROW = re.compile(r"^\| \[([^\]]+)\]\(([^)]+)\) \| (.*) \|$")
FEATURES = (
    "content.code.copy", "navigation.footer", "navigation.indexes", "navigation.path", "navigation.sections", "navigation.tabs",
    "navigation.top", "search.highlight", "toc.follow",
)  # fmt: skip


class Language(NamedTuple):
    """A language of the site: where its pages are, and what is said of them."""

    name: str
    title: str
    pages: Path
    suffix: str
    about: str


LANGUAGES = {
    "en": Language("en", "English", ROOT / "docs", "", "Proctor evaluates agents and language models, and says how sure it is."),
    "zh": Language("zh", "中文", ROOT / "docs" / "zh", ".zh", "Proctor 评测智能体和语言模型，并说明结果有多可信。"),
}  # fmt: skip


class Entry(NamedTuple):
    """A page as a table of docs/README.md names it; `group` is '' for one directly inside its door."""

    door: str
    group: str
    title: str
    page: str
    question: str


def main(folder: Path) -> None:
    """Build both languages for the version of the project, and the pages that lead to them."""
    version = tomllib.loads((ROOT / "packages/proctor/pyproject.toml").read_text(encoding="utf-8"))["project"][
        "version"
    ]
    for language in LANGUAGES.values():
        _build(language, version, folder.resolve() / language.name / version)
        _list_versions(folder / language.name)
    (folder / "llms.txt").write_text(_index_for_assistants(LANGUAGES["en"], f"en/{version}/"), encoding="utf-8")
    _redirect(folder, {"en": "en/", "zh": "zh/"})


def _build(language: Language, version: str, site: Path) -> None:
    with tempfile.TemporaryDirectory() as name:
        work = Path(name)
        for path, text in _staged(language):
            (work / "docs" / path).parent.mkdir(parents=True, exist_ok=True)
            head = (
                "---\nsearch:\n  exclude: true\n---\n" if path.startswith("decisions/0") else ""
            )  # history, half of all words
            (work / "docs" / path).write_text(head + TITLED.sub(r'```\1 title="\2"\n', text), encoding="utf-8")
        shutil.copytree(ROOT / "docs" / "images", work / "docs" / "images")
        shutil.copy(ROOT / "docs" / "example.ipynb", work / "docs")
        shutil.copy(ROOT / "LICENSE", work / "docs" / "LICENSE.txt")
        shutil.copytree(PARTS / "assets", work / "docs" / "assets")
        shutil.copytree(PARTS / "templates", work / "templates")
        (work / "mkdocs.yml").write_text(json.dumps(_settings(language, version), ensure_ascii=False), encoding="utf-8")
        command = [str(Path(sys.executable).with_name("zensical")), "build", "--strict", "--config-file", "mkdocs.yml"]
        plain = os.environ | {"NO_COLOR": "1"}
        done = subprocess.run(command, cwd=work, env=plain, capture_output=True, text=True, check=False)
        if done.returncode:
            sys.exit(f"{language.name}: {done.stdout}{done.stderr}")
        shutil.rmtree(site, ignore_errors=True)
        shutil.copytree(work / "site", site)
    for path, text in _staged(language):
        (site / path).write_text(text, encoding="utf-8")
    (site / "llms.txt").write_text(_index_for_assistants(language, ""), encoding="utf-8")


def _staged(language: Language) -> Iterator[tuple[str, str]]:
    """Yield each page of a language with its path in the site, its links set to where their targets are there."""
    own = sorted(path for path in language.pages.rglob("*.md") if language.name == "zh" or "zh" not in path.parts)
    for source in (*own, *(ROOT / f"{name}{language.suffix}.md" for name in ("CONTRIBUTING", "SECURITY")), SKILL):
        path = _path_in_site(source)
        relink = partial(_relink, source.parent, PurePosixPath(path).parent)
        pieces = FENCE.split(source.read_text(encoding="utf-8"))  # every second one is a block of code
        pieces[::2] = [LINK.sub(relink, piece) for piece in pieces[::2]]
        text = re.sub(r"^\[(中文|English)\]\([^)]*\)\n\n", "", "".join(pieces), flags=re.MULTILINE)
        yield path, text


def _relink(source: Path, folder: PurePosixPath, found: re.Match[str]) -> str:
    if "://" in found[2]:
        return found[0]
    return f"{found[1]}{os.path.relpath(_path_in_site((source / found[2]).resolve()), folder)}{found[3]}"


def _path_in_site(path: Path) -> str:
    """Return where a file of the repository is in the site of its language; a translation has the path of its original."""
    if path == SKILL:
        return "skill.md"
    if path.parent == ROOT:
        name = path.stem.removesuffix(".zh").lower()
        return {"readme": "index.md", "license": "LICENSE.txt"}.get(name, f"{name}.md")
    inside = path.relative_to(ROOT / "docs").as_posix().removeprefix("zh/")
    return re.sub(r"\bREADME\.md$", "index.md", inside)


def entries(language: Language) -> Iterator[Entry]:
    """Yield the rows of the tables of docs/README.md, which are the navigation of the site."""
    door = group = ""
    for line in (language.pages / "README.md").read_text(encoding="utf-8").splitlines():
        if line.startswith("## "):
            door, group = line[3:], ""
        elif line.startswith("### "):
            group = line[4:]
        elif row := ROW.match(line):
            yield Entry(door, group, row[1], row[2].replace("README.md", "index.md"), row[3])


def _navigation(language: Language) -> list[object]:
    doors: dict[str, list[object]] = {}
    groups: dict[tuple[str, str], list[object]] = {}
    for entry in entries(language):
        door = doors.setdefault(entry.door, [])
        if entry.group and (entry.door, entry.group) not in groups:
            groups[entry.door, entry.group] = []
            door.append({entry.group: groups[entry.door, entry.group]})
        groups.get((entry.door, entry.group), door).append({entry.title: entry.page})
    return [{"Proctor": "index.md"}, *({name: pages} for name, pages in doors.items())]


def _settings(language: Language, version: str) -> dict[str, object]:
    toggles = {"en": ("Follow the system", "Light", "Dark"), "zh": ("跟随系统", "浅色", "深色")}[language.name]
    palette = [
        {"media": media, "scheme": scheme, "toggle": {"icon": f"lucide/{icon}", "name": name}}
        for media, scheme, icon, name in (
            ("(prefers-color-scheme)", "default", "sun-moon", toggles[1]),
            ("(prefers-color-scheme: light)", "default", "sun", toggles[2]),
            ("(prefers-color-scheme: dark)", "slate", "moon", toggles[0]),
        )
    ]
    return {
        "site_name": "Proctor 监考",
        "site_description": language.about,
        "use_directory_urls": False,
        "theme": {
            "name": "material",
            "language": language.name,
            "font": False,
            "custom_dir": "templates",
            "features": FEATURES,
            "palette": palette,
        },
        "extra_css": ["assets/proctor.css"],
        "extra": {
            "generator": False,
            "version": {"provider": "mike"},
            "alternate": [{"name": one.title, "lang": one.name, "link": f"../../{one.name}/{version}/"} for one in LANGUAGES.values()],
        },
        "markdown_extensions": [
            "tables",
            "sane_lists",
            {"toc": {"permalink": True, "slugify": {"object": "pymdownx.slugs.slugify", "kwds": {"case": "lower"}}}},
            {"pymdownx.highlight": {"anchor_linenums": False}},
            "pymdownx.superfences",
        ],
        "validation": {"links": {"anchors": "warn", "not_found": "warn"}},
        "nav": _navigation(language),
    }  # fmt: skip


def _index_for_assistants(language: Language, start: str) -> str:
    """Return the text of an llms.txt (llmstxt.org): every page with the question that it answers."""
    lines = ["# Proctor 监考", "", f"> {language.about}"]
    door = ""
    for entry in entries(language):
        if entry.door != door:
            lines += ["", f"## {entry.door}", ""]
            door = entry.door
        lines.append(f"- [{entry.title}]({start}{entry.page}): {entry.question}")
    return "\n".join(lines) + "\n"


def _list_versions(folder: Path) -> None:
    """Write what the choice of versions reads, the newest first, and lead to that one."""
    key = {
        path.name: tuple(int(part) for part in re.findall(r"\d+", path.name))
        for path in folder.iterdir()
        if path.is_dir()
    }
    versions = sorted(key, key=lambda name: key[name], reverse=True)
    listed = [
        {"version": name, "title": name, "aliases": ["latest"] if name == versions[0] else []} for name in versions
    ]
    (folder / "versions.json").write_text(json.dumps(listed), encoding="utf-8")
    _redirect(folder, {"en": f"{versions[0]}/"})


def _redirect(folder: Path, pages: dict[str, str]) -> None:
    """Lead a browser to the page of its language, the first one where it has another or runs no scripts."""
    usual = next(iter(pages.values()))
    script = f"const pages = {json.dumps(pages)}; location.replace((pages[navigator.language.slice(0, 2)] ?? '{usual}') + 'index.html')"
    text = f"<!doctype html>\n<meta charset=utf-8>\n<title>Proctor 监考</title>\n<script>{script}</script>\n<a href='{usual}index.html'>Proctor 监考</a>\n"
    (folder / "index.html").write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main(Path(sys.argv[1] if len(sys.argv) > 1 else "build/site"))
