"""Turn pictures of Markdown, `![](path)`, into image tokens, and find the language of a question.

A file of problems is converted with all its texts: pictures go to the end of `img_paths`. Of any other text the
result is {"text": …, "images": […], "language": "zh"}.
"""

import argparse
import json
from pathlib import Path

import msgspec

from proctor.core.errors import BadInput
from proctor.runtime.json_file import read_json
from proctor_benchmarks.multi.markdown_images import extract_image_list_from_md, infer_lang_from_question, problems
from proctor_compat.multi.running import write_json


def add_flags(flags: argparse.ArgumentParser) -> None:
    """Add the flags: a file in, a file or the terminal out."""
    flags.add_argument("input", help="a problem file (.json), or a text with pictures")
    flags.add_argument("--output", "-o", help="where to write; printed if not given")


def run(args: argparse.Namespace) -> tuple[str, int]:
    """Convert the file.

    Raises:
        BadInput: it cannot be read, or is a JSON file of something else.
    """
    path = Path(args.input)
    converted: object
    try:
        converted = (
            problems(read_json(path)) if path.suffix == ".json" else _of_text(path.read_text(encoding="utf-8-sig"))
        )
    except (OSError, UnicodeDecodeError) as error:
        raise BadInput("{path} cannot be read: {error}.", path=path, error=error) from None
    except msgspec.ValidationError as error:
        raise BadInput("{path}: {error}.", path=path, error=error) from None
    if not args.output:
        return json.dumps(converted, ensure_ascii=False, indent=4), 0
    write_json(Path(args.output), converted)
    return f"{args.output}", 0


def _of_text(text: str) -> dict[str, object]:
    changed, images = extract_image_list_from_md(text)
    return {"text": changed, "images": images, "language": infer_lang_from_question({"text": changed})}
