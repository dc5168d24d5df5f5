"""The settings of HelloAgents for parts that are given no llm: the environment, `.env`, and the keys of other providers."""

import os
import re
from pathlib import Path

import msgspec

from proctor.core.errors import BadInput

FILE = Path(".env")  # of the working folder, and no other
MOST_CHARACTERS = 100_000
USUAL_JUDGE = "gpt-4o"
_LINE = re.compile(r"^\s*(?:export\s+)?([A-Za-z_][A-Za-z0-9_]*)\s*=\s*(.*?)\s*$")


class HelloAgentsProvider(msgspec.Struct, frozen=True):
    """A provider that hello-agents knows by the variable of its key, or of its host, and its usual address."""

    keys: tuple[str, ...]
    url: str
    host: str = ""


PROVIDERS = (
    HelloAgentsProvider(("DEEPSEEK_API_KEY",), "https://api.deepseek.com"),
    HelloAgentsProvider(("DASHSCOPE_API_KEY",), "https://dashscope.aliyuncs.com/compatible-mode/v1"),
    HelloAgentsProvider(("MODELSCOPE_API_KEY",), "https://api-inference.modelscope.cn/v1"),
    HelloAgentsProvider(("KIMI_API_KEY", "MOONSHOT_API_KEY"), "https://api.moonshot.cn/v1"),
    HelloAgentsProvider(("ZHIPU_API_KEY", "GLM_API_KEY"), "https://open.bigmodel.cn/api/paas/v4"),
    HelloAgentsProvider(("OLLAMA_API_KEY",), "http://localhost:11434/v1", host="OLLAMA_HOST"),
    HelloAgentsProvider(("VLLM_API_KEY",), "http://localhost:8000/v1", host="VLLM_HOST"),
)
_OWN = ("LLM_MODEL_ID", "LLM_API_KEY", "LLM_BASE_URL", "LLM_TIMEOUT", "OPENAI_API_KEY", "OPENAI_BASE_URL", "HF_TOKEN")
NAMES = (*_OWN, *(name for provider in PROVIDERS for name in (*provider.keys, provider.host) if name))


def load() -> None:
    """Set what `.env` of the working folder says of `NAMES`, where the environment does not say it already.

    Raises:
        BadInput: it is there and cannot be read.
    """
    if not FILE.is_file():
        return
    try:
        with FILE.open(encoding="utf-8-sig") as lines:
            text = lines.read(MOST_CHARACTERS)
    except (OSError, UnicodeDecodeError) as error:
        raise BadInput("{path}: {error}.", path=FILE, error=error) from None
    for name, value in read(text).items():
        if name in NAMES and value:
            os.environ.setdefault(name, value)


def read(text: str) -> dict[str, str]:
    """Return the values of an `.env` file; quotes around a value, and a comment following it, are no part of it.

    >>> read("export A='x y'\\nB=1 # one\\n# C=2")
    {'A': 'x y', 'B': '1'}
    """
    found = {}
    for line in text.splitlines():
        if match := _LINE.match(line):
            value = match[2]
            quoted = re.match(r"""(['"])(.*?)\1""", value)
            found[match[1]] = quoted[2] if quoted else re.split(r"\s#", value)[0].strip()
    return found


def model_id() -> str | None:
    """Return the model of `LLM_MODEL_ID`, of the environment or `.env`."""
    load()
    return os.environ.get("LLM_MODEL_ID") or None


def judge_model(name: str | None) -> str:
    """Return the judge's model where the caller passed no llm: the one named, else `LLM_MODEL_ID`."""
    return name or model_id() or USUAL_JUDGE


def endpoint() -> dict[str, str]:
    """Return the options that lead to the provider whose key or host is set; none where the usual variables do.

    The key itself stays in the environment: options are stored with a run, and name its variable only. A local server
    needs none.
    """
    load()
    given = os.environ.get
    usual = given("LLM_BASE_URL") or given("OPENAI_BASE_URL")
    if given("OPENAI_API_KEY") or (given("LLM_API_KEY") and usual):
        return {}
    for provider in PROVIDERS:
        key = next((name for name in provider.keys if given(name)), None)
        host = given(provider.host) if provider.host else None
        if host or (key and not given("LLM_API_KEY")):
            base = _address(host) if host else usual or provider.url
            return {"base_url": base, **({"api_key_env": key} if key else {})}
    return {}


def _address(host: str) -> str:
    """Return the address of a host as Ollama takes it too, where scheme and path may be missing.

    >>> _address("127.0.0.1:11434"), _address("https://gpu/v1/")
    ('http://127.0.0.1:11434/v1', 'https://gpu/v1')
    """
    address = (host if "://" in host else f"http://{host}").rstrip("/")
    return address if "/" in address.partition("://")[2] else f"{address}/v1"
