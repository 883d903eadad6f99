"""Written follow-up reports: drafts that several people write, reports that are filed, certified and amended, each version kept.

A filed report meets its duty only when it holds every item the law lists and, where the law prescribes the words of a certification, when
a named person has certified it. Filing is one transaction: the version, its stamp, what it meets and the receipt that is promised.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from sqlalchemy import select
from sqlmodel import col

from deadlines import as_z
from deadlines.rules import Certification, Recipient
from notifiers.addresses import problem_with_email
from service import outbox
from service.city_texts import own_texts
from service.errors import BadInput, Conflict
from service.events import ActRecorded, FollowUpCertified, FollowUpFiled, FollowUpSaved
from service.kept_files import ATTACHMENT, kept_files
from service.obligations import record_met
from service.outbox import OPEN_STATES, Promise
from service.parties import Person
from service.speech import marked
from service.spills import clean
from service.tables import FollowUp, KeptFile, Obligation, Spill
from service.transaction import Transaction
from service.wording import Owed, for_filer

LONGEST_TEXT = 50_000
_LONGEST_NAME, _LONGEST_EMAIL, _LONGEST_REASON = 200, 320, 2000
# A duty that a call or a visit may do is done by that; its page offers no report.
_REPORTABLE = frozenset(("written", "email", "mail", "online"))
_NOBODY_ANSWERS = "it is not known who answers for the report"
_NO_LIST = "what happened, and what was done about it"
# What a report is certified under where the law prescribes no words. They are ours, and are marked as ours wherever they stand.
OUR_CERTIFICATION = marked(
    "I answer for this report. To the best of my knowledge it is true, accurate and complete, and I may certify it for whoever is "
    "responsible."
)


# -- what is asked


def wants_report(row: Obligation) -> bool:
    """Whether a written report is how this duty is done."""
    return (
        row.act == "notice" and row.clock["recipient"] is not None and (bool(row.content) or _REPORTABLE.issuperset(row.clock["methods"]))
    )


def reaches_city(row: Obligation, recipient: Recipient | None) -> bool:
    """Whether filing a report here hands it in: it is owed to an office of the city, and the law does not want it mailed."""
    return recipient is not None and recipient.city_office and not {"written", "online", "any"}.isdisjoint(row.clock["methods"])


def items_of(row: Obligation) -> dict[str, str]:
    """What the report must hold, as it was decided: item id to the words of the law; one free text where the law lists nothing."""
    return dict(row.content) or {"report": _NO_LIST}


def certification_of(row: Obligation) -> Certification:
    """The words under which its report is certified: those of the law as they were decided; ours, without a source, where it has none."""
    found = row.certification
    return Certification(found["says"], found["source"]) if found else Certification(OUR_CERTIFICATION, "")


def missing_of(row: Obligation, content: Mapping[str, str]) -> dict[str, str]:
    """The items that a text for the report does not hold, with the words of the law."""
    return {item: says for item, says in items_of(row).items() if not content.get(item)}


async def versions(tx: Transaction, row: Obligation) -> list[FollowUp]:
    """All versions of the report for a duty, oldest first."""
    found = await tx.session.execute(select(FollowUp).where(col(FollowUp.obligation_id) == row.id).order_by(col(FollowUp.version)))
    return list(found.scalars())


async def next_version(tx: Transaction, row: Obligation) -> int:
    """The number of the version that is filed next."""
    return sum(version.state == "filed" for version in await versions(tx, row)) + 1


async def attachments(tx: Transaction, spill: Spill, row: Obligation, version: int) -> list[KeptFile]:
    """The files of a version: those sent with it, and those of the versions that it amends."""
    files = await kept_files(tx, spill, ATTACHMENT)
    return [file for file in files if file.obligation_id == row.id and (file.version or 0) <= version]


# -- drafts


class DraftConflict(Conflict):
    """Somebody else changed the same items of a draft meanwhile. Nothing was saved.

    `theirs` is what stands in those items now, `writers` who wrote each of them, as the record names them; `draft` the draft as it stands.
    """

    title = "Somebody else changed the draft"

    def __init__(self, draft: FollowUp, theirs: Mapping[str, str]) -> None:
        right = f"send revision {draft.revision} with what it should say now"
        self.writers = {item: writer_of(draft, item) for item in theirs}
        names = " and ".join(dict.fromkeys(filter(None, self.writers.values()))) or "somebody else"
        super().__init__(
            f"the draft was changed meanwhile by {names}; it is now revision {draft.revision}",
            [f"content.{item}: it was changed to other words than yours; right would be: {right}" for item in theirs],
        )
        self.draft = draft
        self.theirs = dict(theirs)


@dataclass(frozen=True, slots=True)
class Seen:
    """What whoever writes a draft had before their eyes: its revision, and the mark of each item's text (see `mark_of`).

    An item whose text still has its mark was not touched, so that what others wrote there meanwhile stands.
    """

    revision: int | None = None
    marks: Mapping[str, str] = field(default_factory=dict)


def writer_of(draft: FollowUp, item: str) -> str:
    """Who wrote the text that stands in an item, as the record names them: not whoever saved the draft last, who may have left it alone."""
    return draft.writers.get(item) or draft.saved_by


def said_of_themselves(report: FollowUp | None, actor: str) -> Mapping[str, str]:
    """What somebody last wrote of themselves on a report or a draft of it: `by` their name, `title`, `email`; empty where nothing."""
    return report.signers.get(actor, {}) if report else {}


def mark_of(text: str) -> str:
    """A short mark of a text, equal for equal texts whatever a browser makes of their line ends."""
    return hashlib.sha256(_plain(text).encode()).hexdigest()[:16]


def _plain(text: Any) -> str:
    return clean(text).replace("\r\n", "\n").replace("\r", "\n")


async def save_draft(
    tx: Transaction,
    spill: Spill,
    row: Obligation,
    content: Mapping[str, Any],
    by: str,
    *,
    title: str = "",
    email: str = "",
    reason: str | None = None,
    seen: Seen | None = None,
) -> FollowUp:
    """Keep a draft. Items that are not given stay as they are; a filed version is never written over, a draft of the next begins with it.

    `by`, `title` and `email` are kept for whoever saves it, and for nobody else. `reason`: why a version on file is amended; None: as it
    was. Raises BadInput for items the duty does not know or a text over 50,000 characters, DraftConflict where others changed the same
    items since `seen`; without it, since this very caller saved last.
    """
    texts = _texts(items_of(row), content)
    earlier = await versions(tx, row)
    if earlier and earlier[-1].state == "draft":
        draft, turn = earlier[-1], earlier[-1].saved_by != tx.actor
        _write(draft, _merged(draft, texts, seen or Seen(), tx.actor), tx.actor)
        draft.revision, draft.saved_at = draft.revision + 1, tx.now
    else:
        draft, turn = _begun(row, earlier[-1] if earlier else None, len(earlier) + 1, tx.now), True
        _write(draft, texts, tx.actor)
        tx.session.add(draft)
        await tx.session.flush()
    draft.saved_by = tx.actor
    draft.reason = draft.reason if reason is None else _plain(reason)[:_LONGEST_REASON]
    _sign(draft, tx.actor, by, title, email)
    if turn:  # on record once for each turn of a person, not for each pause of their typing
        await tx.record(spill, FollowUpSaved(obligation=row.id or 0, duty=row.duty, version=draft.version))
    return draft


def _begun(row: Obligation, before: FollowUp | None, version: int, now: datetime) -> FollowUp:
    """A new draft: empty, or as the filed version that it is to amend."""
    draft = FollowUp(obligation_id=row.id or 0, version=version, state="draft", content={}, saved_at=now)
    if before is not None:
        draft.content, draft.writers, draft.signers, draft.amends = before.content, before.writers, before.signers, before.version
    return draft


def _write(draft: FollowUp, texts: Mapping[str, str], actor: str) -> None:
    """Put texts into a draft; whoever changes one is its writer."""
    changed = [item for item, text in texts.items() if text != draft.content.get(item, "")]
    draft.content = {**draft.content, **texts}
    draft.writers = {**draft.writers, **dict.fromkeys(changed, actor)}


def _sign(draft: FollowUp, actor: str, by: str, title: str, email: str) -> None:
    """Keep what a person says of themselves. It is theirs: nobody is put down under the name or title that somebody else wrote."""
    given = {"by": clean(by)[:_LONGEST_NAME], "title": clean(title)[:_LONGEST_NAME], "email": clean(email)[:_LONGEST_EMAIL]}
    before = said_of_themselves(draft, actor)
    if given["by"] and given["by"] != before.get("by", given["by"]):
        before = {}  # another person at the same link or account
    said = {**before, **{key: value for key, value in given.items() if value}}
    draft.signers = {**draft.signers, actor: said}
    draft.by, draft.title = said.get("by", ""), said.get("title", "")


def _merged(draft: FollowUp, mine: Mapping[str, str], seen: Seen, actor: str) -> dict[str, str]:
    """The texts that stand after two people wrote: of each item the one that was changed. Raises DraftConflict where both were."""
    stale = draft.saved_by != actor if seen.revision is None else draft.revision != seen.revision
    merged, contested = dict(mine), {}
    for item, text in mine.items() if stale else ():
        theirs, mark = draft.content.get(item, ""), seen.marks.get(item)
        if text == theirs or not theirs or mark == mark_of(theirs):
            continue
        if mark == mark_of(text):
            merged[item] = theirs
        else:
            contested[item] = theirs
    if contested:
        raise DraftConflict(draft, contested)
    return merged


# -- filing


@dataclass(frozen=True, slots=True)
class Filing:
    """What whoever files a report says of it: who answers for it, and whether they certify it, under the words shown to them.

    `agreed`: they said yes to those words; `incomplete`: file it although items are missing; `amends`: it is to amend a version on file,
    for a `reason`, where they give one; `receipt_to`: an e-mail address for the receipt, with `link` to the page it is on, in `language`.
    """

    by: str
    title: str = ""
    certification: str = ""
    incomplete: bool = False
    amends: bool = False
    reason: str | None = None
    receipt_to: str = ""
    link: str = ""
    language: str = "en"
    agreed: bool = True


class ReportIncomplete(BadInput):
    """A report lacks items that the law lists. Nothing was filed; `missing` names them with the words of the law.

    `others`: what else is wrong with it, so that all of it is told at once.
    """

    title = "The report is not complete"

    def __init__(self, missing: Mapping[str, str], others: Sequence[str] = ()) -> None:
        faults = [f"content.{item}: missing; right would be: {says}" for item, says in missing.items()]
        super().__init__("the report lacks what the law lists", [*faults, *others])
        self.missing, self.others = dict(missing), list(others)


class NothingChanged(BadInput):
    """A report is filed again exactly as it is on file already. Nothing was filed."""

    title = "Nothing was changed"

    def __init__(self, version: int) -> None:
        right = "other words, another file, or another person who certifies it"
        super().__init__(
            f"nothing was changed since version {version}", [f"amends: the same as version {version}; right would be: {right}"]
        )


async def file_report(
    tx: Transaction, spill: Spill, row: Obligation, content: Mapping[str, Any], filing: Filing, *, seen: Seen | None = None
) -> FollowUpFiled:
    """File a report: stamped, kept for good, and recorded as the act that meets the duty where nothing is missing.

    Returns the stamp: what is missing, and on time or late by how many seconds. Raises BadInput without the name of who files it (and the
    title and the yes of who certifies it), ReportIncomplete, NothingChanged, DraftConflict, and Conflict where the duty is withdrawn or
    waived, or there is nothing to amend.
    """
    _check_owed(row)
    earlier = [version for version in await versions(tx, row) if version.state == "filed"]
    if filing.amends and not earlier:
        raise Conflict(f"no report for {row.duty} is filed yet, so there is none to amend")
    draft = await save_draft(
        tx, spill, row, content, filing.by, title=filing.title, email=filing.receipt_to, reason=filing.reason, seen=seen
    )
    missing, faults = missing_of(row, draft.content), _faults_of(filing)
    if missing and not filing.incomplete:
        raise ReportIncomplete(missing, faults)
    if faults:
        raise BadInput(_NOBODY_ANSWERS, faults)
    files = await attachments(tx, spill, row, draft.version)
    if earlier and not any(file.version == draft.version for file in files) and _says_the_same(draft, earlier[-1], filing):
        raise NothingChanged(earlier[-1].version)
    draft.state, draft.filed_at = "filed", tx.now
    draft.certification, draft.certified_at = filing.certification, tx.now if filing.certification else None
    late, done = _late_by(row, tx.now), row.state not in OPEN_STATES and row.met_at is not None
    stamp = FollowUpFiled(
        obligation=row.id or 0, duty=row.duty, version=draft.version, by=draft.by, content=draft.content, missing=list(missing.values()),
        on_time=late is None, late_by_s=late, title=draft.title, certification=draft.certification, amends=draft.amends,
        reason=draft.reason if draft.amends else "", due_at=as_z(row.due_at), after_met=done,
        attachments=[{"name": file.name, "size": file.size, "sha256": file.digest} for file in files],
    )  # fmt: skip
    await tx.record(spill, stamp)
    await _met_by(tx, spill, row, draft)
    if filing.receipt_to:
        await _promise_receipt(tx, spill, row, stamp, filing)
    return stamp


async def certify_report(tx: Transaction, spill: Spill, row: Obligation, filing: Filing) -> FollowUp:
    """Certify the version that was filed last, as it is. It then meets its duty, at this moment, where that alone was wanting.

    Raises BadInput as `file_report`, Conflict where nothing is filed, or the last version is certified already.
    """
    if faults := _faults_of(filing):
        raise BadInput(_NOBODY_ANSWERS, faults)
    _check_owed(row)
    filed = [version for version in await versions(tx, row) if version.state == "filed"]
    if not filed or filed[-1].certified_at is not None:
        raise Conflict(f"no report for {row.duty} waits to be certified")
    last = filed[-1]
    last.by, last.title = clean(filing.by)[:_LONGEST_NAME], clean(filing.title)[:_LONGEST_NAME]
    last.certification, last.certified_at = filing.certification, tx.now
    await tx.record(
        spill,
        FollowUpCertified(
            obligation=row.id or 0, duty=row.duty, version=last.version, by=last.by, title=last.title, certification=last.certification
        ),
    )
    await _met_by(tx, spill, row, last)
    return last


def _faults_of(filing: Filing) -> list[str]:
    """What is wrong with what is said of who answers for a report, a line each."""
    faults = []
    if filing.certification and not filing.agreed:
        faults.append("certify: missing; right would be: yes to the words of the certification")
    if not clean(filing.by):
        faults.append("by: missing; right would be: the name of the person who answers for it")
    if filing.certification and not clean(filing.title):
        faults.append("title: missing; right would be: the title of the person who certifies it")
    if filing.receipt_to and (problem := problem_with_email(filing.receipt_to)):
        faults.append(f"email: {problem}")
    return faults


def _check_owed(row: Obligation) -> None:
    if row.state in ("withdrawn", "waived"):
        raise Conflict(f"{row.duty} is {row.state}; no report is owed")


def _says_the_same(draft: FollowUp, last: FollowUp, filing: Filing) -> bool:
    """Whether a draft would be filed as the last version was: with the same texts, by the same person, and no certification to add."""
    texts = [{item: text for item, text in one.content.items() if text} for one in (draft, last)]
    adds = bool(filing.certification) and last.certified_at is None
    return texts[0] == texts[1] and (draft.by, draft.title) == (last.by, last.title) and not adds


def is_whole(row: Obligation, report: FollowUp) -> bool:
    """Whether a filed report meets its duty: it lacks no item, and is certified where the law prescribes the words of that."""
    return not missing_of(row, report.content) and (report.certified_at is not None or not row.certification)


async def _met_by(tx: Transaction, spill: Spill, row: Obligation, report: FollowUp) -> None:
    """Record the act of handing in a whole report. One that amends a report which met the duty is no new act: it would meet others."""
    if not is_whole(row, report) or row.clock["recipient"] is None or row.state in ("met", "met_late"):
        return
    method = next((way for way in ("written", "online", "email", "mail") if way in row.clock["methods"]), "written")
    act: dict[str, Any] = {
        "type": "report_submitted", "at": as_z(tx.now), "recipient": row.clock["recipient"], "method": method, "complete": True,
        "content": sorted(report.content),
    }  # fmt: skip
    await tx.record(spill, ActRecorded(act=act, note=f"follow-up report, version {report.version}, filed by {report.by}"))
    if row.state in OPEN_STATES:  # the pack of today asks more than the one this clock was opened under
        await record_met(tx, spill, row, tx.now)


def _late_by(row: Obligation, now: datetime) -> int | None:
    if row.due_at is None or now <= row.due_at:
        return None
    return int((now - row.due_at).total_seconds())


async def _promise_receipt(tx: Transaction, spill: Spill, row: Obligation, stamp: FollowUpFiled, filing: Filing) -> None:
    person = Person(stamp.by, "discharger", {"email": filing.receipt_to}, filing.language)
    law = tx.house.rulebook.law_of(spill.city or tx.house.first_city)
    own, city = await own_texts(tx, spill.city), law.city.title
    recipient = law.recipients.get(row.clock["recipient"] or "")
    for_whom = Owed(row.clock, recipient, reaches_city(row, recipient))
    words = for_filer(spill, stamp, for_whom, tx.now, law.zone, filing.link, city, filing.language, own)
    about = Promise(spill, None, "filed", "a report was filed", f"filed:{row.id}:{stamp.version}")
    await outbox.promise(tx, about, person, "email", words)


def _texts(wanted: Mapping[str, str], content: Mapping[str, Any]) -> dict[str, str]:
    """The given texts by item id; a caller may use the id or the words of the law."""
    by_words = {says: item for item, says in wanted.items()}
    faults = [
        f"content.{key}: not an item of this report; right would be: one of {', '.join(wanted)}"
        for key in content
        if by_words.get(key, key) not in wanted
    ]
    texts = {by_words.get(key, key): _plain(value) for key, value in content.items()}
    faults += [
        f"content.{item}: {len(text):,} characters; right would be: {LONGEST_TEXT:,} or fewer, and the rest as an attached file"
        for item, text in texts.items()
        if len(text) > LONGEST_TEXT
    ]
    if faults:
        raise BadInput("the report cannot be taken", faults)
    return texts
