"""The bytes of an e-mail: headers, long and foreign texts, and what people put into them to do harm."""

import email
import email.policy
import email.utils
from datetime import UTC, datetime, timedelta, timezone
from email.header import decode_header, make_header

import pytest
from hypothesis import given
from hypothesis import strategies as st

from notifiers import EmailChannel, Encryption, Outcome, SmtpServer
from notifiers.email import _read_sender, _write_letter
from notifiers.message import many_lines, one_line
from tests.notifiers.messages import LONG_SPANISH_TEXT, a_message
from tests.notifiers.post_office import PostOffice, Taken

TO = "duty@example.gov"
EVIL_LINES = [
    "\r\nBcc: other@example.gov",
    "\nBcc: other@example.gov",
    "\rBcc: x@example.gov",
    "\0",
    "\x0bX: y",
    "\x85X: y",
    "\u2028X: y",
    "\r\n\r\n<b>body</b>",
]


async def letter(office: PostOffice, mail_from: str = "notices@example.gov", **changes: object) -> Taken:
    channel = EmailChannel(SmtpServer("127.0.0.1", office.port, Encryption.NEVER), mail_from)
    receipt = await channel.send(a_message(**({"to": TO} | changes)))  # type: ignore[arg-type]
    await channel.aclose()
    assert receipt.outcome is Outcome.ACCEPTED, receipt.detail
    return office.taken[-1]


async def test_a_letter_has_the_headers_that_machines_and_people_need(post_office: PostOffice) -> None:
    parsed = (await letter(post_office, "Spillclock <notices@example.gov>")).parsed
    assert dict(parsed.items()) == {
        "From": "Spillclock <notices@example.gov>",
        "To": TO,
        "Subject": "Two hours to call the board",
        "Date": "Tue, 01 Dec 2026 23:05:07 +0000",
        "Message-ID": "<delivery-17@example.gov>",
        "Auto-Submitted": "auto-generated",
        "X-Auto-Response-Suppress": "All",
        "X-Spillclock-Spill": "CH-2026-0042",
        "X-Spillclock-Duty": "chino/rwqcb-2-hours",
        "X-Spillclock-Step": "start+15m",
        "Content-Type": 'text/plain; charset="utf-8"',
        "Content-Transfer-Encoding": "quoted-printable",
        "MIME-Version": "1.0",
    }


async def test_the_client_calls_itself_by_the_senders_domain_without_asking_dns(post_office: PostOffice) -> None:
    assert (await letter(post_office)).client_name == "example.gov"


async def test_what_a_message_does_not_carry_has_no_header(post_office: PostOffice) -> None:
    parsed = (await letter(post_office, spill=None, duty=None, step=None)).parsed
    assert not [name for name in parsed if name.startswith("X-Spillclock")]


async def test_the_date_is_the_moment_of_the_promise_in_utc(post_office: PostOffice) -> None:
    pacific = datetime(2026, 12, 1, 15, 5, 7, tzinfo=timezone(timedelta(hours=-8)))
    parsed = (await letter(post_office, at=pacific)).parsed
    assert parsed["Date"].datetime == datetime(2026, 12, 1, 23, 5, 7, tzinfo=UTC)
    assert str(parsed["Date"]).endswith("+0000")


async def test_a_long_spanish_text_arrives_letter_by_letter_in_short_ascii_lines(post_office: PostOffice) -> None:
    taken = await letter(post_office, text=LONG_SPANISH_TEXT)
    assert taken.text == LONG_SPANISH_TEXT.removesuffix("\n")
    assert taken.content.isascii()
    assert max(map(len, taken.content.split(b"\r\n"))) <= 78
    assert b"\n" not in taken.content.replace(b"\r\n", b"")


@pytest.mark.parametrize(
    "text", ["", ".", "..\n.\n", "no end of line", "two ends\n\n", " spaces at the ends \n\t", "From here\n", "=3D =\n", "á" * 5000]
)
async def test_every_shape_of_text_arrives_as_it_was_given(post_office: PostOffice, text: str) -> None:
    assert (await letter(post_office, text=text)).text == text.removesuffix("\n")


@pytest.mark.parametrize(
    "subject",
    [
        "",
        "Aviso: derrame en la ciudad — notificación obligatoria, dos horas",
        "Aviso: derrame de aguas residuales en la ciudad — notificación obligatoria ñ á é í ó ú " * 4,
        "an ASCII subject that goes on and on " * 40,
        "x" * 2000,
        "=?utf-8?q?not_encoded?= is what it says",
        "two  spaces   and more",
        "Überlauf 🚱 " * 30,
    ],
)
async def test_every_subject_arrives_as_it_was_given_in_short_encoded_words(post_office: PostOffice, subject: str) -> None:
    taken = await letter(post_office, subject=subject)
    assert taken.parsed["Subject"] == one_line(subject)
    for line in taken.content.partition(b"\r\n\r\n")[0].split(b"\r\n"):
        # RFC 2047, 2
        assert len(line) <= (76 if b"=?" in line and b"not_encoded" not in line else 998)


@pytest.mark.parametrize("evil", EVIL_LINES)
@pytest.mark.parametrize("field", ["subject", "spill", "duty", "step", "key"])
async def test_a_line_end_or_nul_in_a_field_adds_no_header(post_office: PostOffice, field: str, evil: str) -> None:
    honest = (await letter(post_office)).parsed
    parsed = (await letter(post_office, **{field: f"before{evil}"})).parsed
    assert list(parsed.keys()) == list(honest.keys())
    assert post_office.taken[-1].recipients == [TO]
    assert parsed["To"] == TO
    assert "<b>" not in str(parsed.get_content())
    assert b"\0" not in post_office.taken[-1].content


@pytest.mark.parametrize(
    "evil", [*EVIL_LINES, ", other@example.gov", "; other@example.gov", "> SIZE=1", " NOTIFY=NEVER", "@other.example.gov"]
)
async def test_an_address_with_more_than_an_address_in_it_is_refused_unsent(post_office: PostOffice, evil: str) -> None:
    channel = EmailChannel(SmtpServer("127.0.0.1", post_office.port, Encryption.NEVER), "notices@example.gov")
    for address in (TO + evil, evil + TO, f"duty{evil}@example.gov"):
        receipt = await channel.send(a_message(address))
        assert receipt.outcome is Outcome.REFUSED, address
    assert post_office.sessions == 0


async def test_a_domain_in_other_letters_travels_in_its_ascii_form(post_office: PostOffice) -> None:
    taken = await letter(post_office, "Peñón <avisos@peñón.example.gov>", to="guardia@Peñón.example.gov")
    assert taken.recipients == ["guardia@xn--pen-8mak.example.gov"] == [str(taken.parsed["To"])]
    assert taken.mail_from == "avisos@xn--pen-8mak.example.gov"
    assert taken.parsed["From"] == "Peñón <avisos@xn--pen-8mak.example.gov>"
    assert taken.parsed["Message-ID"] == "<delivery-17@xn--pen-8mak.example.gov>"


@pytest.mark.parametrize(
    ("mail_from", "name"),
    [
        ("notices@example.gov", ""),
        ("<notices@example.gov>", ""),
        ('"City of Chino, Public Works" <notices@example.gov>', "City of Chino, Public Works"),
        ("City of Chino, Public Works <notices@example.gov>", "City of Chino, Public Works"),
        ("=?utf-8?q?x?= <notices@example.gov>", "=?utf-8?q?x?="),
        ("Ciudad de Peñón — Obras Públicas " * 5 + "<notices@example.gov>", ("Ciudad de Peñón — Obras Públicas " * 5).strip()),
    ],
)
async def test_the_senders_name_arrives_as_it_was_given(post_office: PostOffice, mail_from: str, name: str) -> None:
    taken = await letter(post_office, mail_from)
    # Read by the older parser: the newer one of Python 3.11 puts spaces between adjoining encoded words.
    header = email.message_from_bytes(taken.content)["From"]
    found, address = email.utils.parseaddr(header.replace("\r\n", ""))
    assert (str(make_header(decode_header(found))), address) == (name, "notices@example.gov")


@given(st.text(max_size=300), st.text(max_size=300), st.text(min_size=1, max_size=120))
def test_any_text_at_all_makes_an_ascii_letter_that_reads_back_the_same(subject: str, text: str, key: str) -> None:
    content = _write_letter(a_message(TO, subject=subject, text=text, key=key, spill=subject), _read_sender("a@example.gov")).content
    parsed = email.message_from_bytes(content, policy=email.policy.default)
    assert content.isascii()
    assert len(parsed.keys()) == 13
    assert parsed["Subject"] == one_line(subject)
    assert parsed["X-Spillclock-Spill"] == one_line(subject)
    assert parsed.get_content().replace("\r\n", "\n").removesuffix("\n") == many_lines(text).removesuffix("\n")


# -- text and HTML


HTML = '<!doctype html>\n<html lang="es">\n<body><p style="color:#17202a">Vence: mañana = ' + "x" * 200 + " 🚱 .\n.\n</p></body></html>\n"


def unix(text: str) -> str:
    return text.replace("\r\n", "\n")


async def test_a_page_goes_beside_the_text_with_the_same_headers(post_office: PostOffice) -> None:
    plain = (await letter(post_office)).parsed
    taken = await letter(post_office, html=HTML)
    parsed = taken.parsed
    about_the_body = {"Content-Type", "Content-Transfer-Encoding", "MIME-Version"}
    assert {name: value for name, value in parsed.items() if name not in about_the_body} == {
        name: value for name, value in plain.items() if name not in about_the_body
    }
    assert parsed.get_content_type() == "multipart/alternative"
    text, page = parsed.iter_parts()
    assert (text.get_content_type(), page.get_content_type()) == ("text/plain", "text/html")
    assert unix(text.get_content()) == unix(plain.get_content())
    assert unix(page.get_content()) == HTML
    assert taken.content.isascii()
    assert max(map(len, taken.content.split(b"\r\n"))) <= 78


def test_every_attempt_hands_over_the_same_bytes() -> None:
    sender = _read_sender("notices@example.gov")
    assert _write_letter(a_message(TO, html=HTML), sender).content == _write_letter(a_message(TO, html=HTML), sender).content


@given(st.text(), st.text(min_size=1))
def test_no_text_and_no_page_can_end_their_part(text: str, html: str) -> None:
    content = _write_letter(a_message(TO, text=text, html=html), _read_sender("notices@example.gov")).content
    parsed = email.message_from_bytes(content, policy=email.policy.default)
    parts = [unix(part.get_content()) for part in parsed.iter_parts()]
    assert [part.removesuffix("\n") for part in parts] == [many_lines(one).removesuffix("\n") for one in (text, html)]
