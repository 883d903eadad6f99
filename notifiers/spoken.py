"""A text for the eye made one for the ear: references and telephone numbers sign by sign, times in words, links left out.

A text that was written for the ear comes through as it is.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from notifiers.message import one_line

_LINK = re.compile(r"\bhttps?://\S+")
_REFERENCE = re.compile(r"\b[A-Z]{1,4}(?:-\d{2,6})+\b")
_TELEPHONE = re.compile(r"(?:\+1[ .-]?|\b1[ .-])?(?:\(\d{3}\) ?|\b\d{3}[.-])\d{3}[.-]\d{4}\b|\+\d{8,15}\b|\b911\b")
_TIME = re.compile(r"\b([01]?\d|2[0-3]):([0-5]\d)(?::[0-5]\d)?(?:\s?([AaPp])\.?\s?[Mm]\b\.?)?")
_ZONE = re.compile(r"\b(?:[PMCE][SD]T|UTC)\b")
_DATE = re.compile(r"\b(?:(Mon|Tue|Wed|Thu|Fri|Sat|Sun) )?(Jan|Feb|Mar|Apr|May|Jun|Jul|Aug|Sep|Oct|Nov|Dec) (\d{1,2})\b")
_UNIT = re.compile(r"(?<=\d )(gal|ft3|m3|lb|bbl|kg|L)\b")
_THOUSANDS = re.compile(r"(?<=\d),(?=\d{3}\b)")


@dataclass(frozen=True, slots=True)
class _Tongue:
    numbers: tuple[str, ...]  # 0 to 59
    zones: dict[str, str]
    days: tuple[str, ...]
    months: tuple[str, ...]
    units: dict[str, str]


_ENGLISH_SMALL = (
    "zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen seventeen eighteen nineteen"
)
_SPANISH_SMALL = (
    "cero uno dos tres cuatro cinco seis siete ocho nueve diez once doce trece catorce quince dieciséis diecisiete dieciocho diecinueve "
    "veinte veintiuno veintidós veintitrés veinticuatro veinticinco veintiséis veintisiete veintiocho veintinueve"
)
_DAYS = "Mon Tue Wed Thu Fri Sat Sun"
_MONTHS = "Jan Feb Mar Apr May Jun Jul Aug Sep Oct Nov Dec"


def _numbers(small: str, tens: tuple[str, ...], joint: str) -> tuple[str, ...]:
    ones = small.split()
    return (*ones, *(f"{ten}{joint}{ones[one]}" if one else ten for ten in tens for one in range(10)))


_ENGLISH = _Tongue(
    _numbers(_ENGLISH_SMALL, ("twenty", "thirty", "forty", "fifty"), " "),
    {"P": "Pacific time", "M": "Mountain time", "C": "Central time", "E": "Eastern time", "U": "universal time"},
    ("Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday"),
    (
        "January",
        "February",
        "March",
        "April",
        "May",
        "June",
        "July",
        "August",
        "September",
        "October",
        "November",
        "December",
    ),
    {"gal": "gallons", "ft3": "cubic feet", "m3": "cubic meters", "lb": "pounds", "bbl": "barrels", "kg": "kilograms", "L": "liters"},
)
_SPANISH = _Tongue(
    _numbers(_SPANISH_SMALL, ("treinta", "cuarenta", "cincuenta"), " y "),
    {"P": "hora del Pacífico", "M": "hora de la montaña", "C": "hora del centro", "E": "hora del este", "U": "hora universal"},
    ("lunes", "martes", "miércoles", "jueves", "viernes", "sábado", "domingo"),
    (
        "enero",
        "febrero",
        "marzo",
        "abril",
        "mayo",
        "junio",
        "julio",
        "agosto",
        "septiembre",
        "octubre",
        "noviembre",
        "diciembre",
    ),
    {"gal": "galones", "ft3": "pies cúbicos", "m3": "metros cúbicos", "lb": "libras", "bbl": "barriles", "kg": "kilogramos", "L": "litros"},
)
_DAY_NUMBERS = {name: number for number, name in enumerate(_DAYS.split())}
_MONTH_NUMBERS = {name: number for number, name in enumerate(_MONTHS.split())}


def spoken(text: str, language: str) -> str:
    """Return a written text as it is read out, in one line; `language` is "en" or "es" (any other is read as English).

    SP-2026-00042 becomes "S P, two zero two six, zero zero zero four two"; 3:05 PM PST becomes "three oh five P M Pacific time".
    """
    is_spanish = language == "es"
    tongue = _SPANISH if is_spanish else _ENGLISH
    heard = _LINK.sub("", text)
    heard = _REFERENCE.sub(lambda found: _sign_by_sign(found[0], tongue), heard)
    heard = _TELEPHONE.sub(lambda found: _sign_by_sign(found[0], tongue), heard)
    heard = _DATE.sub(lambda found: _date(found, tongue, is_spanish=is_spanish), heard)
    heard = _TIME.sub(lambda found: _time(found, tongue, is_spanish=is_spanish), heard)
    heard = _ZONE.sub(lambda found: tongue.zones[found[0][0]], heard)
    heard = _UNIT.sub(lambda found: tongue.units[found[0]], _THOUSANDS.sub("", heard))
    return re.sub(r"\s+", " ", one_line(heard)).strip()


def _sign_by_sign(written: str, tongue: _Tongue) -> str:
    groups = re.findall(r"[A-Z]+|\d+", written)
    return ", ".join(" ".join(tongue.numbers[int(sign)] if sign.isdigit() else sign for sign in group) for group in groups)


def _date(found: re.Match[str], tongue: _Tongue, *, is_spanish: bool) -> str:
    weekday, month = tongue.days[_DAY_NUMBERS[found[1]]] if found[1] else "", tongue.months[_MONTH_NUMBERS[found[2]]]
    day = f"{found[3]} de {month}" if is_spanish else f"{month} {found[3]}"
    return f"{weekday} {day}".strip()


def _time(found: re.Match[str], tongue: _Tongue, *, is_spanish: bool) -> str:
    hour, minute, half = int(found[1]), int(found[2]), (found[3] or "").upper()
    if is_spanish:
        return _spanish_time(hour, minute, half, tongue)
    told = tongue.numbers[hour]
    if minute:
        told += f" {'oh ' if minute < 10 else ''}{tongue.numbers[minute]}"
    elif not half:
        told += " hundred hours"
    return f"{told} {half} M" if half else told


def _spanish_time(hour: int, minute: int, half: str, tongue: _Tongue) -> str:
    told = "una" if hour == 1 else tongue.numbers[hour]
    if minute:
        told += f" y {tongue.numbers[minute]}"
    elif not half:
        told += " horas"
    if half == "A":
        return f"{told} de la {'noche' if hour == 12 else 'mañana'}"
    if half == "P":
        return f"{told} de la {'noche' if 8 <= hour < 12 else 'tarde'}"
    return told
