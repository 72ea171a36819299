// SPDX-License-Identifier: Apache-2.0
#include <fcntl.h>
#include <malloc.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include "base/fs.h"
#include "base/nearest.h"
#include "cli/cli.h"
#include "cli/help.h"
#include "cli/options.h"
#include "cli/print.h"
#include "proc/proc.h"

#define ANSWERS_MAX_BYTES (64u * 1024u)

extern char **environ;

/* Answer git's prompt (argv[1]).  The descriptor in AIRLOCK_ANSWERS holds pairs of prompt and
 * answer, each NUL-terminated. */
static int askpass(int argc, char **argv)
{
    const char *number = getenv("AIRLOCK_ANSWERS");
    al_auto(al_str_clear) struct al_str text = AL_STR_INIT;
    const char *at, *end;

    if (argc != 2 || !number ||
        al_fs_read_fd((int)strtol(number, NULL, 10), ANSWERS_MAX_BYTES, &text) < 0)
        return AL_EXIT_FAILED;
    end = text.buf + text.len;
    for (at = text.buf; at < end;) {
        const char *answer = at + strlen(at) + 1;

        if (answer < end && !strcmp(at, argv[1])) {
            al_cli_say("%s\n", answer);
            return AL_EXIT_OK;
        }
        at = answer < end ? answer + strlen(answer) + 1 : end;
    }
    return AL_EXIT_FAILED;
}

/* ssh_config(5): the first obtained value is used.  So neither git nor ~/.ssh/config can change
 * these options. */
static int ssh(int argc, char **argv)
{
    static const char *const options[] = {
        "-oBatchMode=yes",           "-oControlMaster=no", "-oPermitLocalCommand=no",
        "-oClearAllForwardings=yes", "-oForwardAgent=no",  "-oForwardX11=no",
        "-oUpdateHostKeys=no",
    };
    const char *program = getenv("AIRLOCK_SSH");
    al_auto(al_strv_clear) struct al_strv words = AL_STRV_INIT;

    if (!program)
        return AL_EXIT_USAGE;
    al_strv_add(&words, "ssh");
    for (size_t i = 0; i < AL_COUNT(options); i++)
        al_strv_add(&words, options[i]);
    for (int i = 1; i < argc; i++)
        al_strv_add(&words, argv[i]);
    (void)fprintf(stderr, "airlock: cannot start ssh: %s\n",
                  strerror(-al_proc_exec(program, words.items, environ)));
    return AL_EXIT_FAILED;
}

static int run_command(const struct al_command *command, int argc, char **argv)
{
    al_auto(al_options_clear) struct al_options options = AL_OPTIONS_INIT;
    int code;

    if (al_options_take(&options, command, &argc, argv, &code))
        return command->run(&options, argc, argv);
    /* 2 would tell a client to stop what it does. */
    return code == AL_EXIT_USAGE && command->run == al_cmd_hook ? AL_EXIT_FAILED : code;
}

static int run(int argc, char **argv)
{
    const char *word = argc > 1 ? argv[1] : "--help";
    struct al_nearest nearest = { .word = word };
    const struct al_command *command = al_command_find(word, &nearest);
    const char *slash = argc > 0 ? strrchr(argv[0], '/') : NULL;
    const char *name = slash ? slash + 1 : argc > 0 ? argv[0] : "";

    if (!strcmp(name, "airlock-askpass"))
        return askpass(argc, argv);
    if (!strcmp(name, "airlock-ssh"))
        return ssh(argc, argv);
    /* The journal's key and tokens are in memory; a dump would write them to a disk. */
    (void)setrlimit(RLIMIT_CORE, &(struct rlimit){ 0, 0 });
    /* Calls run in many threads.  Two arenas limit the free memory that each arena retains. */
    (void)mallopt(M_ARENA_MAX, 2);
    /* Fixed thresholds: otherwise malloc raises them after one large answer and never returns such
     * blocks (mallopt(3)).  Lower values would cost a page fault per page for each reused block. */
    (void)mallopt(M_MMAP_THRESHOLD, 1024 * 1024);
    (void)mallopt(M_TRIM_THRESHOLD, 1024 * 1024);
    if (!strcmp(name, "git")) /* a link that stands in for git */
        return run_command(al_command_find("git", NULL), argc - 1, argv + 1);
    if (command && word[0] == '-' && strchr(word, '=')) { /* --rollback=2 */
        argv[1] = strchr(word, '=') + 1;
        argc++;
        argv--;
    }
    if (!strcmp(word, "--help") || !strcmp(word, "-h") || !strcmp(word, "help")) {
        int code = al_help_command(argc > 2 ? argv[2] : NULL);

        return argc > 1 ? code : AL_EXIT_USAGE;
    }
    return command ? run_command(command, argc - 2, argv + 2)
                   : al_cli_unknown("unknown command", &nearest, "see airlock --help");
}

int main(int argc, char **argv)
{
    int fd;

    /* In place of a stream that is closed: nothing of ours may get its number. */
    while ((fd = open("/dev/null", O_RDWR | O_CLOEXEC)) >= 0 && fd <= STDERR_FILENO)
        continue;
    al_close(fd);
    return al_cli_finish(run(argc, argv));
}
