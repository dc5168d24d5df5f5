import pytest
from memory_store import MemoryStore

from proctor.api.baselines import baselines
from proctor.core.errors import BadInput
from proctor.testing.records import a_record, fill
from proctor_ci.baselines import find_baseline, remove_baseline, set_baseline


@pytest.fixture
async def store() -> MemoryStore:
    made = MemoryStore()
    for id in ("one", "two"):
        await fill(made, ["fr"], a_record(id))
    return made


async def test_a_name_is_of_one_run_and_a_run_may_have_several(store: MemoryStore) -> None:
    set_baseline(store, "main", "one", by="ann")
    set_baseline(store, "release 1", "one")
    assert baselines(store) == {"main": "one", "release 1": "one"}
    set_baseline(store, "main", "two", by="bob")
    assert baselines(store) == {"main": "two", "release 1": "one"}
    assert find_baseline(store, "main") == "two"
    remove_baseline(store, "main")
    assert baselines(store) == {"release 1": "one"}


async def test_an_unknown_name_or_run_is_told_and_changes_nothing(store: MemoryStore) -> None:
    set_baseline(store, "main", "one")
    with pytest.raises(BadInput, match=r"No baseline is called 'mian'\. Did you mean 'main'"):
        find_baseline(store, "mian")
    with pytest.raises(BadInput):
        set_baseline(store, "main", "three")
    for name in ("", " main", "a\nb", "x" * 101):
        with pytest.raises(BadInput, match="cannot name a baseline"):
            set_baseline(store, name, "two")
    assert baselines(store) == {"main": "one"}
