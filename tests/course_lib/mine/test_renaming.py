"""Other names for what is at the top level, and for nothing else."""

import pytest

from course_lib.mine.renaming import CannotRename, renamed


@pytest.mark.parametrize(
    ("source", "expected"),
    [
        (
            "old = 1  # old\nprint(old, 'old', x.old, f(old=old))",
            "new = 1  # old\nprint(new, 'old', x.old, f(old=new))",
        ),
        ("ä = 'ü' + old", "ä = 'ü' + new"),
        ("def f(old=old):\n    return old", "def f(old=new):\n    return old"),
        ("def f(x: old) -> old:\n    return old", "def f(x: new) -> new:\n    return new"),
        ("def f(old):\n    def g():\n        return old", "def f(old):\n    def g():\n        return old"),
        ("def f():\n    old = 1\n    return lambda: old", "def f():\n    old = 1\n    return lambda: old"),
        ("def f():\n    import old\n    old.x", "def f():\n    import old\n    old.x"),
        ("def f():\n    [old := 1 for _ in x]\n    old", "def f():\n    [old := 1 for _ in x]\n    old"),
        ("@old\nasync def  f(): ...\nlambda old: old", "@new\nasync def  f(): ...\nlambda old: old"),
        ("[old for old in old]", "[old for old in new]"),
        ("{a: old for a in b for old in c if old}", "{a: old for a in b for old in c if old}"),
        (
            "class A(old):\n    old = 1\n    def f(self):\n        return old",
            "class A(new):\n    old = 1\n    def f(self):\n        return new",
        ),
        ("f'old {old} {x:{old}} {old=}'", "f'old {new} {x:{new}} {new=}'"),
        ("class old:\n    def old(self):\n        return old", "class new:\n    def old(self):\n        return new"),
        ("try: ...\nexcept old as e: ...", "try: ...\nexcept new as e: ..."),
        ("def f():\n    try: ...\n    except E as old: old", "def f():\n    try: ...\n    except E as old: old"),
        ("def  old(): ...\nasync def old(): ...", "def  new(): ...\nasync def new(): ..."),
    ],
)
def test_only_the_top_level_s_own(source: str, expected: str) -> None:
    assert renamed(source, {"old": "new"}) == expected


@pytest.mark.parametrize(
    "source",
    [
        "def f():\n    global old\n    old = 1",
        "try:\n    import old\nexcept ImportError: ...",
        "try: ...\nexcept E as old: ...",
        "match x:\n    case [*old]: ...",
        "class A:\n    old = old",
        "eval('old')",
    ],
)
def test_what_cannot_be_changed_alone_is_refused(source: str) -> None:
    with pytest.raises(CannotRename, match=r"old|eval"):
        renamed(source, {"old": "new"})
