"""A store in PostgreSQL: several processes and machines write one run at a time."""

from typing import Any

from proctor.core.parts import StorePart
from proctor.core.shard import Shard
from proctor.core.task import Store
from proctor_adapters.postgresql import open_store


def _share(store: Any, shard: Shard) -> Store:
    from proctor_adapters.postgresql.shard import ShardStore  # needs the extra, which an open store has found

    return ShardStore(store, shard)


PART = StorePart(open=open_store, share=_share)
