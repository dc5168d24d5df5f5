"""Describe images, or read the text in them: the csv that `input_type=1` puts in place of images.

The original has three scripts of local models for this (BLIP2, POINTS, EasyOCR); any model that sees images will do here.
A reply is written as it comes, and images that are in the file are not asked about again.
"""

import argparse
import mimetypes
from pathlib import Path

from proctor.core.errors import BadInput
from proctor.core.sample import File, Message, Text
from proctor_benchmarks.multi import dataset
from proctor_compat.multi.asking import add_endpoint, ask_each

_CAPTION = (
    "请用中文客观描述这张图片，一到三句。图中的文字、数字、公式和标注都要写出来。不要解题，不要猜测图片以外的内容。"
)
_OCR = "请按阅读顺序逐行写出这张图片中的全部文字，不要加任何说明。图中没有文字时，只回答：无"
_NOTHING = ("无", "无。")


def add_flags(flags: argparse.ArgumentParser) -> None:
    flags.add_argument("--image_dir", required=True, help="the folder 'images' of the data")
    flags.add_argument("--ocr", action="store_true", help="only the text in the images, its lines joined with 、")
    flags.add_argument("--output", help="csv file; captions_MODEL.csv or ocr_MODEL.csv next to the folder if not given")
    add_endpoint(flags, model="gpt-4o-mini")


def run(args: argparse.Namespace) -> tuple[str, int]:
    """Caption every image that is not in the file yet; return 3 if some captions could not be obtained.

    Raises:
        BadInput: no such folder or no images in it, a file in another layout, or the endpoint refuses.
    """
    folder = Path(args.image_dir).resolve()
    images = {_name(path, folder): path for path in sorted(folder.rglob("*")) if _is_image(path)}
    if not images:
        raise BadInput("There are no images in {path}.", path=folder)
    kind = "ocr" if args.ocr else "captions"
    output = Path(args.output or folder.parent / f"{kind}_{args.model_version.replace('/', '_')}.csv")
    known = dataset.captions(output) if output.is_file() else {}
    left = {name for name in images if dataset.image_path(name) not in known}
    output.parent.mkdir(parents=True, exist_ok=True)
    with output.open("a", encoding="utf-8", errors="replace") as file:

        def keep(name: str, said: str) -> None:
            lines = [line.strip() for line in said.splitlines() if line.strip()] if said not in _NOTHING else []
            file.write(f"{name},{('、' if args.ocr else ' ').join(lines)}\n")
            file.flush()
            left.discard(name)

        def prompt(name: str) -> list[Message]:
            media_type = mimetypes.guess_type(name)[0] or "image/png"
            image = File(name=images[name].name, media_type=media_type, path=str(images[name]))
            return [Message(role="user", parts=(image, Text(text=_OCR if args.ocr else _CAPTION)))]

        ask_each(sorted(left), args, prompt, keep, max_tokens=2000)
    return f"{len(images) - len(left)} of {len(images)} images done: {output}", 3 if left else 0


def _is_image(path: Path) -> bool:
    return (mimetypes.guess_type(path.name)[0] or "").startswith("image/") and path.is_file()


def _name(path: Path, folder: Path) -> str:
    """Return the name of an image from the folder of the data, as the csv has it.

    Raises:
        BadInput: it has a comma or a line break, which end the name in that file.
    """
    name = path.relative_to(folder.parent).as_posix()
    if "," in name or "\n" in name:
        raise BadInput("The name of the image {path} holds a comma or a line break.", path=path)
    return name
