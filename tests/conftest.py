"""The verifier looks at every program between all passes."""

import os

os.environ.setdefault("SRCAD_CHECK", "1")
