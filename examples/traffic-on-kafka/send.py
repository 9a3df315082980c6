"""Sends what cars do to a topic of Kafka, as rows of RDF Patch: python send.py localhost:9092 traffic 1000"""

import random
import sys

from confluent_kafka import Producer

broker, topic, count = sys.argv[1], sys.argv[2], int(sys.argv[3])
producer = Producer({"bootstrap.servers": broker})
pick, where = random.Random(1), {}
for _ in range(count):
    car, road = pick.randrange(50), pick.randrange(8)
    rows = [
        f"A <http://example.org/car{car}> <http://example.org/stands_on> <http://example.org/road{road}> ."
    ]
    if car in where and where[car] != road:
        gone = where[car]
        rows.insert(
            0,
            f"D <http://example.org/car{car}> <http://example.org/stands_on> <http://example.org/road{gone}> .",
        )
    where[car] = road
    # Messages of one car have one key, and so one partition: they stay in their order.
    producer.produce(topic, "\n".join(rows).encode(), key=str(car))
    producer.poll(0)
producer.flush()
print(f"{count} messages sent; {len(where)} cars stand somewhere")
