"""Papers: the PDFs that people get. Tagged, PDF/UA-1, in English or Spanish; the same data gives the same bytes.

pdf = await papers.render(papers.Receipt(...), "es")
pdf = await papers.render_apart(papers.Volume(...), "en")  # long ones, in a process of their own
"""

from service.papers.drawing import render, render_apart
from service.papers.kinds import (
    Answer,
    Attachment,
    Bullets,
    Form,
    FormPart,
    Heading,
    Letterhead,
    Pairs,
    Paper,
    Part,
    Receipt,
    RecordCopy,
    ReportedDuty,
    Table,
    Volume,
    Words,
)

__all__ = [
    "Answer", "Attachment", "Bullets", "Form", "FormPart", "Heading", "Letterhead", "Pairs", "Paper", "Part", "Receipt", "RecordCopy",
    "ReportedDuty", "Table", "Volume", "Words", "render", "render_apart",
]  # fmt: skip
