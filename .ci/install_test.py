"""Install the wheels as users do, on each Python from 3.11 to 3.14 there is, with the highest and the lowest versions, and use it.

Needs uv; a Python that is not on this machine is fetched by it where it can, and named as left out where it cannot.
"""

import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

HERE = Path(__file__).resolve().parent
VERSIONS = ("3.11", "3.12", "3.13", "3.14")
RESOLUTIONS = ("highest", "lowest-direct")


def main(wheels: list[Path]) -> None:
    """Install and use the wheels everywhere, print a line for each environment, and exit with 1 if one fails."""
    uv = shutil.which("uv") or sys.exit("uv is missing: pip install uv")
    failed, tried = [], 0
    for version in VERSIONS:
        if not (python := _find(uv, version)):
            print(f"Python {version}: left out, as it is not here and cannot be fetched")
            continue
        for resolution in RESOLUTIONS:
            tried += 1
            with tempfile.TemporaryDirectory() as folder:
                if problem := _try(uv, python, resolution, wheels, Path(folder)):
                    failed.append(f"Python {version}, {resolution}")
                    print(f"{failed[-1]}: FAILED\n{problem}")
    sys.exit(f"failed: {failed}" if failed or not tried else 0)


def _find(uv: str, version: str) -> str:
    for command in (
        ["python", "find", version],
        ["python", "install", "--quiet", version],
        ["python", "find", version],
    ):
        done = subprocess.run([uv, *command], capture_output=True, text=True, check=False)
        if done.returncode == 0 and command[1] == "find":
            return done.stdout.strip()
    return ""


def _package(wheel: Path) -> str:
    return wheel.name.partition("-")[0].replace("_", "-")


def _try(uv: str, python: str, resolution: str, wheels: list[Path], folder: Path) -> str:
    """Return what went wrong, '' for nothing."""
    made = folder / "venv"
    inside = made / "bin" / "python"
    for command in (
        [uv, "venv", "--quiet", "--no-project", "--python", python, str(made)],
        [uv, "pip", "install", "--quiet", "--python", str(inside), "--resolution", resolution, *map(str, wheels)],
        *([str(inside), "-I", str(HERE / "smoke.py"), name] for name in map(_package, wheels)),
    ):
        done = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)
        if done.returncode:
            return done.stderr or done.stdout
    print(f"{done.stdout.strip()}, {resolution} versions", flush=True)
    return ""


if __name__ == "__main__":
    main([Path(path).resolve() for path in sys.argv[1:]])
