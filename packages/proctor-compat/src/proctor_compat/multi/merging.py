"""Merge two prediction files: all of the first, replaced or followed by those of the second."""

import argparse
from pathlib import Path

from proctor_benchmarks.multi.predictions import objects
from proctor_compat.multi.running import write_json


def add_flags(flags: argparse.ArgumentParser) -> None:
    """Add the files that the original's `merge_two_json.py` has in its text."""
    flags.add_argument("first", help="prediction.json, or the folder of a run")
    flags.add_argument("second", help="the same; where both have a question, this one counts")
    flags.add_argument("--output", "-o", required=True, help="where to write, for example merged/prediction.json")


def run(args: argparse.Namespace) -> tuple[str, int]:
    """Write the merged file.

    Raises:
        BadInput: a file cannot be read, or is in another layout.
    """
    first, second = objects(Path(args.first)), objects(Path(args.second))
    merged: dict[str, object] = {**first, **second}
    output = Path(args.output)
    write_json(output, merged)
    both = len(first) + len(second) - len(merged)
    return f"{len(first)} + {len(second)} predictions, {both} in both: {len(merged)} in {output}", 0
