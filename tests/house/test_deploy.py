"""What an operator starts from names settings, commands, ports and folders that exist. No engine runs here: files are held to code."""

from __future__ import annotations

import http.server
import json
import re
import shlex
import shutil
import subprocess
import sys
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml

from service import cli
from service.settings import Settings

ROOT = Path(__file__).parents[2]
DEPLOY = ROOT / "docs" / "deploy"
DOCKERFILE = (ROOT / "Dockerfile").read_text()
COMPOSE = yaml.safe_load((ROOT / "compose.yaml").read_text())
PODS = [one for one in yaml.safe_load_all((DEPLOY / "kubernetes" / "spillclock.yaml").read_text()) if one]
UNITS = sorted((DEPLOY / "systemd").glob("*.service"))
FILES = [ROOT / "Dockerfile", ROOT / "compose.yaml", *sorted(path for path in DEPLOY.rglob("*") if path.is_file())]
HOME = "/var/lib/spillclock"


def parses(words: list[str]) -> bool:
    """Whether the command line of the program takes these words."""
    try:
        cli._parser().parse_args(words)
    except SystemExit as ended:
        return ended.code == 0
    return True


def unit(path: Path) -> dict[str, dict[str, list[str]]]:
    """A unit of systemd: every value of each name, by section."""
    found: dict[str, dict[str, list[str]]] = {}
    section = ""
    for line in path.read_text().splitlines():
        if re.fullmatch(r"\[\w+\]", line):
            section = line.strip("[]")
        elif line and not line.startswith("#"):
            name, _, value = line.partition("=")
            found.setdefault(section, {}).setdefault(name, []).append(value)
    return found


def containers() -> Iterator[tuple[dict[str, Any], dict[str, Any]]]:
    """Every container of the Kubernetes example with its pod."""
    for one in PODS:
        spec = one.get("spec", {})
        pod = spec.get("template", {}).get("spec") or spec.get("jobTemplate", {}).get("spec", {}).get("template", {}).get("spec")
        for container in [*(pod or {}).get("containers", []), *(pod or {}).get("initContainers", [])]:
            yield container, pod


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.name)
def test_every_setting_that_is_named_exists(path: Path) -> None:
    known = {f"SPILLCLOCK_{name.upper()}" for name in Settings.model_fields}
    assert set(re.findall(r"SPILLCLOCK_[A-Z_]+", path.read_text())) <= known


def test_settings_that_are_given_are_taken() -> None:
    given = {name: filled(value) for name, value in COMPOSE["x-program"]["environment"].items()}
    settings = Settings(_env_file=None, **without_prefix(given))
    assert not settings.is_embedded
    for one in PODS:
        if one["kind"] in ("ConfigMap", "Secret"):
            Settings(_env_file=None, **without_prefix(one.get("data") or one["stringData"]))
    example = [line.partition("=") for line in (DEPLOY / "systemd" / "settings.example").read_text().splitlines() if line[:1].isalpha()]
    Settings(_env_file=None, **without_prefix({name: value for name, _, value in example}))


def without_prefix(given: dict[str, str]) -> dict[str, Any]:
    """Settings as the class takes them."""
    return {name.removeprefix("SPILLCLOCK_").lower(): value for name, value in given.items()}


def filled(value: str) -> str:
    """A value of compose with its variables at their defaults."""
    return re.sub(r"\$\{\w+:-([^}]*)\}", r"\1", value)


def test_every_command_that_is_started_exists() -> None:
    lines = [service["command"] for service in COMPOSE["services"].values() if "command" in service]
    lines += [container["command"] for container, _ in containers()]
    lines += [shlex.split(line) for path in UNITS for line in unit(path)["Service"]["ExecStart"]]
    lines += [json.loads(found) for found in re.findall(r"^CMD (\[.*\])$", DOCKERFILE, re.MULTILINE)]
    assert len(lines) >= 12
    for line in lines:
        words = shlex.split(re.sub(r"\$\([^)]*\)", "TODAY", line[-1].removeprefix("exec "))) if Path(line[0]).name == "sh" else line
        assert Path(words[0]).name == "spillclock", words
        assert parses(words[1:]), words


@pytest.mark.parametrize(
    "path", [ROOT / "docs" / "operate.md", ROOT / "README.md", ROOT / "docs" / "scaling.md"], ids=lambda path: path.name
)
def test_every_command_line_of_the_documents_is_taken(path: Path) -> None:
    text = path.read_text() if path.exists() else ""
    for block in re.findall(r"```sh\n(.*?)```", text, re.DOTALL):
        for line in block.replace("\\\n", " ").splitlines():
            found = re.search(r"(?:^|\s)(?:\S*/)?spillclock (.*)", line)
            if found and not re.search(r"systemctl|docker build|docker run|journalctl|psql|useradd|install |chown|cp ", line):
                words = shlex.split(re.split(r"\s[|>]|;|&&", found[1])[0], comments=True)
                assert parses(words), line


def test_the_image_runs_as_nobody_in_particular_and_writes_to_its_folder_alone() -> None:
    stages = DOCKERFILE.split("\nFROM ")
    assert len(stages) == 3
    final = stages[-1]
    assert re.search(r"^USER 10001:10001$", final, re.MULTILINE)
    assert f"VOLUME {HOME}" in final
    assert f"SPILLCLOCK_HOME_DIR={HOME}" in final
    assert "--require-hashes" in stages[1]
    assert not re.search(r"^(ADD|COPY (?!--from=build))", final, re.MULTILINE), "nothing comes from outside the first stage"
    version = re.search(r"^FROM python:3\.(\d+)", DOCKERFILE, re.MULTILINE)
    assert version
    assert int(version[1]) >= 11
    kept = {line.lstrip("!") for line in (ROOT / ".dockerignore").read_text().splitlines() if line.startswith("!")}
    assert {"service", "deadlines", "notifiers", "pyproject.toml", "requirements.lock"} <= kept


class Well(http.server.BaseHTTPRequestHandler):
    def do_GET(self) -> None:
        self.send_response(200 if self.path == "/healthz" else 404)
        self.end_headers()

    def log_message(self, *_: object) -> None:
        """Say nothing."""


def test_the_health_check_of_the_image_tells_well_from_not() -> None:
    found = re.search(r"HEALTHCHECK .*\\\n\s+CMD (\[.*\])$", DOCKERFILE, re.MULTILINE)
    assert found
    command = json.loads(found[1])
    assert re.findall(r"\d{4}", command[-1]) == ["8000", "8001"]
    with http.server.HTTPServer(("127.0.0.1", 0), Well) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        for ports, code in (((server.server_port, 9), 0), ((9, server.server_port), 0), ((9, 9), 1)):
            asked = command[-1].replace("8000, 8001", f"{ports[0]}, {ports[1]}")
            assert subprocess.run([sys.executable, "-c", asked], check=False).returncode == code
        server.shutdown()


def test_compose_has_a_database_a_web_half_two_workers_and_a_mail_catcher() -> None:
    services = COMPOSE["services"]
    assert set(services) == {"database", "mail", "migrate", "web", "worker"}
    assert services["worker"]["deploy"]["replicas"] == 2
    for name in ("migrate", "web", "worker"):
        one = services[name]
        assert one["read_only"] is True
        assert one["tmpfs"] == ["/tmp"]
        assert one["cap_drop"] == ["ALL"]
        assert one["volumes"] == [f"home:{HOME}"]
    assert services["web"]["ports"] == ["127.0.0.1:8000:8000"], "nothing is open to the network until somebody says so"
    assert {volume.partition(":")[0] for one in services.values() for volume in one.get("volumes", ())} == set(COMPOSE["volumes"])
    needed = {name for one in services.values() for name in one.get("depends_on", ())}
    assert needed <= set(services)


def test_pods_are_held_to_their_folder_and_probed_where_they_answer() -> None:
    ports = {"web": 8000, "worker": 8001}
    seen = set()
    for container, pod in containers():
        assert container["securityContext"]["readOnlyRootFilesystem"]
        assert container["securityContext"]["capabilities"]["drop"] == ["ALL"]
        assert pod["securityContext"]["runAsNonRoot"]
        assert pod["securityContext"]["runAsUser"] == 10001
        places = {mount["mountPath"]: mount["name"] for mount in container["volumeMounts"]}
        assert {HOME, "/tmp"} <= set(places)
        assert set(places.values()) <= {volume["name"] for volume in pod["volumes"]}
        if container["name"] in ports:
            seen.add(container["name"])
            assert container["ports"][0]["containerPort"] == ports[container["name"]]
            for probe in ("livenessProbe", "startupProbe"):
                assert container[probe]["httpGet"] == {"path": "/healthz", "port": container["ports"][0]["name"]}
    assert seen == set(ports)
    claims = {one["metadata"]["name"] for one in PODS if one["kind"] == "PersistentVolumeClaim"}
    used = {
        volume["persistentVolumeClaim"]["claimName"]
        for _, pod in containers()
        for volume in pod["volumes"]
        if "persistentVolumeClaim" in volume
    }
    assert used == claims


@pytest.mark.parametrize("path", UNITS, ids=lambda path: path.name)
def test_units_are_hardened_and_name_what_is_there(path: Path) -> None:
    service = unit(path)["Service"]
    for name, wanted in (("ProtectSystem", "strict"), ("NoNewPrivileges", "yes"), ("User", "spillclock"), ("CapabilityBoundingSet", "")):
        assert service[name] == [wanted]
    assert f"SPILLCLOCK_HOME_DIR={HOME}" in service["Environment"]
    assert f"/var/lib/{service['StateDirectory'][0]}" == HOME
    others = {one.name for one in (DEPLOY / "systemd").iterdir()}
    for named in " ".join(unit(path)["Unit"].get("Requires", [])).split():
        assert named in others
    analyze = shutil.which("systemd-analyze")
    if analyze is None:
        pytest.skip("There is no systemd-analyze on this machine.")
    said = subprocess.run([analyze, "security", "--offline=true", "--no-pager", str(path)], capture_output=True, text=True, check=False)
    level = re.search(r"Overall exposure level for .*: ([\d.]+)", said.stdout)
    if level is not None:
        assert float(level[1]) < 2.5, said.stdout
