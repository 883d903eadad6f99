"""Open311 clients that nobody here wrote list services, post and read back, over a real port.

Here: `georeport` 0.3 (reads, JSON and XML) and `civicbot` 0.4 (reads and posts, JSON), both from PyPI. By hand, once more, `three` 0.8 of
2013, which posts with a picture; it needs Python 2, or these lines. In an empty folder, with `spillclock serve` running beside it:

    python -m venv clients && clients/bin/pip install three simplejson && clients/bin/python - <<'END'
    import itertools
    itertools.ifilter = filter                     # what it misses in Python 3
    from three.core import Three
    city = Three("http://127.0.0.1:8000/open311/v2", jurisdiction="chino")
    print(city.discovery(), len(city.services()), city.services("sewage"))
    [sent] = city.post("sewage", address="13220 Central Ave, Chino", name="Zach Williams", description="A manhole overflows.")
    print(sent, city.request(sent["service_request_id"]), city.requests(start="11-01-2026", end="12-31-2026"))
    END
"""

from __future__ import annotations

import asyncio
import socket
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import uvicorn
from civicbot.http import RateLimiter  # type: ignore[import-untyped]
from civicbot.open311 import HttpTransport, Open311Client
from civicbot.registry import Endpoint  # type: ignore[import-untyped]
from georeport import GeoReport  # type: ignore[import-untyped]

from service.app import build_app
from service.public_words import MATERIALS
from tests.houses import Household, a_household


@asynccontextmanager
async def served(folder: Path) -> AsyncIterator[tuple[Household, str]]:
    """Chino on a port of this machine, and the address of its Open311."""
    with socket.create_server(("127.0.0.1", 0)) as listening:
        url = f"http://127.0.0.1:{listening.getsockname()[1]}"
        async with a_household(folder, base_url=url) as home:
            app = build_app(home.house)
            server = uvicorn.Server(uvicorn.Config(app, log_config=None, lifespan="off", ws="none"))
            running = asyncio.create_task(server.serve(sockets=[listening]))
            while not server.started:  # noqa: ASYNC110 - uvicorn has a flag, not an event
                await asyncio.sleep(0.01)
            yield home, f"{url}/open311/v2"
            app.state.live.close()
            server.should_exit = True
            await running


async def test_clients_of_others_list_services_post_and_read_back(tmp_path: Path) -> None:
    async with served(tmp_path) as (home, address):
        reference = await asyncio.to_thread(_posts, address)
        spill = await home.spill(reference)
        assert (spill.city, spill.facts["volume"]) == ("chino", {"quantity": 1500, "unit": "gal"})
        await home.amend(reference, release="confirmed")
        for form in ("json", "xml"):
            await asyncio.to_thread(_reads, address, form, reference)


def _posts(address: str) -> str:
    """As civicbot does it, with its own check of what it sends against the services and their definition."""
    here = Endpoint("spillclock", "Spillclock", address, write=True, api_key_required_for_write=False)
    client = Open311Client(here, HttpTransport(rate_limiter=RateLimiter(0.0)), jurisdiction_id="chino")
    assert [one["service_code"] for one in client.list_services()] == list(MATERIALS)
    said = {"volume": "1500 gal", "reached": ["street", "storm_drain"], "language": "es"}
    sent = client.create_request(
        "sewage", dry_run=False, confirm="SEND", validate_remote=True, lat=34.01, lng=-117.69, description="A manhole overflows.",
        attributes=said, first_name="Ann", last_name="Lee",
    )  # fmt: skip
    reference: str = sent.response[0]["service_request_id"]
    read = client.get_request(reference)
    assert read is not None
    assert (read["status"], read["service_code"], read["description"]) == ("open", "sewage", None)
    return reference


def _reads(address: str, form: str, reference: str) -> None:
    client = GeoReport(address, jurisdiction="chino", output_format=form)
    assert [one["service_code"] for one in client.get_service_list()] == list(MATERIALS)
    assert client.get_service_definition("sewage")["service_code"] == "sewage"
    request = client.get_service_request(reference)
    assert request["service_request_id"] == reference
    found = client.get_service_requests(status="open")
    assert request in (found if isinstance(found, list) else [found])
