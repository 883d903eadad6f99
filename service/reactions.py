"""The one table: what follows an event, in order, in the transaction that recorded it. An exception undoes all of it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from service import board, escalation, fallback, following, held_reports, merging, news, obligations, photo_places, public_record, spills
from service.events import (
    ActionAsked,
    ActRecorded,
    AdvisoryIssued,
    DischargerNamed,
    FactsRecorded,
    FileKept,
    MessageFailed,
    MessageGaveUp,
    ObligationAcknowledged,
    ObligationMet,
    ObligationMoved,
    ObligationOpened,
    ObligationOverdue,
    ObligationWaived,
    ObligationWithdrawn,
    PlaceMoved,
    ReporterAdded,
    ReporterAnswered,
    ReportHeld,
    SpillClosed,
    SpillEvent,
    SpillMerged,
    SpillReopened,
    SpillUnmerged,
    TriageAsked,
)
from service.transaction import LastReaction, Reaction

REACTIONS: Mapping[type[SpillEvent], Sequence[Reaction]] = {
    FactsRecorded: [spills.take_facts, public_record.note, news.note, obligations.reassess, following.confirm],
    PlaceMoved: [spills.take_facts, public_record.note, news.note],
    ActRecorded: [spills.take_facts, public_record.note, obligations.reassess],
    AdvisoryIssued: [public_record.note],
    DischargerNamed: [spills.take_facts],
    TriageAsked: [escalation.ask_a_person],
    ReportHeld: [held_reports.tell_a_person],
    ObligationOpened: [escalation.begin, news.note],
    ObligationMoved: [escalation.begin, news.note],
    ObligationMet: [escalation.stop, news.note],
    ObligationWithdrawn: [escalation.stop, news.note],
    ObligationWaived: [escalation.stop, news.note],
    ObligationOverdue: [news.note],
    ObligationAcknowledged: [escalation.rest],
    MessageGaveUp: [fallback.suppress_refused, fallback.go_on],
    MessageFailed: [fallback.go_on],
    ReporterAdded: [following.tell_staff],
    ActionAsked: [following.tell_staff],
    FileKept: [photo_places.take_place],
    ReporterAnswered: [following.tell_reporter, merging.pass_on],
    SpillClosed: [public_record.note, following.tell_reporter, merging.pass_on],
    SpillMerged: [public_record.note],
    SpillUnmerged: [public_record.note],
    SpillReopened: [public_record.note, following.tell_reporter, merging.pass_on],
}

# What follows every event once all else in its transaction is done; see there what leaves a line as it is.
LAST_REACTIONS: Sequence[LastReaction] = (board.keep_up,)
