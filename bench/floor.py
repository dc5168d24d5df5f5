"""The least that asks the same questions: a bare aiohttp loop with plain retries, and nothing kept.

python -m bench.floor URL COUNT AT_ONCE
"""

import asyncio
import sys
from collections.abc import Callable

import aiohttp
import msgspec

from bench.sums import question

HEADERS = {"Content-Type": "application/json", "Authorization": "Bearer sk-mock"}


async def run(url: str, count: int, at_once: int) -> int:
    """Ask everything; says how many answers were right."""
    numbers = iter(range(count))
    right = 0
    connector = aiohttp.TCPConnector(limit=at_once)
    async with aiohttp.ClientSession(connector=connector, headers=HEADERS) as session:

        async def worker() -> None:
            nonlocal right
            for number in numbers:
                text, target = question(number)
                answer = await ask(session, f"{url}/chat/completions", text)
                right += answer == target

        await asyncio.gather(*(worker() for _ in range(at_once)))
    return right


async def ask(session: aiohttp.ClientSession, url: str, text: str) -> str:
    """The answer to one question, asked again until there is one."""
    body = {"model": "mock", "messages": [{"role": "user", "content": text}]}
    while True:
        try:
            async with session.post(url, data=msgspec.json.encode(body)) as response:
                if response.status == 200:
                    reply = msgspec.json.decode(await response.read())
                    return str(reply["choices"][0]["message"]["content"]).strip()
                wait = float(response.headers.get("Retry-After", 0.5))
        except aiohttp.ClientError:
            wait = 0.5
        await asyncio.sleep(wait)


def fast_loop() -> Callable[[], asyncio.AbstractEventLoop] | None:
    """The event loop that a run would take, too."""
    try:
        import uvloop
    except ImportError:
        return None
    return uvloop.new_event_loop


def main() -> None:
    """Read the arguments, and print how many answers were right."""
    url, count, at_once = sys.argv[1:]
    with asyncio.Runner(loop_factory=fast_loop()) as runner:
        print(runner.run(run(url, int(count), int(at_once))))


if __name__ == "__main__":
    main()
