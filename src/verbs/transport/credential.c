// SPDX-License-Identifier: Apache-2.0
#include "verbs/transport/credential.h"

#include <fcntl.h>
#include <stdlib.h>
#include <sys/mman.h>

#include "git/layer.h"
#include "guard/env.h"
#include "guard/program.h"
#include "proc/proc.h"

#define ANSWER_MAX_BYTES (64u * 1024u)
#define PROMPTS_BYTES    256u /* the words of three prompts */

static void wipe(char *secret)
{
    if (secret)
        explicit_bzero(secret, strlen(secret));
    free(secret);
}

void al_credential_clear(struct al_credential *credential)
{
    wipe(credential->user);
    wipe(credential->password);
    if (credential->answer.cap)
        explicit_bzero(credential->answer.buf, credential->answer.len);
    al_str_clear(&credential->answer);
    *credential = AL_CREDENTIAL_INIT;
}

/* A program of the user's, outside the confinement: in no repository, with airlock's own
 * environment without git's variables. */
struct helper {
    const char *program;
    const char *const *argv, *const *env; /* more of the environment; both end with NULL */
    const struct al_str *input;           /* NULL: none */
    uint32_t most_ms;                     /* 0: the time of the call */
};

static int run(const struct al_git *git, const struct helper *helper, struct al_run_limits *budget,
               struct al_buffer *out, int *ret_exit_code, struct al_error *err)
{
    static const struct al_confinement unconfined;
    al_auto(al_strv_clear) struct al_strv env = AL_STRV_INIT;
    al_auto(al_closep) int root_fd = open("/", O_PATH | O_DIRECTORY | O_CLOEXEC);
    const bool is_brief = helper->most_ms && helper->most_ms < budget->left_ms;
    struct al_proc_result result = { .exit_code = -1 };
    int r;

    al_strv_add_all(&env, &git->env_helpers);
    for (size_t i = 0; helper->env[i]; i++)
        al_strv_add(&env, helper->env[i]);
    r = al_proc_run(
        &(struct al_proc_spec){
            .program = helper->program,
            .argv = helper->argv,
            .envp = (const char *const *)env.items,
            .cwd_fd = root_fd,
            .input = helper->input ? helper->input->buf : NULL,
            .input_len = helper->input ? helper->input->len : 0,
            .out = al_buffer_sink(out),
            .sandbox = &unconfined,
            .cancel = budget->cancel,
            .timeout_ms = is_brief ? helper->most_ms : budget->left_ms,
        },
        &result, err);
    budget->left_ms -= result.ran_ms < budget->left_ms ? result.ran_ms : budget->left_ms - 1;
    *ret_exit_code = result.exit_code;
    return r;
}

/* The child has neither terminal nor prompts. */
static int run_credential(struct al_git *git, const char *action, const struct al_str *input,
                          struct al_run_limits *budget, struct al_buffer *out, int *ret_exit_code,
                          struct al_error *err)
{
    static const char *const env[] = {
        "GIT_DIR=/nonexistent", "GIT_TERMINAL_PROMPT=0", "GIT_ASKPASS=",
        "SSH_ASKPASS=",         "GCM_INTERACTIVE=never", NULL,
    };
    const char *const argv[] = { "git", "credential", action, NULL };

    return run(git,
               &(struct helper){
                   .program = git->options.program, .argv = argv, .env = env, .input = input },
               budget, out, ret_exit_code, err);
}

/* The value of a "name=value" line; NULL when there is none.  Caller frees. */
static char *value_of(const struct al_str *lines, const char *name)
{
    size_t len = strlen(name);

    for (const char *at = lines->buf; *at; at = *at ? at + 1 : at) {
        size_t line = strcspn(at, "\n");

        if (line > len && !strncmp(at, name, len) && at[len] == '=')
            return al_strndup(at + len + 1, line - len - 1);
        at += line;
    }
    return NULL;
}

/* No value has a newline: al_url_parse() refuses them. */
static void add_request(struct al_str *out, const struct al_url *url)
{
    const char *host = url->origin + strlen(url->protocol) + strlen("://");

    al_str_addf(out, "protocol=%s\nhost=%s\npath=%s\n", url->protocol, host, url->path + 1);
    if (url->user && *url->user)
        al_str_addf(out, "username=%s\n", url->user);
    al_str_addc(out, '\n');
}

int al_credential_fill(struct al_git *git, const struct al_url *url, struct al_run_limits *budget,
                       struct al_credential *ret_credential, bool *ret_found, struct al_error *err)
{
    al_auto(al_credential_clear) struct al_credential found = AL_CREDENTIAL_INIT;
    al_auto(al_str_clear) struct al_str input = AL_STR_INIT;
    al_auto(al_buffer_clear) struct al_buffer out = AL_BUFFER_INIT(ANSWER_MAX_BYTES);
    int exit_code = -1, r;

    *ret_found = false;
    add_request(&input, url);
    r = run_credential(git, "fill", &input, budget, &out, &exit_code, err);
    found.answer = out.text;
    out.text = AL_STR_INIT;
    if (r == AL_ERR_EXECUTION)
        r = 0; /* no helper could be started: no credentials */
    if (r < 0 || exit_code != 0)
        return r;
    found.user = value_of(&found.answer, "username");
    found.password = value_of(&found.answer, "password");
    if (found.user && found.password) {
        *ret_credential = found;
        found = AL_CREDENTIAL_INIT;
        *ret_found = true;
    }
    return 0;
}

void al_credential_report(struct al_git *git, const struct al_credential *credential,
                          bool was_right, struct al_run_limits *budget)
{
    al_auto(al_buffer_clear) struct al_buffer out = AL_BUFFER_INIT(ANSWER_MAX_BYTES);
    int exit_code;

    (void)run_credential(git, was_right ? "approve" : "reject", &credential->answer, budget, &out,
                         &exit_code, NULL);
}

/* Percent-encode a user name, as newer gits do in a prompt. */
static char *encoded(const char *user)
{
    struct al_str out = AL_STR_INIT;

    for (const unsigned char *at = (const unsigned char *)user; *at; at++) {
        if (*at <= 0x20 || *at >= 0x7f || strchr("<>\"%{}|\\^`:?#[]@!$&'()*+,;=/", *at))
            al_str_addf(&out, "%%%02x", *at);
        else
            al_str_addc(&out, (char)*at);
    }
    return al_str_detach(&out);
}

static void add_answer(struct al_str *text, const char *prompt, const char *answer)
{
    al_str_add(text, prompt, strlen(prompt) + 1);
    al_str_add(text, answer, strlen(answer) + 1);
}

static void add_password(struct al_str *text, const struct al_url *url, const char *user,
                         const char *password)
{
    const char *host = url->origin + strlen(url->protocol) + strlen("://");
    al_auto(al_freep) char *prompt =
        *user ? al_asprintf("Password for '%s://%s@%s': ", url->protocol, user, host)
              : al_asprintf("Password for '%s': ", url->origin);

    add_answer(text, prompt, password);
}

int al_credential_answers(const struct al_url *url, const char *user, const char *password)
{
    al_auto(al_freep) char *username = al_asprintf("Username for '%s': ", url->origin);
    al_auto(al_freep) char *other = encoded(user);
    al_auto(al_closep) int fd = memfd_create("answers", MFD_CLOEXEC);
    struct al_str text = AL_STR_INIT;
    int r;

    /* Enough for all: growing would leave a copy of the password behind. */
    al_str_reserve(&text, 4 * (strlen(url->origin) + strlen(other) + strlen(user)) +
                              2 * strlen(password) + PROMPTS_BYTES);
    add_answer(&text, username, user);
    add_password(&text, url, user, password);
    add_password(&text, url, other, password);
    r = fd < 0 ? -1 : al_write_all(fd, text.buf, text.len);
    explicit_bzero(text.buf, text.len);
    al_str_clear(&text);
    return r < 0 ? -1 : al_take_fd(&fd);
}

/* --- Github token --- */

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

/* gh neither prompts nor looks for updates. */
static int run_gh(struct al_git *git, const char *program, const char *authority,
                  struct al_run_limits *budget, struct al_buffer *out, int *ret_exit_code,
                  struct al_error *err)
{
    static const char *const env[] = { "GH_PROMPT_DISABLED=1", "GH_NO_UPDATE_NOTIFIER=1",
                                       "NO_COLOR=1", NULL };
    const bool is_other = strcmp(authority, GITHUB_AUTHORITY) != 0;
    const char *const argv[] = { "gh",      "auth", "token", is_other ? "--hostname" : NULL,
                                 authority, NULL };

    return run(
        git,
        &(struct helper){ .program = program, .argv = argv, .env = env, .most_ms = GH_TIMEOUT_MS },
        budget, out, ret_exit_code, err);
}

/* There is no token without a gh, or with one that fails or hangs. */
static int ask_gh(struct al_git *git, const struct al_url *url, struct al_run_limits *budget,
                  struct al_credential *credential, struct al_error *err)
{
    const char *path = al_env_get(&git->env_helpers, "PATH");
    al_auto(al_freep) char *program = path ? al_program_find("gh", path, git->roots) : NULL;
    const char *authority = url->origin + strlen(url->protocol) + strlen("://");
    al_auto(al_buffer_clear) struct al_buffer out = AL_BUFFER_INIT(TOKEN_MAX_BYTES + 2);
    int exit_code = -1, r;

    if (!program)
        return 0;
    r = run_gh(git, program, authority, budget, &out, &exit_code, err);
    if (r == 0 && exit_code == 0 && out.text.len)
        (void)take(out.text.buf, credential);
    explicit_bzero(out.text.buf, out.text.len);
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
