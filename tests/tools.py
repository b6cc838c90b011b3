"""What the suite needs from the machine besides Python; run before anything is installed.

`python3 -m tests.tools` prints the one line that installs what is missing and exits 1; `--line`
only prints that line. It is written for any Python 3: it may be what finds Python too old.
"""

import glob
import os
import shutil
import subprocess
import sys

PACKAGES = "gcc libc6-dev make python3-venv chromium fonts-noto-cjk poppler-utils slapd ldap-utils"
LINE = "apt-get install -y --no-install-recommends " + PACKAGES


def missing():
    """Names of the tools that are not there, in words for a person."""
    path = os.environ.get("PATH", "") + ":/usr/sbin:/sbin:/usr/lib/openldap"
    needed = {
        "a C compiler": ("cc", "gcc", "clang"),
        "Chromium": ("chromium", "chromium-browser", "google-chrome"),
        "poppler (pdftotext)": ("pdftotext",),
        "slapd": ("slapd",),
    }
    found = [
        words
        for words, names in needed.items()
        if not any(shutil.which(name, path=path) for name in names)
    ]
    return found + ([] if _cjk_fonts() else ["CJK fonts"])


def _cjk_fonts():
    if shutil.which("fc-list"):
        listed = subprocess.run(["fc-list", ":lang=zh-cn"], stdout=subprocess.PIPE, check=False)
        return bool(listed.stdout.strip())
    return bool(glob.glob("/usr/share/fonts/**/*CJK*", recursive=True))


def main():
    """0 when nothing is missing."""
    if "--line" in sys.argv:
        print(LINE)
        return 0
    if sys.version_info < (3, 11):
        print("Python 3.11 or newer is needed; this is %d.%d." % sys.version_info[:2])
        return 1
    lacking = missing()
    if lacking:
        print("The tests need " + ", ".join(lacking) + ". Install with:\n  " + LINE)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
