"""A graph of rdflib with a reasoner behind it: conclusions come and go, and events tell of them."""

from rdflib import RDF, RDFS, Graph, Namespace
from rdflib.store import TripleAddedEvent, TripleRemovedEvent

ZOO = Namespace("http://zoo.example/")

graph = Graph(store="livefacts")
graph.bind("zoo", ZOO)
graph.store.reasoner.add_rules("rdfs")
graph.add((ZOO.Lion, RDFS.subClassOf, ZOO.Carnivore))


def shown(triple):
    return " ".join(term.n3(graph.namespace_manager) for term in triple)


graph.store.dispatcher.subscribe(TripleAddedEvent, lambda e: print("  +", shown(e.triple)))
graph.store.dispatcher.subscribe(TripleRemovedEvent, lambda e: print("  -", shown(e.triple)))

print("a lion moves in")
graph.add((ZOO.leo, RDF.type, ZOO.Lion))

print("asked by SPARQL:")
for row in graph.query("SELECT ?who { ?who a zoo:Carnivore }"):
    print("  ", row.who.n3(graph.namespace_manager))

print("why:")
leo = f"<{ZOO.leo}> a <{ZOO.Carnivore}> ."
print(graph.store.reasoner.explain(leo))

print("and it moves out")
graph.remove((ZOO.leo, None, None))
