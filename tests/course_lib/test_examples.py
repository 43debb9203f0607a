"""The library's examples in the READMEs do what they show."""

import re
from pathlib import Path

import pytest
import transformers

from course_lib.text.byte_pairs import ByteLevelVocabulary
from course_lib.text.shakespeare import a_little_shakespeare

ROOT = Path(__file__).parents[2]
EXAMPLES = {
    f"{page}: {title}": code
    for page in ("README.md", "course_lib/README.md")
    for title, code in zip(
        ("GPT-2", "a text of yours") if page == "README.md" else ("a text of yours", "GPT-2"),
        re.findall(r"```python\n(.*?)```", (ROOT / page).read_text(encoding="utf-8"), re.S),
        strict=True,
    )
}


@pytest.fixture
def hub(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A hub with a small GPT-2 and its tokenizer."""
    vocabulary = ByteLevelVocabulary.learn([a_little_shakespeare()[:2000]], 300)
    vocabulary.save(tmp_path / "vocab.json", tmp_path / "merges.txt")
    size = len(vocabulary)
    sizes = transformers.GPT2Config(vocab_size=size, n_embd=16, n_layer=1, n_head=2, eos_token_id=size - 1)
    transformers.GPT2LMHeadModel(sizes).save_pretrained(tmp_path)
    monkeypatch.setattr("huggingface_hub.snapshot_download", lambda _name, allow_patterns: str(tmp_path))


@pytest.mark.usefixtures("hub")
@pytest.mark.parametrize("example", EXAMPLES)
def test_an_example(
    example: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("my_text.txt").write_text(a_little_shakespeare()[:3000], encoding="utf-8")
    in_a_few_steps = re.sub(r"\bsteps( ?= ?)\d+", r"steps\g<1>10", EXAMPLES[example])
    exec(compile(in_a_few_steps, example, "exec"), {})
    assert re.search(r"\S", capsys.readouterr().out)
