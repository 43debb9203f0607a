"""Shards: the same batches as from memory, little of the files in memory, and nothing from files that are not whole."""

from __future__ import annotations

import json
import pickle
import tracemalloc
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest
import torch

from course_lib.configurations import GPTConfig
from course_lib.models import GPT
from course_lib.objectives.losses import language_model_loss
from course_lib.text.batches import Windows
from course_lib.text.shards import ShardedText, ShardError, write_shards
from course_lib.training.loop import TrainingConfig, train
from course_lib.training.schedules import constant_schedule

IDS = torch.randint(2**16, (103,), generator=torch.Generator().manual_seed(0))


def written(folder: Path, shard_size: int = 10) -> ShardedText:
    return write_shards(IDS.tolist(), folder, 2**16, shard_size)


class TestReading:
    @pytest.mark.parametrize("shard_size", [1, 10, 103, 1000])
    def test_gives_what_was_written(self, tmp_path: Path, shard_size: int) -> None:
        text = written(tmp_path, shard_size)
        assert len(text) == 103
        assert len(list(tmp_path.glob("shard-*.bin"))) == len(text.checksums) == -(-103 // shard_size)
        assert torch.equal(text[torch.arange(103)], IDS)

    def test_a_text_is_found_again(self, tmp_path: Path) -> None:
        text = written(tmp_path)
        assert ShardedText.open(tmp_path) == text
        assert ShardedText.open(str(tmp_path)) == text

    def test_batches_are_those_of_a_text_in_memory(self, tmp_path: Path) -> None:
        in_memory, in_files = (Windows(text, length=16, batch_size=2) for text in (IDS, written(tmp_path)))
        generators = [torch.Generator().manual_seed(0) for _ in range(2)]
        for _ in range(3):
            plan, same = in_memory.plan(generators[0]), in_files.plan(generators[1])
            assert plan == same
            for starts in plan:
                assert torch.equal(in_files.batch(starts).ids, in_memory.batch(starts).ids)

    def test_a_training_is_that_on_a_text_in_memory(self, tmp_path: Path) -> None:
        few = IDS % 7

        def losses(text: torch.Tensor | ShardedText) -> list[float]:
            torch.manual_seed(0)
            gpt = GPT(GPTConfig(7, 8, 8, 2, 1, 16))
            config = TrainingConfig(5, constant_schedule(1e-2), precision="fp32")
            return train(gpt, Windows(text, 8, 3), language_model_loss, config, "cpu").losses

        assert losses(write_shards(few.tolist(), tmp_path, 7, 10)) == losses(few)

    def test_places_beyond_the_text_are_refused(self, tmp_path: Path) -> None:
        text = written(tmp_path)
        with pytest.raises(IndexError, match="places must be from 0 to 102, not 5 to 103"):
            text[torch.tensor([5, 103])]
        with pytest.raises(IndexError, match="not -1 to 3"):
            text[torch.tensor([-1, 3])]
        assert text[torch.zeros(0, dtype=torch.long)].shape == (0,)


class TestMemory:
    TOKENS = 1_000_000

    def written(self, folder: Path) -> Windows:
        (folder / "shard-00000.bin").write_bytes(np.zeros(self.TOKENS, "<u2").tobytes())
        index = {"format": "katze-shards-1", "vocabulary": 9, "tokens": self.TOKENS, "shard_size": 2**27}
        (folder / "index.json").write_text(json.dumps({**index, "checksums": [0]}))
        return Windows(ShardedText.open(folder), length=32, batch_size=4)

    def test_only_what_a_batch_needs_is_read(self, tmp_path: Path) -> None:
        data = self.written(tmp_path)
        data.batch([0])
        tracemalloc.start()
        try:
            data.batch([0, 500_000, self.TOKENS - 33])
            most = tracemalloc.get_traced_memory()[1]
        finally:
            tracemalloc.stop()
        assert most < 100_000 < 2 * self.TOKENS

    def test_what_another_process_is_given_is_small(self, tmp_path: Path) -> None:
        data = self.written(tmp_path)
        data.batch([0])
        assert len(pickle.dumps(data)) < 1000
        assert pickle.loads(pickle.dumps(data)) == data


class TestWriting:
    def test_ids_may_come_one_by_one(self, tmp_path: Path) -> None:
        def coming() -> Iterator[int]:
            yield from (3, 1, 4)
            assert not list(tmp_path.glob("shard*")), "a shard is there only when it is full"
            yield from (1, 5)

        text = write_shards(coming(), tmp_path, 6, shard_size=5)
        assert text[torch.arange(5)].tolist() == [3, 1, 4, 1, 5]
        assert {path.name for path in tmp_path.iterdir()} == {"shard-00000.bin", "index.json"}

    @pytest.mark.parametrize("wrong", [6, -1, 2**40])
    def test_an_id_outside_the_vocabulary_is_refused(self, tmp_path: Path, wrong: int) -> None:
        with pytest.raises(ValueError, match=f"ids must be from 0 to 5, the vocabulary's last, but there is a {wrong}"):
            write_shards([3, wrong, 4], tmp_path, 6)
        assert not list(tmp_path.iterdir())

    def test_a_fraction_is_refused(self, tmp_path: Path) -> None:
        with pytest.raises(TypeError, match="'float' object cannot be interpreted as an integer"):
            write_shards([3, 1.5], tmp_path, 6)  # type: ignore[list-item]

    def test_no_ids_are_refused(self, tmp_path: Path) -> None:
        with pytest.raises(ValueError, match="no ids to write"):
            write_shards([], tmp_path, 6)

    def test_a_text_is_not_overwritten(self, tmp_path: Path) -> None:
        text = written(tmp_path)
        with pytest.raises(ValueError, match=r"index.json is there already: choose another folder"):
            written(tmp_path)
        text.verify()

    def test_what_was_stopped_is_not_taken_for_whole_and_can_be_written_again(self, tmp_path: Path) -> None:
        def stopped() -> Iterator[int]:
            yield from range(25)
            raise KeyboardInterrupt

        with pytest.raises(KeyboardInterrupt):
            write_shards(stopped(), tmp_path, 50, shard_size=10)
        assert len(list(tmp_path.iterdir())) == 2
        with pytest.raises(ShardError, match="the shards were not written to their end"):
            ShardedText.open(tmp_path)
        assert len(write_shards(range(50), tmp_path, 50, shard_size=10)) == 50


class TestDamage:
    @pytest.mark.parametrize("left", [0, 7, 30])
    def test_a_file_of_another_size(self, tmp_path: Path, left: int) -> None:
        text = written(tmp_path)
        file = tmp_path / "shard-00001.bin"
        file.write_bytes((file.read_bytes() * 2)[:left])
        sentence = f"shard-00001.bin has {left} bytes in place of 20: write the shards again"
        with pytest.raises(ShardError, match=sentence):
            ShardedText.open(tmp_path)
        with pytest.raises(ShardError, match=sentence):  # opened before, cut off since
            text[torch.tensor([3, 15])]

    def test_a_file_that_is_missing(self, tmp_path: Path) -> None:
        written(tmp_path)
        (tmp_path / "shard-00010.bin").unlink()
        with pytest.raises(ShardError, match="shard-00010.bin has 0 bytes in place of 6"):
            ShardedText.open(tmp_path)

    def test_another_content_is_found_by_looking_at_all_of_it(self, tmp_path: Path) -> None:
        text = written(tmp_path)
        text.verify()
        file = tmp_path / "shard-00003.bin"
        content = bytearray(file.read_bytes())
        content[4] ^= 1
        file.write_bytes(content)
        with pytest.raises(ShardError, match="shard-00003.bin is damaged: write the shards again"):
            text.verify()

    def test_an_id_outside_the_vocabulary_reaches_no_model(self, tmp_path: Path) -> None:
        text = write_shards(range(6), tmp_path, 6)
        (tmp_path / "shard-00000.bin").write_bytes(np.array([0, 1, 2, 600, 4, 5], "<u2").tobytes())
        assert text[torch.tensor([1, 2])].tolist() == [1, 2]
        with pytest.raises(ShardError, match="is damaged: it has the id 600, outside its own vocabulary"):
            text[torch.tensor([1, 3])]

    @pytest.mark.parametrize(
        "changes",
        [{"tokens": 0}, {"tokens": "103"}, {"tokens": 111}, {"shard_size": None}, {"checksums": 3}]
        + [{"checksums": ["x"]}, {"format": "another"}, {"vocabulary": 2.5}],
        ids=str,
    )
    def test_an_index_of_something_else(self, tmp_path: Path, changes: dict[str, object]) -> None:
        written(tmp_path)
        path = tmp_path / "index.json"
        path.write_text(json.dumps({**json.loads(path.read_text()), **changes}))
        with pytest.raises(ShardError, match=r"index.json is damaged, or no index of shards"):
            ShardedText.open(tmp_path)

    @pytest.mark.parametrize("content", ["", "[]", "{}", '{"format": "katze-sh'])
    def test_an_index_that_is_cut_off(self, tmp_path: Path, content: str) -> None:
        written(tmp_path)
        (tmp_path / "index.json").write_text(content)
        with pytest.raises(ShardError, match=r"index.json is damaged, or no index of shards"):
            ShardedText.open(tmp_path)
