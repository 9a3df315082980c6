"""A shop: users who follow each other, products, reviews and offers, of the shape of WatDiv's data.

Users are followed, and products bought, by a few far more often than by the others.  The queries
are stars around one thing, paths from thing to thing, and snowflakes: stars that paths connect.
"""

from __future__ import annotations

from collections.abc import Iterator
from random import Random

NAMESPACE = "http://livefacts.example/shop#"
CITIES, GENRES, RETAILERS = 40, 25, 30

QUERIES = {
    "star: products of a genre": "SELECT * { ?p a s:Product ; s:genre s:genre3 ; s:title ?t ; s:price ?c ; s:maker ?m }",
    "star: one product": "SELECT * { s:product7 s:title ?t ; s:price ?c ; s:genre ?g ; s:maker ?m }",
    "star: users of a city": "SELECT * { ?u s:city s:city5 ; s:name ?n ; s:age ?a ; s:likes ?p }",
    "star: what some have": "SELECT * { ?u s:city s:city5 ; s:name ?n OPTIONAL { ?u s:email ?e } }",
    "path: from a user": "SELECT * { s:user9 s:follows ?f . ?f s:likes ?p . ?p s:genre ?g }",
    "path: to a genre": "SELECT * { ?u s:follows ?f . ?f s:likes ?p . ?p s:genre s:genre24 . ?u s:city s:city39 }",
    "path: reviews of what is liked": "SELECT ?r ?w { s:user9 s:likes ?p . ?r s:about ?p ; s:writer ?w . ?w s:city ?c }",
    "snowflake: offers and reviews": "SELECT * { ?o s:product ?p ; s:retailer s:retailer3 ; s:offered ?c . "
    "?p s:genre s:genre3 ; s:title ?t . ?r s:about ?p ; s:rating 5 ; s:writer ?w . ?w s:city ?y }",
    "snowflake: friends who review": "SELECT * { ?r s:writer ?w ; s:rating ?n ; s:about ?p . ?p s:genre s:genre7 ; s:maker ?m . "
    "?w s:city s:city3 ; s:name ?x . ?w s:follows ?f . ?f s:likes ?p }",
    "snowflake: rated more than paid": "SELECT ?t ?c { ?r s:about ?p ; s:rating ?n . ?p s:title ?t ; s:genre s:genre1 ; "
    "s:price ?c . ?o s:product ?p ; s:offered ?d FILTER(?d < ?c && ?n >= 4) }",
    "best rated": "SELECT ?p (AVG(?n) AS ?a) (COUNT(*) AS ?k) { ?r s:about ?p ; s:rating ?n } GROUP BY ?p HAVING(COUNT(*) > 20)",
}


def lines(users: int, seed: int = 11) -> Iterator[str]:
    """The triples of a shop with so many users, as N-Triples; about forty for each."""
    random, products = Random(seed), users // 2

    def often(count: int) -> int:
        return int(count * random.random() ** 3)

    for number in range(products):
        yield from _about(f"product{number}", _product(random))
    for number in range(users):
        friends = {often(users) for _ in range(12)}
        liked = {often(products) for _ in range(6)}
        yield from _about(f"user{number}", _user(random, number, friends, liked))
    for number in range(3 * users):
        review = [
            ("about", f"product{often(products)}"),
            ("writer", f"user{random.randrange(users)}"),
        ]
        yield from _about(f"review{number}", [*review, ("rating", random.randint(1, 5))])
    for number in range(2 * users):
        offer = [("product", f"product{random.randrange(products)}"), ("offered", _price(random))]
        seller = f"retailer{random.randrange(RETAILERS)}"
        yield from _about(f"offer{number}", [*offer, ("retailer", seller)])


Said = list[tuple[str, str | int]]


def _product(random: Random) -> Said:
    return [
        ("a", "Product"),
        ("genre", f"genre{int(GENRES * random.random() ** 2)}"),
        ("title", f'"title {random.randrange(1_000_000)}"'),
        ("price", _price(random)),
        ("maker", f"maker{random.randrange(200)}"),
    ]


def _user(random: Random, number: int, friends: set[int], liked: set[int]) -> Said:
    said: Said = [
        ("a", "User"),
        ("name", f'"user {number}"'),
        ("age", random.randint(16, 90)),
        ("city", f"city{random.randrange(CITIES)}"),
    ]
    said += [("email", f'"user{number}@example.org"')] if random.random() < 0.5 else []
    said += [("follows", f"user{each}") for each in friends]
    return said + [("likes", f"product{each}") for each in liked]


def _price(random: Random) -> int:
    return random.randint(1, 500)


def _about(subject: str, said: Said) -> Iterator[str]:
    for name, value in said:
        predicate = (
            "http://www.w3.org/1999/02/22-rdf-syntax-ns#type" if name == "a" else NAMESPACE + name
        )
        if isinstance(value, int):
            term = f'"{value}"^^<http://www.w3.org/2001/XMLSchema#integer>'
        else:
            term = value if value[0] == '"' else f"<{NAMESPACE}{value}>"
        yield f"<{NAMESPACE}{subject}> <{predicate}> {term} ."
