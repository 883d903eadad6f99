"""Households for the tests of the service: one over the shipped law, one over a law of a page."""

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from tests.houses import Household, a_household
from tests.service.small_law import small_law


@pytest.fixture
async def home(tmp_path: Path) -> AsyncIterator[Household]:
    """Chino with its example people under the law that ships with Spillclock."""
    async with a_household(tmp_path) as household:
        yield household


@pytest.fixture
async def small(tmp_path: Path) -> AsyncIterator[Household]:
    """Chino with its example people under a law with one duty, chino/two-hours."""
    async with a_household(tmp_path, law=small_law()) as household:
        yield household
