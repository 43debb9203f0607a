"""A learner's answers, joined to a file that runs without the course.

Tests `joining.py` and `whole.py`. The files are run together, in one process that has nothing to do with this one.
"""

import re
import runpy
import subprocess
import sys
from collections.abc import Callable, Mapping
from difflib import SequenceMatcher
from functools import cache
from pathlib import Path

import pytest
import torch
from tokenizers import ByteLevelBPETokenizer
from transformers import GPT2Config, GPT2LMHeadModel

from benchmarks.answers import ANSWERS, blocks
from course_lib import exercises
from course_lib.judging.finding import cells_above
from course_lib.learner.kept_answers import kept_at, script_of
from course_lib.learner.solutions import solution_of
from course_lib.learner.transformer_pieces import GPT_PIECES, PIECES
from course_lib.mine import mine
from course_lib.mine.joining import GPT_NAME, NAME, join_answers
from course_lib.mine.whole import CannotWrite, MyTransformer, told

ROOT = Path(__file__).parents[3]
ALL = PIECES | GPT_PIECES
COURSE = {one: found.code for one in ALL if (found := solution_of(one)) is not None}
Files = Mapping[str, tuple[MyTransformer, Path, str]]
TEXTS = ("The cat's fridge, überall 123", "  don't\n\n\tstop_it ... 😺!", "Ich hätt'", "x")
RUN = """
import os, runpy, sys
gpt, *texts = sys.argv[1].split("|")
for file in sys.argv[2:]:
    sys.path.insert(0, os.path.dirname(file))
    print(file)
    for sys.argv in ([file], *([file, "--gpt2", gpt, text] for text in texts)):
        runpy.run_path(file, run_name="__main__")
        print("then")
    sys.modules.pop("my_gpt"), sys.modules.pop("my_transformer")
assert not [name for name in sys.modules if name.startswith(("course_lib", "autograder"))]
"""


@cache
def cells(lesson: str) -> list[str]:
    written = (ROOT / "solutions" / lesson / f"{lesson}.py").read_text()
    return cells_above(re.sub(r"^ *### .*\n", "", written, flags=re.M))


def kept(exercise_id: str, *more: str) -> str:
    """What is kept of an answer once it has passed: the solution, or what a later cell defines."""
    return script_of(ALL[exercise_id], [*cells(exercises.find(exercise_id).lesson), *more])


def references() -> dict[str, str]:
    return {exercise_id: kept(exercise_id) for exercise_id in ALL}


def every_second() -> dict[str, str]:
    return {exercise_id: kept(exercise_id) for exercise_id in list(ALL)[::2]}


def from_outside() -> dict[str, str]:
    """Of each exercise the right answer that is least like the course's."""
    found = {}
    for exercise_id in ALL:
        file = ANSWERS / f"{exercise_id}.py"
        right = [block.code for block in blocks(file) if block.right] if file.is_file() else []
        defining = [code for code in right if script_of(ALL[exercise_id], [code])]
        if defining:
            unlike = min(defining, key=lambda code: SequenceMatcher(None, code, COURSE[exercise_id]).ratio())
            found[exercise_id] = kept(exercise_id, unlike)
    return found


COLLIDING = {
    "attention.scores": """
from math import sqrt as math
import torch.nn.functional as json
# katze: attention.scores answer
def sum(x, y):  # a name of Python's
    # YOUR CODE HERE
    return x @ y
def main(k):
    return k.transpose(-2, -1)
def dot_product_scores(q, k, main=main):
    json.relu(q)
    assert math(4) == 2
    return sum(q, main(k))  # the names of three other things
""",
    "attention.scale": """
import torch.nn
def main(d):
    "main, and no other"
    return {"main": d ** 0.5}["main"]
def scale_scores(scores, d_head):
    sum = lambda x, y: x / y
    return sum(scores, main(d_head))
""",
    "attention.weights": """
import torch
# counts
def helper(x):
    global calls
    calls += 1
    return x - x.amax(-1, keepdim=True)
calls = 0
class attention_weights_:
    main = helper
    def __call__(self, scaled):
        return torch.softmax(helper(scaled), dim=-1)
attention_weights = attention_weights_()
""",
    "masking.causal_mask": """
import torch as t
def helper(x):
    return x
calls = 1
def causal_mask(n, device=None):
    calls = [helper(n) for helper in [helper]]
    return t.ones(calls[0], helper(n), device=device).tril() > 0
""",
    "masking.masked_weights": """
import torch
def t(x):
    return x.dtype
def causal_mask(x):  # one of its own
    return torch.finfo(t(x)).min
def masked_weights(scaled, mask):
    return torch.softmax(scaled.masked_fill(~mask, causal_mask(scaled)), -1) * mask
""",
    "gpt.generate": """
import torch
def gpt_2(ids):  # a name of the file's
    return ids
def EncoderBlock(logits):  # one of the file beside it
    return logits.argmax(-1)
def generate(model, prompt, new, most):
    for _ in range(new):
        prompt = torch.cat([prompt, EncoderBlock(model(gpt_2(prompt)[None, -most:])[0, -1:])])
    return prompt
""",
}
"""Answers whose helpers and imports have each other's names, Python's and those of the file."""

WHOSE: Mapping[str, Callable[[], Mapping[str, str]]] = {
    "references": references,
    "none": dict,
    "every_second": every_second,
    "from_outside": from_outside,
    "colliding": lambda: COLLIDING,
}


WITHOUT_DEVICE = {
    "masking.causal_mask": "it is called as causal_mask(length), and its exercise asks for causal_mask(length, device)",
    "positions.sinusoidal_encoding": "it is called as sinusoidal_encoding(length, d_model), and its exercise asks for "
    "sinusoidal_encoding(length, d_model, device)",
}
"""Why answers to an earlier version cannot be joined, whose functions took no device."""


@pytest.fixture(scope="module")
def gpt2(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, list[str]]:
    """A small random GPT-2 with a tokenizer, written by their authors' libraries, and how it continues the texts."""
    folder = tmp_path_factory.mktemp("gpt2")
    tokenizer = ByteLevelBPETokenizer()
    tokenizer.train_from_iterator([(ROOT / "README.md").read_text()], vocab_size=400)
    tokenizer.save_model(str(folder))
    torch.manual_seed(0)
    sizes = {"vocab_size": 400, "n_positions": 16, "n_embd": 32, "n_layer": 2, "n_head": 4, "initializer_range": 0.5}
    model = GPT2LMHeadModel(GPT2Config(**sizes)).eval()
    model.save_pretrained(folder)
    continued = []
    for text in TEXTS:
        ids = torch.tensor(tokenizer.encode(text).ids)
        for _ in range(30):
            with torch.no_grad():
                ids = torch.cat([ids, model(ids[None, -16:]).logits[0, -1:].argmax(dim=-1)])
        continued.append(tokenizer.decode(ids.tolist()))
    return folder, continued


@pytest.fixture(scope="module")
def files(processes: None, tmp_path_factory: pytest.TempPathFactory, gpt2: tuple[Path, list[str]]) -> Files:
    """What each learner's answers become, where it is, and what it prints."""
    folder = tmp_path_factory.mktemp("mine")
    found = {}
    for name, answers in WHOSE.items():
        (folder / name).mkdir()
        whole = MyTransformer(*join_answers(answers(), COURSE))
        found[name] = whole, whole.write(folder / name)
    names = [str(file) for _, file in found.values()]
    asked = "|".join([str(gpt2[0]), *TEXTS])
    ran = subprocess.run([sys.executable, "-I", "-c", RUN, asked, *names], capture_output=True, text=True, cwd=folder)
    assert (ran.returncode, ran.stderr) == (0, "")
    printed = re.split("|".join(f"{re.escape(name)}\n" for name in names), ran.stdout)[1:]
    return {name: (*found[name], text) for name, text in zip(found, printed, strict=True)}


@pytest.mark.parametrize("name", WHOSE)
def test_it_is_torch_s_transformer_and_translates_and_runs_gpt_2(
    files: Files, gpt2: tuple[Path, list[str]], name: str
) -> None:
    whole, file, printed = files[name]
    translated, *continued = printed.split("then\n")[:-1]
    encoder, joined = (float(found) for found in re.findall(r"^largest difference from .*: +(\S+)$", translated, re.M))
    assert 0 < encoder <= 1e-5
    assert 0 < joined <= 1e-5
    assert translated.endswith("the cat danced: die Katze tanzte\n")
    assert [text.removesuffix("\n") for text in continued] == gpt2[1]
    assert bool(whole.joined.idle) == (name == "from_outside")
    refused = {piece.exercise_id: piece.problem for piece in whole.pieces if piece.problem}
    assert refused == (WITHOUT_DEVICE if name == "from_outside" else {})
    assert {piece.exercise_id for piece in whole.pieces if piece.own} == WHOSE[name]().keys() - refused.keys()
    written = file.read_text() + file.with_name(f"{GPT_NAME}.py").read_text()
    assert written.count("# Borrowed from the course") == sum(not piece.own for piece in whole.pieces)


@pytest.mark.parametrize(("file", "pieces"), [(NAME, PIECES), (GPT_NAME, GPT_PIECES)])
def test_it_can_be_read_from_top_to_bottom(files: Files, file: str, pieces: Mapping[str, str]) -> None:
    text = files["none"][1].with_name(f"{file}.py").read_text()
    assert len(text.splitlines()) <= 500
    places = [re.search(rf"^(?:def|class) {name}\b", text, re.M) for name in pieces.values()]
    starts = [found.start() for found in places if found is not None]
    assert len(starts) == len(pieces)
    assert starts == sorted(starts)
    assert max(map(len, text.splitlines())) <= 120


def test_comments_and_names_that_are_not_taken_stay_as_they_were_written(files: Files) -> None:
    text = files["colliding"][1].read_text()
    for written in (
        "from math import sqrt as math_of_dot_product_scores",
        "import torch.nn.functional as json_of_dot_product_scores",
        "\n\ndef sum_of_dot_product_scores(x, y):  # a name of Python's\n    return x @ y",
        "def dot_product_scores(q, k, main=main_of_dot_product_scores):",
        "    return sum_of_dot_product_scores(q, main(k))  # the names of three other things",
        '    return {"main": d ** 0.5}["main"]',
        "    sum = lambda x, y: x / y\n    return sum(scores, main_of_scale_scores(d_head))",
        "\n\n# counts\ndef helper(x):",
        "    main = helper",
        "    calls = [helper(n) for helper in [helper_of_causal_mask]]",
        "import torch as t",
        "    return torch.finfo(t_of_masked_weights(x)).min",
    ):
        assert f"\n{written}\n" in text


def test_what_two_answers_share_is_there_once() -> None:
    helper = "def helper(x):\n    return x * SCALE\n"
    answers = {
        "attention.scale": f"SCALE = 1\n{helper}def scale_scores(scores, d_head):\n    return helper(scores)",
        "attention.weights": f"SCALE = 1\n{helper}def attention_weights(scaled):\n    return helper(scaled)",
        "decoding.greedy": f"SCALE = 2\n{helper}def greedy(step, start, end, most):\n    return helper(step)",
    }
    text = join_answers(answers, COURSE)[0].text
    assert text.count("def helper(x)") == 1
    assert "SCALE_of_greedy = 2\n\n\ndef helper_of_greedy(x):\n    return x * SCALE_of_greedy\n" in text


TORCHS = """import torch.nn.functional as F
from torch import nn
class MultiHeadAttention(nn.Module):
    def __init__(self, d_model, heads, bias=True): ...
    def forward(self, x, memory, mask=None): return F.scaled_dot_product_attention(x, memory, memory, mask)
"""
GIVEN = f"from torch.nn.functional import scaled_dot_product_attention\n{TORCHS.replace('F.', '')}"
RENAMED = GIVEN.replace("attention", "attention as given", 1).replace(" scaled_dot_product_attention(", " given(")
HEADS, JOINED = "heads_and_blocks.multi_head_attention", "encoder_decoder.encode_and_decode"
ATTENTION = ["dot_product_scores", "scale_scores", "attention_weights", "masked_weights"]
LOWER = "def causal_mask(x): return x.tril()\n"
BOTH = "def encode_and_decode(source, target, embed_source, encoder, embed_target, decoder, output):\n    return "


@pytest.mark.parametrize(
    ("answers", "idle"),
    [
        ({}, []),
        ({"masking.masked_weights": "def masked_weights(scaled, mask): return attention_weights"}, []),
        ({HEADS: TORCHS}, ATTENTION),
        ({HEADS: GIVEN}, []),
        ({HEADS: RENAMED}, []),
        ({HEADS: GIVEN.replace(", mask)", ", attn_mask=mask)")}, []),
        ({HEADS: GIVEN.replace(", mask)", ", mask, dropout_p=0.0)")}, ATTENTION),
        ({HEADS: f"from course_lib.masking import masked_weights\n{TORCHS}    other = masked_weights"}, ATTENTION[:3]),
        ({JOINED: f"{BOTH}target.tril()"}, ["causal_mask"]),
        ({JOINED: f"{LOWER}{BOTH}causal_mask(target)"}, ["causal_mask"]),
        ({JOINED: f"from course_lib.masking import causal_mask as c\n{BOTH}c(target)"}, []),
    ],
)
def test_what_nothing_calls_is_said(answers: Mapping[str, str], idle: list[str]) -> None:
    joined, gpt = join_answers(answers, COURSE)
    assert (joined.idle, gpt.idle) == (idle, [])
    assert ("Never called" in joined.text) == bool(idle)
    for name in idle:
        assert f"{name}" in joined.text.partition("import ")[0]


def test_it_says_what_it_cannot_translate(
    files: Files, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    file = files["none"][1]
    main = runpy.run_path(str(file))["main"]

    def said(*arguments: str) -> str:
        monkeypatch.setattr(sys, "argv", [file.name, *arguments])
        main()
        return capsys.readouterr().out.partition("nn.Transformer:")[2].partition("\n")[2]

    assert said("The cat danced.") == "The cat danced.: die Katze tanzte\n"
    assert said("I SAW the dog, when the cat slept!").endswith(": ich sah den Hund , als die Katze schlief\n")
    unknown = said("the Elephant sang beautifully?").splitlines()[1]
    assert unknown == "It does not know elephant, beautifully: its 104 words are in my_transformer.json."
    for arguments, problem in (
        ([""], "there is nothing to translate"),
        ([" ... "], "there is nothing to translate"),
        (["--gpt2", f"{file.parent}"], f"{file.parent} has no config.json"),
    ):
        with pytest.raises(SystemExit, match="2"):
            said(*arguments)
        assert problem in capsys.readouterr().err


NORM = "heads_and_blocks.layer_norm"
MADE = "class LayerNorm(nn.Module):\n    def __init__(self, d_model, epsilon=1e-5):\n        "


@pytest.mark.parametrize(
    ("exercise_id", "script", "problem"),
    [
        (NORM, "class LayerNorm(nn.Module:", "it is not Python, see its line 1"),
        (NORM, "", "it does not define LayerNorm"),
        (NORM, f"{MADE}pass", "it uses nn, which its cells do not define"),
        (NORM, f"from torch import nn\n{MADE}helper(other)", "it uses helper, other, which its cells do not define"),
        (NORM, f"from torch import *\n{MADE}pass", "it has 'from torch import *': import what it uses by its name"),
        (NORM, f"from . import nn\n{MADE}pass", "it has 'from . import nn': import what it uses by its name"),
        (
            NORM,
            f"from torch import nn\nfrom course_lib.blocks import Block\n{MADE}Block()",
            "it uses course_lib.blocks.Block, but the file has nothing from the course",
        ),
        (
            NORM,
            f"from torch import nn\n{MADE}import course_lib",
            "it has 'import course_lib' inside other code: import it above",
        ),
        (
            NORM,
            f"from torch import nn\nfrom course_lib.mine import answer\nmean = answer('bert.mask_words')\n{MADE}mean()",
            "it uses the answer bert.mask_words, which is not a piece of the file",
        ),
        (
            NORM,
            "from torch import nn\nclass LayerNorm(nn.Module):\n    def __init__(self, size): ...",
            "it is called as LayerNorm(size), and its exercise asks for LayerNorm(d_model, epsilon)",
        ),
        (
            "attention.scale",
            "def scale_scores(scores, d_head, s): ...",
            "it is called as scale_scores(scores, d_head, s), and its exercise asks for scale_scores(scores, d_head)",
        ),
        (
            "attention.scale",
            "def main(): ...\ndef scale_scores(scores, d_head):\n    return globals()['main']()",
            "globals may look for a name that others have, too",
        ),
    ],
)
def test_what_cannot_be_joined_is_named_and_the_course_s_is_borrowed(
    exercise_id: str, script: str, problem: str
) -> None:
    joined, _ = join_answers({exercise_id: script}, COURSE)
    [piece] = [piece for piece in joined.pieces if piece.problem]
    assert (piece.exercise_id, piece.problem, piece.own) == (exercise_id, problem, False)
    assert joined.text == join_answers({}, COURSE)[0].text
    assert f"It came from the cell of {exercise_id} in {exercises.find(exercise_id).lesson}, and is kept" in told(piece)


@pytest.mark.parametrize(
    "asked",
    [
        'Heads, Norm = answer("heads_and_blocks.multi_head_attention"), answer("heads_and_blocks.layer_norm")',
        'Heads, Norm = answer("heads_and_blocks.multi_head_attention", "heads_and_blocks.layer_norm")',
        'Heads = answer("heads_and_blocks.multi_head_attention")\nNorm = answer("heads_and_blocks.layer_norm")',
    ],
)
def test_an_answer_is_handed_earlier_ones(asked: str) -> None:
    script = f"""
from torch import nn
from course_lib.mine import answer
{asked}
class EncoderBlock(nn.Module):
    def __init__(self, self_attention, add_and_norm_1, feed_forward, add_and_norm_2):
        Heads, Norm
"""
    joined, _ = join_answers({"heads_and_blocks.encoder_block": script}, COURSE)
    assert "        MultiHeadAttention, LayerNorm\n" in joined.text
    assert "answer(" not in joined.text


def test_without_solutions_what_is_missing_is_named(tmp_path: Path) -> None:
    some = {exercise_id: code for exercise_id, code in COURSE.items() if exercise_id != "decoding.greedy"}
    found = MyTransformer(*join_answers({}, some))
    assert "greedy: missing, until yours has passed the check of decoding.greedy." in found.text()
    with pytest.raises(CannotWrite, match="greedy cannot be borrowed in this course: write them first"):
        found.write(tmp_path)
    assert not list(tmp_path.iterdir())


def test_a_notebook_shows_own_pieces_and_a_grey_line_for_each_other(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("KATZE_WORK", str(tmp_path))
    kept_at("attention.scale").parent.mkdir()
    kept_at("attention.scale").write_text("def scale_scores(scores, d_head):\n    return scores * (d_head < 1) ** -0.5")
    kept_at("attention.weights").write_bytes(b"\xff\xfe")
    shown = mine()
    html = shown._repr_html_()
    assert ">1 of the 14 pieces of your transformer is your own, and 0 of the 7 that make a GPT of it.</p>" in html
    assert "    return scores * (d_head &lt; 1) ** -0.5</pre>" in html
    assert html.count('<p class="katze-score">') == 13  # the GPT's pieces come once one of them is written
    assert "because yours cannot be joined: it is not Python" in html
    assert "dot_product_scores: the course's own, until yours has passed" in f"{shown}"
    kept_at("positions.learned_positions").write_text("class LearnedPositions: pass")
    assert "from_gpt2: the course's own, until yours has passed" in f"{mine()}"


def test_a_file_that_was_changed_is_not_overwritten(tmp_path: Path) -> None:
    found = MyTransformer(*join_answers({}, COURSE))
    file, weights, gpt = (found.write(tmp_path), *(tmp_path / one for one in (f"{NAME}.safetensors", f"{GPT_NAME}.py")))
    weights.write_bytes(b"trained by somebody")
    assert found.write(tmp_path).read_text() == found.joined.text
    assert weights.read_bytes() == b"trained by somebody"
    for changed in (gpt, file):
        changed.write_text("mine")
        with pytest.raises(CannotWrite, match=f"{changed.name} has been changed, and would be overwritten"):
            found.write(tmp_path)
        assert changed.read_text() == "mine"
    (tmp_path / f"{NAME}.json").write_text("[")
    with pytest.raises(CannotWrite, match="cannot be read"):
        found.write(tmp_path)
