"""Who sees what, as docs/privacy.md: the table of service/disclosure.py, field by field and audience by audience, for people to read.

python -m tests.service.privacy_table       (make privacy)
"""

from __future__ import annotations

from pathlib import Path

from service.disclosure import AS_ON_RECORD, AUDIENCES, FIELDS, Field

DOCUMENT = Path(__file__).parents[2] / "docs" / "privacy.md"
_HEAD = """# Who sees what

Made by `make privacy` from the table in [`service/disclosure.py`](../service/disclosure.py); a test holds the two equal.
What is public is worked out by it, value by value. Staff pages and the API ask it who may know the reporter. Private pages
and papers are held to it by `tests/service/test_privacy.py` and `test_privacy_staff.py`, which plant personal strings in
every field of a spill and look for them in all that each audience is shown.
How long a record is kept, and what can be asked of it, stands in [operate.md](operate.md#how-long-records-are-kept).

- **public**: anybody, by pages, feeds, open data. `rounded`: amounts in steps, the hour, the city block
  ([why](decisions/0010-what-the-public-sees.md)). Advisories stand word for word on pages of their own.
- **reporter**: of their own report, on their private page. **discharger**: of the spill they answer for, on theirs.
- **viewer**, **officer**, **manager**, **administrator**: staff by their role in the city. A viewer reads everything but
  who reported in confidence, which is taken out of texts. **Known gap:** some texts still name them, such as replies.
- **agency**: whoever is given a paper, a referral, or the evidence bundle without the reporter.

Somebody who agreed to be named is named to all of the staff and in papers. The log of the program holds none of this.

"""


def cell(field: Field, audience: str) -> str:
    """What an audience is shown of a field, in a word."""
    if audience not in field.seen_by:
        return ""
    return "yes" if field.seen_by[audience] is AS_ON_RECORD or not field.rounds else "rounded"


def document() -> str:
    """The whole page."""
    lines = [f"| what | {' | '.join(AUDIENCES)} |", f"| --- |{' --- |' * len(AUDIENCES)}"]
    for name, field in FIELDS.items():
        cells = " | ".join(cell(field, audience) for audience in AUDIENCES)
        lines.append(f"| `{name}`: {field.says} | {cells} |")
    return _HEAD + "\n".join(lines) + "\n"


if __name__ == "__main__":
    DOCUMENT.write_text(document(), encoding="utf-8")
