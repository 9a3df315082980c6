"""The columns of facts as DataFrames: terms, where they come from, and what could not be read."""

TERMS, GRAPH = ("s", "p", "o"), "g"
LINE, FILE, REASON = "line", "file", "reason"
BAD_TEXT = "_corrupt_record"
"""What Spark calls the column of lines that it cannot read."""
ORIGIN = (FILE, LINE, REASON, BAD_TEXT)
HIDDEN_STARTS = (".", "_")
"""Files that Spark passes over in a folder."""
