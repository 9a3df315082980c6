"""Sensors: a city whose districts have them, and what they show each second.

Most of the time a sensor goes up and down a little; now and then one runs hot for some seconds,
sooner or later each of them.  The third one of a district stands in a cold store, where that must not be.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from math import sin

CITY = "http://livefacts.example/city#"
DISTRICTS = "North", "East", "South", "West", "Harbour", "Old_Town"
READINGS = f"{CITY}readings"
"""The stream of what sensors show."""
LIMIT = 35
EPISODE, BETWEEN = 8, 4
"""Seconds for which a sensor is hot, and after which the next one begins."""
SCHEMA = """\
@prefix city: <{city}> .
@prefix rdfs: <http://www.w3.org/2000/01/rdf-schema#> .
"""
RULES = (
    SCHEMA
    + """\
@id kinds   [?s, a, ?c] :- [?s, a, ?b], [?b, rdfs:subClassOf, ?c] .
@id hot     [?s, a, city:Hot] :- sometime [?s, city:shows, ?v] in [10], ?v > {limit} .
@id alert   [?d, a, city:Alert] :- [?s, a, city:Hot], [?s, city:in, ?d] .
@id spoiled false :- [?s, a, city:Hot], [?s, a, city:ColdStore] .
"""
).format(city=CITY, limit=LIMIT)
MEANS = f"""\
PREFIX city: <{CITY}>
REGISTER QUERY MeansOfDistricts COMPUTE EVERY 5s AS
SELECT ?district (AVG(?v) AS ?mean)
FROM STREAM <{READINGS}> [RANGE 15s STEP 5s]
WHERE {{ ?s city:shows ?v . ?s city:in ?district }}
GROUP BY ?district"""
ALERTS = f"SELECT ?district ?sensor {{ ?sensor a <{CITY}Hot> ; <{CITY}in> ?district }}"


@dataclass(frozen=True, slots=True)
class SensorCity:
    """So many sensors in each district."""

    each: int = 4

    def background(self) -> Iterator[bytes]:
        """What stands fast: where the sensors are, and of which kind."""
        subclass, kind = "rdf-schema#subClassOf", "1999/02/22-rdf-syntax-ns#type"
        below = f"<http://www.w3.org/2000/01/{subclass}>"
        for name in ("ColdStore", "Street"):
            yield f"<{CITY}{name}> {below} <{CITY}Sensor> .\n".encode()
        for number in range(self.count):
            name = "ColdStore" if number % self.each == 2 else "Street"
            district = DISTRICTS[number // self.each]
            yield (
                f"<{CITY}s{number}> <http://www.w3.org/{kind}> <{CITY}{name}> .\n"
                f"<{CITY}s{number}> <{CITY}in> <{CITY}{district}> .\n"
            ).encode()

    @property
    def count(self) -> int:
        """How many sensors there are."""
        return self.each * len(DISTRICTS)

    def readings(self, second: int) -> list[str]:
        """What all sensors show at a second, a triple each."""
        return [
            f"<{CITY}s{number}> <{CITY}shows> {self._degrees(number, second)} ."
            for number in range(self.count)
        ]

    def _degrees(self, number: int, second: int) -> int:
        begun = second // BETWEEN
        is_hot = any(
            (episode * 7) % self.count == number and second < episode * BETWEEN + EPISODE
            for episode in (begun, begun - 1)
        )
        return round(18 + 4 * sin(second / 9 + number) + (22 if is_hot else 0))
