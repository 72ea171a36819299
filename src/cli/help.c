// SPDX-License-Identifier: Apache-2.0
#include "cli/help.h"

#include <string.h>
#include <unistd.h>

#include "base/mem.h"
#include "base/nearest.h"
#include "base/str.h"
#include "cli/cli.h"
#include "cli/print.h"
#include "tools/words.h"

static const char overview[] =
    "airlock gives your coding agent git, and you the last word: an MCP server and a\n"
    "command-line tool.\n"
    "\n"
    "usage: airlock COMMAND [OPTIONS]\n"
    "\n"
    "  serve                  be an MCP server on standard input and output, or\n"
    "                         over HTTP\n"
    "  call TOOL [ARGUMENTS]  run one tool from the shell, with the same checks\n"
    "  git ARGUMENTS...       git's own command line, with the same checks; also when\n"
    "                         called through a link named git\n"
    "  run -- COMMAND...      any command, between two checkpoints\n"
    "  snapshot               a checkpoint by hand\n"
    "  tools [TOOL]           list the tools an agent would see, or show one\n"
    "  log [N]                show the last N tool executions\n"
    "  diff [N]               show what the last N tool executions changed\n"
    "  rollback [N]           roll back the last N tool executions\n"
    "  staging [list|show|diff|push|discard|open]\n"
    "                         what agents have staged in their sandboxes\n"
    "  review [show|approve|reject]\n"
    "                         calls that wait for an approval, and answers to them\n"
    "  policy explain TOOL [ARGUMENTS]\n"
    "                         which rule would decide a call, and how\n"
    "  install CLIENT         connect an MCP client: write into its settings\n"
    "  doctor                 check this machine and this repository, and say how to\n"
    "                         fix what is missing\n"
    "  version                versions of airlock and git, kernel's confinement\n"
    "\n"
    "  --help, -h             this text; airlock COMMAND --help tells more\n"
    "  --version              the same as version\n"
    "\n"
    "Try it in a repository:\n"
    "  airlock call git_status\n"
    "  airlock call git_log max_count=3 stat=true\n"
    "\n"
    "man airlock has everything.\n";

const struct al_option_row al_option_rows[] = {
    { "session", "--root DIR",
      "a directory the agent may work in; may be repeated. Default: the top of the "
      "working tree that holds the current directory" },
    { "session", "--toolset NAME",
      "a toolset to offer: everyday (default), git, workflow, parallel, readonly, shell, files or "
      "staging; may be repeated. If two toolsets define the same tool, the first one listed wins" },
    { "session", "--approval MODE", "ask (default), allow or deny what changes a repository" },
    { "agent", "--agent NAME",
      "the agent's name in the journal. Default: the name of the worker file, of "
      "the grant, else of the client" },
    { "undo", "--agent NAME", "only executions of this agent" },
    { "more", "--grant NAME", "narrow the session to [grants.NAME] in the configuration" },
    { "more", "--worker FILE",
      "a worker file: its frontmatter chooses toolsets and narrows the session further" },
    { "more", "--tool LIST",
      "let bash_command of the toolset shell run: command or all. Without it, and "
      "with read or write, it shows what would run" },
    { "more", "--command-timeout S", "seconds until it is stopped, 1 to 600. Default: 30" },
    { "more", "--no-git", "take no checkpoints" },
    { "more", "-v", "say on standard error what each call does" },
    { "more", "--audit FILE", "the journal to write" },
    { "more", "--config FILE", "the configuration to read" },
    { "place", "--root DIR",
      "a directory the agent works in, when it is not the top of this working tree" },
    { "place", "--audit FILE", "the journal" },
    { "place", "--config FILE", "the configuration to read" },
    { "serve", "--http PLACE",
      "serve MCP at /mcp of ADDR:PORT, [ADDR]:PORT or unix:PATH; may be repeated" },
    { "serve", "--token-file FILE",
      "who may come in: TOKEN [GRANT [AGENT]] a line; a token has at least 32 "
      "characters, and the file is yours alone. Without it a token is made" },
    { "serve", "--no-token",
      "let in every program that reaches a loopback address or a Unix socket" },
    { "serve", "--tls-cert FILE", "the certificate for TLS, which addresses beyond loopback need" },
    { "serve", "--tls-key FILE", "its key" },
    { "serve", "--behind-proxy", "a proxy in front does TLS" },
    { "call", "--json", "print the whole result object" },
    { "tools", "--json", "names, schemas, effects, risk and approval as JSON" },
    { "tools", "--markdown", "alone: all toolsets, configuration keys and error codes" },
    { "run", "--label TEXT", "a name for airlock rollback --to; no number or time" },
    { "run", "--confine",
      "in a sandbox of bubblewrap: it reads the system, writes below the root, and "
      "has git's directories through git" },
    { "run", "--network", "with --confine: it may use the network" },
    { "run", "--as-git" },
    { "snapshot", "--label TEXT", "its name; no number or time" },
    { "log", "--audit FILE", "the journal to read" },
    { "log", "--config FILE", "the configuration that names it" },
    { "log", "--all", "in other repositories too" },
    { "log", "--json", "the lines as they are in the journal" },
    { "log", "--verify", "check that no line was changed, removed, reordered or dropped" },
    { "log", "--follow", "go on showing executions as they happen" },
    { "log", "--running", "show the calls that run now, and in which process" },
    { "log", "--tool NAME", "only this tool" },
    { "log", "--agent NAME", "only this agent's" },
    { "log", "--session ID", "only this session's (conversation_id)" },
    { "log", "--since WHEN", "from then on: 2026-01-31, '2 hours ago', yesterday" },
    { "rollback", "--dry-run", "only say what would change" },
    { "rollback", "--execution N", "that execution of airlock log and all later ones here" },
    { "rollback", "--to WHAT",
      "the same for the execution with this number or label, or the first one from "
      "this time on ('1 hour ago'). Edits of your own are no executions, and stay" },
    { "rollback", "--newest N", "with --execution: refuse if one after N came" },
    { "rollback", "--force",
      "go ahead even if changes by you or another program would be lost: later ones, and "
      "executions that ran while a command of airlock run did. They are in a checkpoint" },
    { "rollback", "--redo",
      "redo what the last rollback took back; once more, what the one before it did" },
    { "rollback", "--yes", "on a terminal, do not ask first", .also = "-y" },
    { "diff", "--execution N", "only that execution of airlock log" },
    { "diff", "--since WHAT",
      "the execution with this number or label, or the first one from this time "
      "on, and all later ones" },
    { "diff", "--stat", "only how much, file by file" },
    { "staging", "--root DIR", "the root, when it is not the top of this working tree" },
    { "staging", "--worker FILE",
      "the worker file of the agent's session. It can narrow the roots and name a default target" },
    { "staging", "--config FILE", "the configuration to read" },
    { "staging", "--target TYPE:PLACE",
      "push: local:DIR, local-bare:DIR or github:USER/NAME. Default: that "
      "of the worker file, else local:." },
    { "staging", "--branch NAME",
      "push: the branch, made if it is missing. Default: the current one" },
    { "staging", "--approval MODE", "push: ask (default), allow or deny" },
    { "staging", "--json", "the same as an object" },
    { "review", "--audit FILE", "the journal that has the calls that run" },
    { "review", "--config FILE", "the configuration that names it" },
    { "review", "--web", "serve the page on loopback: ADDR:PORT, or a free port" },
    { "review", "--always", "approve: also what the question says, until the session ends" },
    { "review", "--json", "what waits as an array of objects; show: one object" },
    { "review", "--list" },
    { "policy", "--json", "the same as an object" },
    { "install", "--user",
      "for every repository: the client's settings in your home directory, without --root" },
    { "install", "--with-rules",
      "Claude Code: also deny it git in its own shell, and let it call airlock's "
      "reading tools without asking" },
    { "install", "--shell",
      "Claude Code, Codex, Gemini CLI: also its hooks, so that each shell command and "
      "edit can be undone, and airlock is the git of its shell" },
    { "install", "--remove", "take back what an installation wrote" },
    { "install", "--dry-run", "only show the change", .also = "--print" },
    { "install", "--yes", "do not ask", .also = "-y" },
    { "doctor", "--json", "the findings as JSON" },
    { NULL, "--help", NULL, "-h" },
    { NULL },
};

static const struct al_command commands[] = {
    { "serve", al_cmd_serve, "airlock serve [OPTIONS]",
      "Speak MCP on standard input and output until the input ends. Clients start this by "
      "themselves; docs/CONNECTING.md shows how to configure each of them. With --http serve "
      "several agents over HTTP instead, until SIGTERM; SIGHUP reads the tokens and the "
      "configuration again. docs/HTTP.md has the rest.",
      .lists = " session agent more " },
    { "call", al_cmd_call, "airlock call [OPTIONS] TOOL [NAME=VALUE...] [JSON|-]",
      "Run one tool. Its arguments are NAME=VALUE words, an object as JSON, or with '-' that "
      "object on standard input; without any they are {}. A list is NAME=VALUE for each item. "
      "airlock call TOOL --help shows the names. The terminal asks for an approval where one is "
      "needed. Options may stand behind the tool; '--' ends them.\nExit codes: 0 done, 1 failed, 2 "
      "wrong usage or configuration, 3 not approved.",
      .lists = " session agent more ", .words = AL_WORDS_TOOL },
    { "tools", al_cmd_tools, "airlock tools [OPTIONS] [TOOL]",
      "List the tools of the chosen toolsets, with their risk and whether they ask; or show one "
      "with its operations and parameters. The servers of [mcp.servers] in the configuration are "
      "started, and their tools listed too.",
      .lists = " session more " },
    { "git", al_cmd_git, "airlock git ARGUMENTS...",
      "Run git's own command line: confined, with checkpoints, rules and the journal, and with "
      "git's own output and exit status (129: usage). A refused command ends with 128 and one "
      "line that names another way. All words are git's.",
      .lists = "", .words = AL_WORDS_ALL },
    { "run", al_cmd_run, "airlock run [OPTIONS] [--] COMMAND...",
      "Run any command as one execution: a checkpoint before and after it, and a line in the log. "
      "It has the terminal, and its exit status is that of airlock. Outside of a repository it "
      "runs, and nothing can be undone.",
      .lists = " agent place ", .more = " session more ", .words = AL_WORDS_LAST },
    { "snapshot", al_cmd_snapshot, "airlock snapshot [OPTIONS]",
      "Take a checkpoint of the repository here. airlock rollback --to takes back what executions "
      "changed since, and no edits of your own.",
      .lists = " agent place ", .more = " session more ", .words = AL_WORDS_LAST },
    { "hook", al_cmd_hook, "airlock hook [OPTIONS] CLIENT",
      "Answer an event of a client's own hooks, which is on standard input. Clients start this by "
      "themselves, see airlock install --shell: each shell command and edit is an execution "
      "between two checkpoints. It ends within two seconds.",
      .lists = " session agent more " },
    { "log", al_cmd_log, "airlock log [OPTIONS] [N]",
      "Show the last N tool executions here, or all. airlock --tool-log [N] is the same.",
      .option = "--tool-log", .lists = "" },
    { "rollback", al_cmd_rollback, "airlock rollback [OPTIONS] [N]",
      "Put the repository of this directory back to before the last N tool executions that changed "
      "it (1 without N): files, index, references, stash, unfinished operations. The present is "
      "saved first, so a rollback can be rolled back. airlock --rollback[=N] is the same. "
      "--execution goes back to before one of them.\nExit codes: 0 done, 1 refused or failed, 2 "
      "wrong usage or configuration.",
      .lists = " undo place ", .option = "--rollback" },
    { "diff", al_cmd_diff, "airlock diff [OPTIONS] [N]",
      "Show what each of the last N tool executions changed in the repository of this directory (1 "
      "without N): the patch of its files, its index and its commits.",
      .lists = " undo place " },
    { "staging", al_cmd_staging,
      "airlock staging [list|show ID|diff ID|push ID|discard ID|open] [OPTIONS]",
      "Show what agents have staged in their sandboxes below this root: a list, oldest first; one "
      "staged commit with its files; its diff. ID is its id or at least six characters of the "
      "beginning. push asks and pushes one. discard forgets one. open prints the directory of the "
      "sandbox, if it is a directory.\nExit codes: 0 done, 1 failed or in conflict, 2 wrong usage "
      "or configuration, 3 not approved.",
      .lists = "", .more = " session agent more " },
    { "review", al_cmd_review,
      "airlock review [--list] [--json] | --web [ADDR:PORT] | show ID | approve ID | reject ID "
      "[REASON]",
      "Show the calls that wait for an approval, oldest first, and what runs; show one of them "
      "with its text; or answer it. The calls are those of every server of this user, and of "
      "airlock call. A question is answered once, by whoever is first: the client's form, the "
      "terminal, or this command. The agent gets the reason of a rejection. docs/APPROVALS.md "
      "tells more.\nOn a terminal, without a word or an option, it is a screen: ? shows its "
      "keys.\nWith --web it is a page for a browser of this machine: the link that is printed "
      "opens it once. With a running serve --http it is the page of that server.\nExit codes: 0 "
      "done, 1 no such question waits or it was not answered, 2 wrong usage.",
      .lists = "", .more = " place " },
    { "policy", al_cmd_policy, "airlock policy explain [OPTIONS] TOOL [NAME=VALUE...] [JSON|-]",
      "Say how a call would be decided: the decision, the rule it comes from, and what the rules "
      "looked at. The call is checked like any other; nothing is run and nobody is asked. "
      "Arguments and options are those of airlock call.\nExit codes: 0 decided, 1 the call would "
      "fail before that, 2 wrong usage or configuration.",
      .lists = " session agent more ", .words = AL_WORDS_TOOL },
    { "install", al_cmd_install, "airlock install [OPTIONS] CLIENT",
      "Write airlock's entry into the settings of a client, for this working tree. The change is "
      "shown, and you are asked. Everything else in the file stays as it is, comments too. CLIENT "
      "is claude-code, claude-desktop, codex, cursor, gemini, opencode, vscode or zed. The options "
      "of serve that are given here become part of the entry.\nExit codes: 0 done, 1 not written, "
      "2 wrong usage or configuration.",
      .lists = " session agent more " },
    { "doctor", al_cmd_doctor, "airlock doctor [OPTIONS]",
      "Check this machine and the repository, and say how to fix what is missing. The repository "
      "is that of the current directory, or of each --root. Each server of [mcp.servers] is "
      "started, and airlock as each client would start it in whose settings it is installed. Exit "
      "code 0 when all that matters is there, else 1.",
      .lists = " session more " },
    { "complete", al_cmd_complete, "airlock complete tools|grants [--config FILE]",
      "Print names for the completion of a shell, one a line.", .lists = "",
      .more = " session agent more " },
    { "version", al_cmd_version, "airlock version",
      "Show the versions of airlock and git, kernel's confinement.", .lists = "",
      .option = "--version" },
};

const struct al_command *al_command_find(const char *word, struct al_nearest *nearest)
{
    for (size_t i = 0; i < AL_COUNT(commands); i++) {
        const char *option = commands[i].option;
        const size_t len = option ? strlen(option) : 0;

        if (!strcmp(commands[i].name, word) ||
            (len && !strncmp(word, option, len) && (!word[len] || word[len] == '=')))
            return &commands[i];
        if (nearest)
            al_nearest_offer(nearest, commands[i].name);
    }
    return NULL;
}

bool al_command_shows(const struct al_command *command, const struct al_option_row *row)
{
    return !row->list || !strcmp(row->list, command->name) ||
           al_shell_words_list(command->lists, row->list);
}

/* The column of the text about an option. */
#define ABOUT_COLUMN 25

int al_help_command(const char *word)
{
    const struct al_command *command = word ? al_command_find(word, NULL) : NULL;
    al_auto(al_str_clear) struct al_str text = AL_STR_INIT;
    const char *gap = "\n";

    if (word && !command)
        return al_cli_usage("no help for '%s'; see airlock --help", word);
    if (!command) {
        al_cli_say("%s", overview);
        return AL_EXIT_OK;
    }
    al_str_addf(&text, "usage: %s\n\n", command->usage);
    al_cli_wrap(&text, 0, command->about);
    for (const struct al_option_row *row = al_option_rows; row->name; row++) {
        if (!row->about || !al_command_shows(command, row))
            continue;
        al_str_addf(&text, "%s  %s%s%s", gap, row->also ? row->also : "", row->also ? ", " : "",
                    row->name);
        al_cli_wrap(&text, ABOUT_COLUMN, row->about);
        gap = "";
    }
    al_cli_print(STDOUT_FILENO, &text);
    return AL_EXIT_OK;
}
