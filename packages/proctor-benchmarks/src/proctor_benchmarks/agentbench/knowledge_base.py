"""Ask a SPARQL endpoint with Freebase in it, by queries that the official code of the clone writes in a worker."""

import urllib.parse
from collections.abc import Sequence
from pathlib import Path

import msgspec

from proctor.core.errors import BadInput, EnvironmentFailed, PartFailed
from proctor.isolation import Workers
from proctor.isolation.limits import WorkerRaised
from proctor.models.named import OpenedModels
from proctor.transport.client import Client
from proctor.transport.target import RequestTarget
from proctor.transport.terms import RequestTerms
from proctor_benchmarks.agentbench.knowledge import FOLDER, CallRefused

NAMESPACE = "http://rdf.freebase.com/ns/"
TIME_ZONE = "-08:00"
SECONDS = 120.0
NOT_ACCEPTED = ("http_400", "http_500")  # officially shown to the agent like any other error
_RELATIONS = f"""PREFIX : <{NAMESPACE}>
SELECT DISTINCT ?x0 WHERE {{ :%s ?x0 ?x1 . FILTER regex(?x0, "{NAMESPACE}") }}"""


class _Bindings(msgspec.Struct, frozen=True):
    bindings: list[dict[str, dict[str, object]]]


class _Entity(msgspec.Struct, frozen=True):
    results: _Bindings


_decode = msgspec.json.Decoder(_Entity).decode


class SparqlBase(OpenedModels):
    """The knowledge base of a SPARQL endpoint, entered for as long as a run lasts.

    Raises:
        BadInput: no endpoint is named.
    """

    def __init__(self, root: Path, url: str | None) -> None:
        if not url:
            raise BadInput("The part kg needs a SPARQL endpoint with the Freebase of the official repository: --set sparql=http://localhost:3001/sparql")  # fmt: skip
        headers = {"Content-Type": "application/x-www-form-urlencoded", "Accept": "application/sparql-results+json"}
        self._target = RequestTarget(url, headers=headers, terms=RequestTerms(seconds=SECONDS))
        self._workers = Workers(Path(__file__).with_name("knowledge_worker_program.py"), paths=[root / FOLDER], size=1)
        super().__init__([self._workers])

    async def relations(self, entity: str) -> Sequence[str]:
        """Return the relations that lead away from an entity."""
        return await self._select(_RELATIONS % entity)

    async def relations_of_all(self, program: str) -> Sequence[str]:
        """Return the relations that lead away from what a program finds."""
        prefix, *rest = (await self._query(program)).split("\n")
        return await self._select(
            "\n".join([prefix, "SELECT DISTINCT ?rel\nWHERE {\n?x ?rel ?obj .\n{", *rest, "}\n}"])
        )

    async def find(self, program: str) -> Sequence[str]:
        return await self._select(await self._query(program))

    async def _query(self, program: str) -> str:
        try:
            return str(await self._workers.run("query", program=program))
        except WorkerRaised as error:
            raise CallRefused(str(error)) from error

    async def _select(self, query: str) -> list[str]:
        body = urllib.parse.urlencode({"query": query, "format": "application/sparql-results+json"}).encode()
        try:
            reply = await self._post(body)
        except PartFailed as error:
            if error.kind in NOT_ACCEPTED:
                raise CallRefused(str(error)) from error
            raise EnvironmentFailed(error.sentence, kind=error.kind) from error
        values = [binding[name]["value"] for binding in reply.results.bindings for name in binding]
        return [str(value).replace(NAMESPACE, "").replace(TIME_ZONE, "") for value in values]

    async def _post(self, body: bytes) -> _Entity:
        client = Client.current()
        if client is not None:
            return await client.post(self._target, body, _decode)
        async with Client() as own:
            return await own.post(self._target, body, _decode)
