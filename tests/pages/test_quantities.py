"""Substances on the console: rows in the amendment form, a check that saves nothing, the page of quantities, and open questions."""

from __future__ import annotations

from typing import Any

import pytest

from tests.pages.conftest import Site, Visitor
from tests.pages.markup import Page, sent_by
from tests.spills import a_report

PAGE = "/staff/quantities"
BLEACH = "bleach 12.5% NaOCl (industrial)"


def row(number: int, name: str, amount: str = "", unit: str = "gal", percent: str = "", density: str = "") -> dict[str, str]:
    """The fields of one row."""
    given = {"name": name, "amount": amount, "unit": unit, "percent": percent, "density": density}
    return {f"substance-{number}-{key}": value for key, value in given.items()}


async def amend_form(site: Site, visitor: Visitor, reference: str) -> tuple[str, Page]:
    address = f"/staff/spills/{reference}/amend"
    return address, await visitor.get(address)


async def saved(site: Site, reference: str) -> Any:
    return (await site.home.spill(reference)).facts.get("substances")


async def test_substances_are_entered_in_rows_and_recorded_as_they_are_read(site: Site) -> None:
    reference = await site.home.report(a_report(material="hazardous_material"))
    visitor = await site.staff()
    address, page = await amend_form(site, visitor, reference)
    filled = {**row(0, "bleach 12.5%", "80"), **row(1, "sulphuric acid", "1,000", "lb", "90"), **row(2, "sulfric acid", "5", "lb")}
    page = await visitor.send(page, address, reason="label read", **filled)
    assert "The facts are amended" in page.text
    assert await saved(site, reference) == [
        {"name": BLEACH, "quantity": 80, "unit": "gal"},
        {"name": "sulphuric acid", "cas": "7664-93-9", "quantity": 1000, "unit": "lb", "fraction": 0.9},
        {"name": "sulfric acid", "quantity": 5, "unit": "lb"},
    ]  # fmt: skip
    assert f"{BLEACH}, 80 gal; sulphuric acid (7664-93-9), 1,000 lb, 90% by weight; sulfric acid, 5 lb" in page.text


async def test_a_check_shows_the_arithmetic_and_saves_nothing(site: Site) -> None:
    reference = await site.home.report(a_report(material="hazardous_material"))
    visitor = await site.staff()
    address, page = await amend_form(site, visitor, reference)
    page = await visitor.send(page, address, button="check", **row(0, "bleach 12.5%", "80"), low="77")
    assert page.status == 200
    answer = page.one("answer").text
    for words in ("A reportable quantity is reached", "80 gal x 10 lb/gal x 0.125 by weight = 100 lb", "12.5 trade percent", "9.6 lb/gal"):
        assert words in answer
    form = page.forms(address)[0]
    sent = dict(sent_by(form))
    assert (sent["substance-0-name"], sent["substance-0-amount"], sent["low"]) == ("bleach 12.5%", "80", "77")
    assert await saved(site, reference) is None
    page = await visitor.send(page, address, reason="label read")
    assert (await saved(site, reference))[0]["quantity"] == 80
    assert (await site.home.spill(reference)).facts["volume"]["quantity"] == 77


async def test_what_others_changed_meanwhile_stays_where_the_rows_were_not_touched(site: Site) -> None:
    reference = await site.home.report(a_report())
    visitor = await site.staff()
    address, page = await amend_form(site, visitor, reference)
    await site.home.amend(reference, substances=[{"cas": "7782-50-5", "quantity": 12, "unit": "lb"}])
    await visitor.send(page, address, reason="measured", low="900")
    assert await saved(site, reference) == [{"cas": "7782-50-5", "quantity": 12, "unit": "lb"}]


async def test_rows_show_what_is_recorded_and_are_changed_added_and_taken_away(site: Site) -> None:
    stored = [
        {"name": "sulphuric acid", "cas": "7664-93-9", "quantity": 100, "unit": "gal", "fraction": 0.5, "density_lb_per_gal": 11.6},
        {"name": "moonshine"}, {"cas": "7782-50-5", "quantity": 12.5, "unit": "lb"},
    ]  # fmt: skip
    reference = await site.home.report(a_report(substances=stored))
    visitor = await site.staff()
    address, page = await amend_form(site, visitor, reference)
    sent = dict(sent_by(page.forms(address)[0]))
    assert [sent[f"substance-0-{key}"] for key in ("name", "amount", "unit", "percent", "density")] == [
        "sulphuric acid (7664-93-9)", "100", "gal", "50", "11.6",
    ]  # fmt: skip
    assert (sent["substance-2-name"], sent["substance-2-amount"]) == ("7782-50-5", "12.5")
    await visitor.send(page, address, reason="nothing new")
    assert await saved(site, reference) == stored
    await visitor.send(page, address, reason="no moonshine", **row(1, ""), **row(3, "perc", "2"))
    assert await saved(site, reference) == [
        stored[0],
        stored[2],
        {"name": "perchloroethylene (dry cleaning)", "quantity": 2, "unit": "gal"},
    ]
    address, page = await amend_form(site, visitor, reference)
    await visitor.send(page, address, reason="none", **{f"substance-{number}-name": "" for number in range(3)},
                       **{f"substance-{number}-{key}": "" for number in range(3) for key in ("amount", "percent", "density")})  # fmt: skip
    assert await saved(site, reference) is None


@pytest.mark.parametrize(
    ("given", "fault"),
    [
        (row(0, "", "80"), "Substance 1, name"), (row(0, "bleach", "many"), "Substance 1, amount"),
        (row(1, "bleach", "-1"), "Substance 2, amount"),
        (row(0, "bleach", "80", percent="125"), "Substance 1, percent"), (row(0, "bleach", "80", density="0"), "Substance 1, density"),
        (row(0, "bleach 12.5%", "60-90"), "Substance 1, amount"),
    ],
)  # fmt: skip
async def test_a_row_with_a_fault_is_named_and_nothing_is_saved(site: Site, given: dict[str, str], fault: str) -> None:
    reference = await site.home.report(a_report())
    visitor = await site.staff()
    address, page = await amend_form(site, visitor, reference)
    page = await visitor.send(page, address, reason="label read", **given)
    assert page.status == 422
    assert fault in page.text
    assert dict(sent_by(page.forms(address)[0])).items() >= given.items()
    assert await saved(site, reference) is None


async def test_an_open_question_names_what_may_be_meant(site: Site) -> None:
    reference = await site.home.report(
        a_report(material="hazardous_material", substances=[{"name": "sulfric acid", "quantity": 5, "unit": "lb"}])
    )
    page = await (await site.staff()).get(f"/staff/spills/{reference}")
    assert "Did you mean Sulfuric acid (7664-93-9)?" in page.text
    assert "substances[0]" not in page.text


async def test_the_page_of_a_spill_shows_how_its_quantity_was_worked_out(site: Site) -> None:
    reference = await site.home.report(
        a_report(material="hazardous_material", substances=[{"name": BLEACH, "quantity": 80, "unit": "gal"}])
    )
    page = await (await site.staff("viewer")).get(f"/staff/spills/{reference}")
    assert "80 gal x 10 lb/gal x 0.125 by weight = 100 lb of Sodium hypochlorite" in page.text


# -- the page of quantities


async def test_the_page_of_quantities_is_for_staff_and_leads_back_after_signing_in(site: Site) -> None:
    page = await site.visitor().get(PAGE)
    assert page.response.url.path == "/staff/sign-in"
    assert page.response.url.params["next"] == PAGE
    page = await (await site.staff("viewer")).get(PAGE)
    assert page.status == 200
    assert any(link["href"] == PAGE for link in page.root.all("a"))


async def test_a_name_is_looked_up_on_the_page(site: Site) -> None:
    visitor = await site.staff("viewer")
    page = await visitor.get(f"{PAGE}?q=sulphuric+acid")
    assert "Sulfuric acid (7664-93-9)" in page.text
    assert "1,000 lb" in page.text
    assert "in another spelling" in page.text
    assert "check digit" in (await visitor.get(f"{PAGE}?q=7664-93-8")).text
    assert "not in the table" in (await visitor.get(f"{PAGE}?q=zzzzqqqq")).text


async def test_amounts_are_worked_out_on_the_page(site: Site) -> None:
    visitor = await site.staff("viewer")
    page = await visitor.send(await visitor.get(PAGE), PAGE, **row(0, "bleach 12.5%", "60-90"), **row(1, "chlorine", "3", "lb"))
    answer = page.one("answer").text
    for words in ("A reportable quantity is reached", "upper end", "reached from 80 gal on", "Chlorine: 3 lb is under"):
        assert words in answer, words
    page = await visitor.send(page, PAGE, **row(0, "bleach", "90"), **row(1, ""))
    assert "It cannot be said" in page.one("answer").text
    assert "which one is open" in page.one("answer").text


async def test_a_name_that_may_be_meant_is_a_link_that_keeps_the_amount(site: Site) -> None:
    visitor = await site.staff("viewer")
    page = await visitor.send(await visitor.get(PAGE), PAGE, **row(0, "sulfric acid", "1200", "lb"))
    [link] = [link for link in page.one("answer").all("a") if "Sulfuric acid" in link.text]
    page = await visitor.get(link["href"])
    assert "A reportable quantity is reached" in page.one("answer").text


async def test_a_mixture_of_unknown_shares_is_worked_out_on_the_page(site: Site) -> None:
    visitor = await site.staff("viewer")
    whole = {"whole-amount": "100", "whole-unit": "lb"}
    page = await visitor.send(await visitor.get(PAGE), PAGE, **row(0, "nitric acid", percent="10"), **row(1, "copper sulphate"), **whole)
    assert "the lowest reportable quantity in it" in page.one("answer").text
    page = await visitor.send(page, PAGE, **row(1, "copper sulphate", "5"), **whole)
    assert "Substance 2, amount" in page.text


async def test_what_is_wrong_on_the_page_is_named(site: Site) -> None:
    visitor = await site.staff("viewer")
    page = await visitor.send(await visitor.get(PAGE), PAGE, **row(0, "bleach", "many"))
    assert page.status == 422
    assert "Substance 1, amount" in page.text


async def test_a_small_form_with_a_fault_takes_no_substance_or_place_away(site: Site) -> None:
    stored = [{"cas": "7782-50-5", "quantity": 12, "unit": "lb"}]
    reference = await site.home.report(a_report(reached=["street"], substances=stored))
    visitor = await site.staff()
    address = f"/staff/spills/{reference}/amend"
    page = await visitor.post(address, {"was.hazardous": "", "hazardous": "no", "reason": " "})
    assert page.status == 422
    await visitor.send(page, address, reason="it is water")
    facts = (await site.home.spill(reference)).facts
    assert (facts["hazardous"], facts["substances"], facts["reached"]) == (False, stored, ["street"])
