#!/usr/bin/python3 -IS
"""Stand in for the command line of docker: containers are folders below FAKE_ENGINE, and commands run in them by bubblewrap.

FAKE_ENGINE_FAULT makes it `gone`, or `stuck` or `lost` in `exec`; `lost TEXT` only for commands with that text. Each call is written to `calls`, as a line of JSON.
Some tests call it a hundred times: it starts without the site's packages, and imports what a command needs in that command.
"""

import json
import os
import sys
import time
from pathlib import Path

Options = list[list[str]]

HOME = Path(os.environ["FAKE_ENGINE"])
FAULT = os.environ.get("FAKE_ENGINE_FAULT", "")
WITH_VALUE = {"--name", "--label", "--network", "--cap-drop", "--cap-add", "--security-opt", "--pids-limit", "--memory", "--memory-swap", "--cpus", "--entrypoint", "-u", "-v", "-w", "-e", "-t", "--stop-signal", "--ulimit", "--filter", "--format"}  # fmt: skip


def main() -> int:
    name, *words = sys.argv[1:]
    with (HOME / "calls").open("a", encoding="utf-8") as calls:
        calls.write(json.dumps(sys.argv[1:]) + "\n")
    if FAULT == "gone":
        return fail("Cannot connect to the Docker daemon", 1)
    options, rest = split(words)
    commands = {"version": version, "run": run, "exec": execute, "cp": copy, "stop": stop, "start": stop, "rm": remove, "ps": ps, "image": image, "pull": pull, "build": build, "inspect": inspect}  # fmt: skip
    return commands[name](options, rest)


def split(words: list[str]) -> tuple[Options, list[str]]:
    """Return options before the first other word, and the rest."""
    options: Options = []
    while words and words[0].startswith("-") and words[0] != "-":
        count = 2 if words[0] in WITH_VALUE else 1
        options.append(words[:count])
        words = words[count:]
    return options, words


def value(options: Options, name: str, default: str = "") -> str:
    return next((option[1] for option in options if option[0] == name), default)


def fail(text: str, code: int) -> int:
    print(text, file=sys.stderr)
    return code


def root(name: str) -> Path:
    return HOME / "containers" / name / "root"


def version(options: Options, rest: list[str]) -> int:
    print("20.10.24")
    return 0


def run(options: Options, rest: list[str]) -> int:
    import shutil

    source = HOME / "images" / rest[0].replace(":", "_")
    if not source.is_dir():
        return fail(f"Unable to find image '{rest[0]}' locally", 125)
    name = value(options, "--name")
    shutil.copytree(source, root(name), symlinks=True)
    (root(name).parent / "label").write_text(value(options, "--label"), "utf-8")
    print("c0ffee")
    return 0


def execute(options: Options, rest: list[str]) -> int:
    name, *command = rest
    if not root(name).is_dir():
        return fail(f"Error: No such container: {name}", 1)
    if FAULT.startswith("lost") and FAULT[5:] in " ".join(command):
        return fail("Error response from daemon: connection reset", 1)
    if FAULT == "stuck":
        time.sleep(60)
    place = root(name)
    for folder in ("usr", "dev", "proc", "tmp", "etc"):
        (place / folder).mkdir(exist_ok=True)
    for link in ("bin", "sbin", "lib", "lib64"):
        if not (place / link).is_symlink() and Path("/", link).is_symlink():
            (place / link).symlink_to(f"usr/{link}")
    variables = [word for option in options if option[0] == "-e" for word in ("--setenv", *option[1].split("=", 1))]
    user = value(options, "-u", "0")
    box = ["bwrap", "--die-with-parent", "--unshare-net", "--unshare-pid", "--bind", str(place), "/", "--ro-bind", "/usr", "/usr", "--dev", "/dev", "--proc", "/proc"]  # fmt: skip
    box += [*variables, "--chdir", value(options, "-w", "/")]
    if user != "0":
        box += ["setpriv", f"--reuid={user}", f"--regid={user}", "--clear-groups"]
    code = os.spawnvp(os.P_WAIT, box[0], [*box, *command])
    return code if code >= 0 else 128 - code


def copy(options: Options, rest: list[str]) -> int:
    import tarfile

    source, target = rest
    if source == "-":
        name, folder = target.split(":", 1)
        with tarfile.open(fileobj=sys.stdin.buffer, mode="r|") as archive:
            archive.extractall(root(name) / folder.lstrip("/"))
        return 0
    name, path = source.split(":", 1)
    inside = root(name) / path.lstrip("/")
    if not inside.exists():
        return fail(f"Error: Could not find the file {path} in container {name}", 1)
    with tarfile.open(fileobj=sys.stdout.buffer, mode="w|") as archive:
        archive.add(inside, arcname=inside.name)
    return 0


def stop(options: Options, rest: list[str]) -> int:
    return 0


def remove(options: Options, rest: list[str]) -> int:
    import shutil

    shutil.rmtree(root(rest[0]).parent, ignore_errors=True)
    return 0


def ps(options: Options, rest: list[str]) -> int:
    for folder in sorted((HOME / "containers").glob("*")):
        print(folder.name)
    return 0


def inspect(options: Options, rest: list[str]) -> int:
    if "Image" in value(options, "--format"):
        print("sha256:" + "c0ffee" * 10 + "c0ff")
    elif "Running" in value(options, "--format"):
        print(str(root(rest[0]).is_dir()).lower())
    else:
        print(rest[0], (root(rest[0]).parent / "label").read_text("utf-8").partition("=")[2])
    return 0


def image(options: Options, rest: list[str]) -> int:
    images = [name for name in rest[1:] if not name.startswith(("-", "{"))]
    known = [name for name in images if (HOME / "images" / name.replace(":", "_")).is_dir()]
    print(*["sha256:" + "c0ffee" * 10 + "c0ff"] * len(known), sep="\n")
    return 0 if known == images else fail("No such image", 1)


def pull(options: Options, rest: list[str]) -> int:
    return fail(f"Error response from daemon: manifest for {rest[0]} not found", 1)


def build(options: Options, rest: list[str]) -> int:
    import shutil

    if Path(rest[0], "unbuildable").exists():
        return fail("pull access denied for none", 1)
    shutil.copytree(rest[0], HOME / "images" / value(options, "-t").replace(":", "_") / "context", symlinks=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
