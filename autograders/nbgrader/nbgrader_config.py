import os
import pathlib
import sys

c = get_config()  # noqa: F821  nbgrader defines it
c.CourseDirectory.course_id = "flashlab"
c.ClearSolutions.code_stub = {"python": "; your program"}

secret = pathlib.Path(__file__).with_name("secret.txt").resolve()
os.environ["FLASHLAB_SECRET_FILE"] = str(secret)
if any("autograde" in word for word in sys.argv[:2]) and not secret.is_file():
    sys.exit(f"there is no {secret}: head -c 24 /dev/urandom | base64 > {secret}")
