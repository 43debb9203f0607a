"""Answers that are no plain tensors: subclasses, liars, and tensors with nothing behind them."""

from course_lib.judging.observation import Outcome
from tests.dishonest.attempt import RAISED, WRONG, Attempt, in_answer

_SHAPE = "*q.shape[:-1], k.shape[-2]"


def _returns(name: str, tries: str, value: str, own: str = "", outcome: Outcome = WRONG) -> Attempt:
    return in_answer(name, tries, f"def dot_product_scores(q, k):\n    return {value}", outcome, own)


ATTEMPTS = (
    _returns(
        "equal_subclass",
        "Returns a subclass of tensors whose comparisons all say yes.",
        f"torch.zeros({_SHAPE}).as_subclass(Agreeable)",
        """
            class Agreeable(torch.Tensor):
                @classmethod
                def __torch_function__(cls, function, types, args=(), kwargs=None):
                    return True
        """,
    ),
    _returns(
        "dispatching_subclass",
        "Returns a wrapper tensor whose every operation is its own.",
        f"Wrapper(torch.zeros({_SHAPE}))",
        """
            class Wrapper(torch.Tensor):
                @staticmethod
                def __new__(cls, inner):
                    return torch.Tensor._make_wrapper_subclass(cls, inner.shape, dtype=inner.dtype)
                @classmethod
                def __torch_dispatch__(cls, function, types, args=(), kwargs=None):
                    return torch.ones(()).bool()
        """,
    ),
    _returns(
        "claims_to_be_a_tensor",
        "Returns an object whose class, shape and dtype are lies.",
        "Chameleon()",
        """
            class Chameleon:
                __class__ = torch.Tensor
                dtype, device, layout, shape = torch.float32, torch.device("cpu"), torch.strided, torch.Size([2, 2])
                def __eq__(self, other):
                    return True
                __hash__ = object.__hash__
        """,
    ),
    _returns("meta_tensor", "Returns a tensor without numbers.", f"torch.zeros({_SHAPE}, device='meta')"),
    _returns("complex_tensor", "Hides wrong numbers in an imaginary part.", "(q @ k.mT) + 1j * torch.ones(1)"),
    _returns("nan_tensor", "Returns NaN, which no comparison calls wrong.", f"torch.full(({_SHAPE}), float('nan'))"),
    _returns("infinite_tensor", "Returns infinity, which is near nothing.", f"torch.full(({_SHAPE}), float('inf'))"),
    _returns("sparse_tensor", "Returns a sparse tensor that says where its zeros are.", "(0 * (q @ k.mT)).to_sparse()"),
    _returns("expanded_tensor", "Returns one number that claims to be many.", f"torch.zeros(1).expand({_SHAPE})"),
    _returns(
        "half_precision", "Returns numbers of a coarser type, whose tolerance is wider.", "(q.half() @ k.mT.half())"
    ),
    _returns(
        "conjugate_view",
        "Returns a view whose memory says something else than the tensor.",
        "(q @ k.mT).neg()._neg_view().neg()",
    ),
    _returns(
        "named_tensor",
        "Returns a tensor whose dimensions have names.",
        "(0 * (q @ k.mT)).rename(*'abcd'[:q.ndim])",
        outcome=RAISED,
    ),
    _returns(
        "quantised", "Returns a quantized tensor.", "torch.quantize_per_tensor((q @ k.mT).float(), 9.0, 0, torch.qint8)"
    ),
    _returns("list_of_lists", "Returns nested lists that hold the same numbers.", "(q @ k.mT).tolist()"),
    _returns("numpy_array", "Returns an array in place of a tensor.", "(q @ k.mT).detach().numpy()"),
    _returns("generator", "Returns a generator of what is asked for.", "(row for row in q)"),
    _returns(
        "itself", "Returns a list that contains itself.", "endless", "endless = []\nendless.append(endless)", RAISED
    ),
    _returns(
        "hooked_gradient",
        "Changes its gradient in a hook.",
        "hooked(q, k)",
        """
            def hooked(q, k):
                out = 0 * (q @ k.mT)
                if out.requires_grad:
                    out.register_hook(lambda gradient: 100 * gradient)
                return out
        """,
    ),
    _returns(
        "dict_of_everything",
        "Returns a dict that has every key.",
        "Everything()",
        """
            class Everything(dict):
                def __missing__(self, key):
                    return torch.zeros(2, 2)
        """,
    ),
)
