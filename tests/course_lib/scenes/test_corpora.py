"""Which data lesson 11 takes, and where its checkpoints stay."""

import json
from pathlib import Path

import pytest

from course_lib.scenes import corpora
from course_lib.scenes.corpora import H200, choose_corpus, kept_folder
from course_lib.text.downloads import DownloadError
from course_lib.text.texts import SentencePair
from course_lib.training.recipes import MULTI30K, SHORT_SCENES


def test_the_curves_are_those_that_were_measured() -> None:
    measured = json.loads((Path(__file__).parents[3] / "benchmarks/gpu/h200-multi30k.json").read_text())
    (part,) = measured["parts"]
    for name, losses in H200.items():
        curve = dict(part["curves"][f"{name} loss"])
        assert losses == [round(curve[tenth * MULTI30K.steps // 10], 2) for tenth in range(1, 11)]
    (minutes,) = [row["ours"] for row in part["rows"] if row["name"] == "from nothing to BLEU"]
    assert round(60 * minutes) == 88


def test_a_processor_gets_the_short_form(capsys: pytest.CaptureFixture[str]) -> None:
    corpus = choose_corpus("cpu")
    assert (corpus.full, corpus.recipe, list(corpus.tests)) == (False, SHORT_SCENES, ["by rule", "everyday", "by hand"])
    assert "There is no GPU" in capsys.readouterr().out


def test_a_gpu_gets_multi30k(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.setattr(corpora, "multi30k", lambda part: [SentencePair(part, part)])
    corpus = choose_corpus("cuda")
    assert (corpus.full, corpus.recipe) == (True, MULTI30K)
    assert corpus.tests["test2016"][0].source == "test_2016_flickr"
    assert "Multi30k: 1 pairs" in capsys.readouterr().out


def test_without_the_files_a_gpu_gets_the_short_form_and_hears_why(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def missing(part: str) -> list[SentencePair]:
        raise DownloadError("cannot fetch it. Put a copy in a folder of yours")

    monkeypatch.setattr(corpora, "multi30k", missing)
    assert not choose_corpus("cuda").full
    assert "cannot fetch it. Put a copy in a folder of yours." in capsys.readouterr().out


def test_a_mounted_drive_is_looked_into(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    (tmp_path / "katze").mkdir()
    monkeypatch.setattr(corpora, "DRIVE", tmp_path)
    monkeypatch.setenv("KATZE_DATA", "")
    monkeypatch.delenv("KATZE_DATA")
    seen = []
    monkeypatch.setattr(corpora, "multi30k", lambda part: seen.append(corpora.os.environ["KATZE_DATA"]) or [])
    corpus = choose_corpus("cuda")
    assert set(seen) == {str(tmp_path / "katze")}
    assert kept_folder(corpus) == tmp_path / "katze" / "runs" / "multi30k"


def test_without_a_drive_checkpoints_stay_in_the_cache(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("KATZE_CACHE", str(tmp_path))
    monkeypatch.setattr(corpora, "multi30k", lambda part: [])
    assert kept_folder(choose_corpus("cuda")) == tmp_path / "runs" / "multi30k"
    assert kept_folder(choose_corpus("cpu")) != kept_folder(choose_corpus("cpu"))
