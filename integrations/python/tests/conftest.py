import os

from hypothesis import settings

# The wheel of tests may be built without optimisation, and other work may share the machine.
settings.register_profile("here", deadline=None, max_examples=int(os.environ.get("EXAMPLES", "60")))
settings.load_profile("here")
