"""Turn the pictures of Markdown, `![](path)`, into image tokens, and find the language of a question."""

import json
import re
from typing import Any, Literal

import msgspec

_PICTURE = re.compile(r"!\[[^\]\n]{0,300}\]\(((?:[^()\n]|\([^()\n]{0,100}\)){1,1000})\)")
_TITLE = re.compile(r"""\s+(?:"[^"]*"|'[^']*')$""")
_HAN = re.compile("[\u4e00-\u9fff]")


def extract_image_list_from_md(text: str, first: int = 1) -> tuple[str, list[str]]:
    """Return the text with `[IMAGE_n]` for its pictures, and their paths; the same picture has one token.

    Upstream counts from 0, and lists a picture that is there twice two times, with one token.

    >>> extract_image_list_from_md("see ![](a.png) and ![b](b.jpg)")
    ('see [IMAGE_1] and [IMAGE_2]', ['a.png', 'b.jpg'])
    """
    paths: dict[str, int] = {}

    def token(match: re.Match[str]) -> str:
        path = _TITLE.sub("", match[1].strip())
        return f"[IMAGE_{paths.setdefault(path, first + len(paths))}]"

    return _PICTURE.sub(token, text), list(paths)


def infer_lang_from_question(question: dict[str, object]) -> Literal["zh", "en"]:
    """Return the language of a question by its `question_type` (`单选` is Chinese); without one, Chinese if it has any Chinese character.

    >>> infer_lang_from_question({"question_type": "single_choice"}), infer_lang_from_question({"text": "求和"})
    ('en', 'zh')
    """
    shown = question["question_type"] if "question_type" in question else json.dumps(question, ensure_ascii=False)
    return "zh" if _HAN.search(str(shown)) else "en"


class _Problem(msgspec.Struct):
    problem_content: str
    problem_content_list: list[str]
    img_paths: list[str] = []


def problems(value: Any) -> dict[str, dict[str, object]]:
    """Return the problems of a file with their pictures as tokens; whatever else they hold stays.

    Raises:
        msgspec.ValidationError: another layout.
    """
    made: dict[str, dict[str, object]] = {}
    for id, problem in msgspec.convert(value, dict[str, _Problem]).items():
        images, contents = list(problem.img_paths), []
        for content in (problem.problem_content, *problem.problem_content_list):
            changed, new = extract_image_list_from_md(content, len(images) + 1)
            contents.append(changed)
            images += new
        made[id] = {
            **value[id],
            "problem_content": contents[0],
            "problem_content_list": contents[1:],
            "img_paths": images,
        }
    return made
