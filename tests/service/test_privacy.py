"""What a confidential reporter, a firm and staff say in confidence is shown to nobody who may not read it, in whatever disguise.

A spill is lived from its report to its end with a personal string in every field. Then all that anybody else can read is collected: public
pages as far as links lead, open data, the API and its document, messages to each audience, private pages and papers, the log.
"""

from __future__ import annotations

import base64
import html
import logging
import re
from collections.abc import Callable
from pathlib import Path
from urllib.parse import quote

import httpx
import pytest
from sqlalchemy import insert, select
from sqlalchemy.exc import IntegrityError
from sqlmodel import col

from notifiers import Message, Outcome, Receipt
from service import public_record
from service.logbook import line_format
from service.tables import MessageRow, Spill
from service.transaction import reading, transaction
from tests.houses import Household, a_household
from tests.service.channels import Post
from tests.service.lived import PLANTED, TEXT, Lived, live
from tests.service.planted import DISCHARGER, LOG, PUBLIC, REPORTER, STAFF, Output, Planted, leaks
from tests.service.printed import printed
from tests.spills import a_report

_ADDRESS = re.compile(r"""(?:href|src|action|data-[a-z-]+)="(/[^"#]*)""")
_OPENLY = (
    "/", "/map", "/report", "/alerts", "/advisories", "/what-if", "/openapi.json", "/docs", "/readyz", "/healthz", "/metrics", "/staff",
)  # fmt: skip
_NOT_FOLLOWED = ("/static/vendor/", "/law/")  # the same for every spill, and many
_MOST_PAGES = 150


async def crawled(http: httpx.AsyncClient, audience: str, starts: tuple[str, ...], follows: Callable[[str], bool]) -> list[Output]:
    """Every page that links lead to, in both languages, papers as their text; also what answers with an error."""
    waiting, found, seen = list(starts), [], set(starts)
    while waiting:
        path = waiting.pop(0)
        for language in ("en", "es"):
            answer = await http.get(path, headers={"accept": "text/html", "accept-language": language})
            says = printed(answer.content).text if answer.headers.get("content-type") == "application/pdf" else answer.text
            found.append(Output(audience, f"{path} in {language}", f"{says}\n{dict(answer.headers)}"))
            # Papers are led to by redirects of forms; pages by their addresses.
            for link in map(html.unescape, _ADDRESS.findall(answer.text)):
                if link not in seen and "lang=" not in link and follows(link):
                    seen.add(link)
                    waiting.append(link)
    assert len(found) < 2 * _MOST_PAGES, sorted(seen)
    return found


async def openly(home: Household, lived: Lived) -> list[Output]:
    """What anybody can read who has no link and no account, also by guessing addresses."""
    name = lived.reference
    guessed = (
        f"/status/{name}", f"/respond/{name}", f"/staff/spills/{name}", f"/api/v1/spills/{name}", f"/api/v1/spills/{name}/clocks",
        f"/api/v1/spills/{name}/reports", "/api/v1/spills", "/api/v1/subscriptions", "/api/v1/replies", "/feeds/cap",
        "/open311/v2/requests.json", "/api/v1/cities", "/api/v1/cities/chino", "/report/nearby?lat=34.0123&lon=-117.6888",
        "/api/v1/public/spills", "/api/v1/public/spills?lang=es", f"/api/v1/public/spills?after={name}", "/map/cities.geojson",
    )  # fmt: skip
    async with home.client() as http:
        return await crawled(http, PUBLIC, _OPENLY + guessed, lambda link: not link.startswith(_NOT_FOLLOWED))


async def privately(home: Household, lived: Lived) -> list[Output]:
    """The pages and papers behind the two private links, each for whoever holds it."""
    found = []
    async with home.client() as http:
        for audience, purpose, token in ((REPORTER, "status", lived.status), (DISCHARGER, "respond", lived.respond)):
            starts = (f"/{purpose}/{token}",) + ((f"/status/{token}/record.pdf",) if purpose == "status" else ())
            found += await crawled(http, audience, starts, lambda link, token=token: token in link)  # type: ignore[misc]
    return found


async def sent(home: Household) -> list[Output]:
    """Every message, for the audience that it was written to."""
    audiences = {"public": PUBLIC, "discharger": DISCHARGER, "reporter": REPORTER}
    async with reading(home.house) as tx:
        rows = (await tx.session.execute(select(MessageRow).order_by(col(MessageRow.id)))).scalars().all()
    return [
        Output(audiences.get(row.role, STAFF), f"{row.channel} {row.step} to {row.role}", f"{row.subject}\n{row.text}\n{row.html}")
        for row in rows
    ]


def logged(records: list[logging.LogRecord]) -> list[Output]:
    """Every line of the log, in both forms."""
    return [Output(LOG, f"{form} line of {one.name}", line_format(form).format(one)) for form in ("text", "json") for one in records]


class Repeating(Post):
    """A channel that fails once for each address and repeats in its error whom it was to send to, as mail servers do."""

    async def send(self, message: Message) -> Receipt:
        """Fail at first, then take it."""
        if message.to not in {one.to for one in self.got}:
            self.got.append(message)
            raise OSError(f"550 <{message.to}>: mailbox of {message.to} unavailable")
        return await super().send(message)


def not_on_record(home: Household) -> list[str]:
    """What was planted and is nowhere in the database or the files: a search for it would prove nothing."""
    files = [*home.house.settings.home_dir.glob("spillclock.db*"), *home.house.settings.files_path.rglob("*")]
    kept = b"".join(file.read_bytes() for file in files if file.is_file())
    numbers = ("photo latitude", "photo longitude")  # kept as eight bytes each
    return [one.what for one in PLANTED if one.text.encode() not in kept and one.what not in numbers]


async def test_nobody_is_shown_what_they_may_not_read(home: Household, caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.INFO)
    caplog.set_level(logging.WARNING, "httpx")  # as the program has it
    lived = await live(home)
    assert len(PLANTED) >= 30
    assert not_on_record(home) == []
    outputs = [*await openly(home, lived), *await privately(home, lived), *await sent(home), *logged(caplog.records)]
    shown = {audience: sum(one.audience == audience for one in outputs) for audience in (PUBLIC, REPORTER, DISCHARGER, STAFF)}
    assert min(shown.values()) > 5, shown
    for start in ("/map in", "/advisories/1 in", "/api/v1/public/spills in"):
        assert any(lived.reference in one.says for one in outputs if one.where.startswith(start)), start
    assert leaks(PLANTED, outputs) == []


_DISGUISES: tuple[Callable[[str], str], ...] = (
    str, str.upper, lambda text: " ".join(text), lambda text: "-".join(text), lambda text: html.escape(text.replace("+", "&#43;")),
    lambda text: quote(quote(text, safe=""), safe=""), lambda text: base64.b64encode(f"<p>{text}</p>".encode()).decode(),
    lambda text: "".join(f"\\u{ord(letter):04x}" for letter in text), lambda text: f"<b>{text[:5]}</b><i>{text[5:]}</i>",
    lambda text: f"x{text[:4]}=\n{text[4:]}", lambda text: text.encode().hex(), lambda text: text[::-1],
)  # fmt: skip


async def test_a_leak_in_a_mutated_renderer_is_found(home: Household, monkeypatch: pytest.MonkeyPatch) -> None:
    await home.report(a_report(release="confirmed"))
    whole = public_record.in_words
    async with home.client() as http:
        for what in ("reporter's phone", "reporter's name", "description"):
            for number, disguise in enumerate(_DISGUISES):
                said = disguise(TEXT[what])
                monkeypatch.setattr(public_record, "in_words", lambda *given, said=said: {**whole(*given), "place": f"there, {said}, see"})
                outputs = [Output(PUBLIC, path, (await http.get(path)).text) for path in ("/map", "/api/v1/public/spills")]
                found = [line for line in leaks(PLANTED, outputs) if line.startswith(f"{what} ")]
                assert len(found) == 2, (what, number, said)
    monkeypatch.setattr(public_record, "in_words", whole)
    async with home.client() as http:
        assert leaks(PLANTED, [Output(PUBLIC, "/map", (await http.get("/map")).text)]) == []


def test_the_search_takes_nothing_for_what_it_is_not() -> None:
    one = Planted("phone", "+19095550143", frozenset({STAFF}))
    innocent = [Output(PUBLIC, "page", said) for said in ("(909) 555-0144", "19 09 55", "", "1909 and 5550", "0143")]
    assert leaks([one], [*innocent, Output(STAFF, "page", "+1 909 555 0143")]) == []
    assert len(leaks([one], [Output(PUBLIC, "page", "call (909) 555.0143 or 1-909-555-0143")])) == 1


# -- the log


async def test_errors_of_providers_reach_the_log_without_addresses(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.INFO)
    async with a_household(tmp_path, channels={name: Repeating(name, then=Outcome.ACCEPTED) for name in ("email", "sms")}) as home:
        await home.name_discharger(await home.report(a_report()), "Firm", TEXT["discharger's e-mail"], TEXT["discharger's phone"])
        contact = {"email": TEXT["reporter's e-mail"], "phone": TEXT["reporter's phone"], "privacy": "confidential"}
        await home.report(a_report(contact=contact), staff=False)
        await home.live(minutes=20)
    assert any("unavailable" in str(record.exc_info) for record in caplog.records)
    assert leaks(PLANTED, logged(caplog.records)) == []


async def test_errors_of_the_database_reach_the_log_without_what_was_stored(home: Household) -> None:
    await home.report(a_report())
    row = {
        "id": 1, "reference": "SP-2026-00001", "received_at": home.clock.at, "description": TEXT["description"], "address": "", "facts": {},
        "flags": [], "reporter": {"name": TEXT["reporter's name"]}, "discharger": {},
    }  # fmt: skip
    with pytest.raises(IntegrityError) as failed:
        async with transaction(home.house, "test") as tx:
            await tx.session.execute(insert(Spill), [row])
    assert leaks(PLANTED, [Output(LOG, "error", str(failed.value))]) == []


@pytest.mark.parametrize(
    ("line", "left"),
    [
        ("550 <ann.o'hara+x@mail.example.org>: gone", "550 <(an e-mail address)>: gone"),
        ("calling +19095550143 failed", "calling (a telephone number) failed"),
        ("calling (909) 555-0143, then 909.555.0143", "calling (a telephone number), then (a telephone number)"),
        ("GET /status/SP-2026-00001.1.oKTB-_x 500", "GET /status/(private) 500"),
        ("token sc_api_abc-DEF_123 refused", "token (a token) refused"),
        ("2026-12-01 22:05:00,123 message 0123456789abcdef of 1234567 in 12345 ms", None),
        ("SP-2026-00001: chino/rwqcb-2-hours, due 2026-12-02T00:05:00Z", None),
    ],
)
def test_a_log_line_keeps_all_but_what_leads_to_a_person(line: str, left: str | None) -> None:
    record = logging.LogRecord("service", logging.ERROR, "x.py", 1, "%s", (line,), None)
    assert line_format("text").format(record).endswith(left or line)
