"""Reports by mail: words, pictures and sender become a report, once; what machines sent is none and gets no answer; nothing breaks it."""

from __future__ import annotations

from email.message import EmailMessage
from pathlib import Path
from typing import Any

import httpx
import pytest
from sqlalchemy import func, select

from service import mailed_reports
from service.held_reports import SUSPICIOUS
from service.tables import KeptFile, MessageRow, Reply, Spill
from service.transaction import reading
from tests.houses import Household, a_household
from tests.pictures import photo

SECRET = "the secret of the mail hook"


def a_mail(text: str = "Brown water from a manhole.\nAddress: 13220 Central Ave, Chino\n", **headers: str) -> EmailMessage:
    mail = EmailMessage()
    given = {
        "From": "Ann Lee <ann@example.org>",
        "To": "spills@chino.gov",
        "Subject": "Sewage in the street",
        "Message-ID": "<1@example.org>",
    }
    for name, value in {**given, **{key.replace("_", "-"): value for key, value in headers.items()}}.items():
        if value:
            mail[name] = value
    mail.set_content(text)
    return mail


async def taken(home: Household, mail: EmailMessage | bytes) -> str:
    return await mailed_reports.take_report(home.house, mail if isinstance(mail, bytes) else mail.as_bytes())


async def many(home: Household, table: Any) -> int:
    async with reading(home.house) as tx:
        return await tx.session.scalar(select(func.count()).select_from(table)) or 0


async def test_a_mail_becomes_a_report_with_its_words_place_pictures_and_sender(home: Household) -> None:
    mail = a_mail()
    mail.add_attachment(photo(), maintype="image", subtype="jpeg", filename="curb.jpg")
    mail.add_attachment(b"%PDF-1.4", maintype="application", subtype="pdf", filename="letter.pdf")
    reference = await taken(home, mail)
    spill = await home.spill(reference)
    assert spill.description == "Sewage in the street\n\nBrown water from a manhole.\nAddress: 13220 Central Ave, Chino"
    assert (spill.city, spill.address) == ("chino", "13220 Central Ave, Chino")
    assert spill.reporter == {"email": "ann@example.org", "name": "Ann Lee", "privacy": "confidential"}
    async with reading(home.house) as tx:
        [file] = (await tx.session.execute(select(KeptFile))).scalars()
    assert (file.name, file.media_type, file.is_shown) == ("curb.jpg", "image/jpeg", True)
    assert [event.files for _, event in await home.history(reference) if event.kind == "file:left-out"] == [[("letter.pdf", "kind")]]
    assert not any("not understood" in flag for flag in spill.flags)


async def test_the_same_mail_again_is_the_same_report(home: Household) -> None:
    assert await taken(home, a_mail()) == "SP-2026-00001"
    assert await taken(home, a_mail()) == "repeated"
    assert await taken(home, a_mail(Message_ID="<2@example.org>")) == "SP-2026-00002"
    assert (await many(home, Spill)) == 2


async def test_a_mail_that_is_a_page_is_read_as_its_words(home: Household) -> None:
    mail = a_mail(Subject="")
    mail.set_content("<style>p{}</style><p>Oil &amp; water</p><p>Where: Elm St</p><script>alert(1)</script>", subtype="html")
    spill = await home.spill(await taken(home, mail))
    assert " ".join(spill.description.split()) == "Oil & water Where: Elm St"
    assert spill.address == "Elm St"


@pytest.mark.parametrize(
    "headers",
    [
        {"Auto_Submitted": "auto-replied"}, {"Precedence": "bulk"}, {"List_Id": "<x.example.org>"}, {"Return_Path": "<>"},
        {"X_Autoreply": "yes"}, {"From": "MAILER-DAEMON@example.org"},
    ],
)  # fmt: skip
async def test_what_a_machine_sent_is_no_report_and_is_kept_for_staff(home: Household, headers: dict[str, str]) -> None:
    await taken(home, a_mail("550 5.1.1 no such user", **headers))
    assert await many(home, Spill) == 0
    assert await many(home, MessageRow) == 0
    assert await many(home, Reply) <= 1


async def test_the_sender_gets_the_link_to_follow_it_once_and_what_answers_that_is_no_report(home: Household) -> None:
    reference = await taken(home, a_mail())
    await home.work()
    [line] = [line for line in home.outbox() if line["to"] == "ann@example.org"]
    assert "https://spills.example.gov/status/" in line["text"]
    for header in ("In_Reply_To", "References"):
        answer = a_mail("I am away until Monday.", Message_ID=f"<{header}@example.org>", **{header: f"<{line['key']}@chino.gov>"})
        assert await taken(home, answer) == "reply"
    assert (await many(home, Spill), await many(home, Reply)) == (1, 2)
    assert await taken(home, a_mail(Message_ID="<9@example.org>", In_Reply_To="<other@example.org>")) != reference


async def test_mail_from_our_own_address_is_no_report(tmp_path: Path) -> None:
    async with a_household(tmp_path, mail_from="Spills <ann@example.org>") as home:
        assert await taken(home, a_mail()) == "reply"


HOSTILE: dict[str, bytes] = {
    "nothing": b"", "noise": bytes(range(256)) * 40, "a header alone": b"Subject: x",
    "an unknown charset": b"From: a@b.example\nContent-Type: text/plain; charset=klingon\n\nqapla'",
    "a broken transfer": b"Content-Transfer-Encoding: base64\n\n@@@",
    "deep": b"Content-Type: multipart/mixed; boundary=a\n\n" + b"--a\nContent-Type: multipart/mixed; boundary=a\n\n" * 3000,
    "many parts": b"Content-Type: multipart/mixed; boundary=a\n\n" + b"--a\n\nx\n" * 5000 + b"--a--",
    "a broken address": b"From: <<<@@>>>,,\"\nSubject: =?x?q?=\n\nhello", "no text": b"Content-Type: image/png\n\nnot a picture",
    "NUL and more": b"From: a@b.example\nSubject: a\x00b\n\n\x00\x0b\xff words",
}  # fmt: skip


@pytest.mark.parametrize("what", HOSTILE)
async def test_a_mail_that_is_none_is_kept_as_far_as_it_can_be(home: Household, what: str) -> None:
    reference = await taken(home, HOSTILE[what])
    assert reference.startswith("SP-")
    assert await many(home, Spill) == 1


async def test_one_that_is_too_large_is_cut_and_says_so(home: Household, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(mailed_reports, "MAX_MAIL_BYTES", 1_000_000)
    mail = a_mail("x" * 2_000_000)
    spill = await home.spill(await taken(home, mail))
    assert len(spill.description) == mailed_reports.LONGEST_WORDS
    [event] = [event for _, event in await home.history(spill.reference) if event.kind == "file:left-out"]
    assert event.files == [("what came after 1 MB", "kind")]


async def test_a_flood_from_one_sender_is_kept_and_waits_for_a_person(home: Household) -> None:
    small = home.with_house(settings=home.house.settings.model_copy(update={"limit_factor": 0.5}))
    spills = [await small.spill(await taken(small, a_mail(Message_ID=f"<{number}@example.org>"))) for number in range(6)]
    assert spills[0].held_at is None
    assert spills[-1].held_at is not None
    assert any(flag.startswith(SUSPICIOUS) for flag in spills[-1].flags)


@pytest.fixture
async def with_secret(tmp_path: Path) -> Any:
    async with a_household(tmp_path, mail_hook_secret=SECRET) as home:
        yield home


async def test_the_hook_takes_a_mail_as_it_is_or_as_a_field_with_its_secret_alone(with_secret: Household) -> None:
    async def post(**given: Any) -> httpx.Response:
        async with with_secret.client() as http:
            return await http.post("/hooks/mail/report", **given)

    mail, key = a_mail().as_bytes(), {"authorization": f"Bearer {SECRET}"}
    assert (await post(content=mail, headers={"content-type": "message/rfc822"})).status_code == 403
    answer = await post(content=mail, headers={**key, "content-type": "message/rfc822"})
    assert (answer.status_code, answer.json()) == (202, {"taken": "SP-2026-00001"})
    again = await post(data={"email": a_mail(Message_ID="<2@example.org>").as_string(), "recipient": "spills@chino.gov"}, headers=key)
    assert again.json() == {"taken": "SP-2026-00002"}


async def test_a_maildir_is_emptied_into_reports_and_a_mail_that_fails_stays(home: Household, tmp_path: Path) -> None:
    folder = tmp_path / "mailbox"
    (folder / "new").mkdir(parents=True)
    (folder / "new" / "1.host").write_bytes(a_mail().as_bytes())
    (folder / "new" / "2.host").write_bytes(a_mail(Message_ID="<2@example.org>").as_bytes())
    assert await mailed_reports.take_from_maildir(home.house, folder) == 2
    assert await mailed_reports.take_from_maildir(home.house, folder) == 0
    assert sorted(path.name for path in (folder / "cur").iterdir()) == ["1.host:2,S", "2.host:2,S"]
    assert await many(home, Spill) == 2
