"""Spans for OpenTelemetry, where its SDK is installed (spillclock[otel]) and the environment says where spans go; else nothing happens.

A span names a template, a channel, an outcome: never a path, a person or a reference, for it leaves the machine.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from importlib.metadata import PackageNotFoundError, version
from typing import Any, Protocol

_WHERE = ("OTEL_EXPORTER_OTLP_ENDPOINT", "OTEL_EXPORTER_OTLP_TRACES_ENDPOINT")
_PACKAGES = ("opentelemetry-sdk", "opentelemetry-exporter-otlp-proto-http")


class Tells(Protocol):
    """A span under way."""

    def set_attribute(self, key: str, value: str | int) -> Any:
        """Say something of it."""

    def update_name(self, name: str) -> Any:
        """Name it anew, once more is known."""


class _Nothing:
    """A span of which nothing is kept."""

    def set_attribute(self, key: str, value: str | int) -> None:
        """Say nothing."""

    def update_name(self, name: str) -> None:
        """Name nothing."""


_NOTHING = _Nothing()
_tracer: Any = None


def why_not() -> str | None:
    """Why no spans are sent, or None where they are: what is missing, and what would be right."""
    if not any(os.environ.get(name) for name in _WHERE) or os.environ.get("OTEL_SDK_DISABLED", "").lower() == "true":
        return f"{_WHERE[0]} is not set"
    for package in _PACKAGES:
        try:
            version(package)
        except PackageNotFoundError:
            return f"{_WHERE[0]} is set, but {package} is not installed; right would be: pip install 'spillclock[otel]'"
    return None


def set_up(program: str) -> bool:
    """Send spans of this process to where the OTEL_ settings of the environment say. Returns whether it does."""
    if why_not() is not None:
        return False
    from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter
    from opentelemetry.sdk.resources import Resource
    from opentelemetry.sdk.trace import TracerProvider
    from opentelemetry.sdk.trace.export import BatchSpanProcessor

    provider = TracerProvider(resource=Resource.create({"service.name": os.environ.get("OTEL_SERVICE_NAME") or f"spillclock-{program}"}))
    provider.add_span_processor(BatchSpanProcessor(OTLPSpanExporter()))
    use(provider)
    return True


def use(provider: Any) -> None:
    """Make spans by a tracer provider from here on; None: make none."""
    global _tracer
    _tracer = provider.get_tracer("spillclock") if provider is not None else None


@contextmanager
def span(name: str, **attributes: str | int) -> Iterator[Tells]:
    """A span around the block, inside that of the block around it. An error that leaves the block is named by its class alone."""
    if _tracer is None:
        yield _NOTHING
        return
    with _tracer.start_as_current_span(name, attributes=attributes, record_exception=False, set_status_on_exception=False) as made:
        try:
            yield made
        except BaseException as error:
            made.set_attribute("error.type", type(error).__name__)
            raise
