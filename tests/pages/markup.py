"""A page as a browser without JavaScript reads it: its text, its forms with what they would send, and the rules that every page keeps."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from html.parser import HTMLParser
from itertools import pairwise

import httpx

_VOID = {"area", "base", "br", "col", "embed", "hr", "img", "input", "link", "meta", "source", "track", "wbr"}
_INLINE = {"a", "b", "em", "span", "strong", "time"}
Pairs = list[tuple[str, str]]


@dataclass
class Element:
    """One element: its name, attributes, and what is inside it."""

    name: str
    attributes: dict[str, str] = field(default_factory=dict)
    inside: list[Element | str] = field(default_factory=list)

    def all(self, *names: str) -> Iterator[Element]:
        """Every element of these names inside this one, in order; of any name without one."""
        for part in self.inside:
            if isinstance(part, Element):
                if not names or part.name in names:
                    yield part
                yield from part.all(*names)

    @property
    def text(self) -> str:
        """What it says, with single spaces."""
        return " ".join(self._raw().split())

    def _raw(self) -> str:
        parts = [part if isinstance(part, str) else part._raw() for part in self.inside if not self._is_code(part)]
        return "".join(parts) if self.name in _INLINE else f" {''.join(parts)} "

    def _is_code(self, part: Element | str) -> bool:
        return isinstance(part, Element) and part.name in ("script", "style", "head")

    def __getitem__(self, key: str) -> str:
        return self.attributes.get(key, "")


class _Builder(HTMLParser):
    def __init__(self) -> None:
        super().__init__(convert_charrefs=True)
        self.root = Element("document")
        self.open = [self.root]

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        element = Element(tag, {key: value or "" for key, value in attrs})
        self.open[-1].inside.append(element)
        if tag not in _VOID:
            self.open.append(element)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.open[-1].inside.append(Element(tag, {key: value or "" for key, value in attrs}))

    def handle_endtag(self, tag: str) -> None:
        assert self.open[-1].name == tag, f"</{tag}> closes <{self.open[-1].name}>"
        self.open.pop()

    def handle_data(self, data: str) -> None:
        self.open[-1].inside.append(data)


@dataclass
class Page:
    """An answer, read."""

    response: httpx.Response
    root: Element

    @property
    def text(self) -> str:
        """Everything it says."""
        return self.root.text

    @property
    def status(self) -> int:
        """The HTTP status."""
        return self.response.status_code

    def one(self, id_: str) -> Element:
        """The element of an id."""
        [found] = [element for element in self.root.all() if element["id"] == id_]
        return found

    def forms(self, action: str) -> list[Element]:
        """The forms that send to an address."""
        return [form for form in self.root.all("form") if form["action"] == action]

    def card(self, title: str) -> Element:
        """The card of the clock with this title."""
        [found] = [
            item for item in self.root.all("li") if "card" in item["class"].split() and any(title in head.text for head in item.all("h3"))
        ]
        return found


def read(response: httpx.Response) -> Page:
    """Read an answer. A page that is not closed as it was opened fails here."""
    builder = _Builder()
    builder.feed(response.text)
    builder.close()
    assert len(builder.open) == 1, f"<{builder.open[-1].name}> is never closed"
    return Page(response, builder.root)


def sent_by(form: Element, button: str | None = None, **filled: str | list[str]) -> Pairs:
    """What a form sends: every field as it stands, with those named in `filled` changed; a field it does not have is an error."""
    values: dict[str, list[str]] = {}
    for control in form.all("input", "select", "textarea"):
        name = control["name"]
        if name:
            values.setdefault(name, []).extend(_value(control))
    changes = {key.replace("__", "."): value for key, value in filled.items()}
    unknown = set(changes) - set(values)
    assert not unknown, f"the form has no field {unknown}, only {sorted(values)}"
    values |= {name: [value] if isinstance(value, str) else value for name, value in changes.items()}
    pairs = [(name, value) for name, given in values.items() for value in given]
    if button is not None:
        [pressed] = [part for part in form.all("button") if part.text == button or part["value"] == button]
        if pressed["name"]:
            pairs.append((pressed["name"], pressed["value"]))
    return pairs


def _value(control: Element) -> list[str]:
    match control.name, control["type"]:
        case "textarea", _:
            return ["".join(part for part in control.inside if isinstance(part, str)).removeprefix("\n")]
        case "select", _:
            options = list(control.all("option"))
            chosen = [option for option in options if "selected" in option.attributes] or options[:1]
            return [option["value"] for option in chosen]
        case _, "checkbox" | "radio":
            return [control["value"]] if "checked" in control.attributes else []
        case _:
            return [control["value"]]


def broken_rules(page: Page) -> list[str]:
    """What breaks the rules of every page: language, title, one h1, labels, unique ids, no heading left out, nothing inline."""
    elements = list(page.root.all())
    found = []
    ids = [element["id"] for element in elements if element["id"]]
    found += [f"two elements have the id {id_}" for id_ in set(ids) if ids.count(id_) > 1]
    labelled = {label["for"] for label in page.root.all("label")}
    for control in page.root.all("input", "select", "textarea", "progress"):
        if control["type"] != "hidden" and control["id"] not in labelled:
            found.append(f"{control.name} {control['name']!r} has no label")
    for element in elements:
        found += [f"<{element.name}> has {key}" for key in element.attributes if key == "style" or key.startswith("on")]
        pointed = [id_ for key in ("aria-labelledby", "aria-describedby") for id_ in element[key].split()]
        found += [f"<{element.name}> points to {id_}, which is not there" for id_ in pointed if id_ not in ids]
        if element.name in ("script", "style") and element.inside:
            found.append(f"inline <{element.name}>")
        if element.name in ("script", "link", "img") and "//" in element["src"] + element["href"]:
            found.append(f"<{element.name}> loads from elsewhere")
        if element.name in ("button", "a", "summary", "h1", "h2", "h3") and not (element.text or any(p["alt"] for p in element.all("img"))):
            found.append(f"an empty <{element.name}>")
    levels = [int(element.name[1]) for element in page.root.all("h1", "h2", "h3", "h4")]
    found += [f"a heading of level {after} follows one of level {before}" for before, after in pairwise(levels) if after > before + 1]
    if levels.count(1) != 1:
        found.append(f"{levels.count(1)} headings of level 1")
    [html] = page.root.all("html")
    if html["lang"] not in ("en", "es") or not next(page.root.all("title")).text:
        found.append("no language or no title")
    return found


def body(pairs: Pairs) -> Mapping[str, list[str]]:
    """Pairs in the shape that httpx sends as a form."""
    values: dict[str, list[str]] = {}
    for name, value in pairs:
        values.setdefault(name, []).append(value)
    return values
