"""Start the cluster of `--on ray`, print its address and its token, and do what is written to standard input, until that ends:

cores           print how many there are
add CORES PATH  let a node join, which imports modules from there first
kill            kill the node that joined last
"""

import asyncio
import json
import os
import signal
import sys
from importlib import import_module
from types import SimpleNamespace
from typing import Any

from proctor_adapters.ray.cluster import OWN, QUIET, connected, token


async def main() -> None:
    async with connected("", 2):
        ray: Any = import_module("ray")
        address = ray.get_runtime_context().gcs_address
        cluster = import_module("ray.cluster_utils").Cluster(shutdown_at_exit=True)
        cluster.head_node = SimpleNamespace(gcs_address=address)
        nodes: list[Any] = []
        started = {"address": address, "token": token(), "inherited": dict(os.environ)}
        os.environ |= {**OWN, **QUIET, "RAY_AUTH_TOKEN": token()}  # of the nodes that join
        print(json.dumps(started), file=sys.__stdout__, flush=True)
        while line := await asyncio.to_thread(sys.stdin.readline):
            for node in nodes:  # a node that is killed is buried, as the system does with one that is started by hand
                node.all_processes["raylet"][0].process.poll()
            match line.split():
                case ["cores"]:
                    print(ray.cluster_resources().get("CPU", 0), file=sys.__stdout__, flush=True)
                case ["add", cores, path]:
                    os.environ["PYTHONPATH"] = path
                    nodes.append(cluster.add_node(wait=False, num_cpus=int(cores), object_store_memory=80_000_000))
                    del os.environ["PYTHONPATH"]
                case ["kill"]:
                    os.kill(nodes[-1].all_processes["raylet"][0].process.pid, signal.SIGKILL)


if __name__ == "__main__":
    asyncio.run(main())
