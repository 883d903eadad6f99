"""The page of the numbers: each chart also reads as a table, and each table is a file for a spreadsheet."""

from __future__ import annotations

import csv
import io

from tests.pages.conftest import Site
from tests.spills import a_report

DECEMBER = "?from=2026-12-01&to=2026-12-31"


async def test_every_number_stands_in_a_table_and_in_a_file(site: Site) -> None:
    reference = await site.home.report(a_report())
    await site.home.report(a_report(material="paint", volume=None))
    site.home.clock.jump(minutes=5)
    await site.home.happened(reference, "notice_given", recipient="cal-oes", method="telephone")
    site.home.clock.jump(hours=3)
    await site.home.work()
    clerk = await site.staff("viewer")
    page = await clerk.get(f"/staff/numbers{DECEMBER}")
    assert "2 spills received." in page.text
    heads = [head.text for head in page.root.all("h2")]
    assert heads[:5] == ["Duties done on time", "By city", "By month", "Time to the first notice", "Open now"]
    for link in [link["href"] for link in page.root.all("a") if ".csv" in link["href"]]:
        file = await clerk.http.get(link)
        assert file.status_code == 200, link
        assert "attachment" in file.headers["content-disposition"]
        rows = list(csv.reader(io.StringIO(file.content.decode("utf-8-sig"))))
        assert len({len(row) for row in rows}) == 1, link
        name = rows[1][0]
        assert name in page.text
    first = list(csv.reader(io.StringIO((await clerk.http.get(f"/staff/numbers/cities.csv{DECEMBER}")).content.decode("utf-8-sig"))))
    assert first[1][:2] == ["City of Chino, California", "2"]


async def test_days_that_cannot_be_read_are_said_on_the_page(site: Site) -> None:
    clerk = await site.staff("viewer")
    page = await clerk.get("/staff/numbers?from=yesterday")
    assert page.status == 422
    assert "from: 'yesterday' is no day; right would be: 2026-12-01" in page.text
    assert (await clerk.http.get("/staff/numbers/wishes.csv")).status_code == 404
    assert (await clerk.http.get("/staff/numbers?city=ontario")).status_code == 422


async def test_a_city_without_a_spill_has_a_page_that_says_so(site: Site) -> None:
    page = await (await site.staff("viewer")).get("/staff/numbers")
    assert "0 spills received. No duty was due." in page.text
