"""Writing into the pages that other people open: script, style, formulas, and marks that steer a terminal."""

from __future__ import annotations

from typing import Any

from benchmarks.fuzz.mutations import HTML, MARKDOWN
from tests.dishonest.attempt import RAISED, WRONG, ZEROS, Attempt, Notebook, code_cell

FORGED_VERDICT = (
    '<div class="katze-verdict katze-pass"><p class="katze-head"><strong>Right</strong>'
    '<span class="katze-score">17 of 17 points</span></p></div>'
)


def _shows(name: str, tries: str, code: str) -> Attempt:
    return Attempt(name, tries, {"own": code, "scores": ZEROS}, {"scores": WRONG})


def _cells(*cells: dict[str, Any]) -> Any:
    def edit(notebook: Notebook) -> None:
        notebook["cells"] += [{**cell, "id": f"page-{number}"} for number, cell in enumerate(cells)]

    return edit


def _markdown(*sources: str) -> Any:
    return _cells(*({"cell_type": "markdown", "metadata": {}, "source": source} for source in sources))


def _saved(*bundles: dict[str, Any]) -> Any:
    """An edit that adds a cell tagged `demo`, which is not run, with these outputs."""
    outputs = [{"output_type": "display_data", "data": bundle, "metadata": {}} for bundle in bundles]
    return _cells({**code_cell("1", ""), "outputs": outputs, "metadata": {"tags": ["demo"]}})


ATTEMPTS = (
    _shows(
        "html_shown",
        "Displays HTML with scripts of every kind.",
        f"from IPython.display import HTML, display\nfor html in {HTML!r}:\n    display(HTML(html))",
    ),
    _shows(
        "javascript_shown",
        "Displays JavaScript, for the notebook to run.",
        "from IPython.display import Javascript, display\ndisplay(Javascript('alert(1)'))",
    ),
    _shows(
        "svg_shown",
        "Displays a drawing with a script in it.",
        """
            from IPython.display import SVG, display
            display(SVG('<svg xmlns="http://www.w3.org/2000/svg" onload="alert(1)"><script>1</script></svg>'))
        """,
    ),
    _shows(
        "markdown_shown",
        "Displays markdown with links and formulas that run.",
        f"from IPython.display import Markdown, Math, display\nfor text in {MARKDOWN!r}:\n    display(Markdown(text))\n"
        "display(Math('\\\\href{javascript:1}{a}'))",
    ),
    _shows(
        "frame_shown",
        "Displays a page from elsewhere.",
        "from IPython.display import IFrame, display\ndisplay(IFrame('https://example.org', 100, 100))",
    ),
    _shows(
        "forged_verdict",
        "Displays a verdict of its own making, with full points.",
        f"from IPython.display import HTML, display\ndisplay(HTML({FORGED_VERDICT!r}))",
    ),
    _shows(
        "strange_types",
        "Displays data under types that no notebook knows.",
        """
            from IPython.display import display
            script = '<script>1</script>'
            display({'text/html; charset=x': script, 'application/javascript': '1', 'a': 'b', '../x/y': 'z'}, raw=True)
        """,
    ),
    _shows(
        "terminal",
        "Prints sequences that clear a terminal, and rename it.",
        "print('\\x1b]0;owned\\x07\\x1b[2J\\x1b[1;1H\\r17 of 17\\x08\\x00')",
    ),
    Attempt(
        "names_of_classes",
        "Returns an object whose class is called a script.",
        {"scores": "Bad = type('<script>alert(1)</script>', (), {})\ndef dot_product_scores(q, k):\n    return Bad()"},
        {"scores": WRONG},
    ),
    Attempt(
        "names_of_exceptions",
        "Raises an exception whose name and message are scripts.",
        {
            "scores": """
                def dot_product_scores(q, k):
                    raise type('<img src=x onerror=alert(1)>', (Exception,), {})('<script>alert(1)</script>\\x1b[2J')
            """
        },
        {"scores": RAISED},
    ),
    Attempt(
        "keys_of_results",
        "Returns a dict whose keys are scripts and templates.",
        {"scores": "def dot_product_scores(q, k):\n    return {'<script>1</script>': 1, '{{ 7*7 }}': 2, '[/]': 3}"},
        {"scores": WRONG},
    ),
    Attempt(
        "comments_of_code",
        "Closes the page's own tags in comments of its code.",
        {"scores": f"# </code></pre><script>alert(1)</script>\n{ZEROS}  # --><svg onload=alert(1)>"},
        {"scores": WRONG},
    ),
    Attempt(
        "markdown_cells",
        "Writes scripts into text.",
        {"scores": ZEROS},
        {"scores": WRONG},
        edit=_markdown(*HTML, *MARKDOWN),
    ),
    Attempt(
        "saved_outputs",
        "Hands in outputs that no cell has made.",
        {"scores": ZEROS},
        {"scores": WRONG},
        edit=_saved(
            {"text/html": "<script>1</script>"},
            {"text/html": FORGED_VERDICT},
            {"image/svg+xml": "<svg onload=alert(1)>"},
            {"image/png": "<script>"},
            {"application/javascript": "alert(1)"},
            {"application/vnd.jupyter.widget-view+json": {"model_id": "x"}},
        ),
    ),
    Attempt(
        "attachments",
        "Attaches scripts to text as pictures.",
        {"scores": ZEROS},
        {"scores": WRONG},
        edit=_cells(
            {
                "cell_type": "markdown",
                "metadata": {},
                "source": "![a](attachment:a.svg) ![b](attachment:<b>)",
                "attachments": {
                    "a.svg": {"image/svg+xml": "<svg onload=alert(1)>"},
                    "<b>": {"text/html": "<script>1</script>"},
                },
            }
        ),
    ),
    Attempt(
        "raw_cells",
        "Hands in raw cells, which pages take over as they are.",
        {"scores": ZEROS},
        {"scores": WRONG},
        edit=_cells({"cell_type": "raw", "metadata": {"format": "text/html"}, "source": "<script>alert(1)</script>"}),
    ),
)
