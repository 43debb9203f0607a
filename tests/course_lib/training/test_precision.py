"""Which precision a device gets."""

import pytest
import torch

from course_lib.training.precision import autocast, precision_for


@pytest.mark.parametrize(
    ("known", "precision"),
    [({"amx_bf16": True}, "bf16"), ({"amx_bf16": False}, "fp32"), ({"avx512_bf16": True}, "fp32"), ({}, "fp32")],
)
def test_a_cpu_that_multiplies_bf16_at_speed_uses_it(
    monkeypatch: pytest.MonkeyPatch, known: dict[str, bool], precision: str
) -> None:
    monkeypatch.setattr(torch.cpu, "get_capabilities", lambda: known, raising=False)
    assert precision_for("cpu") == precision


@pytest.mark.parametrize(("ampere", "precision"), [(True, "bf16"), (False, "fp16")])
def test_a_gpu_always_gets_half(monkeypatch: pytest.MonkeyPatch, ampere: bool, precision: str) -> None:
    monkeypatch.setattr(torch.cuda, "is_bf16_supported", lambda including_emulation: ampere)
    assert precision_for("cuda") == precision


def test_others_get_single() -> None:
    assert precision_for("mps") == "fp32"


@pytest.mark.parametrize(("precision", "dtype"), [("fp32", torch.float32), ("bf16", torch.bfloat16)])
def test_autocast_multiplies_in_it(precision: str, dtype: torch.dtype) -> None:
    with autocast(torch.device("cpu"), precision):  # type: ignore[arg-type]
        assert (torch.ones(2, 2) @ torch.ones(2, 2)).dtype == dtype
