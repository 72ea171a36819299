#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""A call that is killed between git's unlink and its write: the file that went is found again.

Run as killed.py says.
"""
import json

import killed


class Saved(killed.Killed):
    def test_restore(self):
        """a restore killed at its steps: each old content is in its place, or the next call names it"""
        old = {}
        for number in range(4):
            self.write(f"f{number}.txt", "committed\n")
        self.git("add", "-A")
        self.git("commit", "-qm", "files")
        for number in range(4):
            old[f"f{number}.txt"] = f"only here {number}\n"
            self.write(f"f{number}.txt", old[f"f{number}.txt"])
        self.keep()
        ways = set()

        def check():
            done = self.ok("git_status", {})
            said = done.text + done.notes
            for name, text in old.items():
                place = self.root / name
                self.assertTrue(place.exists(), name)  # whole, old or new
                if place.read_text() == text:
                    ways.add("there")
                    continue
                self.assertIn(place.read_text(), ("committed\n", ""))
                named = [line.split(": ", 1)[1] for line in said.splitlines()
                         if line.startswith(f"{place}: ")]
                if named:
                    ways.add("named")
                    with open(named[0], encoding="utf-8") as file:
                        self.assertEqual(file.read(), text)
                else:  # the call had looked at all that it took: its checkpoint has it
                    ways.add("done")
            if any((self.root / name).read_text() != text for name, text in old.items()):
                self.rollback("--force")
            for name, text in old.items():
                self.assertEqual((self.root / name).read_text(), text)

        self.walk(("call", "--root", str(self.root), "--approval", "allow", "git_restore",
                   json.dumps({"paths": ["."]})), check)
        print("#", sorted(ways))
        self.assertIn("named", ways)


if __name__ == "__main__":
    killed.harness.main()
