"""Generated universities: a hundred thousand triples, loaded, closed and counted."""

import tempfile
from pathlib import Path

import livefacts as lf
from livefacts.generate import NAMESPACE, university

with tempfile.TemporaryDirectory() as folder:
    path = Path(folder) / "university.nt"
    with path.open("wb") as file:
        file.writelines(university(1, seed=0))
    reasoner = lf.Reasoner(rules="rho-df")
    reasoner.load(str(path))

print(f"{len(reasoner):,} facts are true")
answers = reasoner.query(f"""
    PREFIX ub: <{NAMESPACE}>
    SELECT ?class (COUNT(?x) AS ?members) WHERE {{
      VALUES ?class {{ ub:Person ub:Student ub:Faculty ub:Chair }} ?x a ?class
    }} GROUP BY ?class ORDER BY DESC(?members)
""")
for row in answers:
    print(row["class"].value.removeprefix(NAMESPACE), row["members"].value)
