"""Keys in what a run is made of are refused, whatever they stand under; ordinary options are not."""

from typing import Any

import pytest

from proctor.api.keys import refuse_keys
from proctor.core.errors import BadInput

KEY = "sk-test-abcdef123456"
RANDOM = "9f8e7d6c5b4a39281706abcd"


@pytest.mark.parametrize(
    ("where", "value"),
    [
        ("agent_options.headers", {"Ocp-Apim-Subscription-Key": "a-word-or-two"}),
        ("agent_options.headers", {"X-Auth": RANDOM}),
        ("agent_options.headers", {"X-Whatever": RANDOM}),
        ("agent_options", {"headers": {"Cookie": "session=1"}}),
        ("agent", f"http:https://bot.example/ask?token={RANDOM}"),
        ("agent", f"http:https://bot.example/ask?a=1&sig={RANDOM}"),
        ("agent", f"http:https://bot.example/ask?key={RANDOM}"),
        ("agent", "http:https://me:hunter2@bot.example/ask"),
        ("agent", f"process:python agent.py --api-key {KEY}"),
        ("agent", f"process:python agent.py --token={RANDOM} --fast"),
        ("agent", "process:python agent.py --password hunter2 --fast yes"),
        ("agent", f"process:env OPENAI_API_KEY={KEY} python agent.py"),
        ("task_options", {"api_key": "anything"}),
        ("task_options", {"note": "ghp_abcdefghijklmnop1234"}),
        ("task_options", {"note": f"please use the key {KEY} for all of it"}),
        ("agent_options", {"body": f'{{"input": "{{question}}", "auth": {{"token": "{RANDOM}"}}}}'}),
        ("agent_options", {"extra_body": {"list": [{"secret": RANDOM}]}}),
    ],
)
def test_a_key_is_refused_and_not_shown(where: str, value: Any) -> None:
    with pytest.raises(BadInput, match="holds a key") as caught:
        refuse_keys(where, value)
    for secret in (KEY, RANDOM, "hunter2", "ghp_"):
        assert secret not in str(caught.value)


@pytest.mark.parametrize(
    ("where", "value"),
    [
        ("agent_options.headers", {"X-Auth": "env:MY_KEY", "Accept": "application/json", "X-Tenant": "blue"}),
        ("agent_options", {"api_key_env": "MY_KEY", "max_tokens": 100, "model": "gpt-4o-mini-2024-07-18"}),
        ("agent_options", {"body": '{"input": "{question}", "session": "{session}"}'}),
        ("agent", "http:https://bot.example/ask?key={env:BOT_KEY}&session={session}&limit=5"),
        ("agent", "http:https://bot.example/ask?code={session}"),
        ("agent", "process:python agent.py --tokens 500 --keep yes --api-key-file key.txt"),
        ("agent", "process:sh -c 'agent --api-key $KEY'"),
        ("agent", "openai:meta-llama/Llama-3.1-8B-Instruct-Turbo"),
        ("task_options", {"note": "a basic understanding of keys: secret ways, tokens and passwords"}),
        ("task_options", {"level": "1,2", "data": "/data/9f8e7d6c5b4a39281706/questions", "question": "body"}),
        ("task_options", {"revision": "682dd723ee1e1697e00360edccf2366dc8418dd9"}),
        ("tags", {"subject": "keys and locks"}),
    ],
)
def test_what_is_no_key_passes(where: str, value: Any) -> None:
    refuse_keys(where, value)
