"""Who is who in a city, from its pack and from the packs over it."""

from __future__ import annotations

from deadlines import agencies_of, packs_over
from service.library import open_rulebook


def test_the_agencies_of_chino_are_those_its_pack_names_with_the_warning_centers_first() -> None:
    found = agencies_of(open_rulebook().law_of("chino"))
    assert [(agency.role, agency.id) for agency in found] == [
        ("cal-oes", "cal-oes"), ("national-response-center", "national-response-center"), ("npdes-authority", "rwqcb-santa-ana"),
        ("cupa", "san-bernardino-county-fire"), ("health-officer", "san-bernardino-county-health-officer"), ("lepc", "lepc-region-6"),
        ("epa-region", "epa-region-9"),
    ]  # fmt: skip
    numbers = {agency.role: agency.telephone for agency in found if agency.telephone}
    assert numbers == {"cal-oes": ("800-852-7550", "916-845-8911"), "national-response-center": ("800-424-8802",)}


def test_another_state_has_no_warning_center_of_california() -> None:
    found = {agency.role: agency.name for agency in agencies_of(open_rulebook().law_of("baltimore"))}
    assert set(found) == {"national-response-center", "npdes-authority", "epa-region"}
    assert found["npdes-authority"] == "Maryland Department of the Environment"


def test_every_city_names_agencies_with_words_for_their_roles() -> None:
    book = open_rulebook()
    for city in book.cities:
        found = agencies_of(book.law_of(city))
        assert {"national-response-center", "npdes-authority", "epa-region"} <= {agency.role for agency in found}, city
        assert all(agency.says[0].isupper() and agency.name for agency in found), city


def test_the_packs_over_a_city_begin_with_its_own() -> None:
    assert [pack.id for pack in packs_over(open_rulebook().law_of("chico"))] == [
        "chico", "california", "federal", "ms4-small", "sewer-order",
    ]  # fmt: skip
