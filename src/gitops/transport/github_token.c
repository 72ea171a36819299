// SPDX-License-Identifier: Apache-2.0
#include "gitops/transport/github_token.h"

#include <fcntl.h>
#include <unistd.h>

#include "gitops/layer.h"
#include "gitops/repo/remotes.h"
#include "guard/env.h"
#include "guard/program.h"
#include "proc/proc.h"

#define USER             "oauth2"
#define TOKEN_MAX_BYTES  4096u
#define GH_TIMEOUT_MS    20000u
#define GITHUB_AUTHORITY "github.com"

static int required(struct al_error *err)
{
    return al_error_set_code(err, AL_ERR_EXECUTION, AL_CODE_REMOTE_ERROR,
                             "GitHub authentication required.\n"
                             "Either:\n"
                             "  - Set GITHUB_TOKEN environment variable, or\n"
                             "  - Run `gh auth login` to authenticate with GitHub CLI");
}

/* A token is one word of printable ASCII. */
static size_t token_length(const char *text)
{
    size_t len = 0;

    while (text[len] > ' ' && text[len] <= '~')
        len++;
    return len;
}

/* Take the token that `text` consists of, white space around it aside. */
static bool take(const char *text, struct al_credential *credential)
{
    size_t len;

    text += strspn(text, " \t\r\n");
    len = token_length(text);
    if (!len || len > TOKEN_MAX_BYTES || text[len + strspn(text + len, " \t\r\n")])
        return false;
    credential->user = al_strdup(USER);
    credential->password = al_strndup(text, len);
    return true;
}

/* airlock's own environment without git's variables.  gh neither prompts nor looks for updates. */
static void build_env(struct al_strv *env, const struct al_git *git)
{
    for (size_t i = 0; i < git->env_helpers.count; i++)
        al_strv_add(env, git->env_helpers.items[i]);
    al_strv_adds(env, "GH_PROMPT_DISABLED=1", "GH_NO_UPDATE_NOTIFIER=1", "NO_COLOR=1", NULL);
}

static int run_gh(struct al_git *git, const char *program, const char *authority,
                  struct al_run_limits *budget, struct al_buffer *out, int *ret_exit_code,
                  struct al_error *err)
{
    static const struct al_confinement unconfined;
    const bool is_other = strcmp(authority, GITHUB_AUTHORITY) != 0;
    const char *const argv[] = { "gh",      "auth", "token", is_other ? "--hostname" : NULL,
                                 authority, NULL };
    al_auto(al_strv_clear) struct al_strv env = AL_STRV_INIT;
    al_auto(al_closep) int root_fd = open("/", O_PATH | O_DIRECTORY | O_CLOEXEC);
    struct al_proc_result result = { .exit_code = -1 };
    int r;

    build_env(&env, git);
    r = al_proc_run(
        &(struct al_proc_spec){
            .program = program,
            .argv = argv,
            .envp = (const char *const *)env.items,
            .cwd_fd = root_fd,
            .out = al_buffer_sink(out),
            .sandbox = &unconfined,
            .cancel = budget->cancel,
            .timeout_ms = budget->left_ms < GH_TIMEOUT_MS ? budget->left_ms : GH_TIMEOUT_MS,
        },
        &result, err);
    budget->left_ms -= result.ran_ms < budget->left_ms ? result.ran_ms : budget->left_ms - 1;
    *ret_exit_code = result.exit_code;
    return r;
}

/* Without a gh, or with one that fails or hangs, there is no token. */
static int ask_gh(struct al_git *git, const struct al_url *url, struct al_run_limits *budget,
                  struct al_credential *credential, struct al_error *err)
{
    const char *path = al_env_get(&git->env_helpers, "PATH");
    al_auto(al_freep) char *program = path ? al_program_find("gh", path, git->roots) : NULL;
    const char *authority = url->origin + strlen(url->protocol) + strlen("://");
    struct al_buffer out = { .max_bytes = TOKEN_MAX_BYTES + 2 };
    int exit_code = -1, r;

    if (!program)
        return 0;
    r = run_gh(git, program, authority, budget, &out, &exit_code, err);
    if (r == 0 && exit_code == 0 && out.len)
        (void)take(out.data, credential);
    if (out.data)
        explicit_bzero(out.data, out.len);
    al_buffer_clear(&out);
    return r == AL_ERR_CANCELLED ? r : 0;
}

int al_github_token(struct al_git *git, const struct al_url *url, struct al_run_limits *budget,
                    struct al_credential *ret_credential, struct al_error *err)
{
    const char *given = al_env_get(&git->env_helpers, "GITHUB_TOKEN");
    int r = 0;

    if (!given || !take(given, ret_credential))
        r = ask_gh(git, url, budget, ret_credential, err);
    if (r < 0 || ret_credential->password)
        return r;
    return required(err);
}
