"""Play the first samples of a task with Inspect alone and canned replies: what our way of playing it is compared with.

Nothing of the bridge is used here: `eval_async` loads the task by its name, and a model class of a few lines replies. Its requests
are written as JSON once more, so that an error in how the other program writes them shows as a difference.
"""

import asyncio
import base64
import json
import math
import mimetypes
import os
import sys
from pathlib import Path
from typing import Any

sys.path.append(str(Path(__file__).parent))
from canned import digest_of, reply_to
from guest_caches import link_caches

link_caches()  # before anything is imported that reads where caches are

from guest_providers import PROVIDERS
from inspect_ai import eval_async
from inspect_ai import model as models
from inspect_ai.scorer import value_to_float

WORDS = ("C", "I", "P", "N", "true", "false", "yes", "no")  # which are values for both; of others Inspect makes 0
asked: list[str] = []


class Canned(models.ModelAPI):
    """Replies with a function of the request."""

    kind = provider = ""

    def __init__(
        self, model_name: str, base_url: object = None, api_key: object = None, config: object = None, **_: object
    ) -> None:
        super().__init__(model_name, config=config or models.GenerateConfig())

    async def generate(self, input: Any, tools: Any, tool_choice: Any, config: object) -> models.ModelOutput:
        request = {
            "kind": self.kind,
            "model": f"{self.provider}/{self.model_name}" if self.kind == "model" else self.model_name,
            "messages": [_with_bytes(_dumped(message)) for message in input],
            "tools": [_dumped(tool) for tool in tools],
            "tool_choice": tool_choice if isinstance(tool_choice, str) else {"name": tool_choice.name},
            "config": {key: value for key, value in _dumped(config).items() if value or value == 0},
        }
        asked.append(digest_of(request))
        text, call = reply_to(request, asked[-1])
        message: dict[str, Any] = {"role": "assistant", "content": text}
        if call is not None:
            message["tool_calls"] = [
                {"id": call["id"], "function": call["name"], "arguments": call["arguments"], "type": "function"}
            ]
        choice = {"message": message, "stop_reason": "tool_calls" if call else "stop"}
        return models.ModelOutput.model_validate({"model": self.model_name, "choices": [choice]})

    async def count_text_tokens(self, text: str) -> int:
        return len(text) // 4 + 1

    def tool_result_images(self) -> bool:
        return True


def alone(about: dict[str, Any]) -> dict[str, object]:
    """Return the digests of what was asked, what became of each sample, and the official figures."""
    for name in ("agent", "role"):  # of the names that ours have, as tasks write them into prompts
        models.modelapi(name=f"proctor-{name}")(type(f"Canned_{name}", (Canned,), {"kind": name}))
    for provider in PROVIDERS:
        fields = {"kind": "model", "provider": provider, "__module__": "inspect_ai"}
        models.modelapi(name=provider)(type("Canned_model", (Canned,), fields))
    playing = eval_async(
        about["task"],
        task_args=about["arguments"],
        model=models.get_model("proctor-agent/agent", memoize=False),
        model_roles={name: models.get_model(f"proctor-role/{name}", memoize=False) for name in about["roles"]},
        limit=about["first"],
        message_limit=about["message_limit"],
        fail_on_error=False,
        log_dir=os.environ["HOME"] + "/logs",
        log_level="error",
    )
    (log,) = asyncio.run(playing)
    if log.error is not None:
        raise RuntimeError(log.error.message)
    return {
        "asked": asked,
        "samples": [_sample(sample) for sample in log.samples or ()],
        "totals": [
            {"scorer": score.name, "reducer": score.reducer, "metric": name, "value": _number(metric.value)}
            for score in (log.results.scores if log.results is not None else ())
            for name, metric in score.metrics.items()
        ],
    }


def _sample(sample: Any) -> dict[str, object]:
    return {
        "id": str(sample.id),
        "epoch": sample.epoch,
        "error": None if sample.error is None else sample.error.message,
        "limit": None if sample.limit is None else sample.limit.type,
        "scores": {name: [_plain(score.value), _points(score.value)] for name, score in (sample.scores or {}).items()},
    }


def _points(value: object) -> object:
    """Return what Inspect makes of a value, each part by itself; null where it is no share."""
    if isinstance(value, dict):
        return {key: _points(part) for key, part in value.items()}
    if isinstance(value, list) or (isinstance(value, str) and value not in WORDS):
        return None
    number = value_to_float()(value)
    return number if 0 <= number <= 1 else None


def _plain(value: object) -> object:
    if isinstance(value, dict):
        return {key: _plain(part) for key, part in value.items()}
    return [_plain(part) for part in value] if isinstance(value, list) else _number(value)


def _number(value: object) -> object:
    return None if isinstance(value, float) and not math.isfinite(value) else value


def _dumped(value: Any) -> dict[str, object]:
    dumped: dict[str, Any] = value.model_dump(mode="json", exclude_none=True, fallback=str)
    return dumped


def _with_bytes(message: dict[str, object]) -> dict[str, object]:
    for part in message["content"] if isinstance(message["content"], list) else ():
        path = part.get(part["type"])
        if part["type"] != "text" and isinstance(path, str) and len(path) < 4_000 and Path(path).is_file():
            media = mimetypes.guess_type(path)[0] or "application/octet-stream"
            part[part["type"]] = f"data:{media};base64,{base64.b64encode(Path(path).read_bytes()).decode()}"
    return message


def talk(requests: Any, replies: Any) -> None:
    try:
        line = {"alone": alone(json.loads(requests.readline())["alone"])}
    except BaseException as error:  # noqa: BLE001 - the parent says it
        line = {"failed": {"type": type(error).__name__, "text": str(error)[:4_000]}}
    replies.write(json.dumps(line, default=str).encode("utf-8", "replace") + b"\n")
    replies.flush()
