// SPDX-License-Identifier: Apache-2.0
#include "cli/helpers.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/cli.h"
#include "proc/proc.h"
#include "util/fs.h"

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
            (void)printf("%s\n", answer);
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

bool al_helper_run(int argc, char **argv, int *ret_code)
{
    const char *slash = argc > 0 ? strrchr(argv[0], '/') : NULL;
    const char *name = slash ? slash + 1 : argc > 0 ? argv[0] : "";

    if (!strcmp(name, "airlock-askpass"))
        *ret_code = askpass(argc, argv);
    else if (!strcmp(name, "airlock-ssh"))
        *ret_code = ssh(argc, argv);
    else
        return false;
    return true;
}
