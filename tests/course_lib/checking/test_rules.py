import pytest

from course_lib.checking.rules import broken_rule

FORBIDDEN = ("scaled_dot_product_attention", "softmax")


@pytest.mark.parametrize(
    "source",
    [
        "def f(x):\n    return torch.softmax(x, -1)",
        "def f(x):\n    return x.softmax(-1)",
        "from torch.nn.functional import softmax as s\ndef f(x):\n    return s(x, -1)",
        "def f(x):\n    return getattr(torch, 'softmax')(x, -1)",
        "def helper(x):\n    return F.softmax(x)\ndef f(x):\n    return helper(x)",
        "f = torch.softmax",
        "%%time\ndef f(x):\n    return torch.softmax(x, -1)",
        "%matplotlib inline\ndef f(x):\n    return torch.softmax(x, -1)",
        "if True:\n    def f(x):\n        return torch.softmax(x, -1)",
    ],
)
def test_a_forbidden_name_is_found_with_its_line(source: str) -> None:
    rule = broken_rule("f", ["import torch", source], FORBIDDEN)
    assert rule is not None
    assert rule.name == "softmax"
    assert "softmax" in source.splitlines()[rule.line - 1]
    assert rule.code == source.splitlines()[rule.line - 1].strip()


@pytest.mark.parametrize(
    "source",
    [
        "def f(x):\n    return x.exp() / x.exp().sum()",
        "def f(x):\n    'Softmax, as in torch.softmax.'\n    return x",
        "def softmax(x):\n    return x.exp()\ndef f(x):\n    return softmax(x)",
        "def f(x):\n    return x\ncompare = torch.softmax",
        "def f(:",
        "",
    ],
)
def test_what_the_answer_does_not_use_breaks_no_rule(source: str) -> None:
    assert broken_rule("f", [source], FORBIDDEN) is None


def test_the_answer_may_carry_the_forbidden_name_itself() -> None:
    source = "def scaled_dot_product_attention(q, k, v):\n    return q"
    assert broken_rule("scaled_dot_product_attention", [source], FORBIDDEN) is None
