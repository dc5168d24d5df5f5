"""What a reader may rely on in every file: names that say something, short files, quick and quiet imports."""

import ast
import os
import re
import subprocess
import sys
from collections.abc import Collection, Iterator
from graphlib import TopologicalSorter
from pathlib import Path

import pytest
from bench.architecture import figures
from pages import ROOT, source_files

from sources import imports_in, modules, statements

pytestmark = pytest.mark.xdist_group("source")  # read once

SAYS_NOTHING = {"utils", "util", "common", "helpers", "helper", "base", "misc"}
LONGEST = 600
SKIPPED = {".venv", ".git", "build", "dist", "__pycache__"}
MACHINE = re.compile(
    "|".join([r"(?<![\w.])/" + "work/", r"\.\./" + "shared", "/" + "root/", "/" + r"Users/\w", "/" + r"home/\w"])
)
CHANGES = re.compile(
    r"^(gzip\.compress|(time|uuid|random|secrets|tempfile)\.\w+|[\w.]*\.(now|utcnow|today|urandom|getpid)|set)$"
)
REGISTRY = re.compile("|".join(["py" + r"pi\.org", "python" + "hosted", "npm" + r"js\.(com|org)"]))


def test_no_module_has_a_name_that_says_nothing() -> None:
    named = [path for folder in ("packages", "tests", "bench") for path in (ROOT / folder).rglob("*.py")]
    assert named
    assert not [path for path in named if {path.stem, path.parent.name} & SAYS_NOTHING]


def test_no_source_file_is_longer_than_a_few_pages() -> None:
    lengths = {
        str(path.relative_to(ROOT)): len(path.read_text(encoding="utf-8").splitlines())
        for path in (ROOT / "packages").rglob("*.py")
    }
    assert not {name: lines for name, lines in lengths.items() if lines > LONGEST}


@pytest.mark.parametrize("pattern", [MACHINE, REGISTRY], ids=["paths of a machine", "hosts of a registry"])
def test_no_file_names(pattern: re.Pattern[str]) -> None:
    found = {str(path.relative_to(ROOT)): hit[0] for path, text in _texts() if (hit := pattern.search(text))}
    assert not found


def test_parameters_of_tests_are_the_same_in_every_process() -> None:
    """Workers that collect at another second, or hash otherwise, have to name the same tests."""
    assert list(_changing(ast.parse("@p.parametrize('x', [gzip.compress(b'')])\ndef f(): ...")))
    found = [
        f"{path.relative_to(ROOT)}:{line}"
        for path in (ROOT / "tests").rglob("test_*.py")
        for line in _changing(ast.parse(path.read_text(encoding="utf-8")))
    ]
    assert not found, "give gzip.compress mtime=0, and draw or sort with a fixed seed"


MOST = {  # what a reader has to hold, as `python -m bench.architecture` counts it; ceilings that only fall
    "functions over 50 lines": 12,
    "functions over 8 parameters": 8,
    "class names used more than once": 45,
    "context variables": 5,
    "locals one, found, made, place": 418,
}


MOST_LINES = {  # of Python in each package, with decision 0121; ceilings that only fall
    "proctor": 50_000,
    "proctor_adapters": 27_000,
    "proctor_audit": 12_000,
    "proctor_benchmarks": 37_000,
    "proctor_ci": 11_500,
    "proctor_compat": 7_500,
    "proctor_judging": 33_500,
    "proctor_web": 18_500,
}


def test_what_a_reader_has_to_hold_only_falls() -> None:
    counts = figures(sorted(folder.parent for folder in ROOT.glob("packages/*/src/*/__init__.py")))
    assert not {name: counts[name] for name, most in MOST.items() if counts[name] > most}


def test_no_package_grows_beyond_its_ceiling() -> None:
    folders = {init.parent.name: init.parent for init in ROOT.glob("packages/*/src/*/__init__.py")}
    lines = {
        name: sum(path.read_bytes().count(b"\n") for path in folder.rglob("*.py")) for name, folder in folders.items()
    }
    assert lines.keys() == MOST_LINES.keys()
    assert not {name: count for name, count in lines.items() if count > MOST_LINES[name]}
    assert len([*folders["proctor"].glob("*/__init__.py")]) <= 20, "rooms of the kernel"


def test_no_imports_go_round_in_a_circle_lazy_ones_and_those_for_types_included() -> None:
    files = dict(modules())
    imports = {name: {*_imported(path, files)} - {name} for name, path in files.items()}
    assert len(imports["proctor.api.prepare"]) > 20
    list(TopologicalSorter(imports).static_order())  # raises CycleError, which names the circle


def _imported(path: Path, known: Collection[str]) -> Iterator[str]:
    for node in imports_in(path):
        if isinstance(node, ast.Import):
            yield from (one.name for one in node.names if one.name in known)
        elif node.module in known:
            parts = [f"{node.module}.{one.name}" for one in node.names]
            yield from (part if part in known else str(node.module) for part in parts)


def _changing(tree: ast.Module) -> Iterator[int]:
    for function in statements(tree):
        for decorator in getattr(function, "decorator_list", ()):
            if isinstance(decorator, ast.Call) and ast.unparse(decorator.func).endswith("parametrize"):
                yield from (node.lineno for node in decorator.args if isinstance(node, ast.Set | ast.SetComp))
                calls = (node for node in ast.walk(decorator) if isinstance(node, ast.Call))
                yield from (call.lineno for call in calls if _changes(call))


def _changes(call: ast.Call) -> bool:
    return CHANGES.match(ast.unparse(call.func)) is not None and "mtime" not in {one.arg for one in call.keywords}


def test_importing_the_package_loads_msgspec_and_no_more() -> None:
    script = """
import sys
before = set(sys.modules)
import proctor
tops = {name.partition(".")[0] for name in set(sys.modules) - before}
print(*sorted(tops - sys.stdlib_module_names - {"proctor", "msgspec"}))
"""
    assert _python(script) == ""


def test_help_loads_click_msgspec_and_little_more(tmp_path: Path) -> None:
    script = """
import sys
import click, click.testing, msgspec
before = set(sys.modules)
from proctor.cli import app
app(["--help"], standalone_mode=False)
print("loaded:", *sorted(set(sys.modules) - before))
"""
    loaded = _python(script, cwd=tmp_path).rpartition("loaded:")[2].split()
    ours = {"", ".i18n", ".core", ".core.errors", ".core.project", ".core.sentence", ".core.version", ".cli"}
    ours |= {f".cli.{name}" for name in ("click_words", "encoding", "tree", "words")}
    assert set(loaded) <= {f"proctor{name}" for name in ours} | {"click._textwrap", "gc", "locale", "_locale"}


def test_a_run_loads_only_what_it_needs(tmp_path: Path) -> None:
    script = """
import sys
from proctor import Sample, Task, evaluate
task = Task(name="t", samples=[Sample.ask("1", "?", target="?")], scorers=["exact"])
run = evaluate(task, agent=lambda question: question, store=":memory:")
assert run.estimate("accuracy").value == 1
third = {name.partition(".")[0] for name in sys.modules} - sys.stdlib_module_names
rooms = {name for name in sys.modules if name.startswith("proctor.") and name.count(".") == 1}
print(*sorted(third), *sorted(rooms), *sorted({"email", "html", "importlib.metadata", "sysconfig"} & set(sys.modules)))
"""
    loaded = set(_python(script, cwd=tmp_path).split())
    assert not loaded & {"aiohttp", "jinja2", "rich", "yaml", "email", "html", "importlib.metadata", "sysconfig"}
    rooms = ("cli", "datasets", "reports", "trajectory_matching")
    assert not loaded & {"proctor_adapters", "proctor_judging", *(f"proctor.{room}" for room in rooms)}


def test_no_module_opens_a_connection_when_imported() -> None:
    script = """
import pkgutil, socket, importlib

def refuse(*arguments, **named):
    raise AssertionError("a connection at import")

socket.socket.connect = socket.socket.connect_ex = socket.getaddrinfo = refuse
import proctor
for module in pkgutil.walk_packages(proctor.__path__, "proctor."):
    if not module.name.endswith("__main__"):
        importlib.import_module(module.name)
print("done")
"""
    assert _python(script) == "done"


def test_the_pinned_requirements_have_hashes_and_no_addresses() -> None:
    for path in (ROOT / "requirements").glob("*.txt"):
        lines = path.read_text(encoding="utf-8").splitlines()
        assert "://" not in "".join(lines)
        assert all(re.match(r"[a-z0-9-]+==\S+ |    --hash=sha256:", line) for line in lines), path


def test_the_pinned_requirements_agree_with_each_other() -> None:
    pins = {name: _pins(ROOT / "requirements" / f"{name}.txt") for name in ("run", "demo", "dev")}
    assert pins["run"] < pins["demo"] < pins["dev"]


def _pins(path: Path) -> set[str]:
    return set(re.findall(r"^\S+==\S+", path.read_text(encoding="utf-8"), re.MULTILINE))


def _texts() -> Iterator[tuple[Path, str]]:
    """Yield each file that is a text; folders of what is installed or built are not entered."""
    for folder, folders, files in os.walk(ROOT):
        folders[:] = [name for name in folders if not _is_skipped(name)]
        for path in (Path(folder, name) for name in files if not _is_skipped(name)):
            try:
                if path.is_file():  # and no socket, nor a link to what is gone
                    yield path, path.read_text(encoding="utf-8")
            except UnicodeDecodeError:
                continue


def _is_skipped(part: str) -> bool:
    return part in SKIPPED or part.endswith((".egg-info", "_cache", ".hypothesis"))


def _python(script: str, cwd: Path | None = None) -> str:
    command = [sys.executable, "-W", "error", "-c", script]
    done = subprocess.run(command, capture_output=True, text=True, timeout=60, check=False, cwd=cwd)
    assert done.returncode == 0, done.stderr
    return done.stdout.strip()


AVOIDED_IN_CHINESE = {  # one word for one thing: what is avoided, and what is written instead
    "您": "你",
    "结局": "结果状态",
    "数据站": "数据平台",
    "下界": "下限",
    "上界": "上限",
    "没有定论": "无法下结论",
    "接口": "端点",
    "服务方": "服务商",
    "提供方": "服务商",
    "供应商": "服务商",
    "评审者": "评审模型",
    "房间": "模块",
    "次试验": "个试次",
    "我们的判定": "Proctor 的判定",
    "令牌数": "词元数",
    " token": "词元",
}


def test_chinese_has_one_word_for_one_thing() -> None:
    catalogue = "".join(path.read_text(encoding="utf-8") for path in source_files("zh.toml"))
    lines = [
        ("zh.toml", said) for line in catalogue.splitlines() for _, equals, said in [line.rpartition('" = "')] if equals
    ]
    for page in [ROOT / "README.zh.md", ROOT / "CONTRIBUTING.zh.md", *sorted((ROOT / "docs" / "zh").rglob("*.md"))]:
        text = re.sub(r"```.*?```|`[^`\n]*`", "", page.read_text(encoding="utf-8"), flags=re.DOTALL)
        lines += [(page.name, line) for line in text.splitlines()]
    assert not [
        f"{name}: {avoided!r}, write {better!r}: {line}"
        for name, line in lines
        for avoided, better in AVOIDED_IN_CHINESE.items()
        if re.search(rf"{avoided}(?![a-z])" if avoided == " token" else avoided, line)
    ]
