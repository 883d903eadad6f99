"""The case file of a spill: every paper that is made from its one record.

Call sheets (`call_sheets`), written reports (`written_reports`), notices of the city (`notices`) and exports (`ciwqs`, `epa`) are `paper`s
of entries, each the record's answer (`answers`) to what the office asks, with who says so and where it is put right; what papers ask for
beyond the facts is recorded as particulars. A confidential reporter is kept out of all of them (`withholding`). `pages` shows them to
staff, `api` to programs; whatever leaves the house as a file goes through `taking`, which notes it in the staff's log.
"""

from fastapi import APIRouter

from service.case_file import api, pages

router = APIRouter()
router.include_router(pages.router)
router.include_router(api.router)

__all__ = ["router"]
