"""The law engine: facts in, legal clocks out. Pure: no clock, no files, no network; everything it needs is handed to it.

Read in this order: `facts` (the vocabulary), `conditions` (yes, no, unknown), `rulepack` and `rulebook` (the law as files), `calendars` and
`limits` (how time is counted), `clocks` (assess), `ladder` (whom to wake, and when).
"""

from deadlines.addresses import Gazetteer, State, read_states
from deadlines.agencies import Agency, agencies_of, packs_over
from deadlines.calendars import Calendar, CalendarGap, read_calendars
from deadlines.cases import Case, answer_of, answers_of, asked_of, failing, read_cases
from deadlines.clocks import Assessment, Clock, Question, as_z, assess
from deadlines.facts import FactFaults, Facts, Fault, read_facts, read_moment
from deadlines.ladder import PlannedRung, Rung, due_rungs, next_rung, plan
from deadlines.limits import told
from deadlines.places import Candidate, Place, Places, read_places
from deadlines.quantities import ReportableQuantities
from deadlines.reading import Mistake, PackError
from deadlines.rulebook import CityLaw, Rulebook, read_rulebook
from deadlines.rules import Recipient, Rule

__all__ = [
    "Agency", "Assessment", "Calendar", "CalendarGap", "Candidate", "Case", "CityLaw", "Clock", "FactFaults", "Facts", "Fault",
    "Gazetteer", "Mistake", "PackError", "Place", "Places", "PlannedRung", "Question", "Recipient", "ReportableQuantities", "Rule",
    "Rulebook", "Rung", "State", "agencies_of", "answer_of", "answers_of", "as_z", "asked_of", "assess", "due_rungs", "failing",
    "next_rung", "packs_over", "plan", "read_calendars", "read_cases", "read_facts", "read_moment", "read_places", "read_rulebook",
    "read_states", "told",
]  # fmt: skip
