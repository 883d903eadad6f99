"""XML that others read: elements with their text, without the characters that XML 1.0 cannot hold, as one document in UTF-8."""

from __future__ import annotations

import re
from xml.etree.ElementTree import Element, SubElement, register_namespace, tostring

ATOM = "http://www.w3.org/2005/Atom"
CAP = "urn:oasis:names:tc:emergency:cap:1.2"
GEORSS = "http://www.georss.org/georss"
# Only these control characters, and no half of a pair, can stand in XML 1.0 (Char, 2.2), not even escaped.
_NOT_IN_XML = re.compile("[^\t\n\r\u0020-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
for _prefix, _space in (("", ATOM), ("cap", CAP), ("georss", GEORSS)):
    register_namespace(_prefix, _space)


def sayable(text: str) -> str:
    """The text with a blank for each character that XML cannot hold."""
    return _NOT_IN_XML.sub(" ", text)


def element(name: str, text: str | None = None, space: str = "") -> Element:
    """An element of a namespace, or of none."""
    made = Element(f"{{{space}}}{name}" if space else name)
    made.text = None if text is None else sayable(text)
    return made


def child(parent: Element, name: str, text: str | None = None, **attributes: str) -> Element:
    """A new last child in the namespace of its parent; `lang` is xml:lang, and `type_` stands for type."""
    space = parent.tag.partition("}")[0] + "}" if parent.tag.startswith("{") else ""
    made = SubElement(parent, f"{space}{name}", {_ATTRIBUTES.get(key, key): sayable(value) for key, value in attributes.items()})
    made.text = None if text is None else sayable(text)
    return made


_ATTRIBUTES = {"lang": "{http://www.w3.org/XML/1998/namespace}lang", "type_": "type"}


def document(root: Element) -> bytes:
    """The whole document."""
    # Some readers of CAP know its elements without a prefix alone.
    space = CAP if root.tag.startswith(f"{{{CAP}}}") else None
    written: bytes = tostring(root, encoding="utf-8", xml_declaration=True, default_namespace=space)
    return written + b"\n"
