"""A message as a clean HTML page for e-mail: the same words as its text, the due time large, one button, light and dark."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from service.speech import Speech
from service.wording.template import Piece, Values

# Inline, for clients that drop style sheets; the classes are for the dark colours of those that do not.
_FONT = "font-family:-apple-system,'Segoe UI',Roboto,Helvetica,Arial,sans-serif"
# A letter is put together a hundred times for one report, so its parts are plain texts: what goes into them was escaped before.
_ESCAPES = str.maketrans({"&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&#34;", "'": "&#39;"})
_HEAD = (
    '<!doctype html>\n<html lang="{language}">\n<head>\n<meta charset="utf-8">\n'
    '<meta name="viewport" content="width=device-width, initial-scale=1">\n<meta name="color-scheme" content="light dark">\n'
    '<meta name="supported-color-schemes" content="light dark">\n<title>{title}</title>\n<style>\n'
    ":root {{ color-scheme: light dark; supported-color-schemes: light dark; }}\n"
    "@media (prefers-color-scheme: dark) {{\n"
    "  .page {{ background: #14181c !important; }}\n"
    "  .card {{ background: #1f262c !important; color: #f1f4f6 !important; }}\n"
    "  .due {{ color: #ffffff !important; }}\n"
    "  .box {{ border-color: #ffb74d !important; background: #2b333b !important; }}\n"
    "  .quiet, .quiet a {{ color: #b4bfc8 !important; }}\n"
    "  .go {{ background: #8ec5ff !important; color: #0b1a28 !important; }}\n"
    "}}\n</style>\n</head>\n"
    '<body class="page" style="margin:0;padding:0;background:#eef1f4">\n'
    '<div class="page" style="background:#eef1f4;padding:16px 8px">\n'
    '<div class="card" style="max-width:600px;box-sizing:border-box;margin:0 auto;padding:24px 20px;border-radius:8px;'
    'background:#ffffff;color:#17202a;{font};font-size:16px;line-height:1.5;overflow-wrap:break-word;word-break:break-word">\n'
).replace("{font}", _FONT)
_FOOT = "</div>\n</div>\n</body>\n</html>\n"
_P = '<p style="margin:0 0 6px">{}</p>\n'
_QUIET = '<p class="quiet" style="margin:0 0 6px;font-size:14px;color:#55606b">{}</p>\n'
_LABEL = '<span class="quiet" style="color:#55606b">{}</span>'
_DUE = (
    '<div class="box" style="margin:0 0 12px;padding:10px 14px;border-left:5px solid #b45309;background:#f6f8fa">'
    '{}<div class="due" style="font-size:28px;line-height:1.25;font-weight:700;color:#17202a">{}</div>{}</div>\n'
)
_BUTTON = (
    '<p style="margin:14px 0 6px"><a class="go" href="{link}" style="display:inline-block;padding:12px 20px;border-radius:6px;'
    'background:#0b4f8a;color:#ffffff;font-weight:600;text-decoration:none">{label}</a></p>\n'
)
_ITEM = '<li style="margin:0 0 10px">{}</li>\n'


def page(title: str, lines: Sequence[Sequence[Piece]], values: Values, speech: Speech) -> str:
    """The page of a filled template. Everything that anybody wrote is escaped; nothing is loaded from anywhere."""
    html = _HEAD.format(language=speech.language, title=_escaped(title))
    linked = False
    large_due = True
    for number, paragraph in enumerate(_paragraphs(lines)):
        body = ""
        for at, line in enumerate(paragraph):
            names = [piece.name for piece in line]
            if "link" in names:
                body += _go(line, values, speech)
                linked = True
            elif number == 0 and at == 0 and "due" not in names:
                body += f'<h1 style="margin:0 0 16px;font-size:21px;line-height:1.3">{_said(line, values, speech)}</h1>\n'
            elif "due" in names and large_due:
                large_due = False
                body += _due(line, values, speech)
            else:
                body += _plain(line, values, speech, quiet=linked)
        html += f'<div style="margin:0 0 16px">\n{body}</div>\n'
    return html + _FOOT


def _escaped(text: str) -> str:
    return text.translate(_ESCAPES)


def _paragraphs(lines: Sequence[Sequence[Piece]]) -> Iterator[list[Sequence[Piece]]]:
    paragraph: list[Sequence[Piece]] = []
    for line in lines:
        if line:
            paragraph.append(line)
        elif paragraph:
            yield paragraph
            paragraph = []
    if paragraph:
        yield paragraph


def _said(line: Sequence[Piece], values: Values, speech: Speech) -> str:
    return "".join(_piece(piece, values, speech) for piece in line)


def _piece(piece: Piece, values: Values, speech: Speech) -> str:
    said = _escaped(piece.text).replace("\n", "<br>\n")
    if piece.name in values.english and speech.language != "en" and piece.text:
        return f'<span lang="en">{said}</span>'
    return said


def _plain(line: Sequence[Piece], values: Values, speech: Speech, *, quiet: bool) -> str:
    """A line; its label, where it begins with one, in grey; a list where its value is one."""
    shape = _QUIET if quiet else _P
    if len(line) == 1 and line[0].name and line[0].text.startswith("- "):
        items = line[0].text.removeprefix("- ").split("\n- ")
        listed = "".join(_ITEM.format(_piece(Piece(item, line[0].name), values, speech)) for item in items)
        return f'<ul style="margin:0;padding:0 0 0 20px">\n{listed}</ul>\n'
    if len(line) > 1 and not line[0].name and line[0].text.endswith(": "):
        return shape.format(_LABEL.format(_escaped(line[0].text)) + _said(line[1:], values, speech))
    return shape.format(_said(line, values, speech))


def _due(line: Sequence[Piece], values: Values, speech: Speech) -> str:
    at = [piece.name for piece in line].index("due")
    before, after = _said(line[:at], values, speech), _said(line[at + 1 :], values, speech)
    return _DUE.format(_LABEL.format(before) if before else "", _piece(line[at], values, speech), after)


def _go(line: Sequence[Piece], values: Values, speech: Speech) -> str:
    """The link as a button named by what stands before it, and the address to read; the text after it follows."""
    at = [piece.name for piece in line].index("link")
    link = line[at].text
    label = "".join(piece.text for piece in line[:at]).strip().removesuffix(":")
    after = _said(line[at + 1 :], values, speech)
    button = _BUTTON.format(link=_escaped(link), label=_escaped(label or link))
    return button + (_QUIET.format(_escaped(link)) if label else "") + (_P.format(after) if after.strip() else "")
