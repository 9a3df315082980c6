"""RDF documents and RDF Patch: text to rows of ids, and back.

- `documents`: RDF files in and out: every format that pyoxigraph reads, as rows of ids
- `entities`: Entities of RDF/XML: the short names for IRIs that a DOCTYPE may declare, and no more
- `patch`: RDF Patch: changes as text, one row a line
- `serializer`: RDF files out: rows of ids as a file in any format, packed if its name says so
- `transactions`: Pieces of a patch: its transactions one by one, so that changes can be made as they come
"""
