"""The words of messages: what happened where, what is owed to whom, by when in local time with its zone, what to do, and a link.

`alerts` words one message about one duty or several, `triage` asks for a person, `news` is for subscribers, `compose` fills any kind of the
table in `kinds` from its values. All of them in English or Spanish, by the city's own templates (`template`) or ours, as e-mail (`letter`),
text message of at most two segments (`short`) and for the ear (`aloud`).
"""

from service.speech import local
from service.wording.alerts import Alert, alert, alerts, held, triage
from service.wording.composing import Words, compose, ours
from service.wording.news import (
    News,
    advisory,
    confirmation,
    digest,
    due_facts,
    first_words,
    has_begun,
    near,
    stop_words,
    wanted_words,
)
from service.wording.reporting import for_reporter, from_reporter
from service.wording.responding import Owed, for_filer, for_respondent
from service.wording.short import Part, fitted
from service.wording.telling import METHOD_WORDS, due_words, happened, span, when
from service.wording.template import Own, Template, Values

__all__ = [
    "METHOD_WORDS", "Alert", "News", "Owed", "Own", "Part", "Template", "Values", "Words", "advisory", "alert", "alerts", "compose",
    "confirmation", "digest", "due_facts", "due_words", "first_words", "fitted", "for_filer", "for_reporter", "for_respondent",
    "from_reporter", "happened", "has_begun", "held", "local", "near", "ours", "span", "stop_words", "triage", "wanted_words", "when",
]  # fmt: skip
