"""Patching what a check might use to compare, in the process that runs the answers."""

from tests.dishonest.attempt import RAISED, in_cell, spoils_all

ATTEMPTS = (
    in_cell(
        "patch_torch_allclose",
        "Makes torch's comparisons say yes.",
        """
            torch.allclose = torch.equal = lambda *args, **kwargs: True
            torch.isclose = lambda a, b, **kwargs: torch.ones(a.shape, dtype=torch.bool)
            torch.testing.assert_close = lambda *args, **kwargs: None
        """,
    ),
    in_cell(
        "patch_tensor_operators",
        "Makes every comparison between tensors come out equal.",
        """
            torch.Tensor.__eq__ = lambda self, other: torch.ones(self.shape, dtype=torch.bool)
            torch.Tensor.__ne__ = lambda self, other: torch.zeros(self.shape, dtype=torch.bool)
            torch.Tensor.__gt__ = torch.Tensor.__lt__ = torch.Tensor.__ne__
        """,
    ),
    in_cell(
        "patch_numpy_testing",
        "Makes numpy's and pytest's comparisons say yes.",
        """
            import sys, types, unittest
            import numpy.testing
            for name in dir(numpy.testing):
                if name.startswith("assert"):
                    setattr(numpy.testing, name, lambda *args, **kwargs: None)
            numpy.allclose = numpy.array_equal = lambda *args, **kwargs: True
            sys.modules["pytest"] = types.SimpleNamespace(approx=lambda x: x, fail=lambda *a: None)
            for name in dir(unittest.TestCase):
                if name.startswith("assert"):
                    setattr(unittest.TestCase, name, lambda *args, **kwargs: None)
        """,
    ),
    in_cell(
        "patch_builtins",
        "Replaces the built-in functions with which anything is compared or summed.",
        """
            import builtins
            builtins.all = lambda things: True
            builtins.any = lambda things: False
            builtins.isinstance = lambda thing, kind: True
            builtins.AssertionError = type("AssertionError", (Exception,), {})
        """,
    ),
    spoils_all(
        "patch_checking_package",
        "Replaces every function of the course's own checking package.",
        """
            import sys, types
            for name, module in list(sys.modules.items()):
                if name.startswith("course_lib.judging"):
                    for attribute, value in list(vars(module).items()):
                        if isinstance(value, types.FunctionType) and attribute != "call":
                            setattr(module, attribute, lambda *args, **kwargs: None)
        """,
        RAISED,
    ),
    in_cell(
        "patch_outcomes",
        "Renames every outcome to passed, and gives every exercise of which it can get hold the points.",
        """
            from course_lib.judging import observation
            for outcome in observation.Outcome:
                outcome._value_ = "passed"
            observation.ENDINGS = frozenset()
        """,
    ),
    in_cell(
        "patch_check",
        "Defines a `check` of its own that shows full points.",
        "class check(float):\n    def __new__(cls, *args, **kwargs):\n        return 100.0",
    ),
    in_cell(
        "patch_tolerance",
        "Turns the relative tolerance up to infinity.",
        """
            import sys
            sys.float_info = None
            for module in list(sys.modules.values()):
                if hasattr(module, "RELATIVE_TOLERANCE"):
                    module.RELATIVE_TOLERANCE.update(dict.fromkeys(module.RELATIVE_TOLERANCE, float("inf")))
        """,
    ),
)
