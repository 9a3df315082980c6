"""Standards: what the server does as W3C says, so that programs of others understand it.

In: requests of the SPARQL 1.1 Protocol and of the Graph Store Protocol.
Out: rows and graphs in the format that a client wants most.

- `negotiation`: one table of media types, for what comes and what goes
- `service_description`: what the endpoint can do, in RDF
- `sparql_protocol`: queries and updates
- `graph_store`: graphs as resources
"""
