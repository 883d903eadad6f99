"""The style sheet is committed as it was built, so that nobody needs node: what can be held to its sources without node is held here."""

from __future__ import annotations

import hashlib
import json
import re
from pathlib import Path

ROOT = Path(__file__).parents[2]
STATIC = ROOT / "service" / "static"
STYLES = ROOT / "styles"
SHEET = (STATIC / "spillclock.css").read_text(encoding="utf-8")
_NAME = re.compile(r"\busa-[a-z0-9_-]+")
# Names that the design system has rules for only where another name joins them, so that by themselves they colour nothing.
BARE = {"usa-summary-box__body"}


def sources() -> list[Path]:
    """What build.mjs reads, in its order."""
    own = ("build.mjs", "colours.mjs", "package-lock.json", "package.json", "spillclock.scss")
    return [*(STYLES / name for name in own), *sorted((STATIC / "css").rglob("*.css"))]


def test_the_sheet_was_built_from_the_sources_that_lie_here() -> None:
    digest = hashlib.sha256()
    for path in sources():
        digest.update(f"{path.relative_to(ROOT).as_posix()}\n".encode())
        digest.update(path.read_bytes() + b"\n")
    assert f"sources: {digest.hexdigest()} " in SHEET.partition("\n")[0], "run `make styles` and commit service/static/spillclock.css"


def test_every_name_of_the_design_system_that_a_page_writes_has_its_rule() -> None:
    pages = [*(ROOT / "service" / "templates").rglob("*.html"), *(path for path in STATIC.rglob("*.js") if "vendor" not in path.parts)]
    written = {name: path.name for path in pages for name in _NAME.findall(path.read_text(encoding="utf-8"))}
    known = set(_NAME.findall(SHEET)) | BARE
    begun = {name: name.endswith("-") and any(one.startswith(name) for one in known) for name in written}  # usa-alert--{{ kind }}
    missing = {name: page for name, page in written.items() if name not in known and not begun[name]}
    assert missing == {}, "run `make styles`, or correct the name"


def test_the_sheet_loads_only_files_that_lie_beside_it() -> None:
    loaded = {address.strip("\"'") for address in re.findall(r"url\(([^)]*)\)", SHEET)} - {""}
    assert {address for address in loaded if not (STATIC / address).is_file()} == set()
    assert "@import" not in SHEET
    fonts = sorted(path.name for path in (STATIC / "fonts").glob("*.woff2"))
    assert [f"fonts/{name}" for name in fonts] == sorted(address for address in loaded if address.startswith("fonts/"))
    assert len(fonts) <= 3
    assert SHEET.count("font-display:swap") == len(fonts)


def test_the_licences_lie_beside_what_they_cover() -> None:
    assert "SIL Open Font License, Version 1.1" in (STATIC / "fonts" / "OFL.txt").read_text(encoding="utf-8")
    assert "public domain" in (STATIC / "USWDS-LICENSE.md").read_text(encoding="utf-8")


def test_the_packages_are_pinned_with_checksums_and_without_addresses() -> None:
    packages = json.loads((STYLES / "package-lock.json").read_text(encoding="utf-8"))["packages"]
    asked = json.loads((STYLES / "package.json").read_text(encoding="utf-8"))["devDependencies"]
    assert all(re.fullmatch(r"\d+\.\d+\.\d+", version) for version in asked.values())
    for name, entry in packages.items():
        assert not name or entry["integrity"].startswith("sha512-"), name
        assert "resolved" not in entry, name
