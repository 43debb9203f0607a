"""The parts of the benchmark, the most important first."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Part:
    """A part of the benchmark.

    Attributes:
        name: its name for `--only`.
        told: what it does, in a few words.
        seconds: its time limit on a GPU.
        function: "module:name" of a function of `running.Settings` and `results.Tell`.
        needs: the packages that it needs besides those for training.
    """

    name: str
    told: str
    seconds: float
    function: str
    needs: tuple[str, ...] = ()


PARTS = (
    Part("multi30k", "English to German, from nothing to BLEU", 270, "benchmarks.gpu.learning:multi30k"),
    Part("shakespeare", "a language model of characters", 90, "benchmarks.gpu.learning:shakespeare"),
    Part("step", "a training step beside its peers", 120, "benchmarks.gpu.speed:step", ("transformers",)),
    Part("decoding", "writing beside transformers", 75, "benchmarks.gpu.speed:decoding", ("transformers",)),
    Part("compiled", "writing, compiled", 180, "benchmarks.gpu.speed:compiled", ("transformers",)),
    Part("modern", "the block since Llama", 60, "benchmarks.gpu.speed:modern", ("transformers",)),
    Part("memory", "the most that a step takes", 90, "benchmarks.gpu.speed:memory", ("transformers",)),
    Part(
        "lesson",
        "lesson 11 in its GPU form",
        300,
        "benchmarks.gpu.lesson:lesson",
        needs=("ipykernel", "jupytext", "matplotlib", "nbclient"),
    ),
    Part("fp16", "the first steps of Multi30k as on a T4", 75, "benchmarks.gpu.learning:fp16"),
)
