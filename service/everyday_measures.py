"""What people compare an amount with, in US gallons: a reviewed table. Each row says what it rests on.

A thing of everyday life has no one size, so each is a range from a usual small one to a usual large one; the law is put to the upper end.
What has no bounds that neighbours would agree on (a puddle, a pool of something, a truckload, a tank) is left out on purpose: it stays
words, and a person estimates. A row is added with a source, or with the assumption written out.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction


@dataclass(frozen=True, slots=True)
class Measure:
    """A thing that amounts are compared with: its names (one of it, several of it), `low` and `high` in US gallons, and why these."""

    name: str
    low: Decimal
    high: Decimal
    one: Sequence[str]
    several: Sequence[str]
    rests_on: str


def _row(name: str, low: str, high: str, one: str, several: str, rests_on: str) -> Measure:
    return Measure(name, Decimal(low), Decimal(high), one.split("|"), several.split("|"), rests_on)


MEASURES: Sequence[Measure] = (
    _row(
        "bucket", "2", "5", "bucket|pail|bucketful|cubeta|balde|cubo|cubetada", "buckets|pails|bucketfuls|cubetas|baldes|cubos|cubetadas",
        "Assumption: household and mop buckets hold 2 to 3.5 gallons, the builder's pail 5.",
    ),
    _row(
        "bathtub", "36", "70", "bathtub|bath tub|bathtubful|banera|tina|tina de bano", 
        "bathtubs|bath tubs|bathtubfuls|baneras|tinas|tinas de bano",
        "USGS, How much water do you use at home: 36 gallons is a good average for a full tub. EPA WaterSense: a full one takes about 70.",
    ),
    _row(
        "drum", "55", "55", "drum|oil drum|steel drum|tambor|tambo|tanque de 55", "drums|oil drums|steel drums|tambores|tambos",
        "49 CFR 178.504 drums as sold: 55 US gallons is the usual one. A drum told with its size is read with that size.",
    ),
    _row(
        "barrel", "42", "55", "barrel|barril", "barrels|barriles",
        "The oil barrel is 42 gallons exactly; people also call the 55-gallon drum a barrel.",
    ),
    _row(
        "tote", "275", "330", "tote|ibc|ibc tote", "totes|ibcs|ibc totes",
        "Intermediate bulk containers as sold in the United States: 275 and 330 gallons.",
    ),
    _row(
        "garbage can", "13", "96", "garbage can|trash can|garbage bin|trash bin|wheelie bin|bote de basura",
        "garbage cans|trash cans|garbage bins|trash bins|wheelie bins|botes de basura",
        "Assumption: kitchen can 13 gallons, curbside can 32 to 50, wheeled cart up to 96.",
    ),
    _row(
        "trash bag", "13", "55", "trash bag|garbage bag|bolsa de basura", "trash bags|garbage bags|bolsas de basura",
        "Assumption: kitchen bag 13 gallons, drum liner 55, as sold.",
    ),
    _row(
        "wheelbarrow", "30", "60", "wheelbarrow|wheelbarrow load|wheelbarrow full|carretilla",
        "wheelbarrows|wheelbarrow loads|wheelbarrows full|carretillas",
        "Assumption: trays of 4 to 8 cubic feet, as sold (a cubic foot is 7.48 gallons).",
    ),
    _row(
        "pickup bed", "370", "600",
        "pickup bed|pickup truck bed|truck bed|pickup load|pickup truck load|caja de camioneta|cama de camioneta|batea de camioneta",
        "pickup beds|pickup truck beds|truck beds|pickup loads|pickup truck loads|cajas de camioneta|camas de camioneta",
        "Assumption: beds of full-size pickups filled level, 50 to 80 cubic feet.",
    ),
    _row(
        "dumpster", "400", "1620", "dumpster|contenedor de basura", "dumpsters|contenedores de basura",
        "Assumption: front-load dumpsters of 2 to 8 cubic yards (a cubic yard is 202 gallons).",
    ),
    _row(
        "wading pool", "30", "250", "wading pool|kiddie pool|baby pool|kids pool|piscina inflable|alberca inflable|chapoteadero",
        "wading pools|kiddie pools|baby pools|kids pools|piscinas inflables|albercas inflables|chapoteaderos",
        "Assumption: pools for small children, 4 to 8 feet across and 6 to 12 inches deep.",
    ),
    _row(
        "hot tub", "150", "500", "hot tub|jacuzzi|spa", "hot tubs|jacuzzis|spas",
        "Assumption: tubs for two to eight people, as sold.",
    ),
    _row(
        "swimming pool", "5000", "30000", "swimming pool|backyard pool|home pool|piscina|alberca",
        "swimming pools|backyard pools|home pools|piscinas|albercas",
        "Assumption: pools of houses, from above-ground (about 5,000 gallons) to a large one in the ground (about 30,000).",
    ),
    _row(
        "Olympic pool", "500000", "830000", "olympic pool|olympic swimming pool|olympic size pool|piscina olimpica|alberca olimpica",
        "olympic pools|olympic swimming pools|olympic size pools|piscinas olimpicas|albercas olimpicas",
        "World Aquatics facilities rules: 50 by 25 metres, 2 metres deep at least (660,000 gallons), 2.5 recommended; older pools less.",
    ),
    _row(
        "tank truck", "2000", "11600", "tank truck|tanker truck|water truck|pipa|camion cisterna",
        "tank trucks|tanker trucks|water trucks|pipas|camiones cisterna",
        "Assumption: water and vacuum trucks from 2,000 gallons, fuel trailers to 11,600.",
    ),
    _row(
        "water jug", "5", "5.3", "garrafon|garrafon de agua|water cooler jug", "garrafones|garrafones de agua|water cooler jugs",
        "The bottle of a water cooler: 5 gallons in the United States, 20 litres in Mexico.",
    ),
    _row(
        "milk jug", "1", "1", "milk jug|gallon jug|galonera", "milk jugs|gallon jugs|galoneras",
        "Sold by the gallon.",
    ),
    _row(
        "car's fuel tank", "10", "26", "car fuel tank|tank of gas|car tank of gas|tanque de gasolina de carro",
        "tanks of gas|car fuel tanks",
        "Assumption: cars from 10 gallons to pickups of 26.",
    ),
    _row(
        "toilet flush", "1.28", "5", "toilet flush|flush", "toilet flushes|flushes",
        "EPA WaterSense: 1.28 gallons; 1.6 by federal law since 1994; older toilets 3.5 to 5.",
    ),
    _row(
        "washing machine load", "14", "45", "washing machine load|load of laundry|washing machine full|lavadora",
        "washing machine loads|loads of laundry|lavadoras",
        "ENERGY STAR: about 14 gallons a load; older machines up to 45.",
    ),
)  # fmt: skip

# Units: the contract's own, and those that are exactly so many of one of them.
UNITS: Mapping[str, tuple[str, Fraction]] = {
    **dict.fromkeys(("gal", "gals", "gallon", "gallons", "us gallon", "us gallons", "galon", "galones"), ("gal", Fraction(1))),
    **dict.fromkeys(("l", "lt", "lts", "ltr", "ltrs", "liter", "liters", "litre", "litres", "litro", "litros"), ("L", Fraction(1))),
    **dict.fromkeys(("ml", "milliliter", "milliliters", "millilitres", "mililitro", "mililitros", "cc"), ("L", Fraction(1, 1000))),
    **dict.fromkeys(("bbl", "bbls"), ("bbl", Fraction(1))),
    **dict.fromkeys(
        ("m3", "cubic meter", "cubic meters", "cubic metre", "cubic metres", "metro cubico", "metros cubicos"), ("m3", Fraction(1))
    ),
    **dict.fromkeys(
        ("ft3", "cf", "cubic foot", "cubic feet", "cu ft", "pie cubico", "pies cubicos"), ("ft3", Fraction(1)),
    ),
    **dict.fromkeys(("yd3", "cubic yard", "cubic yards", "cu yd", "yarda cubica", "yardas cubicas"), ("ft3", Fraction(27))),
    **dict.fromkeys(("acre foot", "acre feet"), ("ft3", Fraction(43560))),
    **dict.fromkeys(("quart", "quarts", "qt", "qts", "cuarto de galon", "cuartos de galon"), ("gal", Fraction(1, 4))),
    **dict.fromkeys(("pint", "pints", "pt", "pinta", "pintas"), ("gal", Fraction(1, 8))),
    **dict.fromkeys(("cup", "cups", "cupful", "taza", "tazas"), ("gal", Fraction(1, 16))),
    **dict.fromkeys(
        ("fl oz", "fluid ounce", "fluid ounces", "onza liquida", "onzas liquidas"), ("gal", Fraction(1, 128)),
    ),
    **dict.fromkeys(("tablespoon", "tablespoons", "tbsp", "cucharada", "cucharadas"), ("gal", Fraction(1, 256))),
    **dict.fromkeys(("teaspoon", "teaspoons", "tsp", "cucharadita", "cucharaditas"), ("gal", Fraction(1, 768))),
}  # fmt: skip
