"""A program and a query over a stream that Spark reads, beside a knowledge base."""

import json
import tempfile
from pathlib import Path

from livefacts.spark import Pipeline, session

EX = "http://example.org/"
home = Path(tempfile.mkdtemp())
(home / "plan.nt").write_text(f"<{EX}hall> <{EX}partOf> <{EX}house> .\n")
stream = home / "stream"
stream.mkdir()
(stream / "1.nq").write_text(
    "".join(
        f"<{EX}{who}> <{EX}isIn> <{EX}hall> <{EX}gates> {second} .\n"
        for who, second in [("ann", 1), ("ben", 2), ("ann", 9)]
    )
)

spark = session("local[2]", settings={"spark.sql.shuffle.partitions": "2"})
pipeline = Pipeline(spark, home / "kb", buckets=1)
pipeline.ingest(str(home / "plan.nt"))
pipeline.materialize(())
lines = spark.readStream.format("text").load(str(stream))
once = {"availableNow": True}

RULES = f"""
    @prefix : <{EX}> .
    [?who, :seenIn, ?house] :- sometime [?who, :isIn, ?place] in [3], [?place, :partOf, ?house] .
"""
print(pipeline.plan(RULES))
pipeline.run(RULES, source=lines, to=str(home / "seen"), format="jsonl", trigger=once).await_end()

QUERY = f"""
    REGISTER QUERY crowd AS PREFIX : <{EX}>
    SELECT ?house (COUNT(DISTINCT ?who) AS ?people) FROM STREAM <{EX}gates> [RANGE 4 STEP 2]
    WHERE {{ ?who :isIn ?place . ?place :partOf ?house }} GROUP BY ?house
"""
query = pipeline.register(QUERY, source=lines, to=str(home / "crowd"), format="jsonl", trigger=once)
query.await_end()

for name in ("seen", "crowd"):
    for path in sorted((home / name).glob("[0-9]*")):
        for line in path.read_text().splitlines():
            row = json.loads(line)
            print(row["time"], row.get("op", ""), row.get("fact", row.get("people")))
spark.stop()
