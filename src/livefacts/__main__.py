"""`python -m livefacts`: the command line where the `livefacts` command is not on the path."""

from livefacts.cli import main

if __name__ == "__main__":
    main()
