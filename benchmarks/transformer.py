"""How fast the models compute, side by side with the libraries a user would pick instead, in one run.

    python -m benchmarks.transformer [--only NAME] [--text multi30k] [--device cuda] [--threads N] [--rounds N]
                                     [--shared] [--json FILE]

- decoding: 200 new words by greedy decoding with a cache, at the course's size (d=128, 3 layers) and at d=384 with 6
  layers, for 1 and for 32 texts at once: against `generate` of `transformers` on a GPT-2 of the same size; for one text
  also against our own path without a cache, and against the limit, the bytes of the weights over measured bandwidth.
- compiled: the same at d=384 for one text after `model.compile()`, on a GPU with CUDA graphs, against the uncompiled
  model and the limit.
- modern: the block as it is since Llama, at d=384 with 6 layers and 2 heads of keys for 6 of queries, against Llama of
  `transformers` of the same size: reading 8 texts of 128 words, writing, and a training step as below.
- step: one training step (forward, backward, AdamW) on the same tensors: the encoder-decoder at d=256 with 3+3 layers
  against `nn.Transformer`; GPT at d=384 with 6 layers and 256 words against GPT-2 of `transformers` and a model
  written as nanoGPT is.
- memory: the most memory that such a step takes, model and optimizer included, each in a process of its own.
- throughput, toy: how fast they learn to translate, as `benchmarks.transformer_training` says.

All alternate, in single precision and with the same fused optimizer; figures are medians over the rounds. On a machine
that others keep busy, `--shared` counts processor time, in one thread, instead of the time that passed.
"""

from __future__ import annotations

import argparse
import logging
import statistics
import subprocess
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any, cast

import torch
import torch.nn.functional as F
from torch import Tensor, nn
from transformers import GPT2Config, GPT2LMHeadModel, LlamaConfig, LlamaForCausalLM

from benchmarks.table import Row, report
from benchmarks.transformer_peers import NanoGPT, TorchTranslator
from benchmarks.transformer_training import throughput, toy
from course_lib.decoding.greedy import greedy_decode
from course_lib.models import GPT, GPTConfig, Transformer, TransformerConfig

NEW_WORDS, PROMPT = 200, 8
VOCABULARY = 1000
READ_BYTES = 2**29
"""Far more than any cache of a processor holds."""

Run = Callable[[], object]


@dataclass(frozen=True)
class Setup:
    """How to measure.

    Attributes:
        device: where to compute.
        rounds: how many count.
        clock: the time that passed, or the processor's.
        text: which pairs the throughput is measured on.
    """

    device: torch.device
    rounds: int
    clock: Callable[[], float] = time.perf_counter
    text: str = "toy"

    def medians(self, runs: list[Run], rounds: int | None = None) -> list[float]:
        """The median of each in seconds, after one round that does not count; they alternate."""
        times: list[list[float]] = [[] for _ in runs]
        for counted in [False] + [True] * (rounds or self.rounds):
            for run, taken in zip(runs, times, strict=True):
                start = self.clock()
                run()
                if self.device.type == "cuda":
                    torch.cuda.synchronize()
                if counted:
                    taken.append(self.clock() - start)
        return [statistics.median(taken) for taken in times]


# --- decoding --------------------------------------------------------------------------------------------------


def decoding(setup: Setup) -> list[Row]:
    rows: list[Row] = []
    goals = {(128, 3, 4): (2.6, 2.0), (384, 6, 6): (1.6, 1.5)}
    for (d_model, layers, heads), by_batch in goals.items():
        ours, theirs = decoders(d_model, layers, heads, setup.device)
        for batch, goal in zip((1, 32), by_batch, strict=True):
            rows += decoding_rows(f"d={d_model}, batch {batch}", ours, theirs, batch, goal, setup)
        if d_model == 384:
            rows.append(limit_row("decoding, d=384, batch 1", ours, setup))
    return rows


def compiled(setup: Setup) -> list[Row]:
    """The figures of the second round on: the first one compiles."""
    ours, _ = decoders(384, 6, 6, setup.device)
    faster = decoders(384, 6, 6, setup.device)[0]
    faster.compile(mode="reduce-overhead" if setup.device.type == "cuda" else None)
    prompt = torch.randint(VOCABULARY, (1, PROMPT), device=setup.device)
    runs: list[Run] = [lambda: greedy_decode(faster, prompt, NEW_WORDS), lambda: greedy_decode(ours, prompt, NEW_WORDS)]
    fast, slow = setup.medians(runs)
    name = "compiled decoding, d=384, batch 1"
    row = Row.of(f"{name}: not compiled", NEW_WORDS / fast, NEW_WORDS / slow, "words/s", more=True)
    return [row, limit_row(name, faster, setup)]


def decoders(d_model: int, layers: int, heads: int, device: torch.device) -> tuple[GPT, GPT2LMHeadModel]:
    """Ours and GPT-2 of `transformers`, of the same sizes."""
    context = PROMPT + NEW_WORDS
    ours = GPT(GPTConfig(VOCABULARY, context, d_model, heads, layers, 4 * d_model, activation="gelu_tanh"))
    theirs = GPT2LMHeadModel(gpt2(VOCABULARY, context, d_model, heads, layers))
    return ours.to(device).eval(), theirs.to(device).eval()  # type: ignore[arg-type]  # wrapped without its first argument


def decoding_rows(name: str, ours: GPT, theirs: Any, batch: int, goal: float, setup: Setup) -> list[Row]:
    prompt = torch.randint(VOCABULARY, (batch, PROMPT), device=ours.embedding.weight.device)
    seconds = setup.medians([lambda: greedy_decode(ours, prompt, NEW_WORDS), lambda: generate(theirs, prompt)])
    speed = [batch * NEW_WORDS / each for each in seconds]
    rows = [Row.of(f"decoding, {name}: transformers", speed[0], speed[1], "words/s", more=True, goal=goal)]
    if batch == 1:  # for 32 texts it would take minutes
        (uncached,) = setup.medians([lambda: greedy_decode(ours, prompt, NEW_WORDS, cached=False)], rounds=1)
        rows.append(Row.of(f"decoding, {name}: no cache", speed[0], NEW_WORDS / uncached, "words/s", more=True))
    return rows


def generate(model: Any, prompt: Tensor) -> Tensor:
    words: Tensor = model.generate(
        prompt,
        attention_mask=torch.ones_like(prompt),
        max_new_tokens=NEW_WORDS,
        min_new_tokens=NEW_WORDS,
        do_sample=False,
        pad_token_id=0,
    )
    return words


def limit_row(name: str, model: GPT, setup: Setup) -> Row:
    """Steps per second, next to how often memory could be read for the weights alone."""
    device = model.embedding.weight.device
    prompt = torch.randint(VOCABULARY, (1, PROMPT), device=device)
    memory = torch.zeros(READ_BYTES // 4, device=device)
    decode, read = setup.medians([lambda: greedy_decode(model, prompt, NEW_WORDS), memory.sum])
    read_each_step = sum(p.nbytes for name, p in model.named_parameters() if not name.startswith("positions."))
    limit = READ_BYTES / read / read_each_step
    name = f"{name}: limit of {READ_BYTES / read / 1e9:.0f} GB/s"
    return Row.of(name, NEW_WORDS / decode, limit, "words/s", more=True, goal=0.7)


# --- the modern block -------------------------------------------------------------------------------------------


def modern(setup: Setup) -> list[Row]:
    ours, theirs = (language_model(name).to(setup.device).eval() for name in ("modern", "Llama"))
    texts = torch.randint(VOCABULARY, (8, 128), device=setup.device)
    seconds = setup.medians([partial(read, ours, texts), partial(read, theirs, texts)])
    mine, peers = (texts.numel() / each for each in seconds)
    rows = [Row.of("modern, reading 8 texts: transformers' Llama", mine, peers, "words/s", more=True, goal=1.0)]
    for batch in (1, 32):
        name = f"modern, batch {batch}"
        rows += decoding_rows(name, cast(GPT, ours), theirs, batch, 1.0, setup)
    seconds = setup.medians([training_step(name, setup.device) for name in ("modern", "Llama")])
    mine, peers = (1 / each for each in seconds)
    name = "training step, modern, d=384: transformers' Llama"
    return [*rows, Row.of(name, mine, peers, "steps/s", more=True, goal=1.0)]


@torch.inference_mode()
def read(model: nn.Module, texts: Tensor) -> object:
    return model(texts)


# --- training step ---------------------------------------------------------------------------------------------


def step(setup: Setup) -> list[Row]:
    ours, torchs = setup.medians([training_step(name, setup.device) for name in ("Transformer", "nn.Transformer")])
    gpt, gpt2_, nano = setup.medians([training_step(name, setup.device) for name in ("GPT", "GPT-2", "nanoGPT")])
    unit = "steps/s"
    return [
        Row.of("training step, 3+3 layers, d=256: nn.Transformer", 1 / ours, 1 / torchs, unit, more=True, goal=1.1),
        Row.of("training step, GPT, d=384: transformers' GPT-2", 1 / gpt, 1 / gpt2_, unit, more=True, goal=1.0),
        Row.of("training step, GPT, d=384: as in nanoGPT", 1 / gpt, 1 / nano, unit, more=True, goal=1.1),
    ]


def training_step(name: str, device: torch.device) -> Run:
    """A step of the model of that name, on the same tensors as its peers'."""
    generator = torch.Generator().manual_seed(0)
    if "Transformer" in name:
        sizes = TransformerConfig(
            8000, 8000, d_model=256, d_hidden=1024, encoder_layers=3, decoder_layers=3, dropout=0.0
        )
        model: nn.Module = Transformer(sizes) if name == "Transformer" else TorchTranslator(sizes)
        inputs = [torch.randint(4, 8000, (32, 24), generator=generator) for _ in range(2)]
        expected = torch.randint(4, 8000, (32, 24), generator=generator)
    else:
        model = language_model(name)
        inputs = [torch.randint(65, (8, 256), generator=generator)]
        expected = torch.randint(65, (8, 256), generator=generator)
    return stepping(model.to(device).train(), [x.to(device) for x in inputs], expected.to(device))


def language_model(name: str) -> nn.Module:
    if name == "modern":
        return GPT(replace(GPTConfig.llama(VOCABULARY, 384, 6, 6, 1024, 256), key_value_heads=2))
    if name == "Llama":
        return LlamaForCausalLM(llama())
    if name == "GPT":
        return GPT(GPTConfig(65, 256, 384, 6, 6, 1536, dropout=0.0))
    return NanoGPT(65, 256, 384, 6, 6) if name == "nanoGPT" else GPT2LMHeadModel(gpt2(65, 256, 384, 6, 6))


def stepping(model: nn.Module, inputs: list[Tensor], expected: Tensor) -> Run:
    optimizer = torch.optim.AdamW(model.parameters(), fused=True)

    def run() -> None:
        out = model(*inputs)
        logits = out if isinstance(out, Tensor) else out.logits
        F.cross_entropy(logits.flatten(0, 1), expected.flatten()).backward()
        optimizer.step()
        optimizer.zero_grad()

    return run


def gpt2(vocabulary: int, context: int, d_model: int, heads: int, layers: int) -> GPT2Config:
    return GPT2Config(
        vocab_size=vocabulary,
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


def llama() -> LlamaConfig:
    return LlamaConfig(
        vocab_size=VOCABULARY,
        max_position_embeddings=256,
        hidden_size=384,
        num_hidden_layers=6,
        num_attention_heads=6,
        num_key_value_heads=2,
        intermediate_size=1024,
        bos_token_id=None,
        eos_token_id=None,
    )


# --- memory ----------------------------------------------------------------------------------------------------


def memory(setup: Setup) -> list[Row]:
    groups = {
        "3+3 layers, d=256": ("Transformer", ["nn.Transformer"]),
        "GPT, d=384": ("GPT", ["GPT-2", "nanoGPT"]),
        "modern, d=384": ("modern", ["Llama"]),
    }
    rows = []
    for sizes, (ours, peers) in groups.items():
        taken = {
            name: statistics.median(peak_of(name, setup.device) for _ in range(min(setup.rounds, 3)))
            for name in (ours, *peers)
        }
        name = f"memory at peak, {sizes}"
        rows += [Row.of(f"{name}: {peer}", taken[ours], taken[peer], "MB", more=False, goal=1.0) for peer in peers]
    return rows


def peak_of(name: str, device: torch.device) -> float:
    """The most memory that three steps take, in a process of their own, in MB."""
    arguments = ["--peak", name, "--device", str(device), "--threads", str(torch.get_num_threads())]
    command = [sys.executable, "-m", "benchmarks.transformer", *arguments]
    answer = subprocess.run(command, check=True, capture_output=True, text=True, cwd=Path(__file__).parents[1])
    return float(answer.stdout.split()[-1])


def print_peak(name: str, device: torch.device) -> None:
    before = resident("VmRSS")
    run = training_step(name, device)
    for _ in range(3):
        run()
    peak = torch.cuda.max_memory_allocated(device) / 1e6 if device.type == "cuda" else resident("VmHWM") - before
    print(peak)


def resident(field: str) -> float:
    """The memory of this process now (VmRSS) or at most (VmHWM), in MB, as Linux counts it."""
    for line in Path("/proc/self/status").read_text(encoding="ascii").splitlines():
        if line.startswith(field):
            return int(line.split()[1]) / 1e3
    raise OSError(f"this system does not say {field}")


# --- all of it -------------------------------------------------------------------------------------------------


PARTS: dict[str, Callable[[Setup], list[Row]]] = {
    "decoding": decoding,
    "compiled": compiled,
    "modern": modern,
    "step": step,
    "memory": memory,
    "throughput": lambda setup: throughput(setup.text, setup.rounds, str(setup.device), setup.clock),
    "toy": lambda setup: toy(max(1, setup.rounds // 3), setup.clock),
}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", choices=PARTS)
    parser.add_argument("--text", choices=["toy", "multi30k"], default="toy", help="what the throughput is measured on")
    parser.add_argument("--device", default="cuda" if torch.cuda.is_available() else "cpu")
    parser.add_argument("--threads", type=int, default=torch.get_num_threads())
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--shared", action="store_true")
    parser.add_argument("--json", type=Path)
    parser.add_argument("--peak", help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.shared:
        arguments.threads = 1
    torch.set_num_threads(arguments.threads)
    logging.getLogger("transformers").setLevel(logging.ERROR)
    device = torch.device(arguments.device)
    if arguments.peak:
        print_peak(arguments.peak, device)
        return
    parts = [PARTS[arguments.only]] if arguments.only else PARTS.values()
    clock = time.process_time if arguments.shared else time.perf_counter
    setup = Setup(device, arguments.rounds, clock, arguments.text)
    rows = [row for part in parts for row in part(setup)]
    counted = "processor time" if arguments.shared else "time passed"
    report(f"The models on {device.type}, threads: {arguments.threads}, {counted}", rows, arguments.json)


if __name__ == "__main__":
    main()
