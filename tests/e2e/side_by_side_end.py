# SPDX-License-Identifier: Apache-2.0
"""The end of the agents' branches in side_by_side.py: they are compared and land one
after the other, one of them with a conflict; then a worktree is removed and brought back."""
import subprocess

import harness

LANDING = 4
SHARED = "shared.txt"


def everything_in(case, place):
    """Every byte of a worktree and of its administrative directory."""
    admin = case.common / "worktrees" / place.name
    return {str(path): path.read_bytes() for top in (place, admin)
            for path in sorted(top.rglob("*")) if path.is_file()}


class End:
    """The end of a day: `agents` have stopped, and each has its branch in a worktree of its own."""

    def __init__(self, case, agents):
        self.case, self.agents = case, agents
        self.landing = agents[:LANDING]
        self.server = case.server(case.root, "--agent", "lead", "--toolset", "parallel")

    def run(self):
        """All of it."""
        self.case.git("checkout", "-q", "-f", "main")
        for agent in self.landing:
            self.prepare(agent)
        everybody = self.snapshots()
        order = self.compare()
        for agent in order[:-1]:
            self.land(agent)
        self.untouched(everybody)
        if len(order) > 1:
            self.conflict(order[-1])
            self.untouched(everybody)
            self.resolve(order[-1])
        self.land(order[-1])
        self.assert_landed(order)
        self.bring_back(self.agents[-1])
        self.server.close()

    def snapshots(self):
        return {agent.name: agent.snapshot() for agent in self.agents}

    def untouched(self, before):
        """Landing changes nothing of anybody's."""
        for agent in self.agents:
            agent.assert_same(before[agent.name], agent.snapshot())

    def prepare(self, agent):
        """One more commit; the first two agents write different things to the same line."""
        agent.git("reset", "-q", "--hard")
        agent.commit()
        if agent.number <= 2:
            (agent.place / SHARED).write_text(f"{agent.name}\n", encoding="utf-8")
            agent.ok("git_add", paths=[SHARED])
            agent.ok("git_commit", type="fix", message=f"what is shared, by {agent.name}")

    def compare(self):
        """The branches, in the order to land them in; one that conflicts is the last."""
        names = [agent.name for agent in self.landing]
        text = self.server.ok("git_compare", {"branches": names}).text
        pairs = text.partition("Conflicts:\n")[2]
        if len(names) > 1:
            self.case.assertIn(f"  {names[0]} and {names[1]}: {SHARED}\n", pairs)
            self.case.assertEqual(pairs.count(" and "), 1, text)
        order = text.rsplit("Suggested order: ", 1)[1].strip().split(", ")
        self.case.assertEqual(sorted(order), sorted(names))
        by_name = {agent.name: agent for agent in self.landing}
        last = [name for name in order if name in names[:2]][-1]
        return [by_name[name] for name in order if name != last] + [by_name[last]]

    def land(self, agent):
        """A branch lands in main, and the main working tree comes along."""
        case, before = self.case, self.rev("main")
        result = self.server.ok("git_land", {"branch": agent.name})
        case.assertTrue(result.text.startswith("Landed "), result)
        case.assertEqual(case.out("rev-parse", "main^1", "main^2").split(), [before, self.rev(agent.name)])
        case.assertEqual(case.out("status", "--porcelain"), "")
        agent.count("landed")

    def rev(self, word):
        return self.case.out("rev-parse", word).strip()

    def conflict(self, agent):
        """The other one of the two names the file, and does nothing."""
        case, refs = self.case, self.case.out("for-each-ref")
        result = self.server.call("git_land", {"branch": agent.name})
        case.assertIn(f"conflict in 1 file\n  {SHARED} (contents)\n", result.text)
        case.assertEqual((case.out("for-each-ref"), case.out("status", "--porcelain")), (refs, ""))
        agent.count("conflict")

    def resolve(self, agent):
        """Its agent merges main, and decides what is shared."""
        result = agent.server.call("git_merge", {"branch": "main"})
        self.case.assertIn(SHARED, result.text)
        (agent.place / SHARED).write_text("agreed\n", encoding="utf-8")
        agent.ok("git_add", paths=[SHARED])
        agent.ok("git_commit", type="fix", message="agree")

    def assert_landed(self, order):
        """main has every commit of the branches, and the files that its agents wrote."""
        for agent in order:
            self.case.git("merge-base", "--is-ancestor", agent.name, "main")
            own = f"kept-{agent.number}.txt"
            self.case.assertEqual((self.case.root / own).read_bytes(), (agent.place / own).read_bytes())
        if len(order) > 1:
            self.case.assertEqual((self.case.root / SHARED).read_text(encoding="utf-8"), "agreed\n")

    def bring_back(self, agent):
        """The worktree of an agent goes with what is not committed, and a rollback brings it back."""
        case, name = self.case, agent.place.name
        (agent.place / "own.txt").write_text("staged\n", encoding="utf-8")
        agent.ok("git_add", paths=["own.txt"])
        (agent.place / "own.txt").write_text("not staged\n", encoding="utf-8")
        (agent.place / "untracked").mkdir()
        (agent.place / "untracked/file.txt").write_text("nobody else has this\n", encoding="utf-8")
        agent.server.close()
        before, refs = everything_in(case, agent.place), case.out("for-each-ref")
        others = {other.name: other.snapshot() for other in self.agents if other is not agent}
        self.server.ok("git_worktree", {"action": "remove", "name": name})
        case.assertFalse(agent.place.exists())
        done = subprocess.run([harness.AIRLOCK, "rollback"], cwd=case.root, env=case.env, text=True,
                              stdin=subprocess.DEVNULL, capture_output=True, check=False,
                              timeout=harness.WATCHDOG_SECONDS)
        case.assertEqual(done.returncode, 0, done)
        case.assertEqual(everything_in(case, agent.place), before)
        case.assertEqual(case.out("for-each-ref"), refs)
        for other in self.agents:
            if other is not agent:
                other.assert_same(others[other.name], other.snapshot())
        agent.count("brought back at the end")
