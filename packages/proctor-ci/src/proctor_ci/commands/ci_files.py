"""The files that `proctor init ci` writes: tiers, a gate, requirements, a GitHub workflow, a GitLab job, and a hook for pre-commit."""

import json
import re
import shlex
import subprocess
from collections.abc import Callable, Mapping
from importlib.metadata import distribution
from importlib.resources import files
from pathlib import Path
from urllib.parse import urlsplit
from urllib.request import url2pathname

from proctor.cli import output
from proctor.cli.words import t
from proctor.core.project import project_table
from proctor.runtime.visible import visible

TASK_FILE = "task.py"
FILES = (
    "proctor.toml",
    "gate.toml",
    "requirements.txt",
    ".github/workflows/proctor.yml",
    ".gitlab/proctor.yml",
    ".pre-commit-config.yaml",
)


def write_ci(folder: Path, gate_text: Callable[..., str], *, at_least: float) -> None:
    """Write the files that are not there yet, and print the lines to add to those that are.

    Args:
        gate_text: returns the policy, for a threshold `at_least`; with `by_value`, one that too few samples can meet.
    """
    from proctor_ci.policy import ERROR
    from proctor_ci.reachable import least_samples

    count = _count_samples(folder)
    gate = gate_text(by_value=count is not None and count < least_samples(at_least, ERROR))
    texts = {**_texts(), "gate.toml": gate}
    for name in FILES:
        text, path = texts[name], folder / name
        if not path.exists():
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text, encoding="utf-8")
            output.line(visible(str(path)))
        elif not (name == "gate.toml" or _has_it(path)):
            output.message(t("{path} is there already. Add these lines:", path=path))
            output.message(text)
    is_bare = not (folder / "task.py").exists() and not (folder / "agent.py").exists()  # which the tiers name
    steps = [f"cd {shlex.quote(str(folder))}"] if folder != Path() else []
    steps += ["proctor init function", "proctor ci tier smoke"] if is_bare else ["proctor ci tier smoke"]
    output.message(t("Next: {run}", run=" && ".join(steps)))


def _texts() -> Mapping[str, str]:
    """Return the text of each file but the policy."""
    in_both = {
        "what": t("Evaluates the agent: a quick tier for each change, the standard one every night."),
        "requirements": t("what the agent needs belongs into it too"),
        "kept": t("The store is kept from job to job: baselines, runs that were cut off, trials to take over."),
        "codes": t("Fails at NO-GO (1) and at INCONCLUSIVE (3); add `|| [ $? -eq 3 ]` to let the latter pass."),
    }
    reach = t("what the jobs install; they have to reach this address")
    packages = "\n".join(_requirement(name) for name in ("proctor", "proctor-ci"))
    return {
        "proctor.toml": _filled(
            "tiers",
            agent=t("the system under test, unless --agent names another"),
            tiers=t("The stages of testing: proctor ci tier NAME"),
            nested=t(
                "The samples of a small tier are among those of a larger one, and are not run again within a day."
            ),
            quick=t("For every change."),
            standard=t("Every night; what quick ran on the same commit is taken over."),
            full=t("Before a release: all samples."),
        ),
        "requirements.txt": f"{packages}  # {reach}\n",
        ".github/workflows/proctor.yml": _filled(
            "github",
            comment=t("for the summary on the pull request; jobs of forks may only read, and post none"),
            secret=t("the key of the agent's endpoint, from the secrets of the repository"),
            **in_both,
        ),
        ".gitlab/proctor.yml": _filled(
            "gitlab",
            comment=t("with PROCTOR_GITLAB_TOKEN, a masked variable with a project access token (scope api)"),
            include=t("In .gitlab-ci.yml: include: [local: .gitlab/proctor.yml]"),
            key=t("the key of the agent's endpoint is a masked variable of the project"),
            **in_both,
        ),
        ".pre-commit-config.yaml": _filled(
            "pre_commit", what=t("A few samples before each commit: pre-commit install")
        ),
    }


def _filled(name: str, **words: str) -> str:
    return files("proctor_ci").joinpath("ci_files", f"{name}.txt").read_text(encoding="utf-8").format(**words)


def _count_samples(folder: Path) -> int | None:
    """Return how many samples the task of a folder has; None where there is none that can be made yet."""
    from proctor.api import resolve

    if not (folder / TASK_FILE).is_file():
        return None
    try:
        task, _ = resolve.task(f"{(folder / TASK_FILE).resolve()}:task", {})
        samples = task.samples() if callable(task.samples) else task.samples
        return sum(1 for _ in samples)
    except Exception as error:  # noqa: BLE001 - of the user's file, which the tier will say more about
        output.message(t("{path} was not counted: {error}", path=TASK_FILE, error=str(error)))
        return None


def _requirement(name: str) -> str:
    """Return one package as a line of a requirements file: from where it was installed here."""
    found = distribution(name)
    origin = json.loads(found.read_text("direct_url.json") or "{}")
    url = str(origin.get("url", ""))
    inside = f"#subdirectory=packages/{name}"
    if not url:
        return f"{name}=={found.version}"
    if vcs := origin.get("vcs_info"):
        return f"{name} @ {vcs['vcs']}+{url}@{vcs['commit_id']}{inside}"
    if "dir_info" in origin and (remote := _remote(url2pathname(urlsplit(url).path))):
        return f"{name} @ git+{remote}{inside}"
    return f"{name} @ {url}"


def _remote(folder: str) -> str:
    """Return the address and commit that a checkout came from; '' where it came from nowhere."""
    said = []
    for words in (["remote", "get-url", "origin"], ["rev-parse", "HEAD"]):
        try:
            done = subprocess.run(["git", "-C", folder, *words], capture_output=True, text=True, check=False)  # noqa: S603, S607
        except OSError:
            return ""
        said.append(done.stdout.strip() if done.returncode == 0 else "")
    url, commit = said
    return f"{url}@{commit}" if commit and url.startswith(("https://", "ssh://")) else ""


def _has_it(path: Path) -> bool:
    """True if a file that was there has what belongs into it."""
    if path.name == "requirements.txt":
        return re.search(r"^\s*proctor\b", path.read_text(encoding="utf-8", errors="replace"), re.MULTILINE) is not None
    if path.name == "proctor.toml":
        pair = project_table(str(path.parent))
        return pair is not None and "tiers" in pair[1]
    return "proctor ci tier" in path.read_text(encoding="utf-8", errors="replace")
