"""Servers of models on this machine: their addresses, their keys, and how they are found."""

import asyncio

import pytest
from click.testing import CliRunner
from endpoint import Endpoint, Request, chat, data

from proctor.cli import app
from proctor.core.errors import BadInput
from proctor.core.sample import Message
from proctor.models import ollama
from proctor.models.named import model
from proctor.models.servers import find_running


@pytest.mark.parametrize("kind", ["ollama", "vllm"])
async def test_a_server_is_asked_at_its_own_address_without_the_key_of_another(
    kind: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with Endpoint(chat("Paris")) as endpoint:
        monkeypatch.setenv("OPENAI_API_KEY", "sk-a-key-of-a-test-012345")
        monkeypatch.setenv("OPENAI_BASE_URL", "https://api.example/v1")
        monkeypatch.setenv("OLLAMA_HOST", endpoint.url)
        monkeypatch.setenv("VLLM_BASE_URL", f"{endpoint.url}/v1")
        asked = model(f"{kind}:qwen3", {"temperature": 0})
        assert (await asked.complete([Message.of("user", "Capital?")])).message.text == "Paris"
    (request,) = endpoint.requests
    assert (request.path, request.json["model"]) == ("/v1/chat/completions", "qwen3")
    assert "authorization" not in request.headers


def test_a_model_has_to_be_named() -> None:
    with pytest.raises(BadInput, match="proctor data models list"):
        model("ollama:")


def test_a_server_without_batches_is_not_asked_for_one() -> None:
    with pytest.raises(BadInput, match="vllm takes no batches"):
        model("vllm:m", {"batch": True})


async def test_servers_that_run_are_found_with_their_models(monkeypatch: pytest.MonkeyPatch) -> None:
    listed = data({"object": "list", "data": [{"id": "llama3.2:3b", "object": "model"}, {"id": "qwen3"}]})
    async with Endpoint(listed) as endpoint, Endpoint(data({}, 404)) as other:
        monkeypatch.setenv("OLLAMA_HOST", endpoint.url)
        monkeypatch.setenv("VLLM_BASE_URL", f"{other.url}/v1")
        (server,) = await find_running()
    assert (server.kind, server.address) == ("ollama", f"{endpoint.url}/v1")
    assert server.models == ["ollama:llama3.2:3b", "ollama:qwen3"]
    assert endpoint.requests[0].path == "/v1/models"


@pytest.mark.parametrize(
    ("host", "address"),
    [
        ("gpu", "http://gpu:11434"),
        ("gpu:80", "http://gpu:80"),
        ("http://gpu", "http://gpu:80"),
        ("https://gpu/ollama/", "https://gpu:443/ollama"),
        ("http://gpu:1234/ollama", "http://gpu:1234/ollama"),
        ("0.0.0.0:1234", "http://localhost:1234"),
        (":1234", "http://localhost:1234"),
        ("[::1]", "http://[::1]:11434"),
        ("::", "http://localhost:11434"),
        ("[::]:1234", "http://localhost:1234"),
    ],
)
def test_the_address_of_ollama_is_read_as_ollama_does(host: str, address: str) -> None:
    assert ollama.address(host) == address


async def test_a_server_that_wants_its_key_is_found_too(monkeypatch: pytest.MonkeyPatch) -> None:
    async def listed(request: Request, writer: asyncio.StreamWriter) -> None:
        is_let_in = request.headers.get("authorization") == "Bearer a-key-of-a-test"
        await data(*(({"data": [{"id": "m"}]}, 200) if is_let_in else ({}, 401)))(request, writer)

    async with Endpoint(listed) as endpoint:
        monkeypatch.setenv("OLLAMA_HOST", "127.0.0.1:1")
        monkeypatch.setenv("VLLM_BASE_URL", f"{endpoint.url}/v1")
        monkeypatch.setenv("VLLM_API_KEY", "a-key-of-a-test")
        (server,) = await find_running()
    assert server.models == ["vllm:m"]


def test_the_command_says_that_none_runs(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OLLAMA_HOST", "127.0.0.1:1")
    monkeypatch.setenv("VLLM_BASE_URL", "http://127.0.0.1:1/v1")
    result = CliRunner().invoke(app, ["data", "models", "list"])
    assert result.exit_code == 0
    assert "Neither Ollama nor vLLM answers" in result.output
