"""The case file of a spill: every paper that is made from its one record.

Call sheets (`call_sheets`) and written reports (`written_reports`) are `paper`s of entries, each the record's answer (`answers`) to what
the office asks, with who says so and where it is put right; what papers ask for beyond the facts is recorded as particulars. A confidential
reporter is kept out of all of them (`withholding`). `pages` shows them to staff and hands out their PDFs, each taking noted in the staff's
log.
"""

from fastapi import APIRouter

from service.case_file import pages

router = APIRouter()
router.include_router(pages.router)

__all__ = ["router"]
