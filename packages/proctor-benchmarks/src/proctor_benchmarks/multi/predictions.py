"""Read recorded predictions: `prediction.json`, or the folder of a run of the original.

    {"czsx_1_0": {"question_id": "czsx_1_0", "question_image_number": 1, "prediction": "B", "prompt_tokens": 210, …}, …}

A prediction may be null, or the list [extracted, original] that the answer extractor of the original writes.
"""

import re
from pathlib import Path
from typing import Any

import msgspec

from proctor.core.errors import BadInput
from proctor.core.sample import Message, Text
from proctor.core.trajectory import Step, Stop, Trajectory, Usage
from proctor.core.validation import in_words
from proctor.runtime.json_file import read_json

_CHECKPOINT = re.compile(r"prediction_(\d+)\.json")
_SURROGATE = re.compile("[\ud800-\udfff]")


class Answered(msgspec.Struct):
    """One prediction; whatever else stands there is passed over."""

    question_id: str
    prediction: object = None
    prompt_tokens: object = 0
    completion_tokens: object = 0
    feedback: object = None


def predictions(path: Path) -> dict[str, Answered]:
    """Return the predictions of a file or of a run's folder, by question id; see `objects`."""
    return {id: msgspec.convert(line, Answered) for id, line in objects(path).items()}


def objects(path: Path) -> dict[str, dict[str, Any]]:
    """Return the prediction objects of a file, unchanged, by question id.

    Of a run's folder they are those of `prediction.json`, else of whichever checkpoint holds most.

    Raises:
        BadInput: there are none, or they are in another layout.
    """
    if not path.is_dir():
        return _objects(path)
    final = path / "prediction.json"
    if final.is_file():
        return _objects(final)
    parts = [file for file in (path / "checkpoints").glob("prediction_*.json") if _CHECKPOINT.fullmatch(file.name)]
    if (last := path / "prediction_last.json").is_file():
        parts.append(last)
    if not parts:
        raise BadInput("{path} holds no prediction.json.", path=path)
    return max((_objects(file) for file in sorted(parts)), key=len)


def text_of(prediction: object) -> str | None:
    """Return a prediction as text; of a list the first, and None for anything else.

    >>> text_of("B"), text_of(["B", "I think it is B."]), text_of(None)
    ('B', 'B', None)
    """
    if isinstance(prediction, list) and prediction:
        prediction = prediction[0]
    return _SURROGATE.sub("\ufffd", prediction) if isinstance(prediction, str) else None


def trajectory_of(answered: Answered) -> Trajectory:
    """Return a prediction as what an agent did; one that was blocked, or is not there, has no answer."""
    text = text_of(answered.prediction)
    parts = () if text is None else (Text(text=text),)
    usage = Usage(
        input_tokens=count(answered.prompt_tokens), output_tokens=count(answered.completion_tokens), requests=1
    )
    stop: Stop = "filtered" if answered.feedback and not text else "done" if text else "empty"
    step = Step(message=Message(role="assistant", parts=parts), usage=usage, stop=stop)
    return Trajectory(steps=(step,), stop=stop)


def _objects(path: Path) -> dict[str, dict[str, object]]:
    value = read_json(path)
    try:
        answered = msgspec.convert(value, dict[str, Answered])
    except msgspec.ValidationError as error:
        raise BadInput("{path}: {error}.", path=path, error=in_words(error)) from None
    return {answered[key].question_id: line for key, line in value.items()}


def count(value: Any) -> int:
    """Return a number of tokens; 0 for a value that is no number."""
    return int(value) if type(value) in (int, float) and 0 <= value < 1e12 else 0
