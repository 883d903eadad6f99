"""Atom feeds (RFC 4287), with points as GeoRSS Simple has them."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime
from xml.etree.ElementTree import Element, SubElement

from deadlines import as_z
from service.xml_writing import ATOM, GEORSS, child, element


@dataclass(frozen=True, slots=True)
class Entry:
    """One entry. `identity` stays the same for ever, `address` is what it leads to. `content`: a document of `link_type` in it."""

    identity: str
    title: str
    updated: datetime
    published: datetime
    address: str
    summary: str
    link_type: str = "text/html"
    category: str = ""
    point: tuple[float, float] | None = None
    content: Element | None = None


class Atom:
    """A feed in the making. `here` is its own address, and what it is known by; `page` shows the same to people."""

    media_type = "application/atom+xml"

    def __init__(self, here: str, title: str, page: str, updated: datetime, language: str) -> None:
        self.root = element("feed", space=ATOM)
        self.root.set("{http://www.w3.org/XML/1998/namespace}lang", language)
        child(self.root, "id", here)
        child(self.root, "title", title)
        child(self.root, "updated", _moment(updated))
        child(self.root, "link", rel="self", type_=self.media_type, href=here)
        child(self.root, "link", rel="alternate", type_="text/html", href=page)
        child(child(self.root, "author"), "name", "Spillclock")

    def add(self, entry: Entry) -> None:
        """Put an entry at the end."""
        made = child(self.root, "entry")
        child(made, "id", entry.identity)
        child(made, "title", entry.title)
        child(made, "updated", _moment(entry.updated))
        child(made, "published", _moment(entry.published))
        child(made, "link", rel="alternate", type_=entry.link_type, href=entry.address)
        if entry.category:
            child(made, "category", term=entry.category)
        child(made, "summary", entry.summary)
        if entry.point is not None:
            SubElement(made, f"{{{GEORSS}}}point").text = f"{entry.point[0]} {entry.point[1]}"
        if entry.content is not None:
            child(made, "content", type_=entry.link_type).append(entry.content)


def _moment(at: datetime) -> str:
    return str(as_z(at.astimezone(UTC)))
