"""What is refused says what to give instead."""

from __future__ import annotations

import math
from collections.abc import Callable

import pytest
import torch

from course_lib.ground import validation

IDS = torch.tensor([[1, 2], [3, 0]])


@pytest.mark.parametrize(
    ("refuse", "error", "message"),
    [
        (lambda: validation.check_at_least(1, layers=2, heads=0), ValueError, "heads must be at least 1, not 0"),
        (
            lambda: validation.check_at_least(1, layers=1.5),
            TypeError,
            "layers must be a whole number .an int., not 1.5",
        ),
        (lambda: validation.check_not_negative(rate=math.nan), ValueError, "rate must be at least 0 and finite"),
        (lambda: validation.check_texts("one"), TypeError, "give a list of texts, not one string"),
        (lambda: validation.check_unicode("a\ud800"), ValueError, "half a character, .* at position 1"),
        (lambda: validation.check_floating(x=IDS), TypeError, r"x must be floating-point numbers.*write x.float\(\)"),
        (lambda: validation.check_special_ids(4, start=3, end=4), ValueError, "end must be from 0 to 3"),
        (
            lambda: validation.check_probability(dropout=1.0),
            ValueError,
            "dropout must be at least 0 and below 1, not 1.0",
        ),
        (lambda: validation.check_divisible(10, 4), ValueError, "d_model must be a multiple .* not 10 for 4 heads"),
        (lambda: validation.check_divisible(10, 0), ValueError, "not 10 for 0 heads"),
        (lambda: validation.check_boolean(IDS), TypeError, r"mask must be boolean \(True = may attend\)"),
        (lambda: validation.check_boolean(IDS.float()), TypeError, "or mask == 0 for an additive mask"),
        (lambda: validation.check_ids(IDS.float(), 4, "ids"), TypeError, "ids must be whole numbers"),
        (lambda: validation.check_ids(IDS[0], 4, "ids"), ValueError, r"ids must be \[batch, tokens\], not \[2\]"),
        (lambda: validation.check_ids(IDS[:, :0], 4, "ids"), ValueError, r"ids has no tokens: \[2, 0\]"),
        (lambda: validation.check_ids(IDS, 3, "ids"), ValueError, "from 0 to 2, .* but there is a 3"),
        (lambda: validation.check_ids(-IDS, 4, "ids"), ValueError, "but there is a -3"),
        (lambda: validation.check_device("elsewhere"), ValueError, "there is no device 'elsewhere'; choose 'cpu', "),
        (lambda: validation.check_mask(IDS > 0, IDS[:, :1]), ValueError, r"mask must be \[2, 1\] as ids are"),
        (lambda: validation.check_mask(IDS, IDS), TypeError, r"True = a token, False = padding"),
    ],
)
def test_a_refusal_names_what_is_wrong(refuse: Callable[[], None], error: type[Exception], message: str) -> None:
    with pytest.raises(error, match=message):
        refuse()


def test_what_fits_passes() -> None:
    validation.check_at_least(1, layers=1)
    validation.check_special_ids(4, start=3, end=None)
    validation.check_probability(dropout=0.0)
    validation.check_divisible(12, 4)
    validation.check_not_negative(epsilon=0.0)
    validation.check_texts(["one", "two"])
    validation.check_unicode("naïve 😺")
    validation.check_floating(x=torch.ones(1))
    validation.check_boolean(IDS > 0)
    validation.check_ids(IDS, 4, "ids")
    validation.check_mask(None, IDS)
    validation.check_mask(IDS > 0, IDS)
