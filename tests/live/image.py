"""The image is built as the Dockerfile says, without a container engine, on a base of Debian's packages. Only with --long."""
import os
import shutil
import subprocess
import sys
import tempfile

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "support"))

from live import Skip, check, main

TOP = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..")
SECONDS = 1500


def test_the_image_is_built_and_its_program_runs():
    if not os.environ.get("PGWICKET_LONG"):
        raise Skip("takes minutes and 2 GB: with --long")
    for tool in ("buildah", "debootstrap"):
        if shutil.which(tool) is None:
            raise Skip(f"{tool} is not installed")
    with tempfile.TemporaryDirectory(dir="/var/tmp", ignore_cleanup_errors=True) as folder:
        done = subprocess.run([TOP + "/deploy/image-without-engine", folder], capture_output=True, text=True, check=False, timeout=SECONDS)
    check(done.returncode == 0, done.stdout[-2000:] + done.stderr[-2000:])
    check(done.stdout.strip().splitlines()[-1].startswith("pgwicket "), done.stdout[-200:])


if __name__ == "__main__":
    sys.exit(main(globals()))
