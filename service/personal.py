"""Which parts of an event may tell of a person: the one table. They are sealed apart, so that they can be destroyed with the chain whole.

Personal are names, telephone numbers, e-mail and other addresses of anybody, and words that people write freely, for nobody knows what they
hold. What the law is counted by, numbers, moments and the choices of closed lists are not. The rest is OPEN, field by field.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from service import events as e

# What stands in for words that were destroyed; addresses and numbers that were become empty, as where none is known.
REMOVED = "(removed)"
_BOTH = {"en": REMOVED, "es": "(eliminado)"}
_NOWHERE = {"lat": None, "lon": None, "address": REMOVED}

# Kind of event -> its personal fields, each with what stands in for it once it was destroyed.
PERSONAL: Mapping[str, Mapping[str, Any]] = {
    e.ReportReceived.kind: {"raw": None},
    e.ReportReleased.kind: {"reason": REMOVED},
    e.FactsRecorded.kind: {"reason": REMOVED},
    e.PlaceMoved.kind: {"before": _NOWHERE, "after": _NOWHERE, "reason": REMOVED, "flags": []},
    e.ActRecorded.kind: {"note": REMOVED},
    e.AssessmentFailed.kind: {"problem": REMOVED},
    e.TriageAsked.kind: {"reason": REMOVED},
    e.DischargerNamed.kind: {"name": REMOVED, "email": "", "phone": ""},
    e.ObligationWithdrawn.kind: {"reason": REMOVED},
    e.ObligationWaived.kind: {"reason": REMOVED},
    e.ObligationAcknowledged.kind: {"person": REMOVED},
    e.FollowUpFiled.kind: {"by": REMOVED, "content": {}, "title": REMOVED, "reason": REMOVED, "attachments": []},
    e.FollowUpCertified.kind: {"by": REMOVED, "title": REMOVED},
    e.LinkIssued.kind: {"name": REMOVED, "email": "", "phone": ""},
    e.LinkSent.kind: {"name": REMOVED},
    e.LinkReplaced.kind: {"name": REMOVED},
    e.LinkEnded.kind: {"name": REMOVED},
    e.AdvisoryIssued.kind: {"words": _BOTH, "area": {}},  # the middle of its circle is the place of the spill to the metre
    e.ReporterAdded.kind: {"text": REMOVED},
    e.ReporterAnswered.kind: {"words": _BOTH},
    e.FileKept.kind: {"name": REMOVED, "by": REMOVED, "place": None},
    e.FilesLeftOut.kind: {"files": []},
    e.SpillClosed.kind: {"words": _BOTH},
    e.SpillReopened.kind: {"words": _BOTH},
    e.SpillMerged.kind: {"reason": REMOVED},
    e.DuplicateTaken.kind: {"reason": REMOVED},
    e.SpillUnmerged.kind: {"reason": REMOVED},
    e.DuplicateGivenBack.kind: {"reason": REMOVED},
    e.SpillSplit.kind: {"reason": REMOVED},
    e.SplitOff.kind: {"reason": REMOVED},
    e.SpillForwarded.kind: {"words": REMOVED, "by": REMOVED},
    e.ForwardAnswered.kind: {"notes": REMOVED},
    e.SpillReferred.kind: {"contact": REMOVED, "sent": REMOVED, "because": REMOVED},
    e.OfficerAssigned.kind: {"officer": "", "before": ""},
    e.CauseFound.kind: {"note": REMOVED},
    e.ParticularsRecorded.kind: {"changes": {}, "reason": REMOVED},
    e.PersonalDestroyed.kind: {"reason": REMOVED, "instead": {}},
    e.HoldPlaced.kind: {"reason": REMOVED},
    e.HoldLifted.kind: {"reason": REMOVED},
    e.RecordDestroyed.kind: {"reason": REMOVED},
    e.AcknowledgementExpired.kind: {"person": REMOVED},
    e.RungReached.kind: {"told": []},
    e.RungRested.kind: {"person": REMOVED},
    e.RungReachedNobody.kind: {"reason": REMOVED},
    e.MessageAccepted.kind: {"person": REMOVED},
    e.MessageGaveUp.kind: {"person": REMOVED, "reason": REMOVED},
    e.MessageArrived.kind: {"person": REMOVED},
    e.MessageFailed.kind: {"person": REMOVED, "reason": REMOVED},
    e.ChannelChanged.kind: {"person": REMOVED},
    e.ReplyReceived.kind: {"person": REMOVED, "sender": "", "text": REMOVED},
    e.EscalationAsked.kind: {"person": REMOVED},
    e.AddressSuppressed.kind: {"person": REMOVED, "address": "", "detail": REMOVED},
    e.AddressRestored.kind: {"person": REMOVED, "address": "", "reason": REMOVED},
}

# What is not personal, field by field: numbers, moments, facts of the law, codes and words of closed lists, text of the law, digests.
OPEN: Mapping[str, tuple[str, ...]] = {
    e.ReportReceived.kind: ("by_way_of", "flags"),  # the flags are of a closed list: what looks automatic
    e.ReportHeld.kind: ("doubts", "until"),
    e.FactsRecorded.kind: ("changes", "sources"),
    e.PlaceMoved.kind: ("city",),
    e.ActRecorded.kind: ("act",),
    e.ObligationOpened.kind: ("obligation", "clock"),
    e.ObligationMoved.kind: ("obligation", "before", "clock", "replanned", "calendar", "regrouped"),
    e.ObligationWithdrawn.kind: ("obligation", "duty"),
    e.ObligationMet.kind: ("obligation", "duty", "met_at", "late_by_s"),
    e.ObligationOverdue.kind: ("obligation", "duty", "due_at"),
    e.ObligationWaived.kind: ("obligation", "duty"),
    e.ObligationAcknowledged.kind: ("obligation", "duty"),
    e.FollowUpSaved.kind: ("obligation", "duty", "version"),
    e.FollowUpFiled.kind: (
        "obligation", "duty", "version", "missing", "on_time", "late_by_s", "certification", "amends", "due_at", "after_met",
    ),
    e.FollowUpCertified.kind: ("obligation", "duty", "version", "certification"),
    e.LinkIssued.kind: ("link",),
    e.LinkSent.kind: ("link", "by"),
    e.LinkReplaced.kind: ("link",),
    e.LinkEnded.kind: ("link",),
    e.AdvisoryIssued.kind: ("advisory", "advisory_kind", "follows"),
    e.AdvisorySent.kind: ("advisory", "advisory_kind", "people"),
    e.ReporterAdded.kind: ("photos",),
    e.ContactCorrected.kind: ("ways",),
    e.SaidToBeSame.kind: ("other",),
    e.CopyAsked.kind: ("language",),
    e.ActionAsked.kind: (),
    e.ReporterAnswered.kind: ("office",),
    e.FileKept.kind: ("file", "purpose", "media_type", "size", "digest", "flags", "obligation", "version"),
    e.SpillClosed.kind: ("office", "left_open"),
    e.SpillReopened.kind: ("office",),
    e.SpillMerged.kind: ("into", "dropped"),
    e.DuplicateTaken.kind: ("other", "took"),
    e.SpillUnmerged.kind: ("parted_from",),
    e.DuplicateGivenBack.kind: ("other", "returned", "stays"),
    e.SpillSplit.kind: ("part",),
    e.SplitOff.kind: ("origin", "acts"),
    e.SpillForwarded.kind: ("where", "number"),
    e.ForwardAnswered.kind: ("where", "number", "status"),
    e.SpillReferred.kind: ("agency", "how"),
    e.CauseFound.kind: ("cause", "source", "before"),
    e.ParticularsRecorded.kind: ("source",),
    e.PersonalDestroyed.kind: ("events", "basis"),
    e.HoldPlaced.kind: ("hold",),
    e.HoldLifted.kind: ("hold",),
    e.RecordDestroyed.kind: ("counts", "law", "allowed_from", "head"),
    e.ForgetAsked.kind: ("kept_by",),
    e.ReporterForgotten.kind: ("counts",),
    e.RungHeld.kind: ("obligation", "duty", "steps", "until", "plan"),
    e.AcknowledgementExpired.kind: ("obligation", "duty", "acknowledged_at", "steps"),
    e.RungReached.kind: ("obligation", "duty", "steps", "at_once"),
    e.RungRested.kind: ("obligation", "duty", "steps", "acknowledged_at", "until", "plan"),
    e.RungReachedNobody.kind: ("obligation", "duty", "steps"),
    e.MessageAccepted.kind: ("message", "obligation", "channel", "step", "may_be_double", "carried_by"),
    e.MessageGaveUp.kind: ("message", "obligation", "channel", "step", "carried_by"),
    e.MessageArrived.kind: ("message", "obligation", "channel", "step", "status"),
    e.MessageFailed.kind: ("message", "obligation", "channel", "step", "silent"),
    e.ChannelChanged.kind: ("message", "obligation", "before", "after", "step"),
    e.ReplyReceived.kind: ("channel", "meaning", "message"),
    e.EscalationAsked.kind: ("obligation", "duty", "message"),
    e.AddressSuppressed.kind: ("channel", "reason"),
    e.AddressRestored.kind: ("channel",),
}  # fmt: skip

# Among the sealed fields of an event: who did it, where that is no member of staff by their account. No event has a field of this name.
ACTOR = "actor"
_BY_WAY_OF = (" (text message)", " (telephone)", " (link in a mail)")


def parted(kind: str, payload: Mapping[str, Any], actor: str) -> tuple[dict[str, Any], str, dict[str, Any] | None]:
    """An event in its two parts: the open fields, the open name of who did it, and what is sealed apart; None where nothing is."""
    personal = PERSONAL.get(kind, {})
    sealed = {field: payload[field] for field in personal if payload.get(field)}
    shown = _without_name(actor)
    if shown != actor:
        sealed[ACTOR] = actor
    return {field: value for field, value in payload.items() if field not in sealed}, shown, sealed or None


def rejoined(kind: str, opened: Mapping[str, Any], sealed: Mapping[str, Any] | None, *, destroyed: bool) -> dict[str, Any]:
    """The whole payload of an event, with stand-ins for what was sealed where that was destroyed."""
    if sealed:
        return {**opened, **{field: value for field, value in sealed.items() if field != ACTOR}}
    return {**PERSONAL.get(kind, {}), **opened} if destroyed else dict(opened)


def _without_name(actor: str) -> str:
    """Who did it, without the name or number of somebody who has no account."""
    _, named, spill = actor.rpartition(", discharger of ")
    if named:
        return f"discharger of {spill}"
    return next((f"somebody{way}" for way in _BY_WAY_OF if actor.endswith(way)), actor)
