"""One door: a paper in, the bytes of its PDF out, drawn off the event loop."""

from __future__ import annotations

from service.papers.kinds import Paper


async def render(paper: Paper, language: str) -> bytes:
    """The PDF of a paper in a language (en, es), English where we have no other. Any text can be shown; none is cut."""
    raise NotImplementedError  # being written, helper "papers"
