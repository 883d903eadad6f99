"""The words that times are told in, English and Spanish, without accents, as service/said_times.py reads them."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import timedelta


def phrases(*said: str) -> list[tuple[str, ...]]:
    """Phrases as rows of tokens, the longest first."""
    return sorted((tuple(phrase.split()) for phrase in said), key=len, reverse=True)


NOW = phrases(
    "just now", "right now", "now", "at the moment", "this minute", "this very moment", "ahora", "ahora mismo", "ahorita",
    "ahorita mismo", "en este momento", "justo ahora", "ahora justo", "just this minute",
)  # fmt: skip
TODAY = phrases("today", "hoy", "earlier today", "hoy mismo", "el dia de hoy", "hoy dia")
YESTERDAY = phrases("yesterday", "ayer", "el dia de ayer")
DAY_BEFORE = phrases("the day before yesterday", "day before yesterday", "anteayer", "antier", "antes de ayer")
NIGHT_BEFORE = phrases("the night before last", "night before last", "anteanoche", "antenoche")
LAST_NIGHT = phrases("last night", "anoche", "ayer en la noche", "ayer por la noche", "ayer noche", "yesterday night")
THIS = phrases("this", "esta", "este", "earlier this", "early this", "late this")
TONIGHT = phrases("tonight", "esta noche")
FILLERS = phrases(
    "about", "around", "approximately", "approx", "roughly", "maybe", "at", "on", "in", "the", "it was", "i saw it", "i noticed it",
    "saw it", "noticed it", "since", "from", "of", "sometime", "some time", "early", "late", "i think", "i saw", "first seen", "seen",
    "it started", "started", "like", "probably", "a eso de", "como", "alrededor de", "cerca de", "desde", "lo vi", "la vi", "lo note",
    "el", "la", "las", "los", "de", "del", "por", "en", "a", "al", "fue", "era", "eran", "mas o menos", "aproximadamente", "creo que",
    "empezo", "temprano", "tarde en", "desde las", "hacia", "sobre", "durante", "during", "ca", "between", "entre", ",", ".", "~", "(", ")",
    "!", "hrs", "horas", "o'clock", "en punto", "sharp", "y", "and", "ish", "- ish",
    "mas temprano", "h",
)  # fmt: skip

# Said before a count: about 2 hours ago, hace como 20 minutos.
ROUGHLY = phrases(
    "about", "around", "like", "maybe", "approximately", "approx", "roughly", "some", "almost", "nearly", "just", "only", "probably",
    "como", "unos", "unas", "aproximadamente", "mas o menos", "casi", "cerca de", "alrededor de", "apenas", "solo", "ya", "~",
)  # fmt: skip
# Since then all the time, and at some time since then.
FOR = phrases(
    "for", "for the last", "for the past", "the last", "the past", "it has been", "it's been", "durante los ultimos", "durante las ultimas",
    "durante la ultima", "lleva", "llevan",
)  # fmt: skip
WITHIN = phrases(
    "in the last", "in the past", "within the last", "within the past", "less than", "under", "en los ultimos", "en las ultimas",
    "en la ultima", "en el ultimo", "menos de",
)  # fmt: skip
AGO = phrases("ago", "back", "earlier", "atras", "now")
OR_SO = phrases("or so", "mas o menos", "o asi", "give or take", "aproximadamente")
# Between two counts: an hour or two, 5 to 10 minutes, 1 o 2 horas; between 5 and 10 minutes.
OR, BETWEEN = ("or", "o", "u", "to", "a", "-"), ("and", "y")
FEW = phrases(
    "a few", "few", "several", "unos cuantos", "unas cuantas", "unos pocos", "unas pocas", "algunos", "algunas", "varios", "varias",
    "pocos", "pocas",
)  # fmt: skip
# What "a few" of a span of time is at least and at most: never less than two, and seldom what the next larger span would be named for.
FEW_OF = {timedelta(minutes=1): (2, 15), timedelta(hours=1): (2, 6), timedelta(days=1): (2, 6)}
# Longer or shorter to each who says so, and within the time beside it to everybody.
WHILES = (
    (
        phrases(
            "a moment", "moments", "a few moments", "a second", "seconds", "a few seconds", "un momento", "un momentito", "unos momentos",
            "un instante", "unos instantes", "un minutito", "unos minutitos", "un segundo", "unos segundos",
        ),
        timedelta(minutes=15),
    ),
    (
        phrases(
            "a little while", "a short while", "a short time", "un ratito", "ratito", "poquito", "muy poco", "un poquito",
        ),
        timedelta(hours=2),
    ),
)  # fmt: skip

# Before the name of a day that has passed, and behind it: the last one there was.
PAST_DAY = phrases("this past", "past", "pasado", "ultimo")

# A part of a day: its hours from and to, and the hours of a twelve-hour clock that are told with it, as hours of the day.
PartOfDay = tuple[int, int, dict[int, int]]
MORNING = (5, 12, {hour: hour for hour in range(1, 12)})
AFTERNOON = (12, 18, {12: 12, **{hour: hour + 12 for hour in range(1, 7)}})
EVENING = (17, 22, {hour: hour + 12 for hour in range(4, 12)})
NIGHT = (19, 24, {hour: hour + 12 for hour in range(6, 12)})
TARDE = (12, 20, {12: 12, **{hour: hour + 12 for hour in range(1, 9)}})
SMALL_HOURS = (0, 6, {12: 0, **{hour: hour for hour in range(1, 7)}})
LAST_NIGHT_HOURS = {6: 18, 7: 19, 8: 20, 9: 21, 10: 22, 11: 23, 12: 24, 1: 25, 2: 26, 3: 27, 4: 28}

PARTS: Sequence[tuple[list[tuple[str, ...]], PartOfDay]] = (
    (phrases("in the morning", "morning", "de la manana", "por la manana", "en la manana", "a la manana"), MORNING),
    (phrases("in the afternoon", "afternoon"), AFTERNOON),
    (phrases("in the evening", "evening"), EVENING),
    (phrases("at night", "in the night", "night", "de la noche", "por la noche", "en la noche", "noche"), NIGHT),
    (phrases("de la tarde", "por la tarde", "en la tarde", "a la tarde", "tarde"), TARDE),
    (
        phrases("de la madrugada", "por la madrugada", "en la madrugada", "de madrugada", "madrugada", "in the small hours", "before dawn"),
        SMALL_HOURS,
    ),
)
NOON = phrases("noon", "midday", "noontime", "mediodia", "medio dia")
MIDNIGHT = phrases("midnight", "medianoche", "media noche")
WEEKDAYS = {
    "monday": 0, "tuesday": 1, "wednesday": 2, "thursday": 3, "friday": 4, "saturday": 5, "sunday": 6,
    "mon": 0, "tue": 1, "tues": 1, "wed": 2, "thu": 3, "thur": 3, "thurs": 3, "fri": 4, "sat": 5, "sun": 6,
    "lunes": 0, "martes": 1, "miercoles": 2, "jueves": 3, "viernes": 4, "sabado": 5, "domingo": 6,
}  # fmt: skip
MONTHS = {
    "january": 1, "february": 2, "march": 3, "april": 4, "may": 5, "june": 6, "july": 7, "august": 8, "september": 9, "october": 10,
    "november": 11, "december": 12,
    "jan": 1, "feb": 2, "mar": 3, "apr": 4, "jun": 6, "jul": 7, "aug": 8, "sep": 9, "sept": 9, "oct": 10, "nov": 11, "dec": 12,
    "enero": 1, "febrero": 2, "marzo": 3, "abril": 4, "mayo": 5, "junio": 6, "julio": 7, "agosto": 8, "septiembre": 9, "setiembre": 9,
    "octubre": 10, "noviembre": 11, "diciembre": 12, "ene": 1, "abr": 4, "ago": 8, "dic": 12,
}  # fmt: skip
SPANS = {
    **dict.fromkeys(("minute", "minutes", "min", "mins", "minuto", "minutos"), timedelta(minutes=1)),
    **dict.fromkeys(("hour", "hours", "hr", "hrs", "h", "hora", "horas"), timedelta(hours=1)),
    **dict.fromkeys(("day", "days", "dia", "dias"), timedelta(days=1)),
    **dict.fromkeys(("week", "weeks", "semana", "semanas"), timedelta(days=7)),
}
