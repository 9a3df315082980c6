"""RDF documents and RDF Patch: text to rows of ids, and back.

In: files of any RDF format; patches.
Out: rows of ids, rejected lines; and files again.

- `entities`: the plain entities that a DOCTYPE of RDF/XML may declare
- `nesting`: how deeply a document goes, looked at before a parser does
- `documents`: files of every RDF format to rows of ids
- `serializer`: rows of ids to files of every RDF format
- `patch`: RDF Patch, read and written
- `transactions`: the transactions of a patch, one by one
"""
