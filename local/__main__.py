"""`python -m local`."""

import sys
from pathlib import Path

# The package stands in shared/, as the layer packs it; a checkout is run without being installed.
sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "shared"))

from local.cli import main

if __name__ == "__main__":
    sys.exit(main())
