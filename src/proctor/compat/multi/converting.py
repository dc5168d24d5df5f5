"""Turn pictures of Markdown, `![](path)`, into image tokens, and find the language of a question.

A file of problems is converted with all its texts: pictures go to the end of `img_paths`. Of any other text the
result is {"text": …, "images": […], "language": "zh"}.
"""

import argparse
import json
import re
from pathlib import Path
from typing import Any, Literal

import msgspec

from proctor.compat.multi.running import write_json
from proctor.core.errors import BadInput

_PICTURE = re.compile(r"!\[[^\]\n]{0,300}\]\(((?:[^()\n]|\([^()\n]{0,100}\)){1,1000})\)")
_TITLE = re.compile(r"""\s+(?:"[^"]*"|'[^']*')$""")
_HAN = re.compile("[\u4e00-\u9fff]")


def extract_image_list_from_md(text: str, first: int = 1) -> tuple[str, list[str]]:
    """The text with `[IMAGE_n]` for its pictures, and their paths; the same picture has one token.

    Upstream counts from 0, and gives a picture that is there twice two places but one token.

    >>> extract_image_list_from_md("see ![](a.png) and ![b](b.jpg)")
    ('see [IMAGE_1] and [IMAGE_2]', ['a.png', 'b.jpg'])
    """
    paths: dict[str, int] = {}

    def token(match: re.Match[str]) -> str:
        path = _TITLE.sub("", match[1].strip())
        return f"[IMAGE_{paths.setdefault(path, first + len(paths))}]"

    return _PICTURE.sub(token, text), list(paths)


def infer_lang_from_question(question: dict[str, Any]) -> Literal["zh", "en"]:
    """The language by the `question_type` (`单选` is Chinese); where there is none, by any Chinese character.

    >>> infer_lang_from_question({"question_type": "single_choice"}), infer_lang_from_question({"text": "求和"})
    ('en', 'zh')
    """
    shown = question["question_type"] if "question_type" in question else json.dumps(question, ensure_ascii=False)
    return "zh" if _HAN.search(str(shown)) else "en"


class _Problem(msgspec.Struct):
    problem_content: str
    problem_content_list: list[str]
    img_paths: list[str] = []


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
    try:
        text = path.read_text(encoding="utf-8-sig")
        made = problems(text) if path.suffix == ".json" else _of_text(text)
    except (OSError, UnicodeDecodeError) as error:
        raise BadInput("{path} cannot be read: {error}.", path=path, error=error) from None
    except (ValueError, RecursionError) as error:
        raise BadInput("{path}: {error}.", path=path, error=error) from None
    if not args.output:
        return json.dumps(made, ensure_ascii=False, indent=4), 0
    write_json(Path(args.output), made)
    return f"{args.output}", 0


def problems(text: str) -> dict[str, dict[str, Any]]:
    """The problems of a file with their pictures as tokens; whatever else they hold stays.

    Raises:
        ValueError: no JSON, or another layout.
    """
    found: dict[str, dict[str, Any]] = json.loads(text)
    for id, problem in msgspec.convert(found, dict[str, _Problem]).items():
        images, contents = list(problem.img_paths), []
        for content in (problem.problem_content, *problem.problem_content_list):
            changed, new = extract_image_list_from_md(content, len(images) + 1)
            contents.append(changed)
            images += new
        found[id] |= {"problem_content": contents[0], "problem_content_list": contents[1:], "img_paths": images}
    return found


def _of_text(text: str) -> dict[str, Any]:
    changed, images = extract_image_list_from_md(text)
    return {"text": changed, "images": images, "language": infer_lang_from_question({"text": changed})}
