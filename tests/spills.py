"""Builders of reports and facts: each call says only what its test is about."""

from __future__ import annotations

from typing import Any

# Inside Chino, far from its edge; inside Ontario; in the desert, in no city.
IN_CHINO = {"lat": 34.01, "lon": -117.69}
IN_ONTARIO = {"lat": 34.05, "lon": -117.60}
NOWHERE_NEAR = {"lat": 35.60, "lon": -115.40}


def gallons(quantity: float) -> dict[str, Any]:
    """A volume."""
    return {"quantity": quantity, "unit": "gal"}


def a_report(**facts: Any) -> dict[str, Any]:
    """A report without any oddity: 1,500 gallons of sewage in Chino. Arguments replace or add keys; None takes one away."""
    report = {
        "description": "A manhole overflows beside the school.",
        "location": {**IN_CHINO, "address": "13220 Central Ave"},
        "material": "sewage",
        "volume": gallons(1500),
        **facts,
    }
    return {key: value for key, value in report.items() if value is not None}
