"""RMSNorm in half precision; its formula is compared where whole models are."""

from __future__ import annotations

import torch
from torch.testing import assert_close

from course_lib.modern.rms_norm import rms_norm


def test_half_precision_does_not_overflow() -> None:
    x = torch.full((8,), 300.0, dtype=torch.float16)  # 300² is beyond fp16
    out = rms_norm(x, torch.ones(8, dtype=torch.float16))
    assert out.dtype == torch.float16
    assert_close(out, torch.ones(8, dtype=torch.float16))
