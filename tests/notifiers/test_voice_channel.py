"""Calls against a local Twilio that is checked against Twilio's published description: what is said, how, and what is asked."""

from dataclasses import replace
from xml.etree import ElementTree

import httpx
import pytest
from starlette.responses import JSONResponse, PlainTextResponse, Response

from notifiers import Message, Outcome, TwilioAccount, VoiceChannel
from notifiers.channel import retry_after_of
from notifiers.voice import LONGEST_TWIML_CHARACTERS, call_twiml, goodbye_twiml, recorded_twiml
from tests.notifiers import fake_twilio
from tests.notifiers.fake_twilio import TOKEN, FakeTwilio, signature
from tests.notifiers.fault_proxy import FaultProxy
from tests.notifiers.messages import a_message

TO = "+19095550100"
BASE = "https://spills.example.gov"
TEXT = "SP-2026-00042 due Tue Dec 1, 4:05 PM PST: call Cal OES, 800-852-7550. https://spills.example.gov/s/42"


@pytest.fixture
def channel(twilio_account: TwilioAccount, http: httpx.AsyncClient) -> VoiceChannel:
    return VoiceChannel(replace(twilio_account, base_url=BASE), http, timeout_seconds=5)


def a_call(text: str = TEXT, language: str = "en") -> Message:
    return replace(a_message(TO, channel="voice", text=text), language=language)


def read(twiml: str) -> ElementTree.Element:
    return ElementTree.fromstring(twiml)  # noqa: S314 - ours


# -- what is asked of Twilio


async def test_a_call_is_made_from_the_number_and_comes_back_with_a_sid(channel: VoiceChannel, twilio: FakeTwilio) -> None:
    receipt = await channel.send(a_call())
    [call] = twilio.calls
    assert (receipt.outcome, receipt.provider_id, receipt.detail) == (Outcome.ACCEPTED, call.sid, "HTTP 201, queued")
    assert (call.form["To"], call.form["From"]) == (TO, "+19095550123")
    assert call.headers["idempotency-key"] == "delivery-17"


async def test_the_text_is_said_twice_for_the_ear_and_then_a_key_is_asked_for(channel: VoiceChannel, twilio: FakeTwilio) -> None:
    await channel.send(a_call())
    [call] = twilio.calls
    heard = (
        "S P, two zero two six, zero zero zero four two due Tuesday December 1, four oh five P M Pacific time: "
        "call Cal OES, eight zero zero, eight five two, seven five five zero."
    )
    assert call.said == [
        heard, f"I say it again. {heard}", "Press 1 to acknowledge. Press 2 to hear it again.", "Nothing was recorded. Goodbye.",
    ]  # fmt: skip
    [gather] = call.course.iter("Gather")
    assert gather.attrib["numDigits"] == "1"
    assert gather.attrib["action"] == f"{BASE}/hooks/twilio/voice/delivery-17"
    assert {say.attrib["language"] for say in call.course.iter("Say")} == {"en-US"}


async def test_spanish_is_said_in_spanish(channel: VoiceChannel, twilio: FakeTwilio) -> None:
    await channel.send(a_call("Llame antes de las 4:05 PM PST al 911.", "es"))
    [call] = twilio.calls
    assert call.said[0] == "Llame antes de las cuatro y cinco de la tarde hora del Pacífico al nueve uno uno."
    assert call.said[2] == "Oprima 1 para confirmar. Oprima 2 para escucharlo otra vez."
    assert {say.attrib["language"] for say in call.course.iter("Say")} == {"es-US"}


async def test_what_became_of_the_call_and_who_answered_is_asked_to_be_told(channel: VoiceChannel, twilio: FakeTwilio) -> None:
    await channel.send(a_call())
    form = twilio.calls[0].form
    assert form["StatusCallback"] == form["AsyncAmdStatusCallback"] == f"{BASE}/hooks/twilio/status/delivery-17"
    assert (form["MachineDetection"], form["AsyncAmd"]) == ("Enable", "true"), "a person does not wait for the machine detection"
    assert (form["Timeout"], form["TimeLimit"]) == ("30", "300")


async def test_no_key_is_asked_for_where_twilio_cannot_tell_it(
    twilio_account: TwilioAccount, twilio: FakeTwilio, http: httpx.AsyncClient
) -> None:
    await VoiceChannel(replace(twilio_account, base_url="http://127.0.0.1:8000"), http).send(a_call())
    [call] = twilio.calls
    assert not list(call.course.iter("Gather"))
    assert call.said[-1] == "Acknowledge it on the page of the spill."
    assert not {"StatusCallback", "MachineDetection", "AsyncAmd"} & set(call.form)


@pytest.mark.parametrize("sender", ["MG0123456789abcdef0123456789abcdef", "SPILLS", "55555", ""])
def test_a_sender_that_cannot_call_is_an_error_when_the_channel_is_made(
    twilio_account: TwilioAccount, http: httpx.AsyncClient, sender: str
) -> None:
    with pytest.raises(ValueError, match="Calls cannot come from"):
        VoiceChannel(replace(twilio_account, sender=sender), http)


@pytest.mark.parametrize(
    ("number", "country"),
    [("+525555350000", "MX"), ("+18765550100", "JM"), ("+16045550100", "CA"), ("+881612345678", "001"), ("+19005550100", "charges")],
)
async def test_a_number_abroad_or_one_that_charges_is_refused_before_anything_is_sent(
    twilio_account: TwilioAccount, twilio: FakeTwilio, http: httpx.AsyncClient, number: str, country: str
) -> None:
    home = VoiceChannel(replace(twilio_account, countries=frozenset({"US"})), http)
    receipt = await home.send(replace(a_call(), to=number))
    assert (receipt.outcome, twilio.calls) == (Outcome.REFUSED, [])
    assert country in receipt.detail
    anywhere = VoiceChannel(twilio_account, http)
    assert (anywhere.problem_with(number) is None) == (country != "charges")
    assert home.problem_with(TO) is None


# -- its course, as TwiML


@pytest.mark.parametrize("text", ["a < b & c > d \"quoted\" 'too'", "]]><Hangup/>", "\0\x07\ud800\ufffe bell", "ñ 🚱 ¿?"])
def test_any_text_makes_twiml_that_says_it(text: str) -> None:
    said = [say.text or "" for say in read(call_twiml(text, "en", f"{BASE}/x?a=1&b=2")).iter("Say")]
    assert len(said) == 4, "and nothing else"
    assert said[1] == f"I say it again. {said[0]}"
    assert next(read(call_twiml(text, "en", f"{BASE}/x?a=1&b=2")).iter("Gather")).attrib["action"] == f"{BASE}/x?a=1&b=2"


@pytest.mark.parametrize("text", ["word " * 3000, "x" * 9000, "<&> " * 2000, "ñ" * 5000])
def test_a_text_too_long_is_cut_so_that_the_keys_are_still_told(text: str) -> None:
    twiml = call_twiml(text, "en", f"{BASE}/hooks/twilio/voice/{'k' * 32}")
    assert LONGEST_TWIML_CHARACTERS * 0.8 < len(twiml) <= LONGEST_TWIML_CHARACTERS
    said = [say.text or "" for say in read(twiml).iter("Say")]
    assert said[2].startswith("Press 1")
    assert said[1] == f"I say it again. {said[0]}"


def test_the_answers_to_a_key_end_the_call_in_its_language() -> None:
    for language, code in (("en", "en-US"), ("es", "es-US"), ("xx", "en-US")):
        for answer in (recorded_twiml(language), goodbye_twiml(language)):
            say, hangup = read(answer)
            assert (say.attrib["language"], hangup.tag) == (code, "Hangup")
    assert "Thank you" in recorded_twiml("en")
    assert "Gracias" in recorded_twiml("es")


# -- answers


@pytest.mark.parametrize(
    ("answer", "outcome", "words"),
    [
        (fake_twilio.error(400, 21211, "Invalid 'To' Phone Number"), Outcome.REFUSED, "Twilio error 21211"),
        (fake_twilio.error(400, 21215, "Geo Permission"), Outcome.REFUSED, "Twilio error 21215"),
        (fake_twilio.error(429, 20429, "Too Many Requests"), Outcome.TRY_AGAIN, "Twilio error 20429"),
        (PlainTextResponse("bad gateway", 502), Outcome.TRY_AGAIN, "HTTP 502"),
        (fake_twilio.error(404, 20404, "not found"), Outcome.TRY_AGAIN, "operator"),
        (PlainTextResponse("<html>Log in to the guest network</html>", 200), Outcome.UNKNOWN, "no message sid"),
        (JSONResponse({"sid": "CA" + "0" * 32, "status": "canceled"}, 201), Outcome.REFUSED, "HTTP 201"),
    ],
)
async def test_the_answer_decides_the_outcome(
    channel: VoiceChannel, twilio: FakeTwilio, answer: Response, outcome: Outcome, words: str
) -> None:
    twilio.answer = answer
    receipt = await channel.send(a_call())
    assert receipt.outcome is outcome
    assert words in receipt.detail


async def test_how_long_to_wait_is_taken_from_the_answer(channel: VoiceChannel, twilio: FakeTwilio) -> None:
    for headers, seconds in (({"Retry-After": "77"}, 77.0), ({"Retry-After": "soon"}, None), ({}, None)):
        twilio.answer = PlainTextResponse("slow down", 429, headers=headers)
        assert (await channel.send(a_call())).retry_after_seconds == seconds


@pytest.mark.parametrize(
    ("asked", "answered_at", "seconds"),
    [
        ("0", "", 0.0),
        ("9" * 40, "", 999999999.0),
        ("-5", "", None),
        ("\u0661", "", None),
        ("Tue, 01 Dec 2026 23:07:07 GMT", "Tue, 01 Dec 2026 23:05:07 GMT", 120.0),
        ("Tue, 01 Dec 2026 23:05:07 GMT", "Tue, 01 Dec 2026 23:07:07 GMT", 0.0),
        ("Tue, 01 Dec 2026 23:07:07 GMT", "", None),
        ("Tue, 01 Dec 2026 23:07:07 -0000", "Tue, 01 Dec 2026 23:05:07 GMT", None),
    ],
)
def test_a_date_to_wait_for_is_measured_from_the_date_of_the_answer(asked: str, answered_at: str, seconds: float | None) -> None:
    assert retry_after_of({"retry-after": asked, "date": answered_at}) == seconds


async def test_an_answer_lost_on_the_wire_is_unknown_and_no_second_call_is_made(
    channel: VoiceChannel, twilio: FakeTwilio, twilio_wire: FaultProxy
) -> None:
    twilio_wire.cut_before_client = b"HTTP/1.1 201"
    assert (await channel.send(a_call())).outcome is Outcome.UNKNOWN
    assert (len(twilio.calls), twilio_wire.connections) == (1, 1)


# -- the account, asked for without calling anybody


async def test_an_active_account_has_no_problem(channel: VoiceChannel, twilio: FakeTwilio) -> None:
    assert await channel.problem_now() is None
    assert twilio.calls == []


@pytest.mark.parametrize("status", ["suspended", "closed"])
async def test_an_account_that_is_not_active_is_named(channel: VoiceChannel, twilio: FakeTwilio, status: str) -> None:
    twilio.account_status = status
    assert status in (await channel.problem_now() or "")


async def test_a_wrong_token_is_named_and_not_told_on(twilio_account: TwilioAccount, twilio: FakeTwilio, http: httpx.AsyncClient) -> None:
    problem = await VoiceChannel(replace(twilio_account, token="another-token"), http).problem_now()
    assert "the operator must correct the account sid, the token" in (problem or "")
    assert "another-token" not in (problem or "")


async def test_a_server_that_is_not_twilio_is_named(channel: VoiceChannel, twilio: FakeTwilio) -> None:
    twilio.answer = PlainTextResponse("<html>Log in to the guest network</html>")
    assert "may not be Twilio's" in (await channel.problem_now() or "")


# -- the fake, as other tests use it


async def test_the_signature_is_the_one_of_twilios_own_example() -> None:
    # https://www.twilio.com/docs/usage/security, "Explore the algorithm yourself"
    form = {"CallSid": "CA1234567890ABCDE", "Caller": "+14158675310", "Digits": "1234", "From": "+14158675310", "To": "+18005551212"}
    assert signature("https://example.com/myapp.php?foo=1&bar=2", form, "12345") == "L/OH5YylLD5NRKLltdqwSvS0BnU="


async def test_it_calls_back_with_a_signature_over_the_address_and_the_form(channel: VoiceChannel, twilio: FakeTwilio) -> None:
    got: list[httpx.Request] = []

    def take(request: httpx.Request) -> httpx.Response:
        got.append(request)
        return httpx.Response(204)

    await channel.send(a_call())
    [call] = twilio.calls
    async with httpx.AsyncClient(transport=httpx.MockTransport(take)) as client:
        await twilio.tell_status(client, call, "completed", AnsweredBy="human")
        await twilio.press(client, call, "1")
        await twilio.text_in(client, f"{BASE}/hooks/twilio/sms", TO, "ACK")
    assert [request.url.path for request in got] == [
        "/hooks/twilio/status/delivery-17", "/hooks/twilio/voice/delivery-17", "/hooks/twilio/sms",
    ]  # fmt: skip
    for request in got:
        form = dict(httpx.QueryParams(request.content.decode()))
        assert request.headers["X-Twilio-Signature"] == signature(str(request.url), form, TOKEN)
