"""The pages behind links in mails, and those on which staff see replies and dead addresses."""

from __future__ import annotations

import httpx

from service.events import EscalationAsked, MessageArrived, ObligationAcknowledged, RungReached
from service.links import act_url, unsubscribe_url
from service.suppressions import suppress
from service.tables import MessageRow, Reply, Subscription
from service.transaction import reading, transaction
from tests.pages.conftest import SITE, Site
from tests.spills import a_report

DUTY = "chino/rwqcb-2-hours"


async def mailed(site: Site) -> tuple[str, MessageRow, str]:
    """A spill, the duty officer's mail about one of its duties, and the path of the link in it."""
    reference = await site.home.report(a_report())
    await site.home.work()
    message = next(row for row in await site.home.messages(channel="email", address="duty@chino.example") if not row.carried_by)
    return reference, message, act_url(site.home.house, message.id).removeprefix(SITE)


# -- the link in a mail


async def test_a_mail_about_a_duty_carries_its_own_link(site: Site) -> None:
    _, message, path = await mailed(site)
    [line] = [line for line in site.home.outbox() if line["key"] == message.id]
    assert f"{SITE}{path}" in line["text"]
    assert not [line for line in site.home.outbox() if line["channel"] == "sms" and "/act/" in line["text"]]


async def test_opening_the_link_changes_nothing_however_it_is_opened(site: Site) -> None:
    reference, _, path = await mailed(site)
    before = len(await site.home.history(reference))
    visitor = site.visitor()
    page = await visitor.get(path)
    assert page.status == 200
    assert reference in page.text
    for method in ("HEAD", "GET"):
        response = await visitor.http.request(method, path, params={"do": "seen"}, headers={"Sec-Purpose": "prefetch"})
        assert response.status_code == 200
    assert len(await site.home.history(reference)) == before


async def test_the_buttons_acknowledge_and_escalate_once_however_often_they_are_pressed(site: Site) -> None:
    reference, message, path = await mailed(site)
    visitor = site.visitor()
    page = await visitor.get(path)
    for _ in range(2):
        answer = await visitor.send(page, path, "seen")
        assert "Recorded: you have seen it." in answer.text
    seen = await site.home.events(reference, ObligationAcknowledged)
    assert {event.person for event in seen} == {"Omar Reyes"}
    assert len({event.obligation for event in seen}) == len(seen) > 0
    assert [event.message for event in await site.home.events(reference, MessageArrived)] == [message.id]
    for _ in range(2):
        answer = await visitor.send(page, path, "escalate")
        assert "the next people on the list are told now" in answer.text
    asked = await site.home.events(reference, EscalationAsked)
    assert len({event.obligation for event in asked}) == len(asked) > 0
    assert any(event.at_once for event in await site.home.events(reference, RungReached))
    [row] = [row for row, event in await site.home.history(reference) if event is not None and event == asked[0]]
    assert row.actor == "Omar Reyes (link in a mail)"


async def test_a_form_of_another_site_does_not_act(site: Site) -> None:
    reference, _, path = await mailed(site)
    for headers in ({"origin": "https://evil.example"}, {"sec-fetch-site": "cross-site"}):
        visitor = site.visitor(**headers)
        assert (await visitor.post(path, {"do": "seen"})).status == 403
    assert not await site.home.events(reference, ObligationAcknowledged)


async def test_an_unknown_button_does_nothing(site: Site) -> None:
    reference, _, path = await mailed(site)
    await site.visitor().post(path, {"do": "waive"})
    await site.visitor().post(path, {})
    assert not await site.home.events(reference, ObligationAcknowledged)


async def test_once_all_is_closed_the_link_says_so_and_does_nothing(site: Site) -> None:
    reference, _, path = await mailed(site)
    for clock in await site.home.clocks(reference):
        if clock.state in ("running", "overdue"):
            async with transaction(site.home.house, "test") as tx:
                row = await tx.session.get_one(type(clock), clock.id)
                row.state = "waived"
    page = await site.visitor().get(path)
    assert "This is closed already." in page.text
    assert not page.forms(path)
    answer = await site.visitor().post(path, {"do": "seen"})
    assert "This is closed already." in answer.text
    assert not await site.home.events(reference, ObligationAcknowledged)


async def test_a_link_that_is_not_exactly_right_leads_nowhere(site: Site) -> None:
    _, message, path = await mailed(site)
    token = path.removeprefix("/act/")
    for wrong in (token[:-1], token.replace(message.id, "0" * 32), token.upper(), message.id, f"{message.id}.{'a' * 16}", "x" * 500):
        assert (await site.visitor().get(f"/act/{wrong}")).status == 404
        assert (await site.visitor().post(f"/act/{wrong}", {"do": "seen"})).status == 404
    assert (await site.visitor().get(f"/unsubscribe/{token}")).status == 404  # of another purpose


async def test_the_page_speaks_the_language_of_the_message(site: Site) -> None:
    _, message, path = await mailed(site)
    async with transaction(site.home.house, "test") as tx:
        (await tx.session.get_one(MessageRow, message.id)).language = "es"
    page = await site.visitor().get(path)
    assert "Lo he visto" in page.text
    assert page.response.headers["content-language"] == "es"


# -- subscriptions


async def a_subscription(site: Site) -> tuple[MessageRow, int]:
    _, message, _ = await mailed(site)
    async with transaction(site.home.house, "test") as tx:
        made = Subscription(kind="public", channel="email", address="p@x.example", wants={}, created_at=tx.now, digest="d" * 64)
        tx.session.add(made)
        await tx.session.flush()
        row = await tx.session.get_one(MessageRow, message.id)
        row.subscription_id = made.id
        return row, made.id or 0


async def ended(site: Site, number: int) -> bool:
    async with reading(site.home.house) as tx:
        return (await tx.session.get_one(Subscription, number)).ended_at is not None


async def test_a_subscription_ends_by_one_click_of_a_mail_program(site: Site) -> None:
    row, number = await a_subscription(site)
    url = unsubscribe_url(site.home.house, row)
    plain = httpx.AsyncClient(transport=site.app, base_url=SITE)
    assert (await plain.get(url)).status_code == (await plain.head(url)).status_code == 200
    assert not await ended(site, number)
    for _ in range(2):
        assert (await plain.post(url, data={"List-Unsubscribe": "One-Click"})).status_code == 200
    assert await ended(site, number)
    # A mail reader in a browser posts from its own site; the token alone is the proof.
    for headers in ({"origin": "https://mail.example"}, {"origin": "null"}, {"sec-fetch-site": "cross-site"}):
        assert (await plain.post(url, data={"List-Unsubscribe": "One-Click"}, headers=headers)).status_code == 200
    await plain.aclose()
    assert "p@x.example gets no more of these messages." in (await site.visitor().get(url.removeprefix(SITE))).text


async def test_duty_mail_has_no_way_out_by_one_click(site: Site) -> None:
    _, message, path = await mailed(site)
    assert unsubscribe_url(site.home.house, message) == ""
    assert (await site.visitor().post(path.replace("/act/", "/unsubscribe/"), {})).status == 404


# -- what staff see


async def a_reply(site: Site, reference: str | None, text: str = "please stop the leak") -> None:
    async with transaction(site.home.house, "test") as tx:
        spill = await tx.spill(reference) if reference else None
        number = spill.id if spill else None
        tx.session.add(
            Reply(once=text, channel="sms", sender="+19095550102", text=text, received_at=tx.now, meaning="unknown", spill_id=number)
        )


async def test_an_unread_reply_stands_before_staff_until_somebody_settles_it(site: Site) -> None:
    reference = await site.home.report(a_report())
    await a_reply(site, reference)
    await a_reply(site, None, "<b>oil</b>")
    officer = await site.staff("officer")
    assert "2 replies wait" in (await officer.get("/staff")).text
    page = await officer.get("/staff/replies")
    assert "please stop the leak" in page.text
    assert "<b>oil</b>" in page.text
    spill_page = await officer.get(f"/staff/spills/{reference}")
    assert "please stop the leak" in spill_page.text
    after = await officer.send(spill_page, "/staff/replies/1/settle")
    assert after.response.url.path == f"/staff/spills/{reference}"
    assert "Settled by officer@chino.example" in after.text
    page = await officer.get("/staff/replies")
    await officer.send(page, "/staff/replies/settle")
    assert "No reply waits for a person." in (await officer.get("/staff/replies")).text


async def test_what_one_sender_wrote_about_one_spill_is_settled_by_one_button(site: Site) -> None:
    reference = await site.home.report(a_report())
    for text in ("the pump is out", "and the road is closed", "still closed"):
        await a_reply(site, reference, text)
        site.home.clock.jump(minutes=1)
    await a_reply(site, None, "oil in the creek")
    officer = await site.staff("officer")
    page = await officer.get("/staff/replies")
    forms = page.forms("/staff/replies/settle")
    assert len(forms) == 2
    await a_reply(site, reference, "one more")  # which nobody has seen yet
    after = await officer.send(page, forms[0])
    assert "still closed" not in after.text
    assert "one more" in after.text
    assert "oil in the creek" in after.text


async def test_many_replies_of_a_spill_leave_room_for_those_that_wait(site: Site) -> None:
    reference = await site.home.report(a_report())
    for number in range(8):
        await a_reply(site, reference, f"answer {number}")
        site.home.clock.jump(minutes=1)
    officer = await site.staff("officer")
    for number in range(2, 9):
        await officer.post(f"/staff/replies/{number}/settle", {"from": "spill"})
    text = (await officer.get(f"/staff/spills/{reference}")).text
    assert text.index("answer 0") < text.index("answer 7") < text.index("2 earlier") < text.index("answer 1")


async def test_who_may_read_and_settle_replies(site: Site) -> None:
    reference = await site.home.report(a_report())
    await a_reply(site, reference)
    viewer, stranger = await site.staff("viewer"), await site.staff("officer", "ontario")
    assert "please stop the leak" in (await viewer.get("/staff/replies")).text
    assert (await viewer.post("/staff/replies/1/settle", {})).status == 403
    assert "please stop the leak" not in (await stranger.get("/staff/replies")).text
    assert (await stranger.post("/staff/replies/1/settle", {})).status == 404
    assert (await site.visitor().get("/staff/replies")).response.url.path == "/staff/sign-in"


async def test_a_dead_address_is_an_alarm_on_the_board_and_a_manager_lifts_it_with_a_reason(site: Site) -> None:
    async with transaction(site.home.house, "test") as tx:
        await suppress(tx, "email", "Duty@chino.example", "bounced", "5.1.1: no such user")
    manager, officer = await site.staff("manager"), await site.staff("officer")
    board = await officer.get("/staff")
    assert "Omar Reyes (duty officer) gets no e-mail: duty@chino.example" in board.text
    page = await officer.get("/staff/suppressions")
    assert "Omar Reyes (duty officer of chino)" in page.text
    assert not page.forms("/staff/suppressions/1/lift")
    assert (await officer.post("/staff/suppressions/1/lift", {"reason": "x"})).status == 403
    page = await manager.get("/staff/suppressions")
    form = "/staff/suppressions/1/lift"
    assert (await manager.send(page, form, reason="  ")).status == 422
    after = await manager.send(page, form, reason="the mailbox was made anew")
    assert "Messages go to that address again." in after.text
    assert "lifted: the mailbox was made anew" in after.text
    assert "Omar Reyes (duty officer) gets no e-mail" not in (await officer.get("/staff")).text
    ontario = await site.staff("manager", "ontario")
    assert "duty@chino.example" not in (await ontario.get("/staff/suppressions")).text
    assert (await ontario.post("/staff/suppressions/1/lift", {"reason": "x"})).status == 404


async def test_the_api_lists_settles_and_lifts(site: Site) -> None:
    reference = await site.home.report(a_report())
    await a_reply(site, reference)
    async with transaction(site.home.house, "test") as tx:
        await suppress(tx, "sms", "+19095550103", "opted_out", "replied STOP")
    http = site.home.client(await site.home.token("manager", "chino"))
    [reply] = (await http.get("/api/v1/replies")).json()
    assert (reply["spill"], reply["text"]) == (reference, "please stop the leak")
    assert (await http.post(f"/api/v1/replies/{reply['id']}/settle")).json()["settled_by"] == "manager@chino.example"
    assert (await http.get("/api/v1/replies")).json() == []
    [row] = (await http.get("/api/v1/suppressions")).json()
    assert (row["address"], row["people"]) == ("+19095550103", ["Sofia Tran (supervisor of chino)"])
    assert (await http.post(f"/api/v1/suppressions/{row['id']}/lift", json={})).status_code == 422
    lifted = (await http.post(f"/api/v1/suppressions/{row['id']}/lift", json={"reason": "she sent START"})).json()
    assert lifted["lifted_by"] == "manager@chino.example"
    assert (await http.get("/api/v1/suppressions")).json() == []
    assert len((await http.get("/api/v1/suppressions", params={"lifted": "true"})).json()) == 1
    assert (await site.home.client().get("/api/v1/suppressions")).status_code == 401
