"""Published models: found, read without running anything in them, and refused before a weight is changed."""

import json
import os
from pathlib import Path
from typing import Any

import pytest
import torch
from huggingface_hub import errors
from safetensors.torch import save_file
from torch import Tensor
from torch.testing import assert_close

from course_lib.published.hub import PublishedModel, find_folder

WEIGHTS = {"dense.weight": torch.arange(6.0).view(2, 3), "dense.bias": torch.tensor([7.0, 8.0])}


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "config.json").write_text(json.dumps({"model_type": "toy", "size": 3, "kind": "round"}))
    save_file(WEIGHTS, tmp_path / "model.safetensors")
    return tmp_path


def in_parts(folder: Path) -> None:
    """Each tensor in a file of its own, and an index of them, in the place of the whole."""
    (folder / "model.safetensors").unlink()
    places = {name: f"model-0000{i}-of-00002.safetensors" for i, name in enumerate(WEIGHTS, start=1)}
    for name, place in places.items():
        save_file({name: WEIGHTS[name]}, folder / place)
    (folder / "model.safetensors.index.json").write_text(json.dumps({"weight_map": places}))


def published(**tensors: Tensor) -> PublishedModel:
    """A published model of these tensors; a double underscore stands for a dot."""
    return PublishedModel("toy", {}, {name.replace("__", "."): tensor for name, tensor in tensors.items()})


class TestReading:
    def test_a_folder_gives_its_configuration_and_its_tensors(self, folder: Path) -> None:
        read = PublishedModel.read(folder, "toy")
        assert read.size("size") == 3
        assert read.tensors.keys() == WEIGHTS.keys()
        assert_close(dict(read.tensors), WEIGHTS)

    def test_several_parts_are_one(self, folder: Path) -> None:
        in_parts(folder)
        assert_close(dict(PublishedModel.read(folder, "toy").tensors), WEIGHTS)

    @pytest.mark.parametrize("name", ["model.fp16.safetensors", "model-00003-of-00003.safetensors"])
    @pytest.mark.parametrize("several", [False, True])
    def test_other_weights_beside_them_are_left_alone(self, folder: Path, name: str, several: bool) -> None:
        if several:
            in_parts(folder)
        save_file({"dense.weight": torch.zeros(2, 3), "more.weight": torch.zeros(1)}, folder / name)
        assert_close(dict(PublishedModel.read(folder, "toy").tensors), WEIGHTS)

    def test_a_part_that_is_missing_is_named(self, folder: Path) -> None:
        in_parts(folder)
        (folder / "model-00002-of-00002.safetensors").unlink()
        with pytest.raises(FileNotFoundError, match="model-00002-of-00002.safetensors is missing, which model.safe"):
            PublishedModel.read(folder, "toy")

    @pytest.mark.parametrize(
        ("index", "message"),
        [
            ({}, 'must say under "weight_map" in which file each tensor is'),
            ({"weight_map": {}}, "must say under"),
            ({"weight_map": {"dense.weight": 3}}, "must say under"),
            ({"weight_map": {"dense.weight": "../model.safetensors"}}, "must name files of its own folder"),
            ({"weight_map": {"dense.weight": "/etc/passwd"}}, "must name files of its own folder"),
            ([], "must hold an object, not list"),
        ],
    )
    def test_a_broken_index_is_refused(self, folder: Path, index: Any, message: str) -> None:
        in_parts(folder)
        (folder / "model.safetensors.index.json").write_text(json.dumps(index))
        with pytest.raises(ValueError, match=message):
            PublishedModel.read(folder, "toy")

    def test_the_older_file_is_read_where_only_that_exists(self, folder: Path) -> None:
        (folder / "model.safetensors").unlink()
        torch.save(WEIGHTS, folder / "pytorch_model.bin")
        assert_close(dict(PublishedModel.read(folder, "toy").tensors), WEIGHTS)

    def test_nothing_in_the_older_file_is_run(self, folder: Path) -> None:
        class Evil:
            def __reduce__(self) -> tuple[Any, ...]:
                return os.mkdir, (str(folder / "was here"),)

        (folder / "model.safetensors").unlink()
        torch.save({"weight": Evil()}, folder / "pytorch_model.bin")
        with pytest.raises(ValueError, match=r"pytorch_model.bin is damaged, or holds more than plain data"):
            PublishedModel.read(folder, "toy")
        assert not (folder / "was here").exists()

    @pytest.mark.parametrize("content", [[1, 2], {"weight": 3}])
    def test_the_older_file_must_hold_tensors_by_name(self, folder: Path, content: Any) -> None:
        (folder / "model.safetensors").unlink()
        torch.save(content, folder / "pytorch_model.bin")
        with pytest.raises(ValueError, match="must hold tensors by name"):
            PublishedModel.read(folder, "toy")

    @pytest.mark.parametrize("length", [0, 5, 100])
    def test_a_truncated_file_is_refused(self, folder: Path, length: int) -> None:
        path = folder / "model.safetensors"
        path.write_bytes(path.read_bytes()[:length])
        with pytest.raises(ValueError, match="model.safetensors is damaged or not a safetensors file"):
            PublishedModel.read(folder, "toy")
        path.unlink()
        torch.save(WEIGHTS, folder / "pytorch_model.bin")
        (folder / "pytorch_model.bin").write_bytes((folder / "pytorch_model.bin").read_bytes()[:length])
        with pytest.raises(ValueError, match="pytorch_model.bin is damaged"):
            PublishedModel.read(folder, "toy")

    def test_another_kind_of_model_is_refused(self, folder: Path) -> None:
        with pytest.raises(ValueError, match="holds a model of type 'toy', not of 'bert'"):
            PublishedModel.read(folder, "bert")

    def test_a_folder_without_its_files_holds_no_model(self, folder: Path) -> None:
        (folder / "model.safetensors").unlink()
        with pytest.raises(FileNotFoundError, match=r"has neither model.safetensors nor pytorch_model.bin"):
            PublishedModel.read(folder, "toy")
        (folder / "config.json").unlink()
        with pytest.raises(FileNotFoundError, match=r"has no config.json, so it holds no model"):
            PublishedModel.read(folder, "toy")

    @pytest.mark.parametrize(("text", "message"), [("{", "is not JSON"), ("[]", "must hold an object, not list")])
    def test_a_broken_configuration_is_refused(self, folder: Path, text: str, message: str) -> None:
        (folder / "config.json").write_text(text)
        with pytest.raises(ValueError, match=message):
            PublishedModel.read(folder, "toy")

    def test_a_setting_must_be_known(self, folder: Path) -> None:
        read = PublishedModel.read(folder, "toy")
        assert read.option("kind", ["round", "square"], default="square") == "round"
        assert read.option("absent", [True], default=True)
        with pytest.raises(ValueError, match="made with kind='round'; this library supports 'square' or 'flat'"):
            read.option("kind", ["square", "flat"], default="square")

    @pytest.mark.parametrize("value", [True, 0, 2.0, [3], "3", None])
    def test_a_size_is_a_positive_whole_number(self, value: Any) -> None:
        with pytest.raises(ValueError, match="config.json of toy must give it as a positive whole number, not "):
            PublishedModel("toy", {"it": value}, {}).size("it")

    @pytest.mark.parametrize("value", [None, "0.1", [0.1], True, float("nan")])
    def test_a_number_is_a_number_or_absent(self, value: Any) -> None:
        assert PublishedModel("toy", {}, {}).number("it", 0.5) == 0.5
        assert PublishedModel("toy", {"it": 0}, {}).number("it", 0.5) == 0.0
        with pytest.raises(ValueError, match="config.json of toy must give it as a number, not "):
            PublishedModel("toy", {"it": value}, {}).number("it", 0.5)

    @pytest.mark.parametrize("value", [None, [1, 2], 1.0, True, -1, 7])
    def test_a_special_token_is_one_of_the_vocabularys(self, value: Any) -> None:
        assert PublishedModel("toy", {}, {}).token("it", 3, 7) == 3
        assert PublishedModel("toy", {"it": 6}, {}).token("it", 3, 7) == 6
        with pytest.raises(ValueError, match="config.json of toy must give it as an id from 0 to 6, not "):
            PublishedModel("toy", {"it": value}, {}).token("it", 3, 7)


class TestWriting:
    def test_what_is_written_is_read_again(self, tmp_path: Path) -> None:
        written = PublishedModel("toy", {"model_type": "toy", "size": 3, "rate": 1e-12}, WEIGHTS)
        written.write(tmp_path / "new" / "folder")
        read = PublishedModel.read(tmp_path / "new" / "folder", "other", "toy")
        assert read.config == written.config
        assert_close(dict(read.tensors), WEIGHTS, rtol=0, atol=0)

    def test_what_was_there_is_replaced(self, folder: Path) -> None:
        PublishedModel("toy", {"model_type": "toy"}, {"b": torch.ones(1)}).write(str(folder))
        read = PublishedModel.read(folder, "toy")
        assert dict(read.config) == {"model_type": "toy"}
        assert read.tensors.keys() == {"b"}
        assert {path.name for path in folder.iterdir()} == {"config.json", "model.safetensors"}

    def test_where_nothing_can_be_written(self, folder: Path) -> None:
        with pytest.raises(OSError, match="config.json"):
            PublishedModel("toy", {}, WEIGHTS).write(folder / "config.json")

    def test_a_setting_that_json_cannot_say_leaves_what_was_there(self, folder: Path) -> None:
        with pytest.raises(TypeError, match="not JSON serializable"):
            PublishedModel("toy", {"size": torch.ones(1)}, {"b": torch.ones(1)}).write(folder)
        assert_close(dict(PublishedModel.read(folder, "toy").tensors), WEIGHTS)
        assert {path.name for path in folder.iterdir()} == {"config.json", "model.safetensors"}

    def test_tensors_under_other_names(self) -> None:
        renamed = PublishedModel("toy", {}, WEIGHTS).renamed(str.upper)
        assert renamed.tensors.keys() == {"DENSE.WEIGHT", "DENSE.BIAS"}


class TestFinding:
    @pytest.mark.parametrize("name", [Path("no/such/folder"), "./no_such_folder", "/no/such/folder"])
    def test_a_path_is_not_looked_for_on_the_hub(self, name: str | Path) -> None:
        with pytest.raises(FileNotFoundError, match="there is no folder .*no.such.folder"):
            find_folder(name)

    def test_a_path_may_begin_at_home(self, monkeypatch: pytest.MonkeyPatch, folder: Path) -> None:
        monkeypatch.setenv("HOME", str(folder.parent))
        assert find_folder(f"~/{folder.name}") == folder
        with pytest.raises(FileNotFoundError, match="there is no folder ~/nothing"):
            find_folder("~/nothing")

    def test_offline_and_not_in_the_cache_is_said_so(self, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
        monkeypatch.setattr("huggingface_hub.constants.HF_HUB_OFFLINE", True)
        monkeypatch.setattr("huggingface_hub.constants.HF_HUB_CACHE", str(tmp_path))
        with pytest.raises(FileNotFoundError, match=r"nobody/nothing is neither .* the hub cannot be reached: connect"):
            find_folder("nobody/nothing")

    def test_a_name_that_cannot_be_one_is_said_so(self) -> None:
        with pytest.raises(FileNotFoundError, match="neither a folder nor a model on the hub"):
            find_folder("no such name!")

    def test_an_unknown_model_is_said_so(self, monkeypatch: pytest.MonkeyPatch) -> None:
        def unknown(name: str, **options: Any) -> str:
            raise errors.HfHubHTTPError("404 Client Error\nmore lines", response=Response())

        monkeypatch.setattr("huggingface_hub.snapshot_download", unknown)
        with pytest.raises(FileNotFoundError, match=r"nobody/nothing is neither .* on the hub: 404 Client Error$"):
            find_folder("nobody/nothing")

    def test_from_the_hub_come_safetensors_where_there_are_any(
        self, monkeypatch: pytest.MonkeyPatch, folder: Path
    ) -> None:
        asked: list[list[str]] = []

        def download(name: str, allow_patterns: list[str]) -> str:
            assert name == "somebody/toy"
            asked.append(allow_patterns)
            return str(folder)

        monkeypatch.setattr("huggingface_hub.snapshot_download", download)
        assert find_folder("somebody/toy") == folder
        assert len(asked) == 1
        assert not any("bin" in pattern for pattern in asked[0])
        (folder / "model.safetensors").unlink()
        find_folder("somebody/toy")
        assert "pytorch_model.bin" in asked[-1]


class Response:
    """As much of an answer of the hub as its error looks at."""

    headers: dict[str, str] = {}
    request = None
