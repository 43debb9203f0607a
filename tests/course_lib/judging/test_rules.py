import pytest

from course_lib.judging.rules import Code, definitions

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
        "f = torch.softmax\nf = f",
        "def f(x):\n    return torch.softmax(x, -1)\ng = f\nf = lambda x: f(x)",
        "if True:\n    def f(x):\n        return torch.softmax(x, -1)",
        "s = torch.softmax\ndef f(x, s=s):\n    return s(x, -1)",
        "@apply(torch.softmax)\ndef f(x):\n    return x",
        "s = torch.softmax\ndef f(x):\n    return torch.stack([s(row, 0) for row in x])",
        "s = [torch.softmax]\ndef f(x):\n    return [s(x, -1) for s in s][0]",
        "s = torch.softmax\ndef f(x):\n    global s\n    s = s\n    return s(x, 0)",
        "class f:\n    def forward(self, x):\n        return torch.softmax(x, -1)",
        "for s in [torch.softmax]:\n    def f(x):\n        return s(x, -1)",
    ],
)
def test_a_forbidden_name_is_found_with_its_line(source: str) -> None:
    rule = Code(["import torch", source]).broken_rule("f", FORBIDDEN)
    assert rule.name == "softmax"
    assert "softmax" in source.splitlines()[rule.line - 1]
    assert rule.code == source.splitlines()[rule.line - 1].strip()


@pytest.mark.parametrize(
    "source",
    [
        "def f(x):\n    return x.exp() / x.exp().sum()",
        "def f(x):\n    'Softmax, as in torch.softmax.'\n    return x",
        "def softmax(x):\n    return x.exp()\ndef f(x):\n    return softmax(x)",
        "class M:\n    def softmax(x):\n        return x.exp()\ndef f(x):\n    return M.softmax(x)",
        "def f(x):\n    'softmax'\n    return x",
        "def f(x):\n    return torch.softmax(x, -1)\ndef f(x):\n    return x.exp()",
        "def f(x):\n    return x\ncompare = torch.softmax",
        "x = torch.softmax\ndef f(x):\n    return x",
        "y = torch.softmax\ndef f(x):\n    y = x.exp()\n    return y",
        "y = torch.softmax\ndef f(x):\n    return sum(y for y in x)",
        "rows = [torch.softmax(y, -1) for y in ()]\ndef f(x):\n    return y",
        "h = torch.softmax\ndef f(x):\n    def h(x):\n        return x\n    return h(x)",
        "def f(:",
        "",
    ],
)
def test_what_the_answer_does_not_use_breaks_no_rule(source: str) -> None:
    assert Code([source]).broken_rule("f", FORBIDDEN) is None


@pytest.mark.parametrize(
    ("source", "broken"),
    [
        ("import torch as t\ndef f(x):\n    return t.masked.sum(x)", "torch.masked"),
        ("from torch.masked import sum as s\ndef f(x):\n    return s(x)", "torch.masked"),
        ("from torch import masked\ndef f(x):\n    return masked.sum(x)", "torch.masked"),
        ("import jiwer as j\ndef f(x):\n    return j.other(x)", "jiwer"),
        ("def f(x):\n    return __import__('jiwer').other(x)", "jiwer"),
        ("from operator import attrgetter\ndef f(x):\n    return attrgetter('masked.sum')(torch)(x)", ""),
        ("import torch, jiwer\ndef f(x):\n    return torch.sum(x)", ""),
        ("from torch import sum, masked\ndef f(x):\n    return sum(x)", ""),
        ("def f(x, masked):\n    return x.masked.sum() + masked.sum()", ""),
        ("def f(x, jiwer):\n    return jiwer.sum()", ""),
        ("def f(x):\n    return {'jiwer': 1}.get('jiwer')", ""),
    ],
)
def test_the_name_of_a_module_forbids_all_of_it(source: str, broken: str) -> None:
    rule = Code([source]).broken_rule("f", ("torch.masked", "jiwer"))
    assert (rule.name if rule else "") == broken


def test_the_answer_may_carry_the_forbidden_name_itself() -> None:
    source = "def scaled_dot_product_attention(q, k, v):\n    return q"
    assert Code([source]).broken_rule("scaled_dot_product_attention", FORBIDDEN) is None


@pytest.mark.parametrize(
    "source",
    [
        "import torch.nn.functional as F\ndef softmax(x):\n    return F.softmax(x, -1)",
        "import torch\ndef softmax(x):\n    return torch.nn.functional.softmax(x, -1)",
        "def softmax(x):\n    from torch.nn import functional\n    return functional.softmax(x, -1)",
    ],
)
def test_an_answer_of_the_forbidden_name_may_not_be_that_of_a_module(source: str) -> None:
    rule = Code([source]).broken_rule("softmax", ["softmax"])
    assert (rule.name, rule.line) == ("softmax", source.count("\n") + 1)


def test_deeply_nested_code_is_searched_or_passed_over() -> None:
    for deep in ("+".join(["torch.softmax(x)"] * 2000), "(" * 150 + "torch.softmax(x)" + ")" * 150):
        Code([f"def f(x):\n    return {deep}"]).broken_rule("f", FORBIDDEN)
    nested = (
        "\n".join("    " * depth + f"def f{depth or ''}(x):" for depth in range(15))
        + "\n"
        + "    " * 15
        + "x.softmax(0)"
    )
    assert Code([nested]).broken_rule("f", FORBIDDEN) is not None


@pytest.mark.parametrize(
    ("later", "changed"),
    [
        ("helper = abs", True),
        ("def answer(x):\n    return x", True),
        ("for helper in range(3):\n    pass", True),
        ("import math", False),
        ("import cmath as math", True),
        ("other = answer(3)", False),
        ("def other(helper):\n    answer = helper", False),
    ],
)
def test_an_answer_is_changed_by_what_gives_its_names_another_meaning(later: str, changed: bool) -> None:
    cells = ["import math\nhelper = round", "def answer(x):\n    return helper(math.sqrt(x))", later]
    assert Code(cells).is_rebound("answer", 2) is changed


def test_the_cells_that_an_answer_needs() -> None:
    cells = [
        "import math",
        "print(1)",
        "def helper(x):\n    return x",
        "def answer(x):\n    return helper(x)",
        "helper = math.sin",
    ]
    assert Code(cells).places("answer") == {0, 2, 3, 4}
    assert Code([*cells, "answer = 3"]).places("answer") == {0, 2, 3, 4, 5}


def test_what_a_cell_defines_is_told_from_what_it_does() -> None:
    cell = "%matplotlib inline\nimport math\nx = 1 / 0\ndef f(y):\n    return y\nclass C:\n    pass\nprint(f(x))"
    assert definitions(cell) == "import math\ndef f(y):\n    return y\nclass C:\n    pass"
    assert definitions("def (") == ""
