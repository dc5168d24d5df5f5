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


class Provider(msgspec.Struct, frozen=True):
    """A provider that hello-agents knows by the variable of its key, and its address."""

    keys: tuple[str, ...]
    url: str


PROVIDERS = (
    Provider(("DEEPSEEK_API_KEY",), "https://api.deepseek.com"),
    Provider(("DASHSCOPE_API_KEY",), "https://dashscope.aliyuncs.com/compatible-mode/v1"),
    Provider(("MODELSCOPE_API_KEY",), "https://api-inference.modelscope.cn/v1"),
    Provider(("KIMI_API_KEY", "MOONSHOT_API_KEY"), "https://api.moonshot.cn/v1"),
    Provider(("ZHIPU_API_KEY", "GLM_API_KEY"), "https://open.bigmodel.cn/api/paas/v4"),
)
_OWN = ("LLM_MODEL_ID", "LLM_API_KEY", "LLM_BASE_URL", "LLM_TIMEOUT", "OPENAI_API_KEY", "OPENAI_BASE_URL", "HF_TOKEN")
NAMES = (*_OWN, *(key for provider in PROVIDERS for key in provider.keys))


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
    """Return the model that judges where there is no llm: the one that is named, else that of `LLM_MODEL_ID`."""
    return name or model_id() or USUAL_JUDGE


def endpoint() -> dict[str, str]:
    """Return the options that lead to the provider whose key is set; none where the usual variables do.

    The key itself stays in the environment: options are stored with a run, and name its variable only.
    """
    load()
    if any(os.environ.get(name) for name in ("OPENAI_API_KEY", "LLM_API_KEY")):
        return {}
    for provider in PROVIDERS:
        key = next((name for name in provider.keys if os.environ.get(name)), None)
        if key is not None:
            base = os.environ.get("LLM_BASE_URL") or os.environ.get("OPENAI_BASE_URL") or provider.url
            return {"base_url": base, "api_key_env": key}
    return {}
