"""The changelog of a release is made from its fragments."""

import re
import subprocess
import sys
from pathlib import Path

import pytest
from pages import ROOT

import proctor

KINDS = ("added", "changed", "fixed", "removed")


def write(folder: Path, out: Path) -> "subprocess.CompletedProcess[str]":
    script = f"import sys; from pathlib import Path; sys.path.insert(0, {str(ROOT / '.ci')!r}); import changelog; changelog.main(Path({str(out)!r}), Path({str(folder)!r}))"
    return subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=False)


def test_each_fragment_is_in_the_changelog_once_under_its_kind(tmp_path: Path) -> None:
    out = tmp_path / "dist" / "CHANGELOG.md"
    done = subprocess.run(
        [sys.executable, ROOT / ".ci" / "changelog.py", out], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    text = out.read_text(encoding="utf-8")
    assert text.startswith(f"# Changelog\n\n## {proctor.__version__}\n\n### Added\n\n* ")
    sections = dict(
        zip(
            re.findall(r"^### (\w+)$", text, re.MULTILINE),
            re.split(r"^### \w+$", text, flags=re.MULTILINE)[1:],
            strict=True,
        )
    )
    for kind in KINDS:
        fragments = [*(ROOT / "changelog.d").glob(f"*.{kind}.md")]
        assert sections[kind.capitalize()].count("\n* ") == len(fragments)
        for path in fragments:
            assert " ".join(path.read_text(encoding="utf-8").split()) in sections[kind.capitalize()], path.name


def test_kinds_without_a_fragment_have_no_heading(tmp_path: Path) -> None:
    folder = tmp_path / "changelog.d"
    folder.mkdir()
    (folder / "b.fixed.md").write_text("The second\nline joins the first.\n")
    (folder / "a.fixed.md").write_text("It is first by name.\n")
    assert write(folder, tmp_path / "out.md").returncode == 0
    body = "### Fixed\n\n* It is first by name.\n* The second line joins the first.\n"
    assert (tmp_path / "out.md").read_text() == f"# Changelog\n\n## {proctor.__version__}\n\n{body}"


@pytest.mark.parametrize(
    ("name", "text", "said"),
    [("a.mended.md", "x", "KIND is one of"), ("a.md", "x", "KIND is one of"), ("a.fixed.txt", "x", "NAME.KIND.md"), ("a.fixed.md", " \n", "it is empty")],
)  # fmt: skip
def test_a_fragment_that_cannot_be_used_is_named(name: str, text: str, said: str, tmp_path: Path) -> None:
    folder = tmp_path / "changelog.d"
    folder.mkdir()
    (folder / name).write_text(text)
    done = write(folder, tmp_path / "out.md")
    assert done.returncode == 1
    assert name in done.stderr
    assert said in done.stderr
    assert not (tmp_path / "out.md").exists()
