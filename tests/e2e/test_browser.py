#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The browser of the tests sees what it is there to see: controls on pages without a policy."""
import harness
import browser
import elsewhere

HOSTILE = "<title>still</title><img src=x onerror=\"document.title = 'ran'\">"
POLICY = ("<meta http-equiv=Content-Security-Policy content=\"default-src 'none'\">"
          "<script>document.title = 'ran'</script>")
DARK = "<style>@media (prefers-color-scheme: dark) { body { background: rgb(1, 2, 3) } }</style>"
BACKGROUND = "getComputedStyle(document.body).backgroundColor"


class Browser(harness.Case):
    def setUp(self):
        super().setUp()
        self.browser = browser.Browser(self)

    def show(self, text, **named):
        """A tab with this page."""
        page = self.browser.page(**named)
        self.assertEqual(page.open(elsewhere.Elsewhere(self, {"/": text}).origin + "/"), "")
        return page

    def test_script(self):
        """markup that is not escaped runs, and does not where scripts are off"""
        self.show(HOSTILE).until("document.title === 'ran'")
        page = self.show(HOSTILE, scripts=False)
        self.assertEqual(page.get("document.title"), "still")

    def test_complaints(self):
        """what violates a policy, is logged, thrown or asked is noticed"""
        page = self.show(POLICY)
        self.assertIn("Content Security Policy", page.complaints[0])
        page = self.show("<script>console.log('said'); setTimeout(() => alert('asked'));"
                         "throw new Error('thrown')</script>")
        while len(page.complaints) < 3:
            self.browser.read()
        for word in ("said", "asked", "thrown"):
            self.assertTrue(any(word in complaint for complaint in page.complaints), page.complaints)

    def test_look(self):
        """dark and light, and a phone's width that a page overflows"""
        seen = [self.show(DARK, scheme=scheme).get(BACKGROUND) for scheme in ("light", "dark")]
        self.assertEqual(seen, ["rgba(0, 0, 0, 0)", "rgb(1, 2, 3)"])
        page = self.show("<meta name=viewport content='width=device-width'>"
                         "<div style='width: 600px'>wide</div>", width=390)
        self.assertEqual(page.get(browser.OVERFLOW), True)

    def test_input(self):
        """a click reaches what can be seen only, and keys fill in a form and send it"""
        page = self.show("<form><input name=a><button name=b value=1>go</button></form>"
                         "<button id=under>under</button>"
                         "<div style='position: fixed; inset: 50% 0 0 0; background: red'></div>"
                         "<button id=none style='display: none'>none</button>", scripts=False)
        for name in ("under", "none"):
            page.get(f"document.querySelector('#{name}').style.position = 'fixed',"
                     f"document.querySelector('#{name}').style.top = '90%'")
            with self.assertRaises(AssertionError):
                page.click(f"#{name}")
        page.press("Tab")
        page.type("typed")
        page.press("Tab")
        page.press("Enter")
        page.until("location.search === '?a=typed&b=1'")

    def test_end(self):
        """nothing of it is left behind"""
        self.show("<p>here</p>")
        self.assertNotEqual(self.browser.processes(), [])
        self.doCleanups()
        self.assertEqual(self.browser.processes(), [])


if __name__ == "__main__":
    harness.main()
