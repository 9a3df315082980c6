"""Sources: messages from outside, read as they come, each once.

In: an address such as `mqtt://host/topic`, and a map from JSON to facts.
Out: events for a reasoner; how far a source was read is in the journal, in the rows of its changes.

- `message_contract`: the contract of a source: messages with positions, and a way to stop
- `lines`: standard input, and files that are followed as they grow
- `mqtt_topic`: topics of an MQTT broker
- `kafka_topic`: topics of Kafka, partition by partition
- `feed`: the door: an address to a source, and its messages to events

Design: docs/design/0020-sources.md
"""
