"""The tool server of StableToolBench: recorded responses first, then a model that imitates the API.

A cache holds `<category>/<tool>_for_<category>/<api>.json`, an object of responses by input, written as Python writes it:

    {"{'q': 'taylor swift'}": {"error": "", "response": "…"}}

Live APIs are not asked. An input that is not in the cache needs the model; where that fails, the environment has failed.

Source: StableToolBench aa4ed9f4737a, `server/main.py`, `toolbench/inference/Downstream_tasks/rapidapi.py`, `single_chain.py`.
"""

import json
from collections.abc import Mapping, Sequence
from pathlib import Path

from proctor.core.errors import BadInput, EnvironmentFailed, EpisodeOver, PartFailed
from proctor.core.sample import Message, Sample, ToolCall, ToolResult
from proctor.core.task import Model
from proctor.models import ledger
from proctor.models.named import OpenedModels
from proctor.runtime.files import write_whole
from proctor.runtime.json_file import read_json
from proctor_benchmarks.tooleval.answers import FINISH, finish

SHOWN_CHARACTERS = 1_024  # of a response
EXAMPLES = 5
EXAMPLE_CHARACTERS = 2_048
TRIES = 3

Responses = dict[str, object]


class ToolServer(OpenedModels):
    """Answers the calls of all samples.

    Args:
        cache: the folder of recorded responses; it may grow.
        prompt: the instructions of the simulator.
        simulator: the model that imitates APIs.
        record: keep what it makes up in the cache.
        most_nodes: the official limit of a chain; a reply counts one for its words and two for each call.
    """

    def __init__(
        self, *, cache: Path | None, prompt: str, simulator: Model | None, record: bool, most_nodes: int
    ) -> None:
        super().__init__([simulator])
        self.most_nodes = most_nodes
        self._cache = cache
        self._prompt = prompt
        self._simulator = simulator
        self._record = record

    def __call__(self, sample: Sample) -> "Apis":
        if self._cache is None and self._simulator is None:
            raise BadInput("Nothing answers the calls: name recorded responses (--set cache=FOLDER), a model that imitates APIs (--set simulator=openai:MODEL), or both.")  # fmt: skip
        return Apis(self, sample.meta["apis"])

    async def respond(self, api: Mapping[str, str], arguments: str) -> object:
        """Return the response to a call, as JSON values.

        Raises:
            EnvironmentFailed: it is not in the cache, and no model could make it up.
        """
        try:
            given = json.loads(arguments)
        except (ValueError, RecursionError):
            if arguments != "":
                return {"error": "Tool input parse error...\n", "response": ""}
            given = {}
        path = self._path(api)
        known = self._known(path)
        key = str(given)
        if key in known:
            return known[key]
        if self._simulator is None:
            raise EnvironmentFailed("No response to {api} with {input} is recorded, and no model imitates it (--set simulator=openai:MODEL).", api=api["function"], input=key[:200], kind="not_recorded")  # fmt: skip
        response = await self._simulate(self._simulator, api, given, known)
        if self._record and path is not None:
            write_whole(path, json.dumps(self._known(path) | {key: response}, indent=4))
        return response

    def _path(self, api: Mapping[str, str]) -> Path | None:
        if self._cache is None:
            return None
        name = api["api"].split(f"_for_{api['tool']}")[0]
        return self._cache / api["category"] / f"{api['tool']}_for_{api['category']}" / f"{name}.json"

    def _known(self, path: Path | None) -> Responses:
        if path is None or not path.is_file():
            return {}
        try:
            responses = read_json(path)
        except BadInput as error:
            raise EnvironmentFailed(error.sentence, kind="cache") from None
        if not isinstance(responses, dict):
            raise EnvironmentFailed("{path} holds no responses by input.", path=path, kind="cache")
        return responses

    async def _simulate(self, model: Model, api: Mapping[str, str], given: object, known: Responses) -> object:
        doc = {
            "tool_description": api["tool_description"],
            "api_info": [{"name": api["name"], "description": api["description"]}],
        }
        examples = list(known.items())[:EXAMPLES]
        while len(str(examples)) > EXAMPLE_CHARACTERS and len(examples) > 1:
            examples.pop()
        request = f"API Documentation:{doc}\nAPI Examples:{str(examples)[:EXAMPLE_CHARACTERS]}\nAPI Input:{given}\n"
        messages = [Message.of("system", self._prompt), Message.of("user", request)]
        for _ in range(TRIES):
            try:
                step = await model.complete(messages, response_format={"type": "json_object"})
            except PartFailed as error:
                raise EnvironmentFailed(error.sentence, kind="simulator") from error
            ledger.spend(step.usage, model=model.name)
            text = step.message.text
            if "```json" in text:
                text = text.replace("```json", "").replace("```", "").strip()
            try:
                return json.loads(text)
            except (ValueError, RecursionError):
                continue
        raise EnvironmentFailed("The model that imitates {api} gave no JSON in {tries} tries.", api=api["function"], tries=TRIES, kind="simulator")  # fmt: skip


class Apis:
    """The tools of one query; what was said and called is counted, as the official chain is limited."""

    def __init__(self, server: ToolServer, apis: Sequence[Mapping[str, str]]) -> None:
        self._server = server
        self._apis = apis
        self._nodes = 0

    def check(self, message: Message) -> None:
        """Count the words of a reply."""
        self._nodes += bool(message.text)

    async def call(self, call: ToolCall) -> ToolResult:
        return (await self.call_all([call]))[0]

    async def call_all(self, calls: Sequence[ToolCall]) -> Sequence[ToolResult]:
        """Run the calls of one message.

        Raises:
            EpisodeOver: the task was finished or given up, or the chain is as long as it may be; it holds the results.
            EnvironmentFailed: see `ToolServer.respond`.
        """
        results: list[ToolResult] = []
        for call in calls:
            self._nodes += 2
            content = await self._respond(call)
            results.append(ToolResult(name=call.name, id=call.id, content=content))
            if call.name == FINISH and finish(call.arguments_text()).ends:
                raise EpisodeOver("finished", results=results)
        if self._nodes >= self._server.most_nodes:
            raise EpisodeOver("longest chain", results=results)
        return results

    def state(self) -> Mapping[str, object]:
        """Return how long the chain is."""
        return {"nodes": self._nodes}

    async def _respond(self, call: ToolCall) -> str:
        arguments = call.arguments_text()
        if call.name == FINISH:
            return finish(arguments).reply
        # The end of a name is enough, as officially.
        api = next((each for each in self._apis if each["function"].endswith(call.name)), None)
        if api is None:
            return json.dumps({"error": f"No such function name: {call.name}", "response": ""})
        text = json.dumps(await self._server.respond(api, arguments))
        return text if len(text) <= SHOWN_CHARACTERS else text[:SHOWN_CHARACTERS] + "..."
