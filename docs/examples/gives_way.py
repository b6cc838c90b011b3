"""A job that counts, saves every ten steps, and leaves in order when it is told to."""

import json
import os
import sys
import time
from pathlib import Path

from gpupool_giveway import GIVE_WAY, report_checkpoint, should_yield

LAST = int(os.environ.get("STEPS", "100000"))
FOLDER = Path(os.environ.get("CHECKPOINTS", "."))


def main() -> int:
    """0 when the work is done, 75 when it has to go on later."""
    first = int(os.environ.get("GPUPOOL_RESUME_STEP") or "0")
    print("from step", first, flush=True)
    for step in range(first, LAST):
        time.sleep(0.05)
        leave = should_yield()
        if leave or step % 10 == 0:
            path = FOLDER / "checkpoint.json"
            path.write_text(json.dumps({"step": step}), encoding="utf-8")
            report_checkpoint(step, str(path.resolve()))
        if leave:
            print("leaving at step", step, "as", leave["kind"], flush=True)
            return GIVE_WAY
    return 0


if __name__ == "__main__":
    sys.exit(main())
