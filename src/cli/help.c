// SPDX-License-Identifier: Apache-2.0
#include "cli/help.h"

#include <stdio.h>
#include <string.h>

#include "cli/cli.h"

static const char overview[] =
    "airlock gives AI coding agents git, and nothing more than they need of it.\n"
    "\n"
    "usage: airlock COMMAND [OPTIONS]\n"
    "\n"
    "  serve                  be an MCP server on standard input and output\n"
    "  call TOOL [JSON|-]     run one tool from the shell, through the same checks\n"
    "  tools [--json]         list the tools an agent would see\n"
    "  log [N]                show the last N tool executions\n"
    "  diff [N]               show what the last N tool executions changed\n"
    "  rollback [N]           undo the last N tool executions\n"
    "  policy explain TOOL [JSON]  which rule would decide a call, and how\n"
    "  doctor [--json]        what this machine offers, and how to mend what is missing\n"
    "\n"
    "  --help, -h             this text; airlock COMMAND --help tells more\n"
    "  --version              versions of airlock and git, and the kernel's confinement\n"
    "\n"
    "Try it in a repository:\n"
    "  airlock call git_status\n"
    "  airlock call git_log '{\"max_count\": 3, \"oneline\": true}'\n"
    "\n"
    "man airlock has everything.\n";

static const char journal_options[] =
    "  --audit FILE           the journal to read\n"
    "  --config FILE          the configuration that names it; both stand before the others\n";

static const char undo_options[] =
    "  --root DIR             a directory the agent works in, when it is not the top of this\n"
    "                         working tree\n"
    "  --audit FILE           the journal\n"
    "  --config FILE          the configuration to read\n";

static const char session_options[] =
    "  --root DIR             a directory the agent may work in; may be repeated. Default: the "
    "top\n"
    "                         of the working tree that holds the current directory\n"
    "  --toolset NAME         a toolset to offer; may be repeated. Default: git and\n"
    "                         workflow; of tools with the same name the earlier toolset's counts\n"
    "  --approval MODE        ask (default), allow or deny what changes a repository\n"
    "  --grant NAME           narrow the session to [grants.NAME] of the configuration\n"
    "  --tool LIST            let bash_command of the toolset shell run: command or all.\n"
    "                         Without it, and with read or write, it shows what would run\n"
    "  --command-timeout S    seconds after which it is stopped, 1 to 600. Default: 30\n"
    "  --no-git               take no checkpoints\n"
    "  -v                     say on standard error what each call does\n"
    "  --audit FILE           the journal to write\n"
    "  --config FILE          the configuration to read\n";

static const struct command_help {
    const char *name, *usage, *about, *shared_options, *own_options;
} commands[] = {
    { "serve", "airlock serve [OPTIONS]",
      "Speak MCP on standard input and output until the input ends. Clients start this by\n"
      "themselves; README.md shows how to tell each of them.\n",
      session_options, "" },
    { "call", "airlock call [OPTIONS] TOOL [JSON|-]",
      "Run one tool with the arguments in JSON, or from standard input with '-'. Without\n"
      "arguments they are {}. What needs approval is asked on the terminal.\n"
      "Exit codes: 0 done, 1 failed, 2 wrong usage or configuration, 3 not approved.\n",
      session_options, "  --json                 print the whole result object\n" },
    { "tools", "airlock tools [OPTIONS]", "List the tools of the chosen toolsets.\n",
      session_options,
      "  --json                 names, schemas, effects, risk and approval as JSON\n" },
    { "log", "airlock log [OPTIONS] [N]",
      "Show the last N tool executions, or all. airlock --tool-log [N] is the same.\n",
      journal_options,
      "  --json                 the lines as they are in the journal\n"
      "  --verify               check that no line was changed, removed, reordered or dropped\n"
      "  --follow               go on showing executions as they happen\n"
      "  --tool NAME            only this tool\n"
      "  --since WHEN           from then on: 2026-01-31, '2 hours ago', yesterday\n" },
    { "rollback", "airlock rollback [OPTIONS] [N]",
      "Put the repository of this directory back to before the last N tool executions that "
      "changed\n"
      "it (1 without N): files, index, references, stash, unfinished operations. The present is\n"
      "kept first, so a rollback can be rolled back. airlock --rollback[=N] is the same.\n"
      "Exit codes: 0 done, 1 refused or failed, 2 wrong usage or configuration.\n",
      undo_options,
      "  --dry-run              only say what would change\n"
      "  --force                also where what somebody else changed since would be lost\n"
      "  --redo                 undo the last rollback; once more, the one before it\n"
      "  -y, --yes              on a terminal, do not say what will change and ask\n" },
    { "diff", "airlock diff [OPTIONS] [N]",
      "Show what each of the last N tool executions changed in the repository of this\n"
      "directory (1 without N): the patch of its files, its index and its commits.\n",
      undo_options, "  --stat                 only how much, file by file\n" },
    { "policy", "airlock policy explain [OPTIONS] TOOL [JSON|-]",
      "Say what would become of a call: the decision, the rule it comes from, and what the rules\n"
      "looked at. The call is checked like any other; nothing is run and nobody is asked.\n"
      "Exit codes: 0 decided, 1 the call would fail before that, 2 wrong usage or configuration.\n",
      session_options, "  --json                 the same as an object\n" },
    { "doctor", "airlock doctor [OPTIONS]",
      "Say what this machine offers and how to mend what is missing. Exit code 0 when all that\n"
      "matters is there, else 1.\n",
      session_options, "  --json                 the findings as JSON\n" },
};

int al_help_overview(void)
{
    (void)fputs(overview, stdout);
    return AL_EXIT_OK;
}

int al_help_command(const char *command)
{
    for (size_t i = 0; i < AL_COUNT(commands); i++) {
        const struct command_help *help = &commands[i];

        if (strcmp(help->name, command) != 0)
            continue;
        (void)printf("usage: %s\n\n%s\n%s%s", help->usage, help->about, help->shared_options,
                     help->own_options);
        return AL_EXIT_OK;
    }
    (void)fprintf(stderr, "airlock: no help for '%s'; see airlock --help\n", command);
    return AL_EXIT_USAGE;
}
