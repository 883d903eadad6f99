"""The table of who gets what, as a file and as a document."""

from __future__ import annotations

import pytest

from tests.service import access_table


def test_the_document_is_made_from_the_table() -> None:
    made = access_table.document(access_table.parts(access_table.TABLE.read_text(encoding="utf-8")))
    assert access_table.DOCUMENT.read_text(encoding="utf-8") == made, "make access writes it anew"


@pytest.mark.parametrize("row", ["GET /x 200", "# A\nGET /x 200", "# A\nGET x 1 2 3 4 5 6 7 8 9 0", "# A\n= everybody none", "> words"])
def test_a_line_that_is_none_is_named_by_its_number(row: str) -> None:
    with pytest.raises(ValueError, match=r"line \d: right would be"):
        access_table.parts(row)
