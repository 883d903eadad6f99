"""No door to another system tells of a person: a spill is lived with thirty planted strings, and everything that goes out is searched."""

from __future__ import annotations

import json

from service import due_calendars, event_hooks
from service.access import Staff
from service.events import EVENT_TYPES
from service.transaction import transaction
from tests.houses import Household
from tests.service.channels import Post
from tests.service.lived import PLANTED, live
from tests.service.people import ANN, an_account
from tests.service.planted import PUBLIC, Output, leaks
from tests.service.test_feeds import FEEDS

RUTH = Staff("ruth@chino.example", "administrator", "chino")


async def test_feeds_calendars_and_webhooks_tell_of_no_person(home: Household) -> None:
    await an_account(home)
    home.channels["event_hook"] = receiver = Post("event_hook")
    async with transaction(home.house, RUTH.email) as tx:
        await event_hooks.add(tx, RUTH, "chino", "Work orders", "https://hooks.chino.example/x", [])
        calendar = await due_calendars.make(tx, Staff(ANN, "officer", "chino"), None, "", mine=False)
    lived = await live(home)
    for _ in range(20):
        await home.work()
    spanish = [f"{path}?lang=es" for path in FEEDS if "atom" in path]
    outputs = []
    async with home.client() as http:
        asked = [f"/open311/v2/{path}.{form}" for path in ("requests", f"requests/{lived.reference}") for form in ("json", "xml")]
        for path in (*FEEDS, *spanish, *asked, "/feeds/cap/1.xml", f"/calendar/{calendar}.ics", f"/calendar/{calendar}.ics?kind=tasks"):
            answer = await http.get(path)
            assert len(answer.text) > 200, path
            outputs.append(
                Output(PUBLIC, path, f"{answer.text}\n{answer.text.replace(chr(13) + chr(10) + ' ', '')}\n{dict(answer.headers)}")
            )
    assert any(one.says.count("BEGIN:VEVENT") > 3 for one in outputs)
    kinds = {json.loads(one.text)["type"] for one in receiver.got}
    assert len(kinds) > 15
    assert kinds <= set(EVENT_TYPES)
    outputs += [Output(PUBLIC, one.subject, one.text) for one in receiver.got]
    assert leaks(PLANTED, outputs) == []
