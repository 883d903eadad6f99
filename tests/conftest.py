"""What every test session is held to: no network beyond this machine, no settings from the developer's shell, one way to find a browser."""

import ipaddress
import os
import shutil
import socket
from collections.abc import Callable
from typing import Any

import hypothesis
import pytest

BROWSERS = ("chromium", "chromium-browser", "google-chrome")
REQUIRE_CHROMIUM = "SPILLCLOCK_TESTS_REQUIRE_CHROMIUM"

# A slow moment of a shared machine is no finding about the code.
hypothesis.settings.register_profile("spillclock", deadline=None, print_blob=True)
hypothesis.settings.load_profile("spillclock")


class OutsideThisMachine(BaseException):
    """A test reached for an address beyond loopback. Not an Exception: code that survives network errors must not survive this."""


def is_loopback(host: object) -> bool:
    """Say whether an address or name is on this machine; None and '' stand for it too."""
    text = host.decode() if isinstance(host, bytes) else host
    if not isinstance(text, str):
        return text is None
    if text in ("", "localhost"):
        return True
    try:
        address = ipaddress.ip_address(text.partition("%")[0])
    except ValueError:
        return False
    return address.is_loopback or address.is_unspecified  # a connection to 0.0.0.0 stays here


def _guard_addresses(method: Callable[..., Any], place: int) -> Callable[..., Any]:
    """Wrap a socket method whose argument at `place` (from the end, for sendto) is the peer's address."""

    def guarded(self: socket.socket, *arguments: Any) -> Any:
        if self.family in (socket.AF_INET, socket.AF_INET6) and not is_loopback(arguments[place][0]):
            raise OutsideThisMachine(f"A test called {method.__name__}({arguments[place]!r}); tests talk to loopback only.")
        return method(self, *arguments)

    return guarded


def _guard_names(look_up: Callable[..., Any]) -> Callable[..., Any]:
    """Wrap a name look-up. Names under .invalid do not exist (RFC 2606), so a test may ask for one and learn that."""

    def guarded(host: Any, *arguments: Any, **named: Any) -> Any:
        text = host.decode() if isinstance(host, bytes) else host
        if isinstance(text, str) and text.rstrip(".").endswith(".invalid"):
            raise socket.gaierror(socket.EAI_NONAME, "Name or service not known")
        if not is_loopback(host) and not _is_address(text):
            raise OutsideThisMachine(f"A test looked up {host!r}; tests look up nothing but localhost and names under .invalid.")
        return look_up(host, *arguments, **named)

    return guarded


def _is_address(text: str) -> bool:
    try:
        ipaddress.ip_address(text.partition("%")[0])
    except ValueError:
        return False
    return True


def pytest_configure() -> None:
    """Close the network and forget the developer's own settings, before any test module is read."""
    for name in [name for name in os.environ if name.startswith("SPILLCLOCK_") and not name.startswith("SPILLCLOCK_TESTS_")]:
        del os.environ[name]
    socket.socket.connect = _guard_addresses(socket.socket.connect, 0)  # type: ignore[method-assign]
    socket.socket.connect_ex = _guard_addresses(socket.socket.connect_ex, 0)  # type: ignore[method-assign]
    socket.socket.sendto = _guard_addresses(socket.socket.sendto, -1)  # type: ignore[method-assign]
    socket.getaddrinfo = _guard_names(socket.getaddrinfo)
    socket.gethostbyname = _guard_names(socket.gethostbyname)


@pytest.fixture(scope="session")
def chromium() -> str:
    """The path of a Chromium on this machine, for Playwright's executable_path. CI requires one; elsewhere its absence skips the test."""
    for name in BROWSERS:
        if path := shutil.which(name):
            return path
    missing = f"No Chromium on this machine (looked for {', '.join(BROWSERS)}); on Debian: apt-get install chromium."
    if os.environ.get(REQUIRE_CHROMIUM):
        pytest.fail(f"{missing} {REQUIRE_CHROMIUM} is set, so this is a failure.")
    pytest.skip(missing)


# Journeys and looks in a real browser, hostile files, all samples on all papers, every route as everybody, full disks: half an hour of two
# cores. `make test-long` runs them too. They are out of the way of CI, which has fifteen minutes.
LONG = (
    "test_access_matrix",
    "test_accounts_in_chromium",
    "test_alerts_in_chromium",
    "test_api_photos",
    "test_axe",
    "test_backup",
    "test_backups",
    "test_board_in_chromium",
    "test_bundle",
    "test_bundle_lived",
    "test_calendar_in_chromium",
    "test_city_texts_in_chromium",
    "test_clock_check",
    "test_closing",
    "test_discharger_in_chromium",
    "test_doors_privacy",
    "test_faults_of_postgresql",
    "test_faults_of_the_machine",
    "test_followups",
    "test_guard_in_chromium",
    "test_held",
    "test_held_reports",
    "test_hostile_files",
    "test_in_chromium",
    "test_kept_files",
    "test_kept_files_hostile",
    "test_keyboard",
    "test_kill",
    "test_kills_on_postgresql",
    "test_live",
    "test_live_alerts",
    "test_long_outage",
    "test_merging",
    "test_merging_sequences",
    "test_migrations_long",
    "test_numbers_in_chromium",
    "test_on_call_in_chromium",
    "test_one_spill",
    "test_one_spill_in_chromium",
    "test_papers",
    "test_papers_in_chromium",
    "test_papers_of_samples",
    "test_papers_pages",
    "test_passkeys",
    "test_passkeys_in_chromium",
    "test_photos",
    "test_photos_in_chromium",
    "test_privacy",
    "test_privacy_staff",
    "test_proof",
    "test_proof_damage",
    "test_proof_long",
    "test_provider_sign_in",
    "test_providers",
    "test_public_map",
    "test_public_map_in_chromium",
    "test_quantities_in_chromium",
    "test_real_reports",
    "test_rehearsal",
    "test_rehearse",
    "test_replies",
    "test_report_again",
    "test_privacy_staff",
    "test_report_again_in_chromium",
    "test_report_guard",
    "test_report_in_chromium",
    "test_retention_long",
    "test_rungs_twice",
    "test_sample_narratives",
    "test_simulation",
    "test_status_in_chromium",
    "test_stop_and_start",
    "test_subscriptions",
    "test_turnstile",
    "test_upgrade",
    "test_watch",
)
RUN_LONG = "SPILLCLOCK_TESTS_LONG"

# What CI runs a second time on PostgreSQL: what touches transactions, claims, ladders, words and numbers that are looked up, the board, the
# chain of the record, subscriptions. `make test-postgresql` runs the whole service on it.
TWICE = (
    "test_accounts",
    "test_advisories",
    "test_api_public_spills",
    "test_api_subscriptions",
    "test_board",
    "test_bundles",
    "test_checkpoints",
    "test_city_texts",
    "test_escalation",
    "test_hard_knocks",
    "test_nearby",
    "test_numbers",
    "test_obligations",
    "test_office_days",
    "test_on_call",
    "test_outbox",
    "test_public_alerts",
    "test_public_record",
    "test_queue",
    "test_quiet_hours",
    "test_receipts",
    "test_relocation",
    "test_resting",
    "test_sending_cap",
    "test_spill_search",
    "test_splitting",
    "test_staff_log",
    "test_suppressions",
    "test_switches",
)
RUN_PART = "SPILLCLOCK_TESTS_PART"


@pytest.hookimpl(trylast=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Leave out the long ones unless asked for. Begin with those that run whole programs: begun last, they are waited for alone."""
    if not os.environ.get(RUN_LONG):
        items[:] = [item for item in items if item.path.stem not in LONG]
    if os.environ.get(RUN_PART):
        items[:] = [item for item in items if item.path.stem in TWICE]
    order = {"test_kill": 0, "test_live_alerts": 1, "test_access_matrix": 2}
    items.sort(key=lambda item: order.get(item.path.stem, 3 if item.path.parent.name == "e2e" else 4))
