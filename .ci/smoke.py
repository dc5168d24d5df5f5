"""Use an installed proctor as a person does first; run by an interpreter that has it, in an empty folder, with -I."""

import subprocess
import sys
from pathlib import Path

import proctor
from proctor import Sample, Task

if __name__ == "__main__":  # a spawned process imports this file again
    home = Path(proctor.__file__)
    assert home.is_relative_to(sys.prefix), f"not the installed one: {home}"
    samples = [
        Sample.ask(str(n), f"{n}+1", target=str(n + 1), tags={"kind": "odd" if n % 2 else "even"}) for n in range(20)
    ]
    task = Task(name="sums", samples=samples, scorers=["exact"])
    runs = [
        proctor.evaluate(task, agent=agent, store="runs.db", run_id=name)
        for name, agent in (("wrong", lambda _: "0"), ("right", lambda question: str(int(question.split("+")[0]) + 1)))
    ]
    assert [run.estimate("accuracy").value for run in runs] == [0, 1]
    assert proctor.compare(*runs).rows[0].outcome == "better"
    assert "<svg" in runs[0].report("report.html", lang="zh").read_text(encoding="utf-8")
    manual = [Path(sys.prefix, "share", "man", folder, "proctor.1") for folder in ("man1", "zh_CN/man1")]
    assert all("proctor run" in each.read_text(encoding="utf-8").replace("\\-", "-") for each in manual)
    program = Path(sys.executable).with_name("proctor")
    for arguments in (["--version"], ["list"], ["--lang", "zh", "show", "right", "--store", "runs.db"]):
        done = subprocess.run([program, *arguments], capture_output=True, text=True, check=False, encoding="utf-8")
        assert done.returncode == 0, done.stderr
        assert done.stdout.strip(), arguments
    print(f"proctor {proctor.__version__} works on Python {sys.version.split()[0]}")
