"""Writing into the pages that other people open: script, style, formulas, and marks that steer a terminal."""

from typing import Any

from benchmarks.fuzz.mutations import HTML, MARKDOWN
from tests.dishonest.attempt import WRONG, ZEROS, Notebook, code_cell, edited, in_answer, in_call, in_cell

FORGED_VERDICT = (
    '<div class="katze-verdict katze-pass"><p class="katze-head"><strong>Right</strong>'
    '<span class="katze-score">17 of 17 points</span></p></div>'
)


def _cells(*cells: dict[str, Any]) -> Any:
    def edit(notebook: Notebook) -> None:
        notebook["cells"] += [{**cell, "id": f"page-{number}"} for number, cell in enumerate(cells)]

    return edit


def _markdown(*sources: str) -> Any:
    return _cells(*({"cell_type": "markdown", "metadata": {}, "source": source} for source in sources))


def _saved(*bundles: dict[str, Any]) -> Any:
    """An edit that adds a cell tagged `demo`, which is not run, with these outputs."""
    outputs = [{"output_type": "display_data", "data": bundle, "metadata": {}} for bundle in bundles]
    return _cells({**code_cell("1", "saved"), "outputs": outputs, "metadata": {"tags": ["demo"]}})


ATTEMPTS = (
    in_cell(
        "html_shown",
        "Displays HTML with scripts of every kind.",
        f"from IPython.display import HTML, display\nfor html in {HTML!r}:\n    display(HTML(html))",
    ),
    in_cell(
        "javascript_shown",
        "Displays JavaScript, for the notebook to run.",
        "from IPython.display import Javascript, display\ndisplay(Javascript('alert(1)'))",
    ),
    in_cell(
        "svg_shown",
        "Displays a drawing with a script in it.",
        """
            from IPython.display import SVG, display
            display(SVG('<svg xmlns="http://www.w3.org/2000/svg" onload="alert(1)"><script>1</script></svg>'))
        """,
    ),
    in_cell(
        "markdown_shown",
        "Displays markdown with links and formulas that run.",
        f"from IPython.display import Markdown, Math, display\nfor text in {MARKDOWN!r}:\n    display(Markdown(text))\n"
        "display(Math('\\\\href{javascript:1}{a}'))",
    ),
    in_cell(
        "frame_shown",
        "Displays a page from elsewhere.",
        "from IPython.display import IFrame, display\ndisplay(IFrame('https://example.org', 100, 100))",
    ),
    in_cell(
        "forged_verdict",
        "Displays a verdict of its own making, with full points.",
        f"from IPython.display import HTML, display\ndisplay(HTML({FORGED_VERDICT!r}))",
    ),
    in_cell(
        "strange_types",
        "Displays data under types that no notebook knows.",
        """
            from IPython.display import display
            script = '<script>1</script>'
            display({'text/html; charset=x': script, 'application/javascript': '1', 'a': 'b', '../x/y': 'z'}, raw=True)
        """,
    ),
    in_cell(
        "terminal",
        "Prints sequences that clear a terminal, and rename it.",
        "print('\\x1b]0;owned\\x07\\x1b[2J\\x1b[1;1H\\r17 of 17\\x08\\x00')",
    ),
    in_answer(
        "names_of_classes",
        "Returns an object whose class is called a script.",
        "Bad = type('<script>alert(1)</script>', (), {})\ndef dot_product_scores(q, k):\n    return Bad()",
        WRONG,
    ),
    in_call(
        "names_of_exceptions",
        "Raises an exception whose name and message are scripts.",
        "raise type('<img src=x onerror=alert(1)>', (Exception,), {})('<script>alert(1)</script>\\x1b[2J')",
    ),
    in_call(
        "keys_of_results",
        "Returns a dict whose keys are scripts and templates.",
        "return {'<script>1</script>': 1, '{{ 7*7 }}': 2, '[/]': 3}",
        WRONG,
    ),
    in_answer(
        "comments_of_code",
        "Closes the page's own tags in comments of its code.",
        f"# </code></pre><script>alert(1)</script>\n{ZEROS}  # --><svg onload=alert(1)>",
        WRONG,
    ),
    edited("markdown_cells", "Writes scripts into text.", _markdown(*HTML, *MARKDOWN)),
    edited(
        "saved_outputs",
        "Hands in outputs that no cell has made.",
        _saved(
            {"text/html": "<script>1</script>"},
            {"text/html": FORGED_VERDICT},
            {"image/svg+xml": "<svg onload=alert(1)>"},
            {"image/png": "<script>"},
            {"application/javascript": "alert(1)"},
            {"application/vnd.jupyter.widget-view+json": {"model_id": "x"}},
        ),
    ),
    edited(
        "attachments",
        "Attaches scripts to text as pictures.",
        _cells(
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
    edited(
        "raw_cells",
        "Hands in raw cells, which pages take over as they are.",
        _cells({"cell_type": "raw", "metadata": {"format": "text/html"}, "source": "<script>alert(1)</script>"}),
    ),
)
