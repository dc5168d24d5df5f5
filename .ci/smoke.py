"""Use one installed package as a person does first: `python -I .ci/smoke.py PACKAGE`, in an empty folder, without the sources."""

import importlib
import json
import os
import pkgutil
import re
import subprocess
import sys
from collections.abc import Callable
from importlib.util import find_spec
from pathlib import Path
from urllib.request import HTTPCookieProcessor, build_opener

OURS = "proctor"


def run(*arguments: str, code: int = 0) -> str:
    """Return what the installed program prints; fails where it ends with another exit code."""
    program = Path(sys.executable).with_name(OURS)
    done = subprocess.run([program, *arguments], capture_output=True, text=True, check=False, encoding="utf-8")
    assert done.returncode == code, f"{arguments}: {done.returncode}\n{done.stdout}{done.stderr}"
    return done.stdout + done.stderr


def import_all(package: str) -> None:
    """Import every module of a package but those that a program of another project needs."""
    top = importlib.import_module(package)
    assert Path(str(top.__file__)).is_relative_to(sys.prefix), f"not the installed one: {top.__file__}"
    for module in pkgutil.walk_packages(top.__path__, f"{package}."):
        if (
            not module.name.endswith(("__main__", "worker_program", "cards_player"))
            and ".example" not in module.name
            and ".guests." not in module.name
        ):
            try:
                importlib.import_module(module.name)
            except ModuleNotFoundError as missing:  # of an extra; of ours it would be a package that is not declared
                if str(missing.name).startswith(OURS):
                    sys.exit(f"{module.name} needs {missing.name}")


def kernel() -> None:
    """The demo, runs, a comparison, a report and the manual; without the other packages, the line that installs each of them."""
    demo()
    import proctor
    from proctor import Sample, Task

    tags = ("even", "odd")
    samples = [Sample.ask(str(n), f"{n}+1", target=str(n + 1), tags={"kind": tags[n % 2]}) for n in range(20)]
    task = Task(name="sums", samples=samples, scorers=["exact"])
    runs = [
        proctor.evaluate(task, agent=agent, store="runs.db", run_id=name)
        for name, agent in (("wrong", lambda _: "0"), ("right", lambda question: str(int(question.split("+")[0]) + 1)))
    ]
    assert [found.estimate("accuracy").value for found in runs] == [0, 1]
    assert proctor.compare(*runs).rows[0].outcome == "better"
    assert "<svg" in runs[0].report("report.html", lang="zh").read_text(encoding="utf-8")
    manual = [Path(sys.prefix, "share", "man", folder, "proctor.1") for folder in ("man1", "zh_CN/man1")]
    assert all("proctor run" in each.read_text(encoding="utf-8").replace("\\-", "-") for each in manual)
    assert "100.0%" in run("--lang", "zh", "show", "right", "--store", "runs.db")
    assert run("list")
    assert run("--version")
    if find_spec("proctor_web") is None:
        what_is_missing()


def demo() -> None:
    """Two recorded agents are compared within 5 s of CPU, in an empty folder, which stays empty."""
    before = os.times()
    shown = " ".join(run("demo").split())
    after = os.times()
    assert after.children_user + after.children_system - before.children_user - before.children_system < 5
    assert "The percentages alone say: greedy is better, by 4.2 points. That is the wrong conclusion" in shown
    assert "warm − greedy: −4.2 points, 95% interval −11.0 … +2.8" in shown
    assert "area of a circle" in shown  # the story of a failed sample
    assert "proctor init" in shown
    assert not [*Path().iterdir()]


def what_is_missing() -> None:
    """Whoever asks for something of another package reads the line that installs it."""
    Path("answers.py").write_text("def answer(question):\n    return question\n", encoding="utf-8")
    Path("answers.csv").write_text("question,target\n1,1\n", encoding="utf-8")
    for words, extra in (
        (["run", "answers.csv", "--agent", "./answers.py:answer"], "judging"),
        (["judge", "items", "answers.csv"], "judging"),
        (["run", "bfcl", "--agent", "baseline:empty"], "benchmarks"),
        (["ci", "gate", "right"], "ci"),
        (["web"], "web"),
        (["adk", "evalset", "list", "x.evalset.json"], "adapters"),
        (["run", "answers.csv", "--agent", "langgraph:./answers.py:answer", "--scorer", "exact"], "langgraph"),
        (["runs", "list", "--store", "postgresql://localhost/x"], "postgres"),
        (["run", "shop.evalset.json", "--agent", "./answers.py:answer"], "adapters"),
        (["runs", "report", "right", "--store", "runs.db", "--for", "user"], "ci"),
    ):
        assert f"{OURS}[{extra}]" in run(*words, code=2), words


def adapters() -> None:
    """An eval set is a task."""
    turn = {"user_content": {"parts": [{"text": "hi"}]}, "final_response": {"parts": [{"text": "hello"}]}}
    cases = [{"eval_id": "a", "conversation": [turn | {"invocation_id": "1"}]}]
    Path("shop.evalset.json").write_text(json.dumps({"eval_set_id": "shop", "eval_cases": cases}), encoding="utf-8")
    run("run", "shop.evalset.json", "--agent", "baseline:oracle", "--store", "r.db")


def audit() -> None:
    """A file with a wrong row is found out."""
    Path("exam.csv").write_text("question,target\n1+1,2\n1+1,3\n", encoding="utf-8")
    assert "contradictory-duplicate" in run("audit-task", "exam.csv", code=1)


def judging() -> None:
    """An answer that means the same is right, and the judges are known."""
    Path("answers.py").write_text("def answer(question):\n    return 'It is 0.5.'\n", encoding="utf-8")
    Path("answers.csv").write_text("question,target\nHalf of one?,1/2\n", encoding="utf-8")
    assert "100.0%" in run("run", "answers.csv", "--agent", "./answers.py:answer", "--store", "r.db")
    assert "rubric" in run("list", "scorers")


def benchmarks() -> None:
    """A benchmark with bundled data is played and known."""
    assert "bfcl" in run("list", "tasks")
    run("run", "multi", "--set", "data=sample", "--agent", "baseline:oracle", "--limit", "2", "--store", "r.db")


def ci() -> None:
    """A run is decided."""
    run("init")
    run("init", "ci")
    assert "GO" in run("ci", "tier", "quick")


def web() -> None:
    """The pages are served to whom has the link."""
    program = Path(sys.executable).with_name(OURS)
    command = [program, "web", "--port", "7861", "--no-open", "--store", "r.db"]
    with subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, encoding="utf-8"
    ) as server:
        try:
            said = iter(server.stdout or ())
            link = next(found[0] for line in said if (found := re.search(r"http://127\S+", line)))
            with build_opener(HTTPCookieProcessor()).open(link, timeout=30) as page:
                assert b"<html" in page.read()
        finally:
            server.terminate()


def compat() -> None:
    """The names of the other systems are there."""
    assert importlib.import_module("proctor_compat.hello_agents").BFCLDataset
    assert importlib.import_module("proctor_compat.veadk")


SMOKES: dict[str, Callable[[], None]] = {OURS: kernel}
SMOKES |= {f"{OURS}-{one.__name__}": one for one in (adapters, judging, audit, benchmarks, ci, web, compat)}

if __name__ == "__main__":
    import_all(sys.argv[1].replace("-", "_"))
    SMOKES[sys.argv[1]]()
    print(f"{sys.argv[1]} works on Python {sys.version.split()[0]}")
