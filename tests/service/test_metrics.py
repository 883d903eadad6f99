"""What monitoring is told: lateness, queue, requests by route; never a path, a name or a number of labels that grows with use."""

from __future__ import annotations

import json
import re
from datetime import timedelta
from pathlib import Path

import httpx
import yaml

from service.app import build_worker_app
from service.measures import Histogram
from tests.houses import Household
from tests.service.test_watch import values
from tests.spills import a_report, gallons

DEPLOY = Path(__file__).parents[2] / "docs" / "deploy"


async def told(home: Household) -> dict[str, float]:
    return values((await home.client().get("/metrics")).text)


def test_a_histogram_counts_up_to_each_bound_and_all() -> None:
    spread = Histogram((0.1, 1.0))
    for seconds in (0.05, 0.1, 0.5, 7.0):
        spread.observe(seconds, route="/x")
    [(key, reached, total)] = spread.cumulative()
    assert (key, reached) == ((("route", "/x"),), [("0.1", 2), ("1", 3), ("+Inf", 4)])
    assert total == 0.05 + 0.1 + 0.5 + 7.0


async def test_lateness_is_measured_from_the_moment_at_which_a_message_could_go_out(small: Household) -> None:
    await small.report(a_report(volume=gallons(1500)))
    small.clock.jump(seconds=20)
    await small.work()
    found = await told(small)
    assert found['spillclock_message_lateness_seconds_bucket{channel="sms",whom="duty",le="15"}'] == 0
    late = found['spillclock_message_lateness_seconds_count{channel="sms",whom="duty"}']
    assert found['spillclock_message_lateness_seconds_bucket{channel="sms",whom="duty",le="60"}'] == late > 0
    assert found['spillclock_message_lateness_seconds_sum{channel="sms",whom="duty"}'] == 20 * late


async def test_requests_are_told_by_the_template_of_their_path_alone(small: Household) -> None:
    reference = await small.report(a_report())
    client = small.client(await small.token())
    for path in (f"/api/v1/spills/{reference}", "/healthz", "/static/spillclock.css", "/wp-login.php", "/status/a-secret"):
        await client.get(path)
    await client.request("BREW", "/healthz")
    text = (await client.get("/metrics")).text
    routes = set(re.findall(r'route="([^"]*)"', text))
    assert {"/api/v1/spills/{reference}", "/healthz", "/status/{token}", "/static", "(none)"} <= routes
    assert not re.search(r"SP-20|wp-login|a-secret|BREW", text)


async def test_the_queue_is_told_by_state_and_the_longest_overdue_duty_by_seconds(small: Household) -> None:
    await small.report(a_report(volume=gallons(1500)))
    before = await told(small)
    assert before['spillclock_queue_messages{state="due"}'] > 0
    assert before["spillclock_obligations_oldest_overdue_seconds"] == 0
    await small.live(hours=3)
    after = await told(small)
    assert after['spillclock_queue_messages{state="due"}'] == 0
    assert after["spillclock_obligations_oldest_overdue_seconds"] == timedelta(hours=1).total_seconds()


async def test_a_worker_of_its_own_says_whether_it_works_and_how_late_it_sends(small: Household) -> None:
    app = build_worker_app(small.house, lambda: small.worker.works_at(small.clock.at))
    async with httpx.AsyncClient(transport=httpx.ASGITransport(app=app), base_url="http://127.0.0.1") as client:
        assert (await client.get("/healthz")).status_code == 503
        await small.report(a_report(volume=gallons(1500)))
        await small.work()
        assert (await client.get("/healthz")).status_code == 200
        found = values((await client.get("/metrics")).text)
        assert found['spillclock_attempts_total{channel="sms",outcome="accepted"}'] > 0
        assert not [name for name in found if "obligations" in name], "the tables are told by the web half"
        small.clock.jump(minutes=5)
        assert (await client.get("/healthz")).status_code == 503


async def test_dashboard_and_alerts_name_metrics_and_labels_that_exist(small: Household) -> None:
    await small.report(a_report(volume=gallons(1500)))
    await small.work()
    await small.client().get("/healthz")
    text = (await small.client().get("/metrics")).text
    there = set(re.findall(r"^# TYPE (\S+)", text, re.MULTILINE))
    there |= {
        f"{name}_{part}" for name in re.findall(r"^# TYPE (\S+) histogram", text, re.MULTILINE) for part in ("bucket", "sum", "count")
    }
    dashboard = json.loads((DEPLOY / "grafana-dashboard.json").read_text())
    rules = [rule for group in yaml.safe_load((DEPLOY / "prometheus-alerts.yml").read_text())["groups"] for rule in group["rules"]]
    asked = [target["expr"] for panel in dashboard["panels"] for target in panel["targets"]] + [rule["expr"] for rule in rules]
    named = {name for expression in asked for name in re.findall(r"spillclock_\w+", expression)}
    assert named <= there, named - there
    assert len(named) > 12
    labels = {*re.findall(r'[{,](\w+)="', text), "job", "channel"}  # channel: no provider is down here
    used = {name for expression in asked for name in re.findall(r'(\w+)="', expression)}
    used |= {name.strip() for expression in asked for group in re.findall(r"by \(([^)]*)\)", expression) for name in group.split(",")}
    assert used <= labels, used - labels
    for rule in rules:
        assert rule["labels"]["severity"] in ("page", "ticket")
        assert set(rule["annotations"]) == {"summary", "action"}
