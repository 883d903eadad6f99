"""The evidence of a spill as a paper: facts with every earlier value, clocks with their counting, messages with receipts, filings, the log.

Whoever reads it may do so years later and without us: it says of everything who recorded it and when, and what is not known. One that
leaves out who reported in confidence says so on its first page.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

from service import papers
from service.case_file.answers import Answers
from service.case_file.record import CaseRecord, source_told
from service.causes import CAUSES, causes_in
from service.events import DischargerNamed, ParticularsRecorded, PlaceMoved
from service.pages.amendments import FactLine, fact_lines
from service.pages.day_strip import DayCell
from service.pages.deliveries import Delivery
from service.pages.duties import Duty
from service.pages.known_answers import History
from service.pages.particular_words import particular_told
from service.pages.record_copy import letterhead_of
from service.pages.reporter_news import words_of_reporter
from service.pages.speech import ENGLISH
from service.pages.story import sentence_of
from service.pages.written_report import stamps_of
from service.particulars import PARTICULARS
from service.tables import ChainRecord, KeptFile, Spill
from service.withholding import MARK, Withheld

# So much text makes a volume: drawing one then takes about 200 MB in a process of its own, whatever the record holds.
_LONGEST_VOLUME = 150_000
_PAIRS_AT_ONCE = 100
_DAYS = (("Day", 2), ("What it is", 3), ("Note", 4))
_VERSIONS = (("Recorded", 3), ("By", 3), ("Value", 3), ("Before", 3), ("Why, and by whom it is known", 4))


@dataclass(frozen=True, slots=True)
class Enclosed:
    """A file beside the paper: its path in the bundle, what it is, its size in bytes, and its SHA-256 in hex."""

    path: str
    says: str
    size: int
    sha256: str


@dataclass(frozen=True)
class Case:
    """Everything of a spill that goes into its evidence. `chapters`: the spill and the reports merged into it, each with its events.

    `places`: where each event stands in the chain of the record, by its number; `chain`: lines of the chain, and whether they follow one
    upon the other (`is_followed`) or are those of the case alone. `messages` and `files` are those of all chapters, the oldest first.
    `kept_out`: what is left out; of a whole bundle the secrets of links alone. `is_whole`: who reported in confidence is in it.
    `lost`: files on record whose content is not in the data folder.
    """

    record: CaseRecord
    chapters: Sequence[tuple[Spill, History]]
    places: Mapping[int, ChainRecord]
    messages: Sequence[Delivery]
    files: Sequence[KeptFile]
    kept_out: Withheld
    is_whole: bool
    chain: Sequence[bytes] = ()
    is_followed: bool = True
    enclosed: Sequence[Enclosed] = ()
    lost: Sequence[str] = ()

    def text(self, text: str) -> str:
        """A text as this bundle may show it."""
        return self.kept_out.text(text)

    def when(self, moment: datetime | None) -> str:
        """A moment in the city's time with its year; empty for None."""
        return ENGLISH.stamp(moment, self.record.zone) if moment else ""


def volumes_of(case: Case) -> list[papers.Volume]:
    """The paper, in as many volumes as its length needs; usually one."""
    volumes = _split([_clean(case, part) for part in _parts(case)])
    head, reference = letterhead_of(case.record.house, case.record.spill), case.record.spill.reference
    title = f"Evidence: {reference}"
    return [
        papers.Volume(head, reference, case.record.now, title, parts, number, len(volumes)) for number, parts in enumerate(volumes, 1)
    ]  # fmt: skip


def _parts(case: Case) -> Iterator[papers.Part]:
    yield from _first_page(case)
    yield from _spill(case)
    yield from _facts(case)
    yield from _clocks(case)
    yield from _messages(case)
    yield from _filings(case)
    yield from _files(case)
    yield from _log(case)


# -- the first page


def identity_told(case: Case) -> str:
    """What a bundle holds of whoever reported, in a sentence for its first page."""
    if case.is_whole:
        return "This bundle is whole: it holds who reported the spill, also where they asked to stay confidential. Keep it accordingly."
    if case.kept_out.withholds:
        return (
            "This bundle leaves out who reported the spill in confidence. Their name, addresses and numbers are taken out wherever they "
            f"stand, marked {MARK}; their photos are copies without the camera's notes. A manager or administrator can take it whole."
        )
    return "Nobody who reported this spill asked to stay confidential, or nothing is kept of them. Nothing is left out."


def _first_page(case: Case) -> Iterator[papers.Part]:
    yield papers.Words(identity_told(case), strong=True)
    yield papers.Words(
        f"It is the record of {case.record.spill.reference} as it stood on {case.when(case.record.now)}. Facts are amended and never "
        "overwritten: each stands with every value it had. What nobody has said is told as not known. Times are those of the city. "
        "The secrets of private links are taken out."
    )
    yield papers.Words(
        "The files beside this paper are listed in manifest.sha256 with their SHA-256 checksums. To check that nothing was changed, run: "
        "python3 check.py, or: sha256sum -c manifest.sha256. The checksum of the manifest itself was noted in the city's log when the "
        "bundle was taken."
    )
    if case.enclosed:
        rows = [(one.path, one.says, ENGLISH.number(one.size), one.sha256) for one in case.enclosed]
        yield papers.Heading("What is beside this paper")
        yield papers.Table((("File", 4), ("What it is", 4), ("Bytes", 2), ("SHA-256", 5)), rows)
    if case.lost:
        yield papers.Words("On record, but no longer in the data folder, so not here:", strong=True)
        yield papers.Bullets(case.lost)


# -- the spill and its facts


def _spill(case: Case) -> Iterator[papers.Part]:
    record, ask = case.record, Answers(case.record, ENGLISH)
    spill, known = record.spill, [ask.city(), ask.place(), ask.material(), ask.volume(), ask.cause(), ask.responsible()]
    yield papers.Heading("The spill")
    yield papers.Pairs([
        ("Report", spill.reference), ("Received", case.when(spill.received_at)), ("In charge", spill.officer or "nobody"),
        *((entry.label, "\n".join(filter(None, (entry.says, f"[{entry.note}]" if entry.note else "")))) for entry in known),
    ])  # fmt: skip
    yield papers.Heading("Who reported it", 2)
    for one in (spill, *record.members):
        yield papers.Pairs([(one.reference, _reporter(case, one))])
    yield papers.Heading("In the reporter's words", 2)
    for one, history in case.chapters:
        if len(case.chapters) > 1:
            yield papers.Words(f"{one.reference}, received {case.when(one.received_at)}")
        yield papers.Words(words_of_reporter(history) or "No words came with it.", quoted=True)


def _reporter(case: Case, spill: Spill) -> str:
    said = spill.reporter
    privacy = str(said.get("privacy") or "privacy not stated")
    if not case.is_whole and privacy not in ("named", "anonymous"):
        return f"{MARK} ({privacy})" if any(said.get(key) for key in ("name", "email", "phone")) else privacy
    return ", ".join(filter(None, (*(str(said.get(key) or "") for key in ("name", "phone", "email")), f"({privacy})")))


def _facts(case: Case) -> Iterator[papers.Part]:
    record = case.record
    yield papers.Heading("Facts")
    for line in fact_lines(record.house, record.spill, record.history, record.facts):
        yield papers.Heading(line.label, 2)
        yield papers.Pairs(_now(line))
        if line.changes:
            changes = [
                (case.when(one.at), one.actor, _known(one.after), _known(one.before), f"{one.reason}. {one.source}") for one in line.changes
            ]
            yield papers.Table(_VERSIONS, changes)
    yield from _particulars(case)
    yield from _others(case)


def _now(line: FactLine) -> list[tuple[str, str]]:
    known = [("Value", _known(line.value)), ("By whom it is known", f"{line.source} ({line.certainty})" if line.source else "")]
    return [*known, ("Counts as", f"{line.counts}: a merged report knew it then")] if line.counts else known


def _known(value: str) -> str:
    return "Not known" if value in ("Unknown", "") else value


def _particulars(case: Case) -> Iterator[papers.Part]:
    rows = []
    for row, event in case.record.history:
        if isinstance(event, ParticularsRecorded):
            for key, (before, after) in event.changes.items():
                was, now = (_known(particular_told(ENGLISH, case.record.zone, key, value)) for value in (before, after))
                why = ". ".join(filter(None, (event.reason, source_told(ENGLISH, event.source))))
                rows.append((PARTICULARS[key].label, case.when(row.recorded_at), row.actor, now, was, why))
    if rows:
        yield papers.Heading("What papers ask for beyond the facts", 2)
        yield papers.Table((("What", 3), *_VERSIONS), rows)


def _others(case: Case) -> Iterator[papers.Part]:
    """What was recorded of the cause, of the place and of who is responsible: every version."""
    none = "Not known"
    causes = [
        (case.when(row.recorded_at), row.actor, ". ".join(filter(None, (CAUSES.get(event.cause, none), event.note))),
         CAUSES.get(event.before, none), source_told(ENGLISH, event.source))
        for row, event in reversed(causes_in(case.record.history))
    ]  # fmt: skip
    places = [
        (case.when(row.recorded_at), row.actor, _place(event.after), _place(event.before), event.reason)
        for row, event in case.record.history
        if isinstance(event, PlaceMoved)
    ]
    firms = [
        (case.when(row.recorded_at), row.actor, ", ".join(filter(None, (event.name, event.phone, event.email))), "", "")
        for row, event in case.record.history
        if isinstance(event, DischargerNamed)
    ]
    for title, rows in (
        ("The cause, as it was recorded", causes),
        ("The place, as it was moved", places),
        ("Who is responsible, as named", firms),
    ):
        if rows:
            yield papers.Heading(title, 2)
            yield papers.Table(_VERSIONS, rows)


def _place(told: dict[str, object] | object) -> str:
    if not isinstance(told, dict):
        return "Not known"
    return ", ".join(str(told[key]) for key in ("address", "lat", "lon") if told.get(key) not in (None, "")) or "Not known"


# -- clocks


def _clocks(case: Case) -> Iterator[papers.Part]:
    yield papers.Heading("Clocks")
    if not case.record.duties:
        yield papers.Words("No clock is on record.")
    for duty in case.record.duties:
        yield papers.Heading(str(duty.clock["title"]), 2)
        yield papers.Pairs(_clock(case, duty))
        if strip := duty.strip(ENGLISH):
            days = [(_day(cell), f"{cell.word} {cell.label}".strip(), str(cell.note)) for cell in strip]
            yield papers.Table(_DAYS, days)
        yield papers.Bullets([str(step) for step in duty.clock["counting"]])


def _day(cell: DayCell) -> str:
    return ", ".join(filter(None, (cell.weekday, cell.dated.replace("\N{NO-BREAK SPACE}", " ")))) or "..."


def _clock(case: Case, duty: Duty) -> list[tuple[str, str]]:
    clock = duty.clock
    late = clock.get("late_by_s")
    found = [
        ("Duty", f"{clock['duty']}, {clock['pack_version']}"), ("Law", str(clock["citation"])), ("Owed by", f"the {clock['owed_by']}"),
        ("To", duty.recipient.name if duty.recipient else "nobody is named"), ("How", duty.how(ENGLISH)), ("Limit", duty.limit(ENGLISH)),
        ("Applies", str(clock["applies"]) + (f": {' '.join(duty.settles(ENGLISH))}" if clock["applies"] == "presumed" else "")),
        ("Starts", case.when(duty.row.starts_at) or "has not begun"), ("Due", case.when(duty.due_at) or "not counted yet"),
        ("How it stands", duty.standing(ENGLISH)), ("Met", case.when(duty.row.met_at) or "not on record"),
        ("Compared with its source", "yes" if clock["verified"] else "not yet"),
    ]  # fmt: skip
    if duty.extended_due_at:
        found.append(("The law may allow until", case.when(duty.extended_due_at)))
    if late is not None:
        found.append(("Late by", ENGLISH.span(timedelta(seconds=late))))
    for title, told in (("Our reading", clock["reading"]), ("Reason", clock.get("reason"))):
        if told:
            found.append((title, str(told)))
    found += [("Read otherwise", f"{reading} Then due: {case.when(due_at) or 'the same'}") for reading, due_at in duty.other_readings]
    return found


# -- messages, filings, files


def _messages(case: Case) -> Iterator[papers.Part]:
    yield papers.Heading("Messages, with what became of each")
    if not case.messages:
        yield papers.Words("No message is on record.")
    told: dict[str, int] = {}
    for number, delivery in enumerate(case.messages, 1):
        row = delivery.row
        yield papers.Heading(f"{number}. {delivery.channel} to {row.person} ({row.role.replace('_', ' ')}): {delivery.state}", 2)
        words = case.text("\n".join(filter(None, (row.subject, row.text))))
        same = told.setdefault(words, number)
        says = words if same == number else f"The same words as message {same}."
        yield papers.Pairs([("Address", row.address), ("Step", row.step), ("Words", says)])
        yield papers.Bullets([f"{case.when(one.at)}: {one.says}" for one in delivery.history])


def _filings(case: Case) -> Iterator[papers.Part]:
    yield papers.Heading("Filed reports")
    found = False
    for duty in case.record.duties:
        for stamp in reversed(stamps_of(ENGLISH, duty, case.record.history)):
            found = True
            yield papers.Heading(f"{duty.clock['title']}: version {stamp.version}", 2)
            yield papers.Pairs([
                ("Stamp", stamp.says), ("By", stamp.person), ("Amends version", str(stamp.amends) if stamp.amends else "none"),
                ("Why", stamp.reason or "not said"), ("Lacks", "; ".join(stamp.missing) or "nothing"),
                ("Certified", case.when(stamp.certified_at) or "no"), ("Under", stamp.certified or "no words"),
                ("Attachments", "; ".join(stamp.attachments) or "none"),
            ])  # fmt: skip
            for item, text in stamp.content.items():
                yield papers.Words(f"{duty.items.get(item, item)}:")
                yield papers.Words(text or "Nothing was filed for this.", quoted=True)
    if not found:
        yield papers.Words("No report is on file.")


def _files(case: Case) -> Iterator[papers.Part]:
    yield papers.Heading("Photos and papers")
    if not case.files:
        yield papers.Words("No file is on record.")
        return
    rows = [
        (f"{file.purpose} {file.id}: {file.name}", f"{file.media_type}, {ENGLISH.number(file.size)} bytes", file.digest,
         "\n".join(filter(None, (case.when(file.kept_at), file.sent_by, ", ".join(file.flags)))))
        for file in case.files
    ]  # fmt: skip
    yield papers.Table((("File", 3), ("Kind and size", 3), ("SHA-256 as it came", 5), ("Kept, and sent by", 3)), rows)


# -- the log


def _log(case: Case) -> Iterator[papers.Part]:
    yield papers.Heading("The log: every event in the order it was recorded")
    yield papers.Words(
        "Each event has its place in the chain of the city's record: the hash of a record covers the event and, by the hash before it, "
        "everything that was recorded earlier. The file chain.jsonl holds what each hash is made of, and check_chain.py follows it: "
        "its last hash is one that checkpoints of the record, kept elsewhere, can be held against."
    )
    for spill, history in case.chapters:
        if len(case.chapters) > 1:
            yield papers.Heading(f"Of the report {spill.reference}", 2)
        pairs = []
        for row, event in history:
            says, details = sentence_of(case.record.house, spill, case.record.zone, event)
            happened = "" if row.happened_at == row.recorded_at else f" (happened {case.when(row.happened_at)})"
            said = [f"{case.when(row.recorded_at)}{happened}, {row.actor}: {says}", *details]
            place = case.places.get(row.id or 0)
            said += [f"Record {place.number} of the chain {place.chain}: {place.hash}"] if place else ["It has no place in any chain."]
            pairs.append((f"{row.id}", "\n".join(said)))
        for start in range(0, len(pairs), _PAIRS_AT_ONCE):
            yield papers.Pairs(pairs[start : start + _PAIRS_AT_ONCE])


# -- into volumes


def _clean(case: Case, part: papers.Part) -> papers.Part:
    """A part without what is kept out of this bundle."""
    text = case.text
    match part:
        case papers.Heading():
            return papers.Heading(text(part.text), part.level)
        case papers.Words():
            return papers.Words(text(part.text), part.quoted, part.strong)
        case papers.Pairs():
            return papers.Pairs([(text(label), text(value)) for label, value in part.pairs])
        case papers.Bullets():
            return papers.Bullets([text(item) for item in part.items])
        case papers.Table():
            return papers.Table(part.columns, [[text(cell) for cell in row] for row in part.rows])


def _split(parts: Sequence[papers.Part]) -> list[list[papers.Part]]:
    """Parts in volumes of bounded length; a table that is too long for one goes on in the next.

    A heading never ends a volume, and each begins with the one of the first level that it goes on under.
    """
    volumes: list[list[papers.Part]] = [[]]
    length, chapter = 0, ""
    for part in parts:
        for piece in _pieces(part):
            more = _length(piece)
            if length and length + more > _LONGEST_VOLUME:
                begun = _taken_back(volumes[-1])
                goes_on = [papers.Heading(f"{chapter} (continued)")] if not begun or begun[0].level > 1 else []
                volumes.append([*goes_on, *begun])
                length = 0
            volumes[-1].append(piece)
            length += more
            if isinstance(piece, papers.Heading) and piece.level == 1:
                chapter = piece.text
    return volumes


def _taken_back(volume: list[papers.Part]) -> list[papers.Heading]:
    """The headings at the end of a volume, which belong to what comes after them."""
    found: list[papers.Heading] = []
    while isinstance(last := volume[-1], papers.Heading):
        found.insert(0, last)
        volume.pop()
    return found


def _pieces(part: papers.Part) -> Iterator[papers.Part]:
    if not isinstance(part, papers.Table) or _length(part) <= _LONGEST_VOLUME // 4:
        yield part
        return
    rows: list[Sequence[str]] = []
    length = 0
    for row in part.rows:
        rows.append(row)
        length += sum(map(len, row))
        if length > _LONGEST_VOLUME // 4:
            yield papers.Table(part.columns, rows)
            rows, length = [], 0
    if rows:
        yield papers.Table(part.columns, rows)


def _length(part: papers.Part) -> int:
    match part:
        case papers.Heading() | papers.Words():
            return len(part.text)
        case papers.Pairs():
            return sum(len(label) + len(value) for label, value in part.pairs)
        case papers.Bullets():
            return sum(map(len, part.items))
        case papers.Table():
            return sum(len(cell) for row in part.rows for cell in row)
