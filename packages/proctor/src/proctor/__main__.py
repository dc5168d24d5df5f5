"""python -m proctor"""

from proctor.cli import main

if __name__ == "__main__":
    main()
