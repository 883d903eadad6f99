"""What all events of a spill share. The list of them is `events`."""

from __future__ import annotations

from typing import ClassVar

from pydantic import BaseModel, ConfigDict


class SpillEvent(BaseModel):
    """What all events share: a fixed shape and a name that never changes once a record holds it."""

    model_config = ConfigDict(frozen=True, extra="forbid")
    kind: ClassVar[str]
