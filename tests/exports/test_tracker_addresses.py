"""What MLflow and Weights & Biases are given is checked before their libraries are needed; `tests/compat` runs these."""

from pathlib import Path

import pytest
from memory_store import MemoryStore

from proctor.core.errors import BadInput
from proctor.exports.summary import host_of
from proctor.testing.records import a_record
from proctor_adapters.exports import wandb


def test_a_file_in_place_of_the_folder_is_named(tmp_path: Path) -> None:
    (tmp_path / "there").write_text("a file")
    with pytest.raises(BadInput, match="there cannot be written"):
        wandb.write(a_record(), MemoryStore(), tmp_path / "there", options={})


def test_a_key_in_an_address_is_refused_and_never_shown() -> None:
    for address in ("https://me:secret-key@wandb.example", "https://me:secret-key@[::1"):
        with pytest.raises(BadInput, match="WANDB_API_KEY") as refused:
            wandb.send(a_record(), MemoryStore(), address, options={})
        assert "secret" not in str(refused.value)


def test_the_host_of_an_address_is_shown_without_keys() -> None:
    assert host_of("https://me:secret-key@tracker.example:5000/x") == "tracker.example:5000"
    assert "secret" not in host_of("https://me:secret-key@[::1")
