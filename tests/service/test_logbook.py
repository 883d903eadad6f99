"""The log: which spill a line concerns, as text and as JSON, and nothing that tells of a person. And spans, where they are wanted."""

from __future__ import annotations

import json
import logging
import subprocess
import sys
from collections.abc import Iterator
from typing import Any

import pytest

from notifiers import Message, Outcome, Receipt
from service import tracing
from service.logbook import about, concerns, hide, line_format
from service.transaction import transaction
from tests.houses import Household, a_household
from tests.service.small_law import small_law
from tests.spills import a_report, gallons

PLANTED = {
    "an address": "Walter.Fields@mail.example",
    "a number": "+1 (909) 555-0199",
    "a link": "/status/c2VjcmV0LXBhcnQ",
    "a token": "sc_api_c2VjcmV0LXBhcnQtb2YtYS10b2tlbg",
}


def line(message: str, form: str = "json", error: Exception | None = None) -> str:
    given = (type(error), error, None) if error else None
    return line_format(form).format(logging.LogRecord("service.x", logging.ERROR, "x.py", 1, message, (), given))


@pytest.mark.parametrize("form", ["text", "json"])
@pytest.mark.parametrize("what", PLANTED)
def test_what_tells_of_a_person_is_masked_in_message_and_exception(form: str, what: str) -> None:
    said = line(f"could not reach {PLANTED[what]} now", form, ValueError(f"refused: {PLANTED[what]}"))
    secret = PLANTED[what].rpartition("/")[2]
    assert secret not in said
    assert said.count("(") >= 2


def test_a_row_that_the_database_quotes_and_a_value_that_a_check_quotes_are_masked() -> None:
    quoted = 'null value in column "x"\nDETAIL:  Failing row contains (1, Walter Fields,\n 5 Elm St).\n[SQL: INSERT ...]'
    said = line("failed", "text", ValueError(quoted))
    assert "Walter" not in said
    assert "Elm St" not in said
    assert "[SQL: INSERT" in said
    assert "Fields" not in line("x", "text", ValueError("1 error [type=int, input_value='Walter Fields', input_type=str]"))


def test_names_known_to_the_work_under_way_are_masked_and_only_there() -> None:
    with about("SP-2026-00042"):
        hide("Walter Fields", "Al", None)
        assert json.loads(line("WALTER FIELDS wrote; Al did not"))["message"] == "(a person) wrote; Al did not"
    assert "Walter Fields" in line("Walter Fields")


def test_a_line_names_the_spills_that_the_work_concerns_and_the_next_work_none() -> None:
    with about("SP-2026-00042"):
        assert json.loads(line("x"))["spill"] == "SP-2026-00042"
        assert line("x", "text").endswith("x [SP-2026-00042]")
        assert line("SP-2026-00042 is odd", "text").endswith("SP-2026-00042 is odd")
        for number in range(43, 50):
            concerns(f"SP-2026-000{number}")
        told = json.loads(line("x"))
        assert (told["spill"], len(told["spills"])) == ("SP-2026-00042", 5)
    assert "spill" not in json.loads(line("x"))
    concerns("SP-2026-00042")  # outside of any work
    assert "spill" not in json.loads(line("x"))


class Broken:
    """A channel that fails with what it was given."""

    name = "email"

    def problem_with(self, address: str) -> str | None:
        return None

    async def send(self, message: Message) -> Receipt:
        raise RuntimeError(f"cannot greet {message.to}: {message.text[:20]}")


class Lines(logging.Handler):
    def __init__(self) -> None:
        super().__init__()
        self.setFormatter(line_format("json"))
        self.said: list[dict[str, Any]] = []

    def emit(self, record: logging.LogRecord) -> None:
        self.said.append(json.loads(self.format(record)))


@pytest.fixture
def lines() -> Iterator[Lines]:
    handler = Lines()
    logging.getLogger("service").addHandler(handler)
    yield handler
    logging.getLogger("service").removeHandler(handler)


async def test_a_send_that_fails_is_logged_with_its_spill_and_without_its_person(tmp_path: Any, lines: Lines) -> None:
    async with a_household(tmp_path, law=small_law(), channels={"email": Broken(), "sms": Broken()}) as home:
        reference = await home.report(a_report(volume=gallons(1500)))
        await home.worker.round()
        failed = [one for one in lines.said if "failed on message" in one["message"]]
        assert failed
        assert {one["spill"] for one in failed} == {reference}
        assert "@" not in json.dumps([one["exception"].rpartition("RuntimeError")[2] for one in failed])


async def test_a_request_that_fails_is_logged_with_its_spill_and_without_its_reporter(small: Household, lines: Lines) -> None:
    contact = {"name": "Walter Fields", "phone": "+19095550199", "privacy": "named"}
    reference = await small.report(a_report(contact=contact))

    async def fail() -> None:
        async with transaction(small.house, "test") as tx:
            await tx.spill(reference)
            logging.getLogger("service.test").error("the report of Walter Fields at +19095550199 is odd")

    small.app.add_api_route("/fails", fail)
    await small.client().get("/fails")
    [said] = [one for one in lines.said if "is odd" in one["message"]]
    assert said["spill"] == reference
    assert said["message"] == "the report of (a person) at (a telephone number) is odd"


# -- spans


@pytest.fixture
def spans() -> Iterator[Any]:
    export = pytest.importorskip("opentelemetry.sdk.trace.export", reason="The extra spillclock[otel] is not installed.")
    from opentelemetry.sdk.trace import TracerProvider
    from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter

    kept = InMemorySpanExporter()
    provider = TracerProvider()
    provider.add_span_processor(export.SimpleSpanProcessor(kept))
    tracing.use(provider)
    yield kept
    tracing.use(None)


async def test_requests_transactions_and_sends_are_spans_that_name_nobody(small: Household, spans: Any) -> None:
    contact = {"name": "Walter Fields", "phone": "+19095550199", "privacy": "named"}
    answer = await small.client().post("/api/v1/spills", json=a_report(volume=gallons(1500), contact=contact))
    await small.client().get(answer.json()["status_url"])
    await small.work()
    made = spans.get_finished_spans()
    names = {span.name for span in made}
    assert {"POST /api/v1/spills", "GET /status/{token}", "transaction", "send"} <= names
    [request] = [span for span in made if span.name == "POST /api/v1/spills"]
    inside = [span for span in made if span.name == "transaction" and span.parent and span.parent.trace_id == request.context.trace_id]
    assert inside
    assert {span.attributes["outcome"] for span in made if span.name == "send"} == {Outcome.ACCEPTED.value}
    told = "".join(span.to_json() for span in made)
    for private in ("Walter", "555", "SP-20", answer.json()["status_url"].rpartition("/")[2], "@"):
        assert private not in told, private


def test_without_a_place_for_spans_nothing_of_the_sdk_is_imported() -> None:
    asked = (
        "import sys; from service import tracing, app; tracing.set_up('web'); print([n for n in sys.modules if 'opentelemetry.sdk' in n])"
    )
    said = subprocess.run([sys.executable, "-c", asked], capture_output=True, text=True, check=True)
    assert said.stdout.strip() == "[]"


def test_what_is_missing_for_spans_is_said_with_its_cure(monkeypatch: pytest.MonkeyPatch) -> None:
    assert tracing.why_not() == "OTEL_EXPORTER_OTLP_ENDPOINT is not set"
    monkeypatch.setenv("OTEL_EXPORTER_OTLP_ENDPOINT", "http://127.0.0.1:4318")
    monkeypatch.setattr(tracing, "_PACKAGES", ("a-package-that-is-not-there",))
    assert "pip install 'spillclock[otel]'" in str(tracing.why_not())
