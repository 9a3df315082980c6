"""Fuzzers: whatever comes in ends in an answer or in a LivefactsError, and the process lives.

    python -m tests.fuzzers rules --seconds 60      one of them; `make fuzzers` runs all

- `targets`: what is done with the bytes that a fuzzer makes up, one function for each way in
- `__main__`: runs them under atheris, which looks for bytes that take new ways through the code
- `test_inputs`: the inputs that are kept, without atheris
- `inputs/`: a folder for each target: where a fuzzer begins, and what it once found
"""
