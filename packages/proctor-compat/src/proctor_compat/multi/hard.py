"""Take the predictions of a list of questions out of a run, for example those of MULTI-Elite."""

import argparse
from pathlib import Path

from proctor.core.errors import BadInput
from proctor_benchmarks.multi import dataset
from proctor_benchmarks.multi.predictions import objects
from proctor_compat.multi.running import write_json


def add_flags(flags: argparse.ArgumentParser) -> None:
    """Add the flags of the original's `extract_response_on_hard.py`."""
    flags.add_argument("--input_list", "-j", required=True, help="a JSON list of question ids")
    flags.add_argument("--input_folder", "-i", required=True, help="the folder of a run, below --input_dir")
    flags.add_argument("--input_dir", "-d", default="../results")
    flags.add_argument("--output_dir", "-o", default="../results_on_hard")


def run(args: argparse.Namespace) -> tuple[str, int]:
    """Write the chosen predictions, sorted as the run has them; 3 when some questions have none.

    Raises:
        BadInput: a file cannot be read, or the output would replace the input.
    """
    source = Path(args.input_dir) / args.input_folder
    asked = Path(args.input_folder)
    inside = not asked.is_absolute() and ".." not in asked.parts
    output = Path(args.output_dir) / (asked if inside else asked.resolve().name) / "prediction.json"
    if output.resolve() == (source / "prediction.json").resolve():
        raise BadInput("{path} would be replaced by a part of itself: give another --output_dir.", path=output)
    wanted = dataset.subset(Path(args.input_list))
    chosen = {id: line for id, line in objects(source).items() if id in wanted}
    write_json(output, chosen)
    return f"{len(chosen)} of {len(wanted)} questions have a prediction: {output}", 0 if len(chosen) == len(
        wanted
    ) else 3
