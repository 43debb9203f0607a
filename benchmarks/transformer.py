"""Measures how fast our models compute, side by side with the libraries that a user would pick instead.

    python -m benchmarks.transformer [--only NAME] [--device cuda] [--threads N] [--rounds N] [--json FILE]

- decoding: 200 new tokens by greedy decoding with a cache, at the course's size (d=128, 3 layers) and at d=384 with 6
  layers, for 1 and for 32 texts at once, against `generate` of `transformers` on a GPT-2 of the same size; for one text
  also against our own path without a cache, and against the limit: measured bandwidth over the bytes of the weights.
- compiled: the same for one text, at d=384, and on a GPU at GPT-2's size in bf16 with CUDA graphs, against the
  uncompiled model, `generate` with a static cache, a loop written like gpt-fast's, and the limit.
- modern: the block since Llama, at d=384 with 6 layers and 2 heads of keys for 6 of queries, against Llama of
  `transformers` of the same size: reading 8 texts of 128 tokens, writing, and a training step as below.
- step: one training step (forward, backward, AdamW) on the same tensors: the encoder-decoder at d=256 with 3+3 layers
  against `nn.Transformer`; GPT at d=384 with 6 layers and 256 tokens against GPT-2 of `transformers` and a model
  written like nanoGPT; on a GPU, the latter also compiled and in bf16, with 64 texts.
- memory: the most memory that such a step takes, including model and optimizer.

All models alternate, in single precision unless stated otherwise, with the same fused optimizer. Figures are medians,
next to the best round and the spread, which is the distance between the quartiles as a share of the median. If the
spread of either side is over a third, the table says "too busy" instead of the figures. On a processor that others keep
busy, processor time in one thread is counted instead of elapsed time.
"""

from __future__ import annotations

import gc
import logging
import os
import statistics
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ProcessPoolExecutor
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, replace
from functools import partial
from multiprocessing import get_context
from pathlib import Path
from typing import Any, cast

import torch
import torch.nn.functional as F
from torch import Tensor, nn
from transformers import GPT2Config, GPT2LMHeadModel, LlamaConfig, LlamaForCausalLM

from benchmarks.table import Row, arguments, report
from benchmarks.transformer_peers import FastDecoder, NanoGPT, TorchTranslator
from course_lib.models import GPT, GPTConfig, Transformer, TransformerConfig

ROUNDS = 10
SHARED = 0.5
"""A processor counts as shared if more other processes than this run on it, on average over a minute."""

READ_BYTES = 2**29
"""Far more than any processor's cache holds."""

Run = Callable[[], object]


@dataclass(frozen=True)
class Decoder:
    """The sizes of a model that writes."""

    d_model: int
    layers: int
    heads: int
    vocab_size: int = 1000


@dataclass(frozen=True)
class Sizes:
    """The sizes of everything that is compared.

    Attributes:
        prompt, written: the number of tokens in a prompt, and in its continuation.
        many: the number of texts at once, if it is not one.
        decoders: the models that decode, with the goals for one text and for many.
        compiled, compiled_on_gpu: the models that decode compiled.
        d_model, layers, length: of the language models that train; they have 6 heads, or 2 of keys for 6 of queries.
        texts, texts_on_gpu: the number of texts in a training step's batch.
        pairs, words: the number of pairs in the translators' batch, and of tokens on each side.
    """

    prompt: int = 8
    written: int = 200
    many: int = 32
    decoders: tuple[tuple[Decoder, tuple[float, float]], ...] = (
        (Decoder(128, 3, 4), (2.6, 2.0)),
        (Decoder(384, 6, 6), (1.6, 1.5)),
    )
    compiled: Decoder = Decoder(384, 6, 6)
    compiled_on_gpu: Decoder = Decoder(768, 12, 12, 50257)
    d_model: int = 384
    layers: int = 6
    length: int = 256
    texts: int = 8
    texts_on_gpu: int = 64
    pairs: int = 32
    words: int = 24


TINY = Sizes(
    prompt=2,
    written=3,
    many=2,
    decoders=((Decoder(24, 1, 2), (1.0, 1.0)),),
    compiled=Decoder(24, 1, 2),
    compiled_on_gpu=Decoder(24, 1, 2),
    d_model=24,
    layers=1,
    length=8,
    texts=2,
    texts_on_gpu=2,
    pairs=2,
    words=4,
)


@dataclass(frozen=True)
class Times:
    """The times of the rounds, in seconds."""

    rounds: tuple[float, ...]

    @property
    def median(self) -> float:
        return statistics.median(self.rounds)

    @property
    def spread(self) -> float:
        """The distance between the quartiles, as a share of the median."""
        if len(self.rounds) < 2:
            return 0.0
        first, _, third = statistics.quantiles(self.rounds, n=4, method="inclusive")
        return (third - first) / self.median

    def row(self, name: str, peer: Times, unit: str, *, work: float = 1.0, goal: float | None = None) -> Row:
        """Return a row with the amount of work per second, next to a peer's."""
        row = Row.of(name, work / self.median, work / peer.median, unit, more=True, goal=goal)
        return row.spread_over(work / min(self.rounds), max(self.spread, peer.spread))


@dataclass(frozen=True)
class Setup:
    """How to measure.

    Attributes:
        device: the device to compute on.
        rounds: the number of rounds that count.
        clock: returns the elapsed time or the processor time.
        sizes: the sizes of what is compared.
    """

    device: torch.device
    rounds: int = ROUNDS
    clock: Callable[[], float] = time.perf_counter
    sizes: Sizes = Sizes()

    def times(self, *runs: Run, rounds: int | None = None) -> list[Times]:
        """Time each of these in turn, round by round, after a first round that does not count."""
        times: list[list[float]] = [[] for _ in runs]
        # Compile nothing at the smallest size: it takes a minute.
        with torch.compiler.set_stance("force_eager" if self.sizes == TINY else "default"):
            for counted in [False] + [True] * (rounds or self.rounds):
                for run, taken in zip(runs, times, strict=True):
                    start = self.clock()
                    run()
                    if self.on_gpu:
                        torch.cuda.synchronize()
                    if counted:
                        taken.append(self.clock() - start)
        return [Times(tuple(taken)) for taken in times]

    @property
    def on_gpu(self) -> bool:
        return self.device.type == "cuda"

    def compile(self, model: nn.Module, *, graphs: bool = False) -> None:
        """Compile a model in place."""
        model.compile(mode="reduce-overhead" if graphs and self.on_gpu else None)

    def prompt(self, texts: int, vocab_size: int) -> Tensor:
        return torch.randint(vocab_size, (texts, self.sizes.prompt), device=self.device)


# --- decoding --------------------------------------------------------------------------------------------------


def decoding(setup: Setup) -> Iterator[Row]:
    for sizes, goals in setup.sizes.decoders:
        ours, theirs = decoders(sizes, setup)
        for texts, goal in zip((1, setup.sizes.many), goals, strict=True):
            yield from decoding_rows(f"d={sizes.d_model}, {texts} at once", ours, theirs, texts, goal, setup)


def compiled(setup: Setup) -> Iterator[Row]:
    """Compare compiled decoding; the time for compiling is in the round that does not count."""
    sizes = setup.sizes.compiled_on_gpu if setup.on_gpu else setup.sizes.compiled
    dtype = torch.bfloat16 if setup.on_gpu else torch.float32
    ours, theirs = decoders(sizes, setup, dtype)
    written, prompt = setup.sizes.written, setup.prompt(1, sizes.vocab_size)
    length = setup.sizes.prompt + written
    fast = FastDecoder(
        NanoGPT(sizes.vocab_size, length, sizes.d_model, sizes.heads, sizes.layers).to(setup.device, dtype).eval(),
        length,
    )
    setup.compile(fast, graphs=True)
    mine, slow, others, loop = setup.times(
        lambda: ours.generate(prompt, max_new_tokens=written, compiled=True),
        lambda: ours.generate(prompt, max_new_tokens=written),
        lambda: generate(theirs, prompt, written, cache_implementation="static"),
        lambda: fast.write(prompt, written),
    )
    name = f"compiled decoding, d={sizes.d_model}, {str(dtype).removeprefix('torch.')}"
    yield mine.row(f"{name}: not compiled", slow, "tokens/s", work=written)
    yield mine.row(f"{name}: transformers, static cache", others, "tokens/s", work=written, goal=1.5)
    yield mine.row(f"{name}: a loop as in gpt-fast", loop, "tokens/s", work=written)
    yield limit_row(name, ours, mine, setup)


def decoders(sizes: Decoder, setup: Setup, dtype: torch.dtype = torch.float32) -> tuple[GPT, GPT2LMHeadModel]:
    """Return ours and the GPT-2 of `transformers`, with the same sizes."""
    length, hidden = setup.sizes.prompt + setup.sizes.written, 4 * sizes.d_model
    shape = (sizes.vocab_size, length, sizes.d_model, sizes.heads, sizes.layers)
    ours = GPT(GPTConfig(*shape, hidden, activation="gelu_tanh"))
    theirs: nn.Module = GPT2LMHeadModel(gpt2(*shape))
    return ours.to(setup.device, dtype).eval(), cast(GPT2LMHeadModel, theirs.to(setup.device, dtype).eval())


def decoding_rows(name: str, ours: GPT, theirs: Any, texts: int, goal: float, setup: Setup) -> Iterator[Row]:
    """Compare with `generate`; for one text also with our own path without a cache, and with the limit."""
    written, prompt = setup.sizes.written, setup.prompt(texts, ours.config.vocab_size)
    mine, others = setup.times(
        lambda: ours.generate(prompt, max_new_tokens=written), lambda: generate(theirs, prompt, written)
    )
    name = f"decoding, {name}"
    yield mine.row(f"{name}: transformers", others, "tokens/s", work=texts * written, goal=goal)
    if texts == 1:  # for many texts, this would take minutes
        (uncached,) = setup.times(lambda: ours.generate(prompt, max_new_tokens=written, use_cache=False), rounds=1)
        yield mine.row(f"{name}: no cache", uncached, "tokens/s", work=written)
        yield limit_row(name, ours, mine, setup)


def generate(model: Any, prompt: Tensor, written: int, **more: object) -> Tensor:
    words: Tensor = model.generate(
        prompt,
        attention_mask=torch.ones_like(prompt),
        max_new_tokens=written,
        min_new_tokens=written,
        do_sample=False,
        pad_token_id=0,
        **more,
    )
    return words


def limit_row(name: str, model: GPT, decode: Times, setup: Setup) -> Row:
    """Compare the decoding rate of one text with the rate at which memory could deliver the weights."""
    memory = torch.zeros((2**20 if setup.sizes == TINY else READ_BYTES) // 4, device=setup.device)
    (read,) = setup.times(memory.sum)
    weights = sum(p.nbytes for name, p in model.named_parameters() if not name.startswith("positions."))
    bandwidth = memory.nbytes / read.median
    limit = Times(tuple(seconds * weights / memory.nbytes * setup.sizes.written for seconds in read.rounds))
    name = f"{name}: limit of {bandwidth / 1e9:.0f} GB/s"
    return decode.row(name, limit, "tokens/s", work=setup.sizes.written, goal=0.7)


# --- the modern block -------------------------------------------------------------------------------------------


def modern(setup: Setup) -> Iterator[Row]:
    ours, theirs = (language_model(name, setup.sizes).to(setup.device).eval() for name in ("modern", "Llama"))
    texts = torch.randint(1000, (8, setup.sizes.length // 2), device=setup.device)
    mine, others = setup.times(partial(read, ours, texts), partial(read, theirs, texts))
    name = "modern, reading 8 texts: transformers' Llama"
    yield mine.row(name, others, "tokens/s", work=texts.numel(), goal=1.0)
    for many in (1, setup.sizes.many):
        yield from decoding_rows(f"modern, {many} at once", cast(GPT, ours), theirs, many, 1.0, setup)
    mine, others = setup.times(*(training_step(name, setup) for name in ("modern", "Llama")))
    yield mine.row("training step, modern: transformers' Llama", others, "steps/s", goal=1.0)


@torch.inference_mode()
def read(model: nn.Module, texts: Tensor) -> object:
    return model(texts)


# --- training step ---------------------------------------------------------------------------------------------


def step(setup: Setup) -> Iterator[Row]:
    ours, torchs = setup.times(*(training_step(name, setup) for name in ("Transformer", "nn.Transformer")))
    yield ours.row("training step, 3+3 layers, d=256: nn.Transformer", torchs, "steps/s", goal=1.1)
    gpt, gpt2_, nano = setup.times(*(training_step(name, setup) for name in ("GPT", "GPT-2", "nanoGPT")))
    name = f"training step, GPT, d={setup.sizes.d_model}"
    yield gpt.row(f"{name}: transformers' GPT-2", gpt2_, "steps/s", goal=1.0)
    yield gpt.row(f"{name}: as in nanoGPT", nano, "steps/s", goal=1.05)
    if setup.on_gpu or setup.sizes == TINY:
        gpt, nano = setup.times(*(training_step(name, setup, compiled=True) for name in ("GPT", "nanoGPT")))
        yield gpt.row(f"{name}, compiled, bf16: as in nanoGPT, compiled", nano, "steps/s", goal=1.0)


def training_step(name: str, setup: Setup, *, compiled: bool = False) -> Run:
    """Return a training step of this model on the same tensors as its peers'; compiled in bf16 with a larger batch."""
    generator, sizes = torch.Generator().manual_seed(0), setup.sizes
    if "Transformer" in name:
        config = TransformerConfig(8000, 8000, d_model=256, d_ff=1024, encoder_layers=3, decoder_layers=3, dropout=0.0)
        model: nn.Module = Transformer(config) if name == "Transformer" else TorchTranslator(config)
        shape = (sizes.pairs, sizes.words)
        inputs = [torch.randint(4, 8000, shape, generator=generator) for _ in range(2)]
        expected = torch.randint(4, 8000, shape, generator=generator)
    else:
        model = language_model(name, sizes)
        shape = (sizes.texts_on_gpu if compiled else sizes.texts, sizes.length)
        inputs = [torch.randint(65, shape, generator=generator)]
        expected = torch.randint(65, shape, generator=generator)
    model = model.to(setup.device).train()
    if compiled:
        setup.compile(model)
    within = partial(torch.autocast, setup.device.type, torch.bfloat16) if compiled else nullcontext
    return stepping(model, [x.to(setup.device) for x in inputs], expected.to(setup.device), within)


def language_model(name: str, sizes: Sizes) -> nn.Module:
    d_model, layers, length = sizes.d_model, sizes.layers, sizes.length
    if name == "modern":
        hidden = 8 * d_model // 3
        return GPT(replace(GPTConfig.llama(1000, d_model, 6, layers, hidden, length), key_value_heads=2))
    if name == "Llama":
        return LlamaForCausalLM(llama(sizes))
    if name == "GPT":
        return GPT(GPTConfig(65, length, d_model, 6, layers, 4 * d_model, dropout=0.0))
    shape = (65, length, d_model, 6, layers)
    return NanoGPT(*shape) if name == "nanoGPT" else GPT2LMHeadModel(gpt2(*shape))


def stepping(
    model: nn.Module, inputs: list[Tensor], expected: Tensor, within: Callable[[], AbstractContextManager[object]]
) -> Run:
    optimizer = torch.optim.AdamW(model.parameters(), fused=True)

    def run() -> None:
        with within():
            out = model(*inputs)
            logits = out if isinstance(out, Tensor) else out.logits
            loss = F.cross_entropy(logits.flatten(0, 1), expected.flatten())
        loss.backward()
        optimizer.step()
        optimizer.zero_grad()

    return run


def gpt2(vocab_size: int, context: int, d_model: int, heads: int, layers: int) -> GPT2Config:
    return GPT2Config(
        vocab_size=vocab_size,
        n_positions=context,
        n_embd=d_model,
        n_head=heads,
        n_layer=layers,
        resid_pdrop=0.0,
        embd_pdrop=0.0,
        attn_pdrop=0.0,
        bos_token_id=None,
        eos_token_id=None,
    )


def llama(sizes: Sizes) -> LlamaConfig:
    return LlamaConfig(
        vocab_size=1000,
        max_position_embeddings=sizes.length,
        hidden_size=sizes.d_model,
        num_hidden_layers=sizes.layers,
        num_attention_heads=6,
        num_key_value_heads=2,
        intermediate_size=8 * sizes.d_model // 3,
        bos_token_id=None,
        eos_token_id=None,
    )


# --- memory ----------------------------------------------------------------------------------------------------


def memory(setup: Setup) -> Iterator[Row]:
    groups = {
        "3+3 layers, d=256": ("Transformer", ["nn.Transformer"]),
        f"GPT, d={setup.sizes.d_model}": ("GPT", ["GPT-2", "nanoGPT"]),
        f"modern, d={setup.sizes.d_model}": ("modern", ["Llama"]),
    }
    if setup.on_gpu:
        steps_of("nanoGPT", setup)  # else cuBLAS's workspaces would count for the first model measured
    for sizes, (ours, peers) in groups.items():
        mine = peak_of(ours, setup)
        for peer in peers:
            name = f"memory at peak, {sizes}: {peer}"
            yield Row.of(name, mine, peak_of(peer, setup), "MB", more=False, goal=1.0)


def peak_of(name: str, setup: Setup) -> float:
    """Return the most memory that three steps take, in MB.

    On a GPU, it is exact. On a processor, it is the median of three processes that had imported everything before.
    """
    if setup.on_gpu:
        gc.collect()
        torch.cuda.reset_peak_memory_stats(setup.device)
        before = torch.cuda.memory_allocated(setup.device)
        steps_of(name, setup)
        return (torch.cuda.max_memory_allocated(setup.device) - before) / 1e6
    context = get_context("forkserver")
    context.set_forkserver_preload(["benchmarks.transformer"])
    rounds = 1 if setup.sizes == TINY else 3
    threads = torch.get_num_threads()
    with ProcessPoolExecutor(1, context, torch.set_num_threads, (threads,), max_tasks_per_child=1) as processes:
        return statistics.median(processes.map(partial(grown_by, setup=setup), [name] * rounds))


def steps_of(name: str, setup: Setup) -> None:
    run = training_step(name, setup)
    for _ in range(3):
        run()


def grown_by(name: str, setup: Setup) -> float:
    before = resident("VmRSS")
    steps_of(name, setup)
    return resident("VmHWM") - before


def resident(field: str) -> float:
    """Return this process's current (VmRSS) or peak (VmHWM) memory in MB, as counted by Linux."""
    for line in Path("/proc/self/status").read_text(encoding="ascii").splitlines():
        if line.startswith(field):
            return int(line.split()[1]) / 1e3
    raise OSError(f"this system does not say {field}")


# --- all of it -------------------------------------------------------------------------------------------------


PARTS: dict[str, Callable[[Setup], Iterator[Row]]] = {
    "decoding": decoding,
    "compiled": compiled,
    "modern": modern,
    "step": step,
    "memory": memory,
}


def main() -> None:
    parser = arguments(__doc__)
    parser.add_argument("--only", choices=PARTS)
    parser.add_argument("--device", type=torch.device, default=torch.device("cpu"))
    parser.add_argument("--threads", type=int, default=torch.get_num_threads())
    parser.add_argument("--rounds", type=int, default=ROUNDS)
    options = parser.parse_args()
    shared = options.device.type == "cpu" and os.getloadavg()[0] > SHARED
    threads = 1 if shared else options.threads
    torch.set_num_threads(threads)
    logging.getLogger("transformers").setLevel(logging.ERROR)
    parts = [PARTS[options.only]] if options.only else PARTS.values()
    clock = time.process_time if shared else time.perf_counter
    setup = Setup(options.device, options.rounds, clock)
    rows = (row for part in parts for row in part(setup))
    counted = "the processor's time, for others use it too" if shared else "the time that passed"
    report(f"The models on {options.device}, threads: {threads}, counted: {counted}", rows, options.json)


if __name__ == "__main__":
    main()
