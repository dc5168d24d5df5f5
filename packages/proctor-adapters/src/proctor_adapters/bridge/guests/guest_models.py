"""Let every model that a task of Inspect asks be answered by the parent process."""

import asyncio
import contextlib
import contextvars
import json
import os
import sys
import threading
from functools import wraps
from typing import Any

import inspect_ai
from guest_providers import PROVIDERS
from guest_values import clean, dumped, embedded
from inspect_ai import model as models
from inspect_ai.util import suspend_working_limit

CONNECTIONS = 10_000  # the parent's pace decides
REHEARSED_ASKS = 8
UNSET: tuple[object, ...] = (None, [], {})

current: contextvars.ContextVar[tuple[str, int] | None] = contextvars.ContextVar("sample", default=None)


class ParentFault(Exception):
    """The parent could not answer a request; it knows why."""


class RehearsalOver(Exception):
    """A rehearsal has asked often enough."""


class Line:
    """The pipes to the parent, the requests that wait for a reply, and the samples that are fed."""

    def __init__(self) -> None:
        self.requests: Any = None
        self.replies: Any = None
        self.asked: dict[int, asyncio.Queue[dict[str, object]]] = {}
        self.source: Any = None
        self.rehearsed: dict[str, set[str]] | None = None
        self.asks = 0
        self._lock = threading.Lock()

    def first(self) -> dict[str, object]:
        first: dict[str, object] = json.loads(self.requests.readline() or b'{"end": true}')
        return first

    def write(self, message: dict[str, Any]) -> None:
        line = json.dumps(clean(message), ensure_ascii=False, separators=(",", ":"), default=str)
        with self._lock:
            self.replies.write(line.encode("utf-8", "replace") + b"\n")
            self.replies.flush()

    def listen(self, loop: asyncio.AbstractEventLoop) -> None:
        """Take what the parent writes, in a thread; this process ends when the parent's pipe does."""

        def read() -> None:
            for line in self.requests:
                loop.call_soon_threadsafe(self._take, json.loads(line))
            os._exit(0)

        threading.Thread(target=read, daemon=True).start()

    async def ask(self, request: dict[str, object]) -> dict[str, Any]:
        """Return the parent's reply to a request of a model.

        Raises:
            ParentFault: there is none.
        """
        self.asks += 1
        number, of = self.asks, current.get()
        if self.rehearsed is not None:
            return self._rehearse(request)
        queue = self.asked[number] = asyncio.Queue()
        self.write({"ask": number, "of": of, **request})
        try:
            reply = await self._reply(queue)
        except asyncio.CancelledError:
            self.write({"cancel": number, "of": of})
            raise
        finally:
            del self.asked[number]
        if "fault" in reply:
            raise ParentFault(number, reply["fault"])
        output: dict[str, Any] = reply["output"]
        return output

    async def _reply(self, queue: "asyncio.Queue[dict[str, Any]]") -> dict[str, Any]:
        """Return what ends a request; while the parent waits for an endpoint, Inspect's working time does not go on."""
        with contextlib.ExitStack() as waiting:
            while "waits" in (message := await queue.get()):
                waiting.close()
                if message["waits"]:
                    waiting.enter_context(suspend_working_limit())
            return message

    def _rehearse(self, request: dict[str, Any]) -> dict[str, object]:
        assert self.rehearsed is not None
        self.rehearsed[request["kind"]].add(request["model"])
        self.rehearsed["tools"] |= {tool["name"] for tool in request["tools"]} if request["kind"] == "agent" else set()
        self.rehearsed["settings"] |= set(request["config"])
        if self.asks > REHEARSED_ASKS:
            raise RehearsalOver
        message = {"role": "assistant", "content": "4"}
        return {"model": "rehearsal", "choices": [{"message": message, "stop_reason": "stop"}]}

    def _take(self, message: dict[str, Any]) -> None:
        if "reply" in message:
            queue = self.asked.get(message["reply"])
            if queue is not None:
                queue.put_nowait(message)
        elif "feed" in message and self.source is not None:
            self.source.feed(*message["feed"])
        elif "end" in message and self.source is not None:
            self.source.end()


line = Line()


class Asks(models.ModelAPI):
    """A model whose requests go to the parent."""

    kind, provider = "agent", "proctor"

    def __init__(
        self, model_name: str, base_url: object = None, api_key: object = None, config: object = None, **_: object
    ) -> None:
        super().__init__(model_name, config=config or models.GenerateConfig())

    async def generate(
        self, input: Any, tools: Any, tool_choice: Any, config: object
    ) -> tuple[models.ModelOutput, models.ModelCall]:
        name = self.model_name if self.kind != "model" else f"{self.provider}/{self.model_name}"
        request = {
            "kind": self.kind,
            "model": name,
            "messages": [embedded(dumped(message)) for message in input],
            "tools": [dumped(tool) for tool in tools],
            "tool_choice": tool_choice if isinstance(tool_choice, str) else {"name": tool_choice.name},
            "config": {key: value for key, value in dumped(config).items() if value not in UNSET},
        }
        output = models.ModelOutput.model_validate(await line.ask(request))
        output.model = name
        return output, models.ModelCall(request={}, time=output.time)

    def max_connections(self) -> int:
        return CONNECTIONS

    def connection_key(self) -> str:
        return "proctor"

    def should_retry(self, ex: Exception) -> bool:
        return False

    async def count_text_tokens(self, text: str) -> int:
        return len(text) // 4 + 1

    def tool_result_images(self) -> bool:
        return True


def register() -> None:
    """Let every model of a task ask the parent: the agent, the roles, and those with a provider's name."""
    for kind in ("agent", "role"):
        models.modelapi(name=f"proctor-{kind}")(type(f"Asks_{kind}", (Asks,), {"kind": kind}))
    for provider in PROVIDERS:
        fields = {"kind": "model", "provider": provider, "__module__": inspect_ai.__name__}
        models.modelapi(name=provider)(type("Asks_model", (Asks,), fields))
    os.environ["INSPECT_EVAL_MODEL"] = "proctor-agent/agent"  # a task may ask for it while it is loaded
    if not isinstance(models.get_model("openai/x", memoize=False).api, Asks):
        raise RuntimeError("models of providers cannot be answered by Proctor in this version of Inspect")


def name_roles(given: list[str]) -> None:
    """Let a role that nobody was named for ask as that role, where Inspect would take the evaluated model without a word."""
    original = models.get_model

    @wraps(original)
    def get_model(model: object = None, *, role: str | None = None, default: object = None, **more: object) -> object:
        if role is not None and model is None and default is None and role not in given:
            model = f"proctor-role/{role}"
        return original(model, role=role, default=default, **more)

    for name, module in [*sys.modules.items()]:
        if name.startswith("inspect_ai") and vars(module).get("get_model") is original:
            vars(module)["get_model"] = get_model
