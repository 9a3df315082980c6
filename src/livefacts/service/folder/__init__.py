"""A reasoner's folder: its state saved and read again, its journal repeated, its history.

In: a state; a folder with a checkpoint and a journal.
Out: a checkpoint; the same state again, or an earlier one.

- `saved_state`: the state out of a folder, and back as its next version
- `survey`: all facts of one moment, looked at piece by piece while changes go on
- `duplicate`: a copy of a folder, also beside who writes to it
- `checkpoints`: when versions are written, beside the running writer, and which history goes
- `creation`: what a folder was made with, compared with what is given now
- `history`: what has happened, and how things were, out of a journal
- `replay`: rows of a journal into a state again

Design: docs/design/0018-journal.md
"""
