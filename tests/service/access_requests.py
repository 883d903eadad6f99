"""What is sent to each route by the access matrix, where it is more than its address: valid, so that the answer tells who may.

Names in braces are filled in from tests/service/everybody.py, those of the path by the names they have there, or by other ones here.
"""

from __future__ import annotations

import base64
import zlib
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from tests.notifiers.fake_twilio import signature
from tests.pictures import photo
from tests.service.everybody import MAIL_SECRET, NUMBERS_SECRET, SITE, TEXT

Names = Mapping[str, str]
_MORE = {"reason": "measured"}
_WORDS = {"reason": "It was cleaned up."}
_PICTURE = photo()
_ROTA = {"role": "duty_officer", "name": "Night desk"}
_TEXT = {"subject": "Report {{reference}}", "text": TEXT.replace("{", "{{").replace("}", "}}")}
_PERSON = {"role": "duty_officer", "name": "Kim Vu", "email": "kim@chino.example"}
_SHIFT = {"starts_at": "2026-12-24T08:00:00-08:00", "ends_at": "2026-12-26T08:00:00-08:00", "reason": "swap"}
_REPORT = {"description": "A manhole overflows.", "location": {"lat": 34.01, "lon": -117.69}, "material": "sewage"}
_SPLIT = {"reason": "two", "description": "oil", "facts": {"material": "petroleum", "volume": {"quantity": 3, "unit": "gal"}}}
_REFERRAL = {"agency": "cal-oes", "contact": "Ann Lee", "how": "telephone", "sent": "photos", "because": "it is on their land"}
_SHEET = base64.b64encode(zlib.compress(b"Date,Address,Notes\n2017-01-01,Elm St,paint\n")).decode()
_WEBHOOK = {"city": "chino", "name": "Work orders", "address": "https://hooks.example.gov/spills"}
_PASSWORD = {"password": "quite another, as long", "again": "quite another, as long"}


@dataclass(frozen=True)
class Asked:
    """A request: a form or JSON, a picture in a field of a form, names for the path in place of its own, the query, and who `link` is."""

    form: Mapping[str, Any] = field(default_factory=dict)
    json: Any = None
    picture: str = ""
    path: Mapping[str, str] = field(default_factory=dict)
    query: str = ""
    proof: Callable[[Names, str], dict[str, Any]] | None = None

    def filled(self, names: Names, who: str, address: str) -> dict[str, Any]:
        """The arguments of the request."""
        given: dict[str, Any] = {}
        if self.json is not None:
            given["json"] = _filled(self.json, names)
        elif self.form:
            given["data"] = _filled(self.form, names)
        if self.picture:
            given["files"] = {self.picture: ("curb.jpg", _PICTURE, "image/jpeg")}
        if who == "link" and self.proof:
            given |= self.proof(names, address)
        return given


def _filled(value: Any, names: Names) -> Any:
    """A value with its names filled in; a text of nothing but `#name` becomes the number."""
    if isinstance(value, Mapping):
        return {key.format_map(names): _filled(one, names) for key, one in value.items()}
    if isinstance(value, list):
        return [_filled(one, names) for one in value]
    if isinstance(value, str):
        return int(names[value[1:]]) if value.startswith("#") else value.format_map(names)
    return value


def _twilio(**form: str) -> Asked:
    """What Twilio sends; the link is its signature."""

    def signed(names: Names, address: str) -> dict[str, Any]:
        return {"headers": {"x-twilio-signature": signature(f"{SITE}{address}", form)}}

    return Asked(form, path={"key": "message"}, proof=signed)


def _secret(secret: str, **given: Any) -> Callable[[Names, str], dict[str, Any]]:
    return lambda names, address: {"headers": {"authorization": f"Bearer {secret}"}, **given}


def _half(names: Names, address: str) -> dict[str, Any]:
    del address
    return {"cookies": {"spillclock_half": names["half"]}}


def _begun(names: Names, address: str) -> dict[str, Any]:
    del address
    return {"cookies": {"spillclock_passkey": names["begun"]}}


# fmt: off
_API: dict[str, Asked] = {
    "POST /api/v1/spills": Asked(json=_REPORT),
    "PATCH /api/v1/spills/{reference}/facts": Asked(json={"volume": {"quantity": 1600, "unit": "gal"}, **_MORE}),
    "PATCH /api/v1/spills/{reference}/location": Asked(json={"lat": 34.011, "lon": -117.691, **_MORE}),
    "GET /api/v1/spills/{reference}/papers/{paper_id}": Asked(path={"paper_id": "paper_id"}),
    "POST /api/v1/spills/{reference}/papers/{paper_id}/file": Asked(json={"as": "pdf"}, path={"paper_id": "paper_id"}),
    "POST /api/v1/spills/{reference}/evidence": Asked(json={}),
    "POST /api/v1/spills/{reference}/evidence [whole]": Asked(json={"identity": "whole"}),
    "PATCH /api/v1/spills/{reference}/particulars": Asked(json={"particulars": {"zip": "91710"}}),
    "PUT /api/v1/spills/{reference}/discharger": Asked(json={"name": "Diner 24", "email": "owner@diner.example"}),
    "POST /api/v1/spills/{reference}/events": Asked(
        json={"type": "notice_given", "recipient": "cal-oes", "method": "telephone", "at": "2026-12-01T22:06:00Z"}),
    "POST /api/v1/spills/{reference}/events [the city's act]": Asked(json={"type": "hearing_held", "at": "2026-12-01T22:06:00Z"}),
    "POST /api/v1/spills/{reference}/reports": Asked(json={"state": "draft", "clock": "#written", "content": {}, "by": "Dana Cruz"}),
    "POST /api/v1/spills/{reference}/reports/{clock}/attachments": Asked(picture="files"),
    "POST /api/v1/clocks/{clock_id}/acknowledge": Asked(json={}),
    "POST /api/v1/clocks/{clock_id}/waive": Asked(json=_MORE),
    "POST /api/v1/spills/{reference}/photos": Asked(picture="photos"),
    "POST /api/v1/spills/{reference}/close": Asked(json=_WORDS, path={"reference": "quiet"}),
    "POST /api/v1/spills/{reference}/close [with duties left open]": Asked(
        json={**_WORDS, "left_open": ["#open_duty"]}, path={"reference": "one_open"}),
    "POST /api/v1/spills/{reference}/reopen": Asked(json=_WORDS, path={"reference": "closed"}),
    "POST /api/v1/spills/{reference}/answers": Asked(json=_WORDS),
    "POST /api/v1/spills/{reference}/merge": Asked(json={"into": "{reference}", "reason": "the same manhole"}, path={"reference": "twin"}),
    "POST /api/v1/spills/{reference}/merge [into another city's]": Asked(json={"into": "{elsewhere}", "reason": "the same"}),
    "POST /api/v1/spills/{reference}/unmerge": Asked(json={"reason": "the next manhole"}, path={"reference": "merged"}),
    "POST /api/v1/spills/{reference}/split": Asked(json=_SPLIT),
    "POST /api/v1/spills/{reference}/referrals": Asked(json=_REFERRAL),
    "PUT /api/v1/spills/{reference}/cause": Asked(json={"cause": "roots"}),
    "PUT /api/v1/spills/{reference}/officer": Asked(json={"officer": "officer@chino.example"}),
    "GET /api/v1/substances": Asked(query="q=acid"),
    "POST /api/v1/reportable-quantity": Asked(json={"substances": [{"name": "sulfuric acid", "quantity": 5, "unit": "gal"}]}),
    "POST /api/v1/clocks": Asked(json={"jurisdiction": "chino", "material": "sewage", "known_at": "2026-12-01T14:05:00-08:00"}),
    "POST /api/v1/calendars/{city}/days": Asked(json={"date": "2026-12-18", "name": "Furlough", "source": "Resolution 15"}),
    "DELETE /api/v1/calendars/{city}/days/{date}": Asked(query="reason=taken+back"),
    "POST /api/v1/rotas": Asked(json={"city": "chino", **_ROTA, "members": ["#contact"]}),
    "DELETE /api/v1/rotas/{number}": Asked(path={"number": "rota"}),
    "POST /api/v1/rotas/{number}/shifts": Asked(json={"contact": "#contact", **_SHIFT}, path={"number": "rota"}),
    "DELETE /api/v1/rotas/{number}/shifts/{shift}": Asked(path={"number": "rota"}),
    "POST /api/v1/replies/{number}/settle": Asked(path={"number": "reply"}),
    "POST /api/v1/suppressions/{number}/lift": Asked(json=_MORE, path={"number": "suppression"}),
    "PUT /api/v1/cities/{city}/templates/{kind}/{channel}/{language}": Asked(json=_TEXT),
    "GET /api/v1/subscriptions/{number}": Asked(path={"number": "subscription"}),
    "POST /api/v1/subscriptions": Asked(json={}),
    "PATCH /api/v1/subscriptions/{number}": Asked(json={"paused": True}, path={"number": "subscription"}),
    "DELETE /api/v1/subscriptions/{number}": Asked(path={"number": "subscription"}),
    "GET /api/v1/subscriptions/{number} [of somebody else]": Asked(path={"number": "lees_subscription"}),
    "DELETE /api/v1/subscriptions/{number} [of somebody else]": Asked(path={"number": "lees_subscription"}),
}
_PUBLIC: dict[str, Asked] = {
    "POST /hooks/twilio/status/{key}": _twilio(MessageSid="SM1", MessageStatus="delivered"),
    "POST /hooks/twilio/sms": _twilio(From="+19095550102", To="+19095550123", Body="we are there", MessageSid="SM2"),
    "POST /hooks/twilio/voice/{key}": _twilio(Digits="1", CallSid="CA1"),
    "POST /hooks/mail/report": Asked(proof=_secret(MAIL_SECRET, content=b"From: a@example.org\r\nSubject: x\r\n\r\nx\r\n")),
    "POST /hooks/mail": Asked(proof=_secret(MAIL_SECRET, content=b"From: a@example.org\r\nSubject: x\r\n\r\nx\r\n")),
    "GET /metrics": Asked(proof=_secret(NUMBERS_SECRET)),
    "POST /report": Asked({"description": "Brown water in the street"}),
    "POST /status/{token}/more": Asked({"text": "It still runs."}),
    "GET /status/{token}/photos/{number}": Asked(path={"number": "photo"}),
    "POST /status/{token}/forget": Asked({"sure": "yes"}),
    "POST /staff/spills/{reference}/redact": Asked(
        {"words": "manhole", "reason": "as counsel asks", "do": "mask"}, path={"reference": "quiet"}),
    "POST /status/{token}/contact": Asked({"email": "alma@example.org", "phone": ""}),
    "POST /status/{token}/same": Asked({"same": "none"}),
    "GET /respond/{token} [taken back]": Asked(),
    "POST /respond/{token}/duties/{duty_id}": Asked({"at": "", "spoke_to": "the board"}, path={"duty_id": "call"}),
    "GET /respond/{token}/duties/{duty_id}/call": Asked(path={"duty_id": "call"}),
    "POST /respond/{token}/duties/{duty_id}/report": Asked({"do": "draft", "by": "Dana Cruz", "item.cause": "roots"}),
    "POST /respond/{token}/duties/{duty_id}/report/draft": Asked({"by": "Dana Cruz", "item.cause": "roots"}),
    "GET /respond/{token}/files/{number}": Asked(path={"number": "paper"}),
    "POST /act/{token}": Asked({"do": "seen"}),
    "POST /alerts": Asked({"cities": "chino", "address": "third@example.org", "channel": "email"}),
    "GET /advisories/{number}": Asked(path={"number": "advisory"}),
    "GET /feeds/cap/{number}.xml": Asked(path={"number": "advisory"}),
    "GET /report/nearby": Asked(query="lat=34.01&lon=-117.69"),
    "GET /static": Asked(query="/spillclock.css"),
    "GET /static/fonts": Asked(query="/OFL.txt"),
}
_STAFF: dict[str, Asked] = {
    "POST /staff/sign-in": Asked({"email": "{ann}", "password": "{good}"}),
    "POST /staff/sign-in [wrong password]": Asked({"email": "{ann}", "password": "wrong"}),
    "GET /staff/sign-in/code": Asked(proof=_half),
    "POST /staff/sign-in/code": Asked({"code": "{anns_code}"}, proof=_half),
    "POST /staff/sign-in/passkey": Asked({"answer": "{anns_answer}"}, proof=_begun),
    "POST /staff/recover": Asked({"email": "{ann}"}),
    "POST /staff/password/{token}": Asked(_PASSWORD),
    "POST /staff/views": Asked({"query": "state=overdue", "name": "Late"}),
    "POST /staff/views [shared in the city]": Asked({"query": "state=overdue", "name": "Late", "shared": "chino"}),
    "POST /staff/views/{number}/remove": Asked(path={"number": "view"}),
    "POST /staff/views/{number}/remove [of somebody else]": Asked(path={"number": "lees_view"}),
    "POST /staff/spills/{reference}/clocks/{clock_id}/done": Asked({"at": "", "spoke_to": "the board"}),
    "POST /staff/spills/{reference}/clocks/{clock_id}/waive": Asked(_MORE),
    "POST /staff/spills/{reference}/discharger": Asked({"name": "Diner 24"}),
    "POST /staff/spills/{reference}/amend": Asked({"low": "1600", "was.low": "1500", "unit": "gal", **_MORE}),
    "GET /staff/numbers/{table}.csv": Asked(path={"table": "duties"}),
    "GET /staff/spills/{reference}/event": Asked(query="type=cleanup_done"),
    "POST /staff/spills/{reference}/events": Asked({"type": "cleanup_done"}),
    "POST /staff/spills/{reference}/close": Asked(_WORDS, path={"reference": "quiet"}),
    "POST /staff/spills/{reference}/close [with duties left open]": Asked(
        {**_WORDS, "left_open": "{open_duty}"}, path={"reference": "one_open"}),
    "POST /staff/spills/{reference}/reopen": Asked(_WORDS, path={"reference": "closed"}),
    "POST /staff/spills/{reference}/answer": Asked(_WORDS),
    "POST /staff/spills/{reference}/amount": Asked({"amount": "1,600"}),
    "POST /staff/spills/{reference}/settle": Asked({"fact": "threat", "answer": "yes"}),
    "POST /staff/spills/{reference}/photos": Asked(picture="photos"),
    "GET /staff/spills/{reference}/merge": Asked(query="with={twin}"),
    "POST /staff/spills/{reference}/merge": Asked({"other": "{twin}", "reason": "the same manhole"}),
    "POST /staff/spills/{reference}/merge [with another city's]": Asked({"other": "{elsewhere}", "reason": "the same"}),
    "POST /staff/spills/{reference}/unmerge": Asked({"reason": "the next manhole"}, path={"reference": "merged"}),
    "POST /staff/spills/{reference}/split": Asked({"reason": "two", "description": "oil", "b.material": "petroleum"}),
    "POST /staff/spills/{reference}/refer": Asked(_REFERRAL),
    "POST /staff/spills/{reference}/cause": Asked({"structure": "manhole"}),
    "POST /staff/spills/{reference}/officer": Asked({"officer": "officer@chino.example"}),
    "POST /staff/spills/{reference}/location": Asked({"lat": "34.011", "lon": "-117.691", **_MORE}),
    "POST /staff/spills/{reference}/city": Asked({"city": "chino", **_MORE}),
    "GET /staff/spills/{reference} [without a city]": Asked(path={"reference": "unassigned"}),
    "POST /staff/calendars/{city}/days": Asked({"date": "2026-12-18", "name": "Furlough", "source": "Resolution 15"}),
    "POST /staff/calendars/{city}/days/{day}/remove": Asked({"reason": "taken back"}),
    "POST /staff/templates/{city}/{kind}/{channel}/{language}": Asked({**_TEXT, "act": "save"}),
    "POST /staff/replies/settle": Asked({"reply": "{reply}"}),
    "POST /staff/replies/{number}/settle": Asked(path={"number": "reply"}),
    "POST /staff/suppressions/{number}/lift": Asked(_MORE, path={"number": "suppression"}),
    "POST /staff/spills/{reference}/holds": Asked({"reason": "Vann v. City"}),
    "POST /staff/spills/{reference}/holds/{number}/lift": Asked({"reason": "settled"}, path={"number": "hold"}),
    "POST /staff/spills/{reference}/destroy": Asked({"reason": "schedule of May", "seen": "yes"}, path={"reference": "closed"}),
    "GET /staff/spills/{reference}/certificate": Asked(path={"reference": "gone"}),
    "POST /api/v1/spills/{reference}/holds": Asked(json={"reason": "Vann v. City"}),
    "POST /api/v1/spills/{reference}/holds/{number}/lift": Asked(json={"reason": "settled"}, path={"number": "hold"}),
    "POST /api/v1/spills/{reference}/destruction": Asked(json={"reason": "schedule of May"}, path={"reference": "closed"}),
    "POST /api/v1/spills/{reference}/destruction [confirmed]": Asked(
        json={"reason": "schedule of May", "confirm": True}, path={"reference": "closed"}),
    "POST /staff/packs/{city}/off": Asked({"rule": "chino/rwqcb-2-hours", "reason": "by letter of the board"}),
    "POST /staff/packs/{city}/on/{number}": Asked(path={"number": "switched_off"}),
    "POST /api/v1/cities/{city}/contacts": Asked(json=_PERSON),
    "PUT /api/v1/cities/{city}/contacts/{number}": Asked(json=_PERSON, path={"number": "contact"}),
    "DELETE /api/v1/cities/{city}/contacts/{number}": Asked(path={"number": "contact"}),
    "POST /staff/contacts/{city}": Asked(_PERSON),
    "POST /staff/contacts/{city}/{number}": Asked(_PERSON, path={"number": "contact"}),
    "POST /staff/contacts/{city}/{number}/remove": Asked(path={"number": "contact"}),
    "POST /staff/contacts/{city}/undo/{action}": Asked(path={"action": "contact_change"}),
    "POST /staff/on-call/{city}/rotas": Asked({**_ROTA, "turn.{contact}": "1"}),
    "POST /staff/on-call/{city}/rotas/{number}/end": Asked(path={"number": "rota"}),
    "POST /staff/on-call/{city}/rotas/{number}/resume": Asked(path={"number": "ended_rota"}),
    "POST /staff/on-call/{city}/rotas/{number}/shifts": Asked(
        {"contact": "{contact}", "since": "2026-12-24T08:00", "until": "2026-12-26T08:00"}, path={"number": "rota"}),
    "POST /staff/on-call/{city}/rotas/{number}/shifts/{shift}/remove": Asked(path={"number": "rota"}),
    "POST /staff/subscriptions": Asked({"channel": "email", "pace": "at_once"}),
    "POST /staff/subscriptions/{number}/pause": Asked({"paused": "yes"}, path={"number": "subscription"}),
    "POST /staff/subscriptions/{number}/end": Asked(path={"number": "subscription"}),
    "POST /staff/subscriptions/{number}/end [of somebody else]": Asked(path={"number": "lees_subscription"}),
    "POST /staff/spills/{reference}/advisory": Asked({
        "do": "issue", "kind": "all_clear", "last": "{advisory}", "area": "city",
        **{f"{part}.{language}": "Words" for part in ("where", "what", "advice") for language in ("en", "es")}}),
    "GET /staff/spills/{reference}/files/{number}": Asked(path={"number": "photo"}),
    "GET /staff/spills/{reference}/files/{number}/original": Asked(path={"number": "photo"}),
    "GET /staff/spills/{reference}/papers/{paper_id}": Asked(path={"paper_id": "paper_id"}),
    "POST /staff/spills/{reference}/papers/{paper_id}/file": Asked({"language": "es"}, path={"paper_id": "paper_id"}),
    "POST /staff/spills/{reference}/papers/{paper_id}/draft": Asked({"item.cause": "roots"}, path={"paper_id": "report_id"}),
    "POST /staff/spills/{reference}/papers/evidence [whole]": Asked({"identity": "whole"}),
    "POST /staff/spills/{reference}/papers/particulars": Asked({"structure": "manhole"}),
    "POST /staff/held": Asked({"do": "real", "report": "{held}"}),
    "POST /staff/spills/{reference}/links": Asked({"name": "Sam Lee", "email": "sam@goldenwok.example"}),
    "POST /staff/spills/{reference}/links/{number}/{what}": Asked(path={"number": "person_link", "what": "end"}),
    "POST /staff/account/password": Asked(_PASSWORD),
    "POST /staff/account/second-step/on": Asked({"code": "{code}"}),
    "POST /staff/account/sessions/{number}/end": Asked(path={"number": "session"}),
    "POST /staff/account/sessions/{number}/end [of somebody else]": Asked(path={"number": "lees_key"}),
    "POST /staff/account/passkeys/begin": Asked({"name": "my phone"}),
    "POST /staff/account/passkeys/{number}/remove": Asked(path={"number": "passkey"}),
    "POST /staff/account/passkeys/{number}/remove [of somebody else]": Asked(path={"number": "lees_passkey"}),
    **{f"GET /open311{path}.{{form}}": Asked(path={"form": "json"}) for path in ("/discovery", "/v2/discovery", "/v2/services")},
    "GET /open311/v2/requests.{form}": Asked(path={"form": "json"}),
    "GET /open311/v2/services/{code}.{form}": Asked(path={"code": "sewage", "form": "json"}),
    "GET /open311/v2/requests/{name}.{form}": Asked(path={"name": "reference", "form": "json"}),
    "GET /open311/v2/tokens/{token}.{form}": Asked(path={"form": "json"}),
    "POST /open311/v2/requests.{form}": Asked({"service_code": "sewage", "lat": "34.01", "long": "-117.69"}, path={"form": "json"}),
    "POST /api/v1/spills/{reference}/forward": Asked(json={"description": "Sewage in the street."}),
    "POST /staff/spills/{reference}/forward": Asked({"description": "Sewage in the street."}),
    "POST /staff/settings/import": Asked({"city": "chino", "do": "try", "sheet": _SHEET}),
    "GET /staff/settings/webhooks/{number}": Asked(path={"number": "webhook"}),
    "POST /staff/settings/webhooks": Asked(_WEBHOOK),
    "POST /staff/settings/webhooks/{number}": Asked({"do": "test"}, path={"number": "webhook"}),
    "GET /api/v1/webhooks": Asked(query="city=chino"),
    "POST /api/v1/webhooks": Asked(json=_WEBHOOK),
    "GET /api/v1/webhooks/{number}": Asked(path={"number": "webhook"}),
    "PATCH /api/v1/webhooks/{number}": Asked(json={"name": "Other"}, path={"number": "webhook"}),
    "POST /api/v1/webhooks/{number}/secret": Asked(path={"number": "webhook"}),
    "POST /api/v1/webhooks/{number}/test": Asked(path={"number": "webhook"}),
    "POST /api/v1/webhooks/{number}/again": Asked(
        json={"since": "2026-12-01T00:00:00Z", "until": "2026-12-09T00:00:00Z"}, path={"number": "webhook"}
    ),
    "GET /api/v1/webhooks/{number}/deliveries": Asked(path={"number": "webhook"}),
    "DELETE /api/v1/webhooks/{number}": Asked(path={"number": "webhook"}),
    "POST /staff/account/calendars": Asked({"city": ""}),
    "POST /staff/account/calendars/{number}/replace": Asked(path={"number": "due_times"}),
    "POST /staff/account/calendars/{number}/replace [of somebody else]": Asked(path={"number": "lees_due_times"}),
    "POST /staff/account/calendars/{number}/end": Asked(path={"number": "due_times"}),
    "POST /staff/account/calendars/{number}/end [of somebody else]": Asked(path={"number": "lees_due_times"}),
    "POST /staff/account/keys": Asked({"name": "Pump 5", "scope": "report", "days": "90"}),
    "POST /staff/account/keys/{number}/revoke": Asked(path={"number": "key"}),
    "POST /staff/account/keys/{number}/revoke [of somebody else]": Asked(path={"number": "lees_key"}),
    "POST /staff/users": Asked({"email": "noor@chino.example", "role.chino": "officer"}),
    "POST /staff/users [for another city]": Asked({"email": "noor@chino.example", "role.ontario": "officer"}),
    "GET /staff/users/{number}": Asked(path={"number": "lee"}),
    "POST /staff/users/{number}/roles": Asked({"role.chino": "viewer"}, path={"number": "lee"}),
    "POST /staff/users/{number}/invite": Asked(path={"number": "lee"}),
    "POST /staff/users/{number}/keys/{key}/revoke": Asked(path={"number": "lee", "key": "lees_key"}),
    "POST /staff/users/{number}/{change}": Asked(path={"number": "lee", "change": "end"}),
    "GET /staff/users/{number} [of another city]": Asked(path={"number": "elsewheres"}),
    "POST /staff/users/{number}/{change} [of another city]": Asked(path={"number": "elsewheres", "change": "end"}),
}
# fmt: on
REQUESTS: Mapping[str, Asked] = {**_API, **_PUBLIC, **_STAFF}
