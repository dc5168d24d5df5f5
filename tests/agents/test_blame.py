"""What a failed request of the agent costs, for each cause and each entry point, against a real server on loopback.

The causes of one entry point are samples of one run, after one that is answered; each has a test of its own.

Not here, because the libraries are not installed: anthropic and litellm. Their errors carry library and status in the same
way as those of openai, which `tests/agents/test_provider_failures.py` reads without the libraries.
"""

import asyncio
import http.client
import json
import ssl
import subprocess
import sys
import threading
import urllib.error
import urllib.request
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor, ThreadPoolExecutor
from contextlib import closing
from functools import cache
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from importlib import import_module
from multiprocessing import get_context
from typing import Any

import pytest

import proctor
from proctor.agents.function import wrap
from proctor.core.errors import BadInput, EndpointRefused
from proctor.core.trajectory import ToolStyle
from proctor.registry import AGENTS

pytestmark = pytest.mark.xdist_group("blame")  # a row and its library are then loaded by one worker, and not by each

Ask = Callable[[str], str]  # takes an address

OVERFLOW = {"error": {"message": "This model's maximum context length is 8 tokens", "code": "context_length_exceeded"}}
FILTER = {"error": {"message": "The response was filtered", "code": "content_filter"}}
OTHER = {"error": {"message": "tools[0] is wrong", "type": "invalid_request_error"}}
KEY, BUSY, DOWN = ({"error": {"message": text}} for text in ("Incorrect API key", "Slow down", "It broke"))
REPLIES: dict[str, tuple[int, object]] = {
    "overflow": (400, OVERFLOW),
    "filter": (400, FILTER),
    "other_400": (400, OTHER),
    "401": (401, KEY),
    "429": (429, BUSY),
    "500": (500, DOWN),
    "503": (503, DOWN),
}
CAUSES = ["refused", "dns", "tls", "timeout", "cut", "no_json", *REPLIES]
# What each cause ends as where the model is known to have been asked.
OF_A_MODEL = {
    **dict.fromkeys(("refused", "dns", "tls", "timeout", "cut", "no_json", "429", "500", "503"), "provider_failed"),
    "other_400": "provider_failed",
    "overflow": "scored length",
    "filter": "scored filtered",
    "401": "the run stops",
}
# ... and where it may have been a tool.
OF_NOBODY_KNOWS = dict.fromkeys(CAUSES, "undecided")


class Handler(BaseHTTPRequestHandler):
    def do_POST(self) -> None:
        given = self.rfile.read(int(self.headers.get("content-length", 0)))
        cause = self.path.split("/")[1]
        if cause == "timeout":
            self.server.over.wait(5)  # type: ignore[attr-defined]
            return
        if cause in ("cut", "no_json"):
            self.send_response(200)
            self.send_header("content-type", "application/json")
            self.send_header("content-length", "500" if cause == "cut" else "5")
            self.end_headers()
            self.wfile.write(b"{<!>}")
            return
        status, body = REPLIES[cause] if cause in REPLIES else (200, {"words": given.decode()})
        data = json.dumps(body).encode()
        self.send_response(status)
        self.send_header("content-type", "application/json")
        self.send_header("content-length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)

    do_GET = do_POST  # noqa: N815 - the name that the base class calls

    def log_message(self, *_: object) -> None:
        pass


@pytest.fixture(scope="module")
def server() -> Iterator[str]:
    made = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    made.over = threading.Event()  # type: ignore[attr-defined]
    threading.Thread(target=made.serve_forever, kwargs={"poll_interval": 0.01}, daemon=True).start()
    yield f"127.0.0.1:{made.server_address[1]}"
    made.over.set()  # type: ignore[attr-defined]
    made.shutdown()
    made.server_close()


@pytest.fixture(scope="module", autouse=True)
def certificates_read_once() -> Iterator[None]:
    """Reading them takes each client 60 ms of CPU."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(ssl, "create_default_context", cache(ssl.create_default_context))
        yield


def address(server: str, cause: str) -> str:
    return {
        "refused": "http://127.0.0.1:9",
        "dns": "http://nowhere.invalid",
        "tls": f"https://{server}",
    }.get(cause, f"http://{server}/{cause}")


def patience(cause: str) -> float:
    """Return the seconds to wait in the case of a cause, or of its address; only one of them is meant to take longer."""
    return 0.2 if "timeout" in cause else 10.0


class Each:
    """An agent that is another one for each sample."""

    name = "each"
    tools: ToolStyle = "text"

    def __init__(self, target_by_sample: Mapping[str, Any]) -> None:
        self._agents = {"fine": wrap(lambda _: "x")} | {id: wrap(one) for id, one in target_by_sample.items()}

    def open(self, sample: proctor.Sample, environment: Any) -> Any:
        return self._agents[sample.id].open(sample, environment)


Row = Callable[[Any, Callable[[str], Any], Sequence[str]], Mapping[str, str]]


@pytest.fixture(scope="module")
def row(tmp_path_factory: pytest.TempPathFactory) -> Row:
    """Return how all causes of an entry point end, which is found once."""
    known: dict[Any, Mapping[str, str]] = {}
    store = str(tmp_path_factory.mktemp("rows") / "runs.db")

    def outcomes(key: Any, agent_of: Callable[[str], Any], causes: Sequence[str]) -> Mapping[str, str]:
        if key not in known:
            agent = Each({cause: agent_of(cause) for cause in causes})
            known[key] = outcomes_of(agent, causes, store, f"r{len(known)}")
        return known[key]

    return outcomes


def outcomes_of(agent: Any, causes: Sequence[str], store: str, run_id: str) -> dict[str, str]:
    last = sorted(causes, key=lambda cause: cause == "401")  # it may stop the run
    samples = [proctor.Sample.ask(one, one, target="x") for one in ("fine", *last)]
    task = proctor.Task(name="t", samples=samples, scorers=["exact"])
    found = {}
    try:
        run = proctor.evaluate(
            task, agent=agent, store=store, run_id=run_id, order="official", concurrency=1, max_failed=1.0
        )
    except EndpointRefused:
        found["401"] = "the run stops"
        run = proctor.open_run(run_id, store=store)
    return found | {trial.sample_id: ended(trial) for trial in run.trials()}


def ended(trial: Any) -> str:
    return f"scored {trial.trajectory.stop}" if trial.outcome == "scored" else str(trial.outcome)


def outcome(agent: Any, **how: Any) -> str:
    task = proctor.Task(name="t", samples=[proctor.Sample.ask("a", "?", target="x")], scorers=["exact"])
    try:
        run = proctor.evaluate(task, agent=agent, **how)
    except EndpointRefused:
        return "the run stops"
    except BadInput as error:
        if "The first sample could not be run" not in str(error):
            raise
        return "provider_failed"  # of the first sample; as the endpoint is not there at all, the run stops too
    (trial,) = run.trials()
    return ended(trial)


# ---- plain functions ----


def by_urllib(url: str) -> str:
    with urllib.request.urlopen(urllib.request.Request(url, data=b"{}"), timeout=patience(url)) as reply:
        data: str = reply.read().decode()
    return checked(data)


def checked(data: str) -> str:
    if data.startswith("{<"):
        raise http.client.HTTPException("no JSON")  # what code says that does not trust the reply
    return data


def by_http_client(url: str) -> str:
    kind, _, rest = url.partition("://")
    host, _, path = rest.partition("/")
    made = http.client.HTTPSConnection if kind == "https" else http.client.HTTPConnection
    with closing(made(host, timeout=patience(url))) as connection:
        connection.request("POST", f"/{path}", body=b"{}")
        reply = connection.getresponse()
        data = reply.read().decode()
    if reply.status >= 400:
        raise urllib.error.HTTPError(url, reply.status, data, reply.headers, None)
    return checked(data)


def by_requests(url: str) -> str:
    import requests

    reply = requests.post(url, json={}, timeout=patience(url))
    reply.raise_for_status()
    return str(reply.json())


def by_httpx(url: str) -> str:
    import httpx

    reply = httpx.post(url, json={}, timeout=patience(url))
    reply.raise_for_status()
    return checked(reply.text)


def by_aiohttp(url: str) -> str:
    import aiohttp

    async def ask() -> str:
        limit = aiohttp.ClientTimeout(total=patience(url))
        async with aiohttp.ClientSession(timeout=limit) as session, session.post(url, json={}) as reply:
            reply.raise_for_status()
            return checked(await reply.text())

    return asyncio.run(ask())


@cache
def openai_client(url: str) -> Any:
    from openai import OpenAI

    return OpenAI(base_url=url, api_key="k", max_retries=0, timeout=patience(url))


def by_openai(url: str) -> str:
    reply = openai_client(url).chat.completions.create(model="m", messages=[{"role": "user", "content": "?"}])
    return str(reply.choices[0].message.content)


MODEL_PATH = "/chat/completions"
PLAIN: dict[str, tuple[Ask, str]] = {
    "urllib": (by_urllib, ""),
    "http.client": (by_http_client, ""),
    "requests": (by_requests, ""),
    "httpx": (by_httpx, ""),
    "aiohttp": (by_aiohttp, ""),
}


@pytest.mark.parametrize("cause", CAUSES)
@pytest.mark.parametrize("library", PLAIN)
def test_a_request_that_may_be_a_tools_is_undecided(library: str, cause: str, server: str, row: Row) -> None:
    ask, path = PLAIN[library]
    expected = OF_NOBODY_KNOWS[cause]
    if cause in ("overflow", "filter"):
        expected = {"aiohttp": "undecided"}.get(library, OF_A_MODEL[cause])  # its errors do not hold the reply
    found = row(library, lambda cause: lambda _: ask(address(server, cause) + path), CAUSES)
    assert found[cause] == expected


OF_ADDRESSES = ("timeout", *REPLIES)


@pytest.mark.parametrize(
    ("library", "cause"),
    [
        (library, cause)
        for library in ("urllib", "requests", "httpx")
        for cause in OF_ADDRESSES
        if (library, cause) != ("urllib", "timeout")  # which does not say what was asked
    ],
)
def test_the_address_of_a_model_says_that_the_model_was_asked(library: str, cause: str, server: str, row: Row) -> None:
    ask, _ = PLAIN[library]
    found = row((library, "model"), lambda cause: lambda _: ask(address(server, cause) + MODEL_PATH), OF_ADDRESSES)
    assert found[cause] == OF_A_MODEL[cause]


@pytest.mark.parametrize("cause", CAUSES)
def test_a_function_with_a_models_client(cause: str, server: str, row: Row) -> None:
    found = row("openai", lambda cause: lambda _: by_openai(address(server, cause)), CAUSES)
    assert found[cause] == OF_A_MODEL[cause]


def loads_urllib(url: str) -> str:
    with urllib.request.urlopen(urllib.request.Request(url, data=b"{}"), timeout=5) as reply:
        data = reply.read().decode()
    return str(json.loads(data))


def loads_requests(url: str) -> str:
    import requests

    reply = requests.post(url, json={}, timeout=5)
    return str(json.loads(reply.text))


def loads_httpx(url: str) -> str:
    import httpx

    reply = httpx.post(url, json={}, timeout=5)
    return str(json.loads(reply.content))


@pytest.mark.parametrize("ask", [loads_urllib, loads_requests, loads_httpx])
def test_a_broken_reply_that_a_function_decodes_itself_is_not_its_failure(ask: Ask, server: str) -> None:
    assert outcome(lambda _: ask(address(server, "no_json") + MODEL_PATH)) == "provider_failed"
    assert outcome(lambda _: ask(address(server, "no_json"))) == "undecided"


@pytest.mark.parametrize("words", ['{"order": 7', ""])
@pytest.mark.parametrize("library", ["urllib", "requests", "httpx"])
def test_words_of_a_model_that_a_function_cannot_decode_are_its_failure(library: str, words: str, server: str) -> None:
    def agent(_: str) -> str:
        url = address(server, "words") + MODEL_PATH
        if library == "urllib":
            with urllib.request.urlopen(urllib.request.Request(url, data=words.encode()), timeout=5) as reply:
                body = json.loads(reply.read())
        else:
            reply = import_module(library).post(url, content=words) if library == "httpx" else import_module(library).post(url, data=words.encode())  # fmt: skip
            body = json.loads(reply.text)
        return str(json.loads(body["words"]))

    assert outcome(agent) == "agent_failed"


# ---- raised again, elsewhere ----


def raised_from(url: str, ask: Ask) -> str:
    try:
        return ask(url)
    except Exception as error:
        raise RuntimeError("no answer") from error


def raised_while_handling(url: str, ask: Ask) -> str:
    try:
        return ask(url)
    except Exception:
        raise RuntimeError("no answer")  # noqa: B904 - that is what is tested


def raised_from_none(url: str, ask: Ask) -> str:
    try:
        return ask(url)
    except Exception:
        raise RuntimeError("no answer") from None


def in_a_thread(url: str, ask: Ask) -> str:
    with ThreadPoolExecutor() as pool:
        return pool.submit(ask, url).result()


def in_a_group(url: str, ask: Ask) -> str:
    try:
        return ask(url)
    except Exception as error:
        raise ExceptionGroup("several", [ValueError("x"), error]) from None


AGAIN = ("refused", "overflow", "filter", "other_400", "401", "429", "500")


@pytest.mark.parametrize("way", [raised_from, raised_while_handling, raised_from_none, in_a_thread, in_a_group])
@pytest.mark.parametrize("cause", AGAIN)
def test_it_is_the_same_when_it_is_raised_again(
    way: Callable[[str, Ask], str], cause: str, server: str, row: Row
) -> None:
    def ended_by(ask: Ask) -> str:
        return row((way, ask), lambda cause: lambda _: way(address(server, cause), ask), AGAIN)[cause]

    assert ended_by(by_openai) == OF_A_MODEL[cause]
    if cause not in ("overflow", "filter"):
        assert ended_by(by_urllib) == "undecided"


@pytest.fixture(scope="module")
def pool() -> Iterator[ProcessPoolExecutor]:
    with ProcessPoolExecutor(1, get_context("fork")) as made:
        yield made


@pytest.mark.parametrize("cause", ["refused", "timeout", "401", "500"])
def test_it_is_the_same_out_of_another_process(cause: str, server: str, pool: ProcessPoolExecutor) -> None:
    assert outcome(lambda _: pool.submit(by_requests, address(server, cause)).result()) == "undecided"


# ---- programs ----

ASKS = """
import sys, urllib.request
{first}
urllib.request.urlopen(urllib.request.Request({url!r}, data=b"{{}}"), timeout=0.2)
"""
SAYS = """
import sys
sys.stderr.write('''{traceback}''')
sys.exit(1)
"""
MODEL_SAYS = {  # as the client of OpenAI 3.54 ends a program
    "refused": "openai.APIConnectionError: Connection error.",
    "timeout": "openai.APITimeoutError: Request timed out.",
    "overflow": f"openai.BadRequestError: Error code: 400 - {OVERFLOW}",
    "filter": f"openai.BadRequestError: Error code: 400 - {FILTER}",
    "other_400": f"openai.BadRequestError: Error code: 400 - {OTHER}",
    "401": f"openai.AuthenticationError: Error code: 401 - {KEY}",
    "429": f"openai.RateLimitError: Error code: 429 - {BUSY}",
    "500": f"openai.InternalServerError: Error code: 500 - {DOWN}",
}


@pytest.mark.parametrize("cause", ["refused", "500"])
def test_a_subprocess_of_a_function_tells_by_its_traceback(cause: str, server: str) -> None:
    code = ASKS.format(first="", url=address(server, cause))

    def agent(_: str) -> str:
        return subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True).stdout

    assert outcome(agent) == "undecided"


@pytest.mark.parametrize("cause", ["500", "401"])
def test_a_program_that_is_the_agent_tells_by_its_traceback(cause: str, server: str, tmp_path: Any) -> None:
    file = tmp_path / "agent.py"
    file.write_text(ASKS.format(first="sys.stdin.readline()", url=address(server, cause)))
    assert outcome(f"process:{sys.executable} {file}") == "undecided"


OPENAI_ASKS = """
import sys
from openai import OpenAI
sys.stdin.readline()
client = OpenAI(base_url={url!r}, api_key="k", max_retries=0, timeout=5)
client.chat.completions.create(model="m", messages=[{{"role": "user", "content": "?"}}])
"""
HTTPX_ASKS = """
import sys, httpx
sys.stdin.readline()
httpx.post({url!r}, json={{}}, timeout=5).raise_for_status()
"""


@pytest.mark.parametrize(
    ("program", "cause", "expected"),
    [
        (OPENAI_ASKS, "overflow", "scored length"),
        (HTTPX_ASKS, "500", "undecided"),
    ],
    ids=["openai-overflow", "httpx-500"],
)
def test_a_live_program_counts_as_its_library_does(
    program: str, cause: str, expected: str, server: str, tmp_path: Any
) -> None:
    file = tmp_path / "agent.py"
    file.write_text(program.format(url=address(server, cause)))
    assert outcome(f"process:{sys.executable} {file}") == expected


@pytest.mark.parametrize("cause", MODEL_SAYS)
def test_a_program_that_asks_a_model_counts_as_the_model_does(cause: str, tmp_path: Any, row: Row) -> None:
    chained = "\n\nDuring handling of the above exception, another exception occurred:\n\nTraceback (most recent call last):\n  File\nRuntimeError: no answer\n"

    def program(cause: str) -> Any:
        file = tmp_path / cause
        file.write_text(f"Traceback (most recent call last):\n  File\n{MODEL_SAYS[cause]}{chained}")
        return AGENTS.find("process").make(f"sh -c 'read line; cat {file} >&2; exit 1'", {})

    assert row("programs", program, list(MODEL_SAYS))[cause] == OF_A_MODEL[cause]


def test_a_program_that_breaks_after_it_has_handled_a_failed_request_is_to_blame(tmp_path: Any) -> None:
    file = tmp_path / "said"
    begin = "Traceback (most recent call last):\n  File\n"
    file.write_text(f"{begin}{MODEL_SAYS['429']}\ntried again\n{begin}KeyError: 'x'\n")
    assert outcome(f"process:sh -c 'read line; cat {file} >&2; exit 1'") == "agent_failed"


# ---- the entry points of models and services ----


@pytest.mark.parametrize("cause", CAUSES)
def test_openai(cause: str, server: str) -> None:
    options = {"base_url": address(server, cause), "timeout": patience(cause), "retries": 0}
    assert outcome("openai:m", agent_options=options) == OF_A_MODEL[cause]


@pytest.mark.parametrize("cause", CAUSES)
def test_http(cause: str, server: str) -> None:
    options = {"timeout": patience(cause), "retries": 0}
    of_the_service = {"other_400": "undecided", "500": "undecided"}  # the agent's own code, or its model
    expected = of_the_service.get(cause, OF_A_MODEL[cause])
    assert outcome(f"http:{address(server, cause)}", agent_options=options) == expected


# ---- frameworks ----


def of_openai_agents(url: str) -> Any:
    from openai import AsyncOpenAI

    from agents import Agent as LibraryAgent
    from agents import OpenAIChatCompletionsModel

    client = AsyncOpenAI(base_url=url, api_key="k", max_retries=0, timeout=patience(url))
    return LibraryAgent(name="a", model=OpenAIChatCompletionsModel("m", client))


def of_pydantic_ai(url: str) -> Any:
    from openai import AsyncOpenAI
    from pydantic_ai import Agent as LibraryAgent
    from pydantic_ai.models.openai import OpenAIChatModel
    from pydantic_ai.providers.openai import OpenAIProvider

    client = AsyncOpenAI(base_url=url, api_key="k", max_retries=0, timeout=patience(url))
    return LibraryAgent(OpenAIChatModel("m", provider=OpenAIProvider(openai_client=client)))


def of_smolagents(url: str) -> Any:
    from smolagents import OpenAIServerModel, ToolCallingAgent

    how = {"max_retries": 0, "timeout": patience(url)}
    model = OpenAIServerModel("m", api_base=url, api_key="k", client_kwargs=how, retry=False)
    return ToolCallingAgent(tools=[], model=model)


def of_langgraph(url: str) -> Any:
    from langgraph.graph import END, START, MessagesState, StateGraph

    def node(state: MessagesState) -> dict[str, Any]:
        return {"messages": [("ai", by_openai(url))]}

    graph = StateGraph(MessagesState)
    graph.add_node("model", node)
    graph.add_edge(START, "model")
    graph.add_edge("model", END)
    return graph.compile()


def of_adk(url: str) -> Any:
    from google.adk.agents import LlmAgent
    from google.adk.models import BaseLlm

    class Asks(BaseLlm):
        async def generate_content_async(self, *_: Any, **__: Any) -> Any:
            yield by_openai(url)

    return LlmAgent(name="a", model=Asks(model="m"))


FRAMEWORKS = {
    "agents": of_openai_agents,
    "pydantic_ai": of_pydantic_ai,
    "smolagents": of_smolagents,
    "langgraph": of_langgraph,
    "google.adk": of_adk,
}


@pytest.mark.filterwarnings("ignore::UserWarning", "ignore::DeprecationWarning")
@pytest.mark.parametrize("cause", CAUSES)
@pytest.mark.parametrize("library", FRAMEWORKS)
def test_a_framework_counts_as_its_model_does(library: str, cause: str, server: str, row: Row) -> None:
    try:
        import_module(library)
    except ImportError:
        pytest.skip(f"{library} is not installed")
    found = row(library, lambda cause: FRAMEWORKS[library](address(server, cause)), CAUSES)
    assert found[cause] == OF_A_MODEL[cause]


# ---- what the user decides ----


@pytest.mark.parametrize(
    ("blamed", "expected", "bounds"),
    [
        ("agent", {"agent_failed": 2, "scored": 2}, (0.5, 0.5, 0.5)),
        ("provider", {"provider_failed": 2, "scored": 2}, (1.0, 0.5, 1.0)),
    ],
)
def test_one_option_settles_what_nobody_can_know(
    blamed: Any, expected: dict[str, int], bounds: tuple[float, ...], tmp_path: Any
) -> None:
    def agent(question: str) -> str:
        return by_urllib("http://127.0.0.1:9") if int(question) % 2 else "x"

    samples = [proctor.Sample.ask(f"s{n}", str(n), target="x") for n in range(4)]
    task = proctor.Task(name="t", samples=samples, scorers=["exact"])
    store = str(tmp_path / "runs.db")
    run = proctor.evaluate(task, agent=agent, store=store, run_id="r")
    one = run.estimate("accuracy")
    assert (dict(run.outcomes), run.record.state) == ({"undecided": 2, "scored": 2}, "inconclusive")
    assert (one.value, one.floor, one.ceiling) == (1.0, 0.5, 1.0)
    assert "failed: 2. Nothing shows" in str(run)
    settled = proctor.evaluate(task, agent=agent, store=store, run_id="r", on_agent_error=blamed)
    direct = proctor.evaluate(task, agent=agent, on_agent_error=blamed)
    for made in (settled, direct):
        one = made.estimate("accuracy")
        assert (dict(made.outcomes), (one.value, one.floor, one.ceiling)) == (expected, bounds)
