"""The benchmark of the models, at its smallest: who is compared does the same work, and every row has its figures."""

import itertools

import pytest
import torch
from torch.testing import assert_close

from benchmarks import transformer as benchmark
from benchmarks.transformer import TINY, Times
from benchmarks.transformer_peers import FastDecoder, NanoGPT, TorchTranslator
from course_lib.models import TransformerConfig

SETUP = benchmark.Setup(torch.device("cpu"), rounds=1, sizes=TINY)


@pytest.mark.usefixtures("processes")
def test_runs_alternate_and_the_first_round_does_not_count() -> None:
    order: list[str] = []
    ticks = itertools.count()
    setup = benchmark.Setup(SETUP.device, rounds=2, clock=lambda: float(next(ticks)))
    ours, theirs = setup.times(lambda: order.append("ours"), lambda: order.append("theirs"))
    assert order == ["ours", "theirs"] * 3
    assert ours.rounds == theirs.rounds == (1.0, 1.0)


@pytest.mark.parametrize(
    ("ours", "theirs", "shown", "met"),
    [
        ((1.0,), (3.0,), ["2", "2", "0%", "0.6667", "tokens/s", "3", "1.5", "yes"], True),
        ((2.0, 1.0, 4.0), (2.0, 2.0, 2.0), ["too busy", "2", "75%", "", "tokens/s", "", "1.5", ""], None),
        ((2.0, 2.0, 2.0), (2.0, 3.0, 2.0, 4.0), ["too busy", "1", "50%", "", "tokens/s", "", "1.5", ""], None),
        ((2.0, 2.0, 2.5), (2.0, 2.0, 2.0), ["1", "1", "12%", "1", "tokens/s", "1", "1.5", "NO"], False),
    ],
    ids=["one round", "ours vary", "theirs vary", "steady enough"],
)
def test_rounds_that_differ_by_over_a_third_give_no_figure(
    ours: tuple[float, ...], theirs: tuple[float, ...], shown: list[str], met: bool | None
) -> None:
    row = Times(ours).row("a name", Times(theirs), "tokens/s", work=2, goal=1.5)
    assert row.cells() == ["a name", *shown]
    assert row.met is met


def test_the_loop_as_in_gpt_fast_writes_what_the_model_says() -> None:
    torch.manual_seed(0)
    model = NanoGPT(50, 8, 12, 2, 2).eval()
    for parameter in model.parameters():
        torch.nn.init.normal_(parameter, std=0.5)
    prompt = torch.tensor([[7, 8, 9]])
    words = prompt
    for _ in range(5):
        words = torch.cat([words, model(words)[:, -1:].argmax(-1)], dim=1)
    decoder = FastDecoder(model, 8)
    decoder.write(torch.tensor([[1, 2]]), 6)  # what it has kept of one text is not in the next
    assert_close(decoder.write(prompt, 5), words[:, 3:])
    assert len(set(words[0].tolist())) > 3


@pytest.mark.usefixtures("processes")
@pytest.mark.parametrize("name", ["Transformer", "nn.Transformer", "GPT", "GPT-2", "nanoGPT", "modern", "Llama"])
def test_a_step_trains_every_parameter(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    trained: list[torch.nn.Module] = []
    stepping = benchmark.stepping

    def remembered(model: torch.nn.Module, *rest: object) -> benchmark.Run:
        trained.append(model)
        return stepping(model, *rest)  # type: ignore[arg-type]

    monkeypatch.setattr(benchmark, "stepping", remembered)
    run = benchmark.training_step(name, SETUP)
    (model,) = trained
    before = [parameter.detach().clone() for parameter in model.parameters()]
    run()
    unchanged = [
        key for (key, now), then in zip(model.named_parameters(), before, strict=True) if torch.equal(now, then)
    ]
    assert not unchanged


def test_the_translator_of_torch_sees_no_padding_and_no_later_word() -> None:
    sizes = TransformerConfig(12, 12, d_model=16, heads=2, d_ff=32, encoder_layers=1, decoder_layers=1)
    model = TorchTranslator(sizes).train(False)
    model.transformer.encoder.enable_nested_tensor = False
    source, target = torch.tensor([[5, 6]]), torch.tensor([[1, 7, 8]])
    logits = model(source, target)
    assert_close(model(torch.tensor([[5, 6, 0]]), target), logits, rtol=1e-4, atol=1e-5)
    assert_close(model(source, torch.tensor([[1, 7, 9]]))[:, :2], logits[:, :2], rtol=1e-4, atol=1e-5)
