"""Papers: the PDFs that people get. Tagged, PDF/UA-1, in English or Spanish; the same data gives the same bytes.

pdf = await papers.render(papers.Receipt(...), "es")
"""

from service.papers.drawing import render
from service.papers.kinds import Answer, Attachment, Form, FormPart, Letterhead, Paper, Receipt, RecordCopy, ReportedDuty

__all__ = [
    "Answer", "Attachment", "Form", "FormPart", "Letterhead", "Paper", "Receipt", "RecordCopy", "ReportedDuty", "render",
]  # fmt: skip
