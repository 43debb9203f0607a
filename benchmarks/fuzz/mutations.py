"""Spoils valid data in every way that has ever broken a reader: first its structure, then its bytes.

Everything is drawn from a `random.Random`, so that a seed determines an input.
"""

import json
from random import Random
from typing import Any

Json = Any

HTML = (
    "<script>alert(1)</script>",
    "<img src=x onerror=alert(1)>",
    "<svg/onload=alert(1)>",
    "<svg><script>1</script>",
    "<a href=javascript:alert(1)>a</a>",
    '<a href="jAvA&#x09;script:1">a</a>',
    "<iframe srcdoc='<script>1</script>'>",
    "<style>*{display:none}</style>",
    "<div style=position:fixed>",
    "<form action=//a><input>",
    "<base href=//a>",
    "</textarea><script>1</script>",
    "<!--><script>1</script>",
    "<![CDATA[",
    "<math><mi//xlink:href='data:x'>",
    "<table><td>",
    "<details open ontoggle=alert(1)>",
    "<b>" * 50,
    "</div></div></body>",
    "<noscript><p title='</noscript>",
)
MARKDOWN = (
    "[a](javascript:alert(1))",
    "[a](<java\nscript:1>)",
    "![a](http://a/b.png)",
    "![a](attachment:a.png)",
    "[a]: data:text/html,1",
    "![a](data:image/svg+xml;base64,AAAA)",
    "<http://a>",
    "[[[[[[",
    "](" * 30,
    "> " * 40,
    "* " * 40,
    "`" * 30,
    "~~~\n",
    "```python\n",
    "$$\\href{javascript:1}{a}$$",
    "$\\require{html}\\style{a:b}{c}$",
    "\\[\\def\\a{\\a\\a}\\a",
    "$" * 9,
    "| a |\n|---|\n| b |",
)
TEMPLATES = ("{{ 7*7 }}", "{% include 'secret' %}", "{#", "${a}", "%(a)s", "{0.__class__}", "[red]", "[/]", "=1+1")
CHARACTERS = (
    *("\x1b]0;title\x07", "\x1b[2J", "\r", "\x00", "\x08" * 5, "\u202e", "\ufeff"),
    *("\u2028", "\ud800", "\udfff\ud800", "\U0010ffff", "\x85", "\x0c"),
)
MARKERS = (
    "# katze: attention.scores answer\n",
    "# katze: attention.scores check\n",
    "<!-- katze: attention.why written -->",
    "def dot_product_scores(q, k):\n    return q\n",
    "check('attention.scores')",
    "raise NotImplementedError()",
    "### BEGIN HIDDEN TESTS",
)
CODE = ("%%bash\nls", "!ls", "x = 1;" * 9, "(" * 99, "lambda: " * 99, "0x" + "f" * 50, "f'{a!r:>{b}}'", "\\\n" * 9)
PLAIN = ("../../../etc/passwd", "a\nb", "a" * 300, " ", "", "-", "nan", "1e999", "9" * 30, "9" * 5_000, "null")
FRAGMENTS = (*HTML, *MARKDOWN, *TEMPLATES, *CHARACTERS, *MARKERS, *CODE, *PLAIN)
"""Texts that have a meaning for some program that handles a submission."""

_NUMBERS = (0, 1, -1, 2, 100, 1 << 31, 1 << 63, 1 << 64, -(1 << 70), 10**30, 0.0, -0.0, 1.5, 1e308, 5e-324)
_NAMES = (
    "kind",
    "id",
    "value",
    "tensor",
    "order",
    "dict",
    "list",
    "metadata",
    "nbgrader",
    "source",
    "data",
    "text/html",
)


def text(random: Random) -> str:
    """Return a text: a few fragments, perhaps cut."""
    joined = random.choice(("", " ", "\n", "\n\n")).join(random.choices(FRAGMENTS, k=random.randint(1, 4)))
    return joined[: random.randint(1, 400)] if random.random() < 0.2 else joined


def value(random: Random, depth: int = 0) -> Json:
    """Return a small JSON value of any kind."""
    kind = random.randrange(6 if depth < 3 else 4)
    if kind == 0:
        return random.choice((None, True, False, [], {}))
    if kind == 1:
        return random.choice(_NUMBERS)
    if kind in (2, 3):
        return text(random)
    if kind == 4:
        return [value(random, depth + 1) for _ in range(random.randint(0, 3))]
    return {random.choice((*_NAMES, text(random))): value(random, depth + 1) for _ in range(random.randint(0, 3))}


def spoiled(random: Random, data: Json) -> Json:
    """Make one change or a few to a structure in place, and return it."""
    for _ in range(random.choice((1, 1, 1, 2, 4))):
        places = list(_places(data))
        if not places:
            return value(random)
        holder, key = random.choice(places)
        _change(random, holder, key)
    return data


def _places(data: Json) -> list[tuple[Json, Any]]:
    """Return every place in the structure: its container, and its key or index there."""
    places: list[tuple[Json, Any]] = []
    pending = [data]
    while pending:
        holder = pending.pop()
        keys = list(holder) if isinstance(holder, dict) else range(len(holder))
        places += [(holder, key) for key in keys]
        pending += [holder[key] for key in keys if isinstance(holder[key], (dict, list))]
    return places


def _change(random: Random, holder: Json, key: Any) -> None:
    old = holder[key]
    match random.randrange(9):
        case 0:
            del holder[key]
        case 1:
            holder[key] = [old]
        case 2:
            holder[key] = {random.choice(_NAMES): old}
        case 3 if isinstance(old, str):
            place = random.randint(0, len(old))
            holder[key] = old[:place] + text(random) + old[place:]
        case 4 if isinstance(old, list) and old:
            holder[key] = old * random.choice((0, 2, 50))
        case 5:
            for _ in range(random.choice((5, 40, 200))):
                old = [old] if random.random() < 0.9 else {"list": [old]}
            holder[key] = old
        case 6 if isinstance(holder, dict):
            holder[random.choice((*_NAMES, text(random)))] = holder.pop(key)
        case 7 if isinstance(holder, list):
            holder.insert(random.randint(0, len(holder)), old)
        case _:
            holder[key] = value(random)


def written(random: Random, data: Json) -> bytes:
    """Return data as JSON bytes, at times not quite JSON: a duplicate key, NaN, deep nesting, another encoding."""
    dumped = json.dumps(data, ensure_ascii=random.random() < 0.9)
    match random.randrange(25):
        case 0:
            dumped = dumped.replace("{", '{"kind": 1, ', 1)
        case 1:
            dumped = dumped.replace("null", random.choice(("NaN", "Infinity", "-Infinity", "1" * 400, "1e999")), 2)
        case 2:
            dumped = dumped.replace("}", ',"a":' + "[" * random.choice((30, 2_000)) + "}", 1)
        case 3:
            return dumped.encode(random.choice(("utf-16", "utf-32", "utf-8-sig", "utf-16-le")), "replace")
    return dumped.encode("utf-8", random.choice(("surrogatepass", "replace")))


def bent(random: Random, data: bytes) -> bytes:
    """Return the bytes with a few of them changed, removed, doubled or inserted."""
    found = bytearray(data)
    for _ in range(random.randint(1, 4)):
        place = random.randint(0, max(0, len(found) - 1))
        length = random.choice((1, 1, 4, 100))
        match random.randrange(5):
            case 0 if found:
                found[place] ^= 1 << random.randrange(8)
            case 1:
                del found[place : place + length]
            case 2:
                found[place:place] = found[place : place + length]
            case 3:
                found[place:place] = random.randbytes(length)
            case _:
                del found[place:]
    return bytes(found)
