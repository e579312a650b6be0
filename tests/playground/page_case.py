"""What the tests of the page have in common: their arguments, and opening the page."""
import argparse
import pathlib
import sys
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).parent))
from browser import Browser, find_browser  # noqa: E402  pylint: disable=wrong-import-position
from firefox import Firefox, find_firefox  # noqa: E402  pylint: disable=wrong-import-position

_parser = argparse.ArgumentParser(description="Tests the playground in a headless browser.")
_parser.add_argument("page", type=pathlib.Path)
_parser.add_argument("command", type=pathlib.Path)
_parser.add_argument("source", type=pathlib.Path)
_parser.add_argument("--firefox", action="store_true", help="in Firefox instead of Chromium")
_parser.add_argument("--screenshots", type=pathlib.Path, metavar="FOLDER")
_arguments, _tests = _parser.parse_known_args()

PAGE, COMMAND, SOURCE = (path.resolve() for path in (_arguments.page, _arguments.command, _arguments.source))
FIREFOX = _arguments.firefox


class PageCase(unittest.TestCase):
    def open(self, place="", page=PAGE, ready=True, **settings):
        browser = (Firefox if FIREFOX else Browser)(page.as_uri() + place, **settings)
        self.addCleanup(browser.close)
        if ready:
            browser.wait("document.documentElement?.dataset.ready === 'yes'")
        return browser

    def look(self, browser, name):
        """Writes a screenshot if a folder for them was named."""
        if _arguments.screenshots:
            _arguments.screenshots.mkdir(parents=True, exist_ok=True)
            browser.screenshot(_arguments.screenshots / f"{'firefox_' if FIREFOX else ''}{name}.png")


def run_tests():
    """Runs the tests of the calling file, or says that they are skipped and why."""
    found, name = (find_firefox(), "Firefox") if FIREFOX else (find_browser(), "Chromium")
    for missing, what in ((not PAGE.exists(), f"{PAGE} is not built; ./lab playground builds it, and downloads a "
                                              "Debian, so no build and no CI does"),
                          (found is None, f"there is no {name}")):
        if missing:
            print("test skipped: " + what)
            sys.exit(0)
    unittest.main(module="__main__", argv=[sys.argv[0], *_tests], verbosity=2)
