"""The law engine: facts in, legal clocks out. Pure: no clock, no files, no network; everything it needs is handed to it.

Read in this order: `facts` (the vocabulary), `conditions` (yes, no, unknown), `rulepack` and `rulebook` (the law as files), `calendars` and
`limits` (how time is counted), `clocks` (assess), `ladder` (whom to wake, and when).
"""

from deadlines.calendars import Calendar, CalendarGap, read_calendars
from deadlines.clocks import Assessment, Clock, Question, as_z, assess
from deadlines.facts import FactFaults, Facts, Fault, read_facts, read_moment
from deadlines.ladder import PlannedRung, Rung, due_rungs, next_rung, plan
from deadlines.limits import told
from deadlines.places import Place, Places, read_places
from deadlines.quantities import ReportableQuantities
from deadlines.reading import Mistake, PackError
from deadlines.rulebook import CityLaw, Rulebook, read_rulebook
from deadlines.rulepack import Recipient, Rule

__all__ = [
    "Assessment", "Calendar", "CalendarGap", "CityLaw", "Clock", "FactFaults", "Facts", "Fault", "Mistake", "PackError", "Place", "Places",
    "PlannedRung", "Question", "Recipient", "ReportableQuantities", "Rule", "Rulebook", "Rung", "as_z", "assess", "due_rungs",
    "next_rung", "plan",
    "read_calendars", "read_facts", "read_moment", "read_places", "read_rulebook", "told",
]  # fmt: skip
