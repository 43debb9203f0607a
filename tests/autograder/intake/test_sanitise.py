import base64
import html
import io
import json
import re
from typing import Any

import nbformat
import pytest
from bs4 import BeautifulSoup
from matplotlib.figure import Figure
from nbconvert import HTMLExporter

from autograder.intake import sanitise
from course_lib.show.figures import pictured
from course_lib.show.interactive import Interactive

HTML_PAYLOADS = [
    "<script>alert(1)</script>",
    "<SCRIPT SRC=https://evil.example/x.js></SCRIPT>",
    "<img src=x onerror=alert(1)>",
    '<img src="https://evil.example/pixel.png">',
    "<svg/onload=alert(1)>",
    "<svg><script>alert(1)</script></svg>",
    "<iframe src='javascript:alert(1)'></iframe>",
    "<iframe srcdoc='<script>alert(1)</script>'>",
    "<object data='data:text/html,x'></object>",
    "<embed src='//evil.example/x.swf'>",
    "<a href='javascript:alert(1)'>x</a>",
    "<a href=' &#106;avascript:alert(1)'>x</a>",
    "<a href='jav\tascript:alert(1)'>x</a>",
    "<a href='data:text/html,<script>alert(1)</script>'>x</a>",
    "<b onmouseover=alert(1)>x</b>",
    "<b style='position:fixed;inset:0'>x</b>",
    "<body onload=alert(1)>",
    "<form action=https://evil.example><input name=q><button>go</button></form>",
    "<meta http-equiv=refresh content='0;url=https://evil.example'>",
    "<link rel=stylesheet href=https://evil.example/x.css>",
    "<base href=https://evil.example/>",
    "<style>body{display:none}</style>",
    "<math><mtext><style><img src=x onerror=alert(1)></style></mtext></math>",
    "<details open ontoggle=alert(1)>",
    "<video><source onerror=alert(1)></video>",
    "</div></div></main><h1>Points: 100</h1><script>alert(1)</script>",
    "<!--<img src=--><img src=x onerror=alert(1)>",
    "<<script>alert(1)//<</script>",
    "<scr<script>ipt>alert(1)</script>",
    "<img\nsrc=x\nonerror=alert(1)>",
    "<x/onclick=alert(1)>x</x>",
    "<textarea><script>alert(1)</script>",
    "<noscript><p title='</noscript><img src=x onerror=alert(1)>'>",
    "<?php echo 1 ?><script>alert(1)</script>",
    "<![CDATA[<script>alert(1)</script>]]>",
]

MARKDOWN_PAYLOADS = [
    "[x](javascript:alert(1))",
    "[x](JaVaScRiPt:alert(1))",
    "[x](<javascript:alert(1)>)",
    "[x](&#106;avascript:alert(1))",
    "[x](&#x6A;avascript&colon;alert(1))",
    "[x](javascript&#58;alert(1))",
    "[x](javascript\\:alert(1))",
    "[x](java&Tab;script:alert(1))",
    "[x](<java\tscript:alert(1)>)",
    "[x](vbscript:msgbox(1))",
    "[x](data:text/html;base64,PHNjcmlwdD5hbGVydCgxKTwvc2NyaXB0Pg==)",
    "[x](data:image/svg+xml,<svg onload=alert(1)>)",
    "[x]\n\n[x]: javascript:alert(1)",
    "[x][y]\n\n[y]: <javascript:alert(1)> 'title'",
    "<javascript:alert(1)>",
    "![x](javascript:alert(1))",
    '![x"onerror="alert(1)](y)',
    '[x](y "onmouseover=alert(1) \\" onclick=alert(1)")',
    "```mermaid\n</pre><script>alert(1)</script>\n```",
    "```<script>alert(1)</script>\nx\n```",
    "`<script>`<script>alert(1)</script>",
    "```\n```\n<script>alert(1)</script>",
    "    <script>alert(1)</script>\n\n<script>alert(1)</script>",
    "$<script>alert(1)</script>$",
    "$$\n<script>alert(1)</script>\n$$",
    "$\\href{javascript:alert(1)}{x}$",
    "![d](http://evil.example/x.png)",
    "!![d](//evil.example/x.png)",
    "![d]\n\n[d]: http://evil.example/x.png",
    "![x](attachment:missing.png)\n\n[x]: http://evil.example/x.png",
    "![a\\](attachment:b.png)](http://evil.example/x.png)",
    "![a`](attachment:b.png)`](http://evil.example/x.png)",
    "![a![b](attachment:b.png)](http://evil.example/x.png)",
    "\\begin{x}<img src=x onerror=alert(1)>\\end{x}",
    "# <img src=x onerror=alert(1)> heading",
    "> <script>alert(1)</script>",
    "- item\n  <script>alert(1)</script>",
    "| a |\n|---|\n| <script>alert(1)</script> |",
    "<!-- katze: x written --><script>alert(1)</script>",
    "<!-- katze: x written -- ><script>alert(1)</script>-->",
    "<https://ok.example/<script>alert(1)</script>>",
    '<https://ok.example/"onclick=alert(1)>',
    "![x](attachment:missing.png)",
    "![x](attachment\\:missing.png)",
    '![x](attachment:a.png"onerror="alert(1))',
]

ACTIVE = {"script", "iframe", "object", "embed", "svg", "form", "input", "button", "meta", "link", "base", "style"}
ACTIVE |= {"video", "audio", "textarea", "math", "applet", "body", "html", "frame", "frameset", "noscript"}


def assert_harmless(page: str) -> None:
    """No element, attribute or address in a piece of a page that runs, loads or covers anything."""
    for element in BeautifulSoup(page, "html.parser").find_all(True):
        assert element.name not in ACTIVE, element
        for name, value in element.attrs.items():
            assert not name.lower().startswith("on"), element
            assert name.lower() not in ("style", "srcdoc", "formaction", "srcset"), element
            address = "".join(str(value).split()).lower()
            if name.lower() in ("href", "src", "action", "data"):
                assert not address.startswith(("javascript", "vbscript", "livescript")), element
                is_here = address.startswith(("data:image/png;base64,", "data:image/jpeg;base64,"))
                assert is_here or not (element.name == "img" or address.startswith("data:")), element


def exported(*cells: dict[str, Any], template: str = "basic") -> str:
    """The cells as nbconvert shows them."""
    notebook = {"cells": list(cells), "metadata": {}, "nbformat": 4, "nbformat_minor": 5}
    page, _ = HTMLExporter(template_name=template).from_notebook_node(nbformat.from_dict(notebook))
    return str(page)


def markdown_cell(source: str) -> dict[str, Any]:
    return {"cell_type": "markdown", "id": "m", "metadata": {}, "source": source}


def code_cell(outputs: list[dict[str, Any]]) -> dict[str, Any]:
    return {"cell_type": "code", "id": "c", "metadata": {}, "source": "1", "execution_count": 1, "outputs": outputs}


def cleaned_markdown(source: str) -> str:
    return sanitise.markdown(sanitise.without_missing_attachments(source, set()))


def shown(data: dict[str, Any], **more: object) -> dict[str, Any]:
    return {"output_type": "display_data", "data": data, "metadata": {}, **more}


def picture(kind: str = "png", width: float = 1) -> str:
    buffer = io.BytesIO()
    Figure(figsize=(width, 1)).savefig(buffer, format=kind)
    return base64.b64encode(buffer.getvalue()).decode()


# --- markdown


@pytest.mark.parametrize("template", ["basic", "classic", "lab"])
def test_markdown_of_a_student_does_nothing_in_nbconvert(template: str):
    payloads = [*HTML_PAYLOADS, *MARKDOWN_PAYLOADS, "\n\n".join(HTML_PAYLOADS + MARKDOWN_PAYLOADS)]
    page = exported(*(markdown_cell(cleaned_markdown(payload)) for payload in payloads), template=template)
    rendered = BeautifulSoup(page, "html.parser").select(".jp-MarkdownOutput, .text_cell_render")
    assert len(rendered) == len(payloads)
    for piece in rendered:
        assert_harmless(str(piece))


@pytest.mark.parametrize("payload", ["<script>alert(1)</script>", "<img src=x onerror=alert(1)>", "[x](javascript:a)"])
def test_the_test_itself_sees_what_is_not_sanitised(payload: str):
    with pytest.raises(AssertionError):
        assert_harmless(exported(markdown_cell(payload)))


@pytest.mark.parametrize(
    "source",
    [
        "Plain *prose* with a [link](https://example.org) and <https://example.org/a?b=c>.",
        "$a < b$ and $\\alpha_{ij} = \\frac{q_i^\\top k_j}{\\sqrt{d}}$, or $$x \\leq y$$",
        "`if a < b:` and\n\n```python\nfor i in range(3):\n    x = i << 2\n```",
        "x &lt; y &amp; z&nbsp;w, 5 > 3, a & b",
        "line one<br>line two, <b>bold</b>, x<sub>i</sub>",
        "<!-- katze: attention.why_scale written -->\nBecause the variance grows.",
        "| a | b |\n|---|---|\n| 1 | 2 |",
        "Data: text and data: numbers; JavaScript is another language.",
        "\\left( \\deg \\leq \\textstyle \\displaystyle \\bar x \\right)",
        "$$\\begin{matrix} 1 \\\\ 2\\end{matrix}$$",
    ],
)
def test_ordinary_markdown_is_not_changed(source: str):
    assert sanitise.markdown(source) == source


def test_code_and_formulas_stay_readable():
    assert sanitise.markdown("$a<b$ and `List<int>`") == "$a< b$ and `List< int>`"
    assert sanitise.markdown("<b>never closed") == "< b>never closed"


def test_attachments_are_checked_images():
    good = {"a.png": {"image/png": picture(), "text/html": "<script>"}}
    bad = {
        "b.png": {"image/png": "PHNjcmlwdD4="},
        'c"onerror="x': {"image/png": picture()},
        "d.svg": {"image/svg+xml": "<svg>"},
        "e": 3,
    }
    kept = sanitise.attachments(good | bad)
    assert kept == {"a.png": {"image/png": picture()}}
    cell = markdown_cell("![x](attachment:a.png)") | {"attachments": kept}
    assert "data:image/png;base64," in exported(cell)
    assert sanitise.attachments(None) == sanitise.attachments(["a"]) == {}


def test_beside_an_attached_image_none_from_elsewhere_is_loaded():
    attached = {"attachments": {"b.png": {"image/png": picture()}}}
    cleaned = (sanitise.without_missing_attachments(payload, {"b.png"}) for payload in MARKDOWN_PAYLOADS)
    assert_harmless(exported(*(markdown_cell(sanitise.markdown(source)) | attached for source in cleaned)))


COMMANDS = [
    "\\href{javascript:alert(1)}{x}",
    "\\def\\x#1{\\href{java#1}{y}}\\x{script:alert(1)}",
    "\\newcommand{\\x}[1]{y}",
    "\\renewcommand\\alpha{0}",
    "\\let\\x\\href",
    "\\require{html}",
    "\\style{position:fixed}{x}",
    "\\mmlToken{mi}[href='http://evil.example']{x}",
]


@pytest.mark.parametrize("command", COMMANDS)
def test_formulas_cannot_define_commands_or_make_links(command: str):
    active = re.compile(r"\\(?:href|def|newcommand|renewcommand|let|require|style|mmlToken)\b")
    assert active.search(command)
    for source in (f"${command}$", command.replace("\\", "&#92;"), command.replace("\\", "&bsol;"), "\\" + command):
        assert not active.search(html.unescape(sanitise.markdown(source)))
        assert not active.search(html.unescape(sanitise.html(f"<p>{source}</p>")))


def test_long_markdown_is_shown_as_it_was_written():
    source = "*a* ``` " + "x" * sanitise.MARKDOWN_CHARACTERS
    page = BeautifulSoup(exported(markdown_cell(cleaned_markdown(source))), "html.parser")
    assert "too long to be formatted" in page.get_text()
    assert page.pre is not None
    assert page.pre.get_text().strip() == source
    assert sanitise.markdown("*a*", longest=2).endswith("```text\n*a*\n```")
    endless = sanitise.markdown("x" * 10_000_000)
    assert len(endless) < sanitise.MARKDOWN_CHARACTERS_SHOWN + 1000
    assert "9800000 characters are left out" in endless


def test_runs_of_fence_characters_are_cut():
    assert sanitise.markdown("`" * 15_000 + "a" + "~" * 4000) == "`" * sanitise.FENCE + "a" + "~" * sanitise.FENCE
    for length in (3, 15, 16, 17, 1000):
        block = sanitise.markdown(sanitise.fenced("`" * length + "\n*a*"))
        page = BeautifulSoup(exported(markdown_cell(block)), "html.parser")
        assert page.em is None


# --- outputs


BOMBS = {
    "formatting": "<p>" + "".join(f"<b title={i}>" for i in range(2500)) + "</p>" + "<p>x" * 2500,
    "formatting, closed": "".join(f"<b title={i}>" for i in range(2000)) + "<p>x" * 1000 + "</b>" * 2000,
    "formatting in tables": "<font color=1><table><tr><td></font></table>" * 600,
    "a long link": f"<a href='{'x' * 40_000}'>" + "<p>x" * 4000,
    "attributes": "<b " + " ".join(f"a{i}" for i in range(10_000)) + ">" + "<p>x" * 2000,
    "tags": "<i></i>" * 3000,
    "characters": "x" * 200_000,
}


@pytest.mark.parametrize("name", BOMBS)
def test_html_that_would_grow_is_shown_as_text(name: str):
    shown = sanitise.html(BOMBS[name])
    assert shown.startswith("<pre>")
    assert len(shown) < 10_000
    assert shown.count("<") == 2
    assert "the rest of this HTML is not shown" in shown
    assert sanitise.html(shown) == shown


def test_tags_that_are_not_plain_are_text():
    fragment = "<b>a</b> <b title='<>'>c</b> < d <!-- e -->"
    assert sanitise.html(fragment) == "<b>a</b> &lt;b title='&lt;&gt;'&gt;c &lt; d "


def test_no_html_is_parsed_once_the_cell_is_full(monkeypatch: pytest.MonkeyPatch):
    parsed: list[str] = []
    monkeypatch.setattr(sanitise, "html", lambda fragment: parsed.append(fragment) or "")
    sanitise.outputs([shown({"text/html": "x" * 50_000}) for _ in range(100)])
    assert len(parsed) == 3 * sanitise.HTML_CHARACTERS / 50_000
    parsed.clear()
    sanitise.outputs([{"output_type": "stream", "text": "x" * sanitise.TEXT_BYTES}, shown({"text/html": "<b>x</b>"})])
    assert not parsed


def test_the_outputs_of_a_notebook_share_one_budget():
    whole = sanitise.WholeNotebook(100_000)
    cell = [{"output_type": "stream", "name": "stdout", "text": "x" * 40_000}]
    assert [sanitise.outputs(cell, whole) for _ in range(2)] == [cell, cell]
    [note] = sanitise.outputs(cell, whole)
    assert "the rest are left out" in note["text"]
    assert [sanitise.outputs(cell, whole) for _ in range(2)] == [[], []]


def test_outputs_of_a_student_do_nothing_in_nbconvert():
    cells = []
    for payload in HTML_PAYLOADS:
        outputs = [
            shown({"text/html": payload}),
            shown({"text/html": [payload, "<p>x</p>"]}),
            {"output_type": "stream", "name": payload, "text": payload},
            {"output_type": "error", "ename": payload, "evalue": payload, "traceback": [payload, f"\x1b[31m{payload}"]},
            shown({"text/plain": payload}, metadata={"text/plain": {"x": payload}}),
            shown({"text/markdown": payload, "text/latex": payload}),
            {**shown({payload: payload}), "execution_count": payload, "output_type": "execute_result"},
        ]
        cells.append(code_cell(sanitise.outputs(outputs)))
    assert_harmless(exported(*cells))


def test_a_widget_of_the_course_stays_and_a_stranger_s_script_in_it_does_not():
    own = Interactive("attention_stepper", ["cat"], "<p>a cat</p>", "a cat", "").html()
    evil = own.replace("<p>", "<p onclick='alert(1)'>").replace("mount(draw)", "alert(1)")
    (output,) = sanitise.outputs([shown({"text/html": evil, "text/plain": "a cat"})])
    assert output["data"] == {"text/html": own, "text/plain": "a cat"}
    assert sanitise.outputs([output]) == [output]
    (output,) = sanitise.outputs([shown({"text/html": evil.replace("attention_stepper", "cat")})])
    assert "<script" not in output["data"]["text/html"]


def test_a_figure_of_the_course_is_an_image_with_its_words():
    bundle = pictured(Figure(figsize=(1, 1)), 'a "cat" <b>')._repr_mimebundle_()
    (encoded,) = re.findall(r"base64,([^\"]+)", bundle["text/html"])
    (output,) = sanitise.outputs([shown(bundle)])
    assert output["data"] == {"image/png": encoded, "text/plain": 'a "cat" <b>'}
    still = Interactive("attention_stepper", 1, bundle["text/html"], "a cat", "").html()
    (output,) = sanitise.outputs([shown({"text/html": still})])
    (image,) = BeautifulSoup(output["data"]["text/html"], "html.parser").find_all("img")
    assert image["alt"] == 'a "cat" <b>'
    assert sanitise.outputs([output]) == [output]


@pytest.mark.parametrize("change", ['onerror="alert(1)" src=', 'src="https://evil.example/x.png" data-src='])
def test_a_figure_that_was_changed_is_no_figure(change: str):
    html = pictured(Figure(figsize=(1, 1)), "a cat").html().replace("src=", change)
    (output,) = sanitise.outputs([shown({"text/html": html})])
    assert "<img" not in str(output)


@pytest.mark.parametrize(
    "kind",
    [
        "application/javascript",
        "image/svg+xml",
        "application/vnd.jupyter.widget-view+json",
        "application/pdf",
        "text/latex",
        "application/x-unknown",
    ],
)
def test_other_kinds_are_left_out_with_a_note(kind: str):
    note = f"[an output of type {kind} is not shown]"
    assert sanitise.outputs([shown({kind: "alert(1)"})]) == [shown({"text/plain": note})]
    assert sanitise.outputs([shown({kind: "alert(1)", "text/plain": "a plot"})]) == [shown({"text/plain": "a plot"})]


@pytest.mark.parametrize("kind", ["png", "jpeg"])
def test_images_stay(kind: str):
    encoded = picture(kind)
    submitted = shown({f"image/{kind}": encoded + "\n", "text/plain": "<Figure>"}, metadata={"width": '"x'})
    assert sanitise.outputs([submitted]) == [shown({f"image/{kind}": encoded, "text/plain": "<Figure>"})]


def test_what_is_no_image_is_left_out():
    bomb = base64.b64decode(picture())
    bomb = bomb[:16] + (100_000).to_bytes(4, "big") * 2 + bomb[24:]
    for data in (
        '"><script>alert(1)</script>',
        base64.b64encode(b"<script>alert(1)</script>").decode(),
        base64.b64encode(b"\x89PNG\r\n\x1a\n").decode(),
        base64.b64encode(b"\xff\xd8\xff" + b"\x00" * 100).decode(),
        base64.b64encode(bomb).decode(),
        "A" * 20_000_000,
        7,
        [1, 2],
    ):
        for kind in ("image/png", "image/jpeg"):
            assert sanitise.outputs([shown({kind: data})])[0]["data"].keys() == {"text/plain"}


def test_a_large_data_frame_stays_a_table():
    link = '<td><a href="https://example.org/abc">0.12345</a></td>'
    row = f"<tr>\n      <th>1</th>\n      {link}\n" + "      <td>-0.123</td>\n" * 12 + "    </tr>"
    style = "<style scoped>\n    .dataframe tbody tr th {\n        vertical-align: top;\n    }\n</style>\n"
    table = f'{style}<table border="1" class="dataframe">\n<tbody>{row * 60}</tbody></table>'
    shown = BeautifulSoup(sanitise.html(f"<div>\n{table}\n<p>60 rows</p></div>"), "html.parser")
    assert len(shown.select("table.dataframe tr")) == 60
    assert len(shown.find_all("td")) == 60 * 13
    assert len(shown.find_all("a")) == 60


@pytest.mark.parametrize(
    "junk",
    [
        None,
        "text",
        7,
        {},
        [None, 7, "x", []],
        [{}],
        [{"output_type": "stream"}],
        [{"output_type": ["x"]}],
        [{"output_type": "display_data"}],
        [{"output_type": "error", "traceback": 3}],
        [{"output_type": "pyout", "data": 1}],
    ],
)
def test_anything_may_stand_under_outputs(junk: object):
    cells = [code_cell(sanitise.outputs(junk))]
    nbformat.validate(nbformat.from_dict({"cells": cells, "metadata": {}, "nbformat": 4, "nbformat_minor": 5}))


def test_long_text_is_cut_and_errors_still_shown():
    outputs = sanitise.outputs(
        [
            {"output_type": "stream", "name": "stdout", "text": "ä" * 3_000_000},
            {"output_type": "stream", "name": "stdout", "text": "more"},
            shown({"text/plain": "x" * 1000}),
            {"output_type": "error", "ename": "E", "evalue": "v", "traceback": ["why it stopped"]},
        ]
    )
    assert len(json.dumps(outputs, ensure_ascii=False).encode()) < sanitise.TEXT_BYTES + 1000
    assert "6 MB more left out" in outputs[0]["text"]
    assert outputs[-1]["traceback"] == ["why it stopped"]


def test_many_outputs_are_cut_and_streams_joined():
    lines = [{"output_type": "stream", "name": "stdout", "text": f"{i}\n"} for i in range(5000)]
    assert len(sanitise.outputs(lines)) == 1
    plots = [shown({"text/plain": str(i)}) for i in range(5000)]
    outputs = sanitise.outputs(plots)
    assert len(outputs) == sanitise.OUTPUTS + 1
    assert "only the first" in outputs[-1]["text"]


def test_control_characters_go_and_colours_stay():
    text = "a\x1b[31mred\x1b[0m\x07\x1b]0;title\x07\x00b\ud800\r\n"
    assert sanitise.clean_text(text) == "a\x1b[31mred\x1b[0m]0;titleb\n"


def test_sanitising_twice_changes_nothing():
    outputs = sanitise.outputs([shown({"text/html": payload, "text/plain": "x"}) for payload in HTML_PAYLOADS])
    assert sanitise.outputs(outputs) == outputs
    source = cleaned_markdown("\n\n".join(HTML_PAYLOADS + MARKDOWN_PAYLOADS))
    assert sanitise.markdown(source) == source
