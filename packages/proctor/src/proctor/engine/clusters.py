"""Find the machines that `--on KIND[:ADDRESS]` names."""

from proctor.core.parts import ClusterPart
from proctor.registry import offered


def cluster_of(name: str) -> tuple[ClusterPart, str]:
    """Return the kind of cluster with its address, which is '' for one that the run starts itself.

    Raises:
        BadInput: there is no such kind, or the address is none.
        MissingExtra: what it needs is not installed.
    """
    kind, _, address = name.partition(":")
    part: ClusterPart = offered("clusters", kind, needed_for=f"--on {kind}", what="cluster")
    return part, part.check(address)
