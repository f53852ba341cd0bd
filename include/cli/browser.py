"""A headless Chromium for the browser tests: found on PATH, or installed where that is possible.

Standard library only. Where it can't be had, the browser tests say so themselves.
"""

import os
import shutil
import subprocess
from collections.abc import Callable

NAMES = ("chromium-headless-shell", "chromium", "chromium-browser", "google-chrome")
PACKAGES = ("chromium-headless-shell", "chromium")
INSTALL_SECONDS = 600

Say = Callable[[str], None]
Run = Callable[[list[str]], int]


def find_browser() -> str | None:
    """Return the path of a Chromium on PATH; None where there is none."""
    return next((path for name in NAMES if (path := shutil.which(name))), None)


def ensure_browser(*, say: Say) -> str | None:
    """Return a Chromium, installed from Debian's packages if need be; say why there is none."""
    found = find_browser()
    if found is not None:
        return found
    if os.geteuid() != 0 or shutil.which("apt-get") is None:
        say(
            "No Chromium was found, and it can be installed only as root with apt-get. Install "
            "the package chromium-headless-shell or chromium; browser tests need it."
        )
        return None
    install_browser(_apt_get, say=say)
    return find_browser()


def install_browser(apt_get: Run, *, say: Say) -> bool:
    """Install the first of Debian's packages that there is; return whether one was."""
    say("Installing Chromium for the browser tests …")
    apt_get(["update", "-qq"])
    for package in PACKAGES:
        if apt_get(["install", "-y", "-qq", "--no-install-recommends", package]) == 0:
            return True
    say(f"apt-get could not install {' or '.join(PACKAGES)}; browser tests need one of them.")
    return False


def _apt_get(arguments: list[str]) -> int:
    settings = ["-o", "DPkg::Lock::Timeout=60", "-o", "Dpkg::Use-Pty=0"]
    try:
        return subprocess.run(
            ["apt-get", *settings, *arguments],
            stdout=subprocess.DEVNULL,
            stdin=subprocess.DEVNULL,
            check=False,
            timeout=INSTALL_SECONDS,
        ).returncode
    except subprocess.TimeoutExpired:
        return 1
