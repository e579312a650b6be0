#!/usr/bin/env python3
"""Tests what the playground does with hostile links and files, without storage, and in old browsers."""
import base64
import gzip
import json
import pathlib
import tempfile

from page_case import PAGE, PageCase, run_tests

HTML = "<img src=x onerror=\"document.title='broken into'\">"
TEXT = ".output y[1]\nFILL 1, R0\nSTORE R0, y[0]\n"
NOTICE = "(document.getElementById('notice')?.textContent ?? '')"


def link_of(value):
    """The fragment that carries a value, which need not be a program."""
    packed = gzip.compress(json.dumps(value).encode() if not isinstance(value, bytes) else value)
    return "#p=" + base64.urlsafe_b64encode(packed).decode().rstrip("=")


def exported(programs=None, exercises=None):
    return json.dumps({"format": "flashlab-playground", "version": 1, "programs": programs or {},
                       "exercises": exercises or {}})


class BadInput(PageCase):
    def import_file(self, browser, text):
        """Chooses a file as a user does. Returns the notice."""
        with tempfile.TemporaryDirectory() as folder:
            path = pathlib.Path(folder) / "work.json"
            path.write_text(text, encoding="utf-8")
            browser.click("nav [data-view=kept]")
            browser.evaluate("document.getElementById('notice').textContent = ''")
            field = browser.call("Runtime.evaluate", expression="document.getElementById('import')")["result"]
            browser.call("DOM.setFileInputFiles", files=[str(path)], objectId=field["objectId"])
            browser.wait(NOTICE + " !== ''")
        return browser.evaluate(NOTICE)

    def assert_not_broken_into(self, browser):
        self.assertEqual(browser.evaluate("[document.title, document.querySelectorAll('img, b').length]"), ["flashlab", 0])
        self.assertEqual(browser.errors, [])

    def test_links_that_hold_no_program_are_refused(self):
        for name, link, why in (
                ("much", link_of(b" " * 300_000_000), "more than 4 MB"),
                ("long", "#p=" + "A" * 1_900_000, ""),  # Chromium takes addresses of at most 2 MB
                ("a list", link_of([]), "no program"), ("null", link_of(None), "no program"),
                ("a number", link_of({"name": "a.toy", "text": 1}), "no program"),
                ("a long name", link_of({"name": "a" * 81, "text": ""}), "no program"),
                ("no text", link_of(b"\xff\xfe"), ""), ("no JSON", link_of(b"{"), "")):
            with self.subTest(name):
                browser = self.open(link)
                self.assertIn("This address cannot be followed", browser.evaluate(NOTICE))
                self.assertIn(why, browser.evaluate(NOTICE))
                self.assertIn("softmax", browser.evaluate("app.editor.text"))
                self.assertEqual(browser.errors, [])

    def test_a_link_whose_name_is_html_or_of_javascript_opens_as_text(self):
        for name in (HTML, "__proto__", "constructor", "toString"):
            with self.subTest(name):
                browser = self.open(link_of({"name": name, "text": TEXT}))
                self.assertEqual(browser.evaluate("[app.name, app.editor.text]"), [name, TEXT])
                browser.type("#text", TEXT + "; mine")
                browser.click("nav [data-view=kept]")
                self.assertEqual(json.loads(browser.evaluate("app.store.exported()"))["programs"][name], TEXT + "; mine")
                self.assert_not_broken_into(browser)

    def test_html_in_a_program_and_in_its_error_is_shown_as_text(self):
        browser = self.open(link_of({"name": "mine.toy", "text": f".pass {HTML}\n.name R0 = {HTML}\n" + TEXT}))
        browser.click("#run")
        browser.wait("document.getElementById('stop').hidden && document.getElementById('result').textContent !== ''")
        browser.type("#text", f"LOAD {HTML}, R0\n")
        browser.wait("document.querySelector('.problems li')")
        self.assert_not_broken_into(browser)

    def test_an_imported_file_of_10_mb_is_refused_and_changes_nothing(self):
        browser = self.open()
        browser.type("#text", "; mine")
        before = browser.evaluate("app.store.exported()")
        for size in (10_000_000, 20_000_000):
            self.assertIn("longer than 4 MB", self.import_file(browser, exported({"big.toy": "x" * size})))
        self.assertEqual(browser.evaluate("app.store.exported()"), before)
        self.assertEqual(browser.errors, [])

    def test_imported_names_of_html_are_text(self):
        browser = self.open()
        programs = {HTML: TEXT, "__proto__": TEXT}
        exercises = {HTML: {"points": 1e300}, "02_c00": {"points": 3, "passed": HTML, "hints": HTML}}
        self.assertEqual(self.import_file(browser, exported(programs, exercises)), "Imported.")
        kept = json.loads(browser.evaluate("app.store.exported()"))["programs"]
        self.assertEqual({name: kept[name] for name in programs}, programs)
        browser.click("nav [data-view=exercises]")
        self.assert_not_broken_into(browser)

    def test_full_storage_is_said_and_loses_nothing(self):
        browser = self.open()
        filled = browser.evaluate("""(() => {
          for (let size = 1 << 22; size >= 1; size >>= 1) {
            try { for (let i = 0; ; ++i) localStorage.setItem(`${size} ${i}`, "x".repeat(size)); } catch (error) {}
          }
          return Object.keys(localStorage).length;
        })()""")
        self.assertGreater(filled, 1)
        browser.type("#text", "; " + "kept in memory " * 100)
        browser.wait(NOTICE + ".includes('keeps nothing')")
        self.assertIn("kept in memory", browser.evaluate("app.store.exported()"))
        self.assertEqual(browser.errors, [])

    def test_forbidden_storage_is_said_and_loses_nothing(self):
        browser = self.open(before="Object.defineProperty(window, 'localStorage', "
                                   "{get() { throw new DOMException('', 'SecurityError'); }});")
        self.assertIn("keeps nothing (SecurityError)", browser.evaluate(NOTICE))
        browser.type("#text", "; kept in memory")
        self.assertIn("; kept in memory", browser.evaluate("app.store.exported()"))
        self.assertEqual(browser.errors, [])

    def test_what_was_kept_and_cannot_be_read_is_set_aside(self):
        for unreadable in ("{", "null", exported({"a.toy": 1}), exported().replace("1", "2")):
            with self.subTest(unreadable):
                browser = self.open(before=f"localStorage.setItem('flashlab-playground', {json.dumps(unreadable)});")
                self.assertIn('"flashlab-playground-unreadable"', browser.evaluate(NOTICE))
                browser.type("#text", "; mine")
                self.assertEqual(browser.evaluate("localStorage.getItem('flashlab-playground-unreadable')"), unreadable)

    def test_an_old_browser_is_told_what_it_lacks(self):
        browser = self.open(ready=False, before="delete window.DecompressionStream; delete window.Worker;")
        browser.wait(NOTICE + ".includes('too old')")
        self.assertIn("no Worker, DecompressionStream", browser.evaluate(NOTICE))

    def test_a_browser_that_cannot_read_the_scripts_is_told_so(self):
        with tempfile.TemporaryDirectory() as folder:
            newer = pathlib.Path(folder) / "newer.html"  # with a word that this browser cannot read
            text = PAGE.read_text(encoding="utf-8")
            self.assertEqual(text.count("class Stopped extends Error"), 1)
            newer.write_text(text.replace("class Stopped extends Error", "klass Stopped extends Error"), encoding="utf-8")
            browser = self.open(page=newer, ready=False)
            browser.wait(NOTICE + ".includes('cannot run the page')")


if __name__ == "__main__":
    run_tests()
