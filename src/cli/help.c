// SPDX-License-Identifier: Apache-2.0
#include "cli/help.h"

#include <stdio.h>
#include <string.h>

#include "base/mem.h"
#include "base/nearest.h"
#include "cli/cli.h"
#include "cli/print.h"

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

static const char journal_options[] =
    "  --audit FILE           the journal to read\n"
    "  --config FILE          the configuration that names it; both stand before the\n"
    "                         others\n";

#define SESSION_OPTIONS                                                                            \
    "  --root DIR             a directory the agent may work in; may be repeated.\n"               \
    "                         Default: the top of the working tree that holds the\n"               \
    "                         current directory\n"                                                 \
    "  --toolset NAME         a toolset to offer: everyday (default), git, workflow,\n"            \
    "                         parallel, readonly, shell, files or staging; may be\n"               \
    "                         repeated. If two toolsets define the same tool, the\n"               \
    "                         first one listed wins\n"                                             \
    "  --approval MODE        ask (default), allow or deny what changes a repository\n"

#define AGENT_OPTION                                                                               \
    "  --agent NAME           the agent's name in the journal. Default: the name of\n"             \
    "                         the worker file, of the grant, else of the client\n"

#define PLACE_OPTIONS                                                                              \
    "  --root DIR             a directory the agent works in, when it is not the top\n"            \
    "                         of this working tree\n"                                              \
    "  --audit FILE           the journal\n"                                                       \
    "  --config FILE          the configuration to read\n"

static const char execution_options[] = AGENT_OPTION PLACE_OPTIONS;

static const char undo_options[] =
    "  --agent NAME           only executions of this agent\n" PLACE_OPTIONS;

#define MORE_OPTIONS                                                                               \
    "  --grant NAME           narrow the session to [grants.NAME] in the\n"                        \
    "                         configuration\n"                                                     \
    "  --worker FILE          a worker file: its frontmatter chooses toolsets and\n"               \
    "                         narrows the session further\n"                                       \
    "  --tool LIST            let bash_command of the toolset shell run: command or\n"             \
    "                         all. Without it, and with read or write, it shows what\n"            \
    "                         would run\n"                                                         \
    "  --command-timeout S    seconds until it is stopped, 1 to 600. Default: 30\n"                \
    "  --no-git               take no checkpoints\n"                                               \
    "  -v                     say on standard error what each call does\n"                         \
    "  --audit FILE           the journal to write\n"                                              \
    "  --config FILE          the configuration to read\n"

static const char session_options[] = SESSION_OPTIONS AGENT_OPTION MORE_OPTIONS;

/* Of commands that make no calls. */
static const char looking_options[] = SESSION_OPTIONS MORE_OPTIONS;

/* The commands that make the calls of a session know these. */
#define SESSION (AL_KNOWS_PLACE | AL_KNOWS_CALLS | AL_KNOWS_AGENT)

static const struct al_command commands[] = {
    { "serve", al_cmd_serve, SESSION | AL_KNOWS_SERVER, "airlock serve [OPTIONS]",
      "Speak MCP on standard input and output until the input ends. Clients start this\n"
      "by themselves; docs/CONNECTING.md shows how to configure each of them. With\n"
      "--http serve several agents over HTTP instead, until SIGTERM; SIGHUP reads the\n"
      "tokens and the configuration again. docs/HTTP.md has the rest.\n",
      session_options,
      "  --http PLACE           serve MCP at /mcp of ADDR:PORT, [ADDR]:PORT or\n"
      "                         unix:PATH; may be repeated\n"
      "  --token-file FILE      who may come in: TOKEN [GRANT [AGENT]] a line; a\n"
      "                         token has at least 32 characters, and the file is\n"
      "                         yours alone. Without it a token is made\n"
      "  --no-token             let in every program that reaches a loopback address or\n"
      "                         a Unix socket\n"
      "  --tls-cert FILE        certificate and key for TLS, which addresses beyond\n"
      "  --tls-key FILE         loopback need\n"
      "  --behind-proxy         a proxy in front does TLS\n" },
    { "call", al_cmd_call, SESSION | AL_KNOWS_JSON | AL_KNOWS_TOOLS,
      "airlock call [OPTIONS] TOOL [NAME=VALUE...] [JSON|-]",
      "Run one tool. Its arguments are NAME=VALUE words, an object as JSON, or with '-'\n"
      "that object on standard input; without any they are {}. A list is NAME=VALUE for\n"
      "each item. airlock call TOOL --help shows the names. The terminal asks for an\n"
      "approval where one is needed. Options may stand behind the tool; '--' ends them.\n"
      "Exit codes: 0 done, 1 failed, 2 wrong usage or configuration, 3 not approved.\n",
      session_options, "  --json                 print the whole result object\n" },
    { "tools", al_cmd_tools, AL_KNOWS_PLACE | AL_KNOWS_CALLS | AL_KNOWS_JSON,
      "airlock tools [OPTIONS] [TOOL]",
      "List the tools of the chosen toolsets, with their risk and whether they ask; or\n"
      "show one with its operations and parameters. The servers of [mcp.servers] in the\n"
      "configuration are started, and their tools listed too.\n",
      looking_options,
      "  --json                 names, schemas, effects, risk and approval as JSON\n"
      "  --markdown             alone: all toolsets, configuration keys and error codes\n" },
    { "git", al_cmd_git, 0, "airlock git ARGUMENTS...",
      "Run git's own command line: confined, with checkpoints, rules and the journal,\n"
      "and with git's own output and exit status (129: usage). What may not be run ends\n"
      "with 128 and one line that names another way. All words are git's.\n",
      "", "" },
    { "run", al_cmd_run, SESSION, "airlock run [OPTIONS] [--] COMMAND...",
      "Run any command as one execution: a checkpoint before and after it, and a line in\n"
      "the log. It has the terminal, and its exit status is that of airlock. Outside of\n"
      "a repository it runs, and nothing can be undone.\n",
      execution_options,
      "  --label TEXT           a name for airlock rollback --to; no number or time\n"
      "  --confine              in a sandbox of bubblewrap: it reads the system, writes\n"
      "                         below the root, and has git's directories through git\n"
      "  --network              with --confine: it may use the network\n" },
    { "snapshot", al_cmd_snapshot, SESSION, "airlock snapshot [OPTIONS]",
      "Take a checkpoint of the repository here. airlock rollback --to takes back what\n"
      "executions changed since, and no edits of your own.\n",
      execution_options, "  --label TEXT           its name; no number or time\n" },
    { "hook", al_cmd_hook, SESSION, "airlock hook [OPTIONS] CLIENT",
      "Answer an event of a client's own hooks, which is on standard input. Clients start\n"
      "this by themselves, see airlock install --shell: each shell command and edit is\n"
      "an execution between two checkpoints. It ends within two seconds.\n",
      session_options, "" },
    { "log", al_cmd_log, 0, "airlock log [OPTIONS] [N]",
      "Show the last N tool executions here, or all. airlock --tool-log [N] is the\n"
      "same.\n",
      journal_options,
      "  --all                  in other repositories too\n"
      "  --json                 the lines as they are in the journal\n"
      "  --verify               check that no line was changed, removed, reordered or\n"
      "                         dropped\n"
      "  --follow               go on showing executions as they happen\n"
      "  --running              show the calls that run now, and in which process\n"
      "  --tool NAME            only this tool\n"
      "  --agent NAME           only this agent's\n"
      "  --session ID           only this session's (conversation_id)\n"
      "  --since WHEN           from then on: 2026-01-31, '2 hours ago', yesterday\n" },
    { "rollback", al_cmd_rollback, AL_KNOWS_PLACE | AL_KNOWS_AGENT,
      "airlock rollback [OPTIONS] [N]",
      "Put the repository of this directory back to before the last N tool executions\n"
      "that changed it (1 without N): files, index, references, stash, unfinished\n"
      "operations. The present is saved first, so a rollback can be rolled back.\n"
      "airlock --rollback[=N] is the same. --execution goes back to before one of them.\n"
      "Exit codes: 0 done, 1 refused or failed, 2 wrong usage or configuration.\n",
      undo_options,
      "  --dry-run              only say what would change\n"
      "  --execution N          that execution of airlock log and all later ones here\n"
      "  --to WHAT              the same for the execution with this number or label,\n"
      "                         or the first one from this time on ('1 hour ago').\n"
      "                         Edits of your own are no executions, and stay\n"
      "  --newest N             with --execution: refuse if one after N came\n"
      "  --force                go ahead even if changes by you or another program\n"
      "                         would be lost: later ones, and executions that ran\n"
      "                         while a command of airlock run did. They are in a\n"
      "                         checkpoint\n"
      "  --redo                 redo what the last rollback took back; once more, what\n"
      "                         the one before it did\n"
      "  -y, --yes              on a terminal, do not ask first\n" },
    { "diff", al_cmd_diff, AL_KNOWS_PLACE | AL_KNOWS_AGENT, "airlock diff [OPTIONS] [N]",
      "Show what each of the last N tool executions changed in the repository of this\n"
      "directory (1 without N): the patch of its files, its index and its commits.\n",
      undo_options,
      "  --execution N          only that execution of airlock log\n"
      "  --since WHAT           the execution with this number or label, or the first\n"
      "                         one from this time on, and all later ones\n"
      "  --stat                 only how much, file by file\n" },
    { "staging", al_cmd_staging, SESSION | AL_KNOWS_JSON,
      "airlock staging [list|show ID|diff ID|push ID|discard ID|open] [OPTIONS]",
      "Show what agents have staged in their sandboxes below this root: a list, oldest\n"
      "first; one staged commit with its files; its diff. ID is its id or at least six\n"
      "characters of the beginning. push asks and pushes one. discard forgets one. open\n"
      "prints the directory of the sandbox, if it is a directory.\n"
      "Exit codes: 0 done, 1 failed or in conflict, 2 wrong usage or configuration,\n"
      "3 not approved.\n",
      "  --root DIR             the root, when it is not the top of this working tree\n"
      "  --worker FILE          the worker file of the agent's session. It can narrow\n"
      "                         the roots and name a default target\n"
      "  --config FILE          the configuration to read\n",
      "  --target TYPE:PLACE    push: local:DIR, local-bare:DIR or github:USER/NAME.\n"
      "                         Default: that of the worker file, else local:.\n"
      "  --branch NAME          push: the branch, made if it is missing. Default: the\n"
      "                         current one\n"
      "  --approval MODE        push: ask (default), allow or deny\n"
      "  --json                 the same as an object\n" },
    { "review", al_cmd_review, AL_KNOWS_PLACE | AL_KNOWS_JSON,
      "airlock review [--list] [--json] | --web [ADDR:PORT] | show ID | approve ID | reject ID "
      "[REASON]",
      "Show the calls that wait for an approval, oldest first, and what runs; show one of\n"
      "them with its text; or answer it. The calls are those of every server of this\n"
      "user, and of airlock call. A question is answered once, by whoever is first: the\n"
      "client's form, the terminal, or this command. The agent gets the reason of a\n"
      "rejection. docs/APPROVALS.md tells more.\n"
      "On a terminal, without a word or an option, it is a screen: ? shows its keys.\n"
      "With --web it is a page for a browser of this machine: the link that is printed\n"
      "opens it once. With a running serve --http it is the page of that server.\n"
      "Exit codes: 0 done, 1 no such question waits or it was not answered, 2 wrong usage.\n",
      "  --audit FILE           the journal that has the calls that run\n"
      "  --config FILE          the configuration that names it\n",
      "  --web                  serve the page on loopback: ADDR:PORT, or a free port\n"
      "  --always               approve: also what the question says, until the session\n"
      "                         ends\n"
      "  --json                 what waits as an array of objects; show: one object\n" },
    { "policy", al_cmd_policy, SESSION | AL_KNOWS_JSON | AL_KNOWS_TOOLS,
      "airlock policy explain [OPTIONS] TOOL [NAME=VALUE...] [JSON|-]",
      "Say how a call would be decided: the decision, the rule it comes from, and what\n"
      "the rules looked at. The call is checked like any other; nothing is run and\n"
      "nobody is asked. Arguments and options are those of airlock call.\n"
      "Exit codes: 0 decided, 1 the call would fail before that, 2 wrong usage or\n"
      "configuration.\n",
      session_options, "  --json                 the same as an object\n" },
    { "install", al_cmd_install, SESSION, "airlock install [OPTIONS] CLIENT",
      "Write airlock's entry into the settings of a client, for this working tree. The\n"
      "change is shown, and you are asked. Everything else in the file stays as it is,\n"
      "comments too. CLIENT is claude-code, claude-desktop, codex, cursor, gemini,\n"
      "opencode, vscode or zed. The options of serve that are given here become part of\n"
      "the entry.\n"
      "Exit codes: 0 done, 1 not written, 2 wrong usage or configuration.\n",
      session_options,
      "  --user                 for every repository: the client's settings in your home\n"
      "                         directory, without --root\n"
      "  --with-rules           Claude Code: also deny it git in its own shell, and let\n"
      "                         it call airlock's reading tools without asking\n"
      "  --shell                Claude Code, Codex, Gemini CLI: also its hooks, so that\n"
      "                         each shell command and edit can be undone, and airlock\n"
      "                         is the git of its shell\n"
      "  --remove               take back what an installation wrote\n"
      "  --print, --dry-run     only show the change\n"
      "  -y, --yes              do not ask\n" },
    { "doctor", al_cmd_doctor, AL_KNOWS_PLACE | AL_KNOWS_CALLS | AL_KNOWS_JSON,
      "airlock doctor [OPTIONS]",
      "Check this machine and the repository, and say how to fix what is missing.\n"
      "The repository is that of the current directory, or of each --root. Each server\n"
      "of [mcp.servers] is started, and airlock as each client would start it in whose\n"
      "settings it is installed. Exit code 0 when all that matters is there, else 1.\n",
      looking_options, "  --json                 the findings as JSON\n" },
    { "complete", al_cmd_complete, SESSION, "airlock complete tools|grants [--config FILE]",
      "Print names for the completion of a shell, one a line.\n", "", "" },
    { "version", al_cmd_version, 0, "airlock version",
      "Show the versions of airlock and git, kernel's confinement.\n", "", "" },
};

const struct al_command *al_command_find(const char *word, struct al_nearest *nearest)
{
    for (size_t i = 0; i < AL_COUNT(commands); i++) {
        if (!strcmp(commands[i].name, word))
            return &commands[i];
        if (nearest)
            al_nearest_offer(nearest, commands[i].name);
    }
    return NULL;
}

int al_help_overview(void)
{
    (void)fputs(overview, stdout);
    return AL_EXIT_OK;
}

int al_help_command(const char *word)
{
    const struct al_command *command = al_command_find(word, NULL);

    if (!command)
        return al_cli_usage("no help for '%s'; see airlock --help", word);
    (void)printf("usage: %s\n\n%s%s%s%s", command->usage, command->about,
                 *command->shared_options ? "\n" : "", command->shared_options,
                 command->own_options);
    return AL_EXIT_OK;
}
