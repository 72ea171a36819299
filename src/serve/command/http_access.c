// SPDX-License-Identifier: Apache-2.0
#include "serve/command/http_access.h"

#include <inttypes.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "base/lock.h"
#include "cli/config/keys.h"
#include "cli/config/tokens.h"
#include "cli/environment.h"
#include "cli/names.h"
#include "guard/root.h"
#include "serve/command/warn.h"

/* Release what the session of an account has for itself. */
static void release(struct al_session *session)
{
    al_setup_clear_agent(session);
    free((char *)session->agent);
}

static const char *grant_name(const struct al_config *config, const struct al_token *token)
{
    return token && token->grant ? token->grant : config->serve.grant;
}

static char *choose_agent(const struct al_setup *setup, const struct al_config *config,
                          const struct al_token *token)
{
    return al_setup_agent_name(setup, config, token ? token->agent : NULL,
                               grant_name(config, token));
}

/* --- The text of rights --- */

/* Choose the rights of a token, and describe them. */
static int rights_describe(const struct al_setup *setup, struct al_config *config,
                           const struct al_token *token, struct al_str *ret_text,
                           struct al_error *err)
{
    al_auto(al_freep) char *agent = choose_agent(setup, config, token);
    const struct al_policy *policy = &config->approval.policy;
    const struct al_grant *grant = NULL;
    int r = al_setup_choose_grant(setup, config, grant_name(config, token), &grant, err);

    if (r < 0)
        return r;
    al_str_addf(ret_text, "%s\n", agent ? agent : "");
    for (; grant; grant = grant->also) {
        al_str_addf(ret_text, "%s:", grant->name);
        al_keys_describe(AL_KEY_OF_GRANT, grant, ret_text);
    }
    for (size_t i = 0; i < policy->count; i++) {
        al_str_addf(ret_text, "\n%u:", policy->rules[i].line);
        al_keys_describe(AL_KEY_OF_RULE, &policy->rules[i], ret_text);
    }
    al_str_addf(ret_text, "\n%zu,%d,%" PRIu32 ",%" PRIu32, policy->narrowing, config->approval.mode,
                config->git.timeout_ms, config->git.max_bytes);
    return 0;
}

/* An account and the text of its rights. */
struct entry {
    struct al_account *account; /* a reference; NULL: not made yet */
    char *rights;
};

/* One reading of the configuration and the token file.  Its configuration stays until the end: a
 * later reading keeps accounts that borrow from it. */
struct reading {
    struct reading *older;
    struct al_config config;
    struct al_tokens tokens;
    struct entry *entries; /* one for each token; without tokens one for everybody */
    size_t count;
};

struct al_http_access {
    const struct al_setup *setup;
    const struct al_options *options;
    struct al_endpoint *endpoint;
    struct al_tokens made;         /* the token that was made, if there is no file */
    const struct al_config *begun; /* of the first reading: some keys hold until the end */
    pthread_mutex_t lock;          /* guards `now` */
    struct reading *now;
};

/* --- The account --- */

/* Make the account of a token. */
static int make_account(const struct al_http_access *access, struct al_config *config,
                        const struct al_token *token, struct al_account **ret_account,
                        struct al_error *err)
{
    const struct al_setup *setup = access->setup;
    struct al_session session = setup->session;
    int r = al_setup_choose_grant(setup, config, grant_name(config, token), &session.grant, err);

    if (r < 0)
        return r;
    session.agent = choose_agent(setup, config, token);
    session.approvals = NULL;
    session.mode = config->approval.mode;
    session.policy = &config->approval.policy;
    session.defaults.timeout_ms = config->git.timeout_ms;
    session.defaults.max_bytes = config->git.max_bytes;
    if (!al_setup_may_mount(setup, session.grant))
        session.mounts = NULL;
    r = al_setup_agent(setup, &session, err);
    if (r < 0)
        release(&session);
    else
        *ret_account = al_account_new(access->endpoint, &session, release);
    return r;
}

static bool has_account(const struct reading *reading, const struct al_account *account)
{
    for (size_t i = 0; reading && i < reading->count; i++)
        if (reading->entries[i].account == account)
            return true;
    return false;
}

/* Drop the tokens of a reading, and end its accounts but for those that another one has (NULL:
 * none).  Returns how many were ended. */
static size_t drop_tokens(struct reading *reading, const struct reading *other)
{
    size_t ended = 0;

    for (size_t i = 0; i < reading->count; i++) {
        struct al_account *account = reading->entries[i].account;

        if (account && !has_account(other, account)) {
            al_account_end(account);
            ended++;
        }
        al_account_unref(account);
        free(reading->entries[i].rights);
    }
    free(al_take(&reading->entries));
    reading->count = 0;
    al_tokens_clear(&reading->tokens);
    return ended;
}

static void free_reading(struct reading *reading)
{
    al_config_clear(&reading->config);
    free(reading);
}

/* --- Reading --- */

/* Options and toolsets of the start hold until the server ends. */
static int check_config(const struct al_setup *setup, struct al_config *config,
                        struct al_error *err)
{
    const struct al_config *begun = &setup->config;

    if (begun->file && (!config->file || strcmp(begun->file, config->file) != 0))
        return al_error_set(err, AL_ERR_BAD_ARGS, "%s: the configuration is gone", begun->file);
    if (begun->serve.token_file && !config->serve.token_file)
        return al_error_set(err, AL_ERR_BAD_ARGS,
                            "%s: serve.token_file is gone; name the token file",
                            config->file ? config->file : "");
    return al_names_check(setup, config, err);
}

static int read_config(const struct al_http_access *access, struct al_config *config,
                       struct al_error *err)
{
    const struct al_setup *setup = access->setup;
    int r;

    al_config_clear(config);
    r = al_setup_read_config(setup, access->options, config, err);
    if (r == 0)
        r = check_config(setup, config, err);
    if (r == 0)
        al_policy_narrow(&config->approval.policy, &setup->worker.policy);
    return r;
}

static int read_tokens(const struct al_http_access *access, const struct al_config *config,
                       struct al_tokens *ret_tokens, struct al_error *err)
{
    const struct al_setup *setup = access->setup;
    al_auto(al_freep) char *path = NULL;
    int r;

    if (setup->config.serve.no_token)
        return 0;
    if (access->made.count) {
        *ret_tokens =
            (struct al_tokens){ .items = al_calloc(1, sizeof(*ret_tokens->items)), .count = 1 };
        memcpy(ret_tokens->items[0].digest, access->made.items[0].digest, AL_TOKEN_DIGEST_SIZE);
        return 0;
    }
    path = al_environment_absolute(config->serve.token_file);
    r = al_roots_exclude(al_roots_parts(&setup->roots), path, "token file", err);
    return r == 0 ? al_tokens_read(path, &config->grants, ret_tokens, err) : r;
}

static const struct al_token *token_at(const struct reading *reading, size_t i)
{
    return reading->tokens.count ? &reading->tokens.items[i] : NULL;
}

/* The entry that the token of another reading has in this one; NULL: none with the same rights. */
static const struct entry *find_same(const struct reading *reading, const struct al_token *token,
                                     const char *rights)
{
    for (size_t i = 0; reading && i < reading->count; i++) {
        const struct al_token *own = token_at(reading, i);
        bool is_same =
            own && token ? !memcmp(own->digest, token->digest, sizeof(own->digest)) : own == token;

        if (is_same)
            return strcmp(reading->entries[i].rights, rights) ? NULL : &reading->entries[i];
    }
    return NULL;
}

static int fill_entry(const struct al_http_access *access, struct reading *reading, size_t i,
                      struct al_error *err)
{
    const struct al_setup *setup = access->setup;
    const struct al_token *token = token_at(reading, i);
    al_auto(al_str_clear) struct al_str rights = AL_STR_INIT;
    const struct entry *same;
    int r = rights_describe(setup, &reading->config, token, &rights, err);

    if (r < 0)
        return r;
    same = find_same(access->now, token, rights.buf);
    if (same)
        reading->entries[i].account = al_account_ref(same->account);
    else
        r = make_account(access, &reading->config, token, &reading->entries[i].account, err);
    reading->entries[i].rights = al_str_detach(&rights);
    return r;
}

static bool uses_grant(const struct reading *reading, const char *name)
{
    for (size_t i = 0; i < reading->count; i++) {
        const char *chosen = grant_name(&reading->config, token_at(reading, i));

        if (chosen && !strcmp(chosen, name))
            return true;
    }
    return false;
}

/* Arguments that are no error, and yet are hardly meant. */
static void warn(const struct al_http_access *access, const struct reading *reading)
{
    const struct al_grants *grants = &reading->config.grants;

    for (size_t i = 0; i < grants->count; i++)
        if (uses_grant(reading, grants->items[i].name))
            al_warn_of_grant(access->setup, &grants->items[i]);
    al_warn_of_hosts(&reading->config);
}

static int read_all(const struct al_http_access *access, struct reading **ret_reading,
                    struct al_error *err)
{
    struct reading *reading = al_calloc(1, sizeof(*reading));
    int r;

    al_config_init(&reading->config);
    r = read_config(access, &reading->config, err);
    if (r == 0)
        r = read_tokens(access, &reading->config, &reading->tokens, err);
    if (r == 0) {
        reading->count = reading->tokens.count ? reading->tokens.count : 1;
        reading->entries = al_calloc(reading->count, sizeof(*reading->entries));
    }
    for (size_t i = 0; r == 0 && i < reading->count; i++)
        r = fill_entry(access, reading, i, err);
    if (r < 0) {
        (void)drop_tokens(reading, access->now);
        free_reading(reading);
        return r;
    }
    warn(access, reading);
    reading->older = access->now;
    *ret_reading = reading;
    return 0;
}

/* --- The current reading --- */

int al_http_access_new(const struct al_setup *setup, const struct al_options *options,
                       struct al_endpoint *endpoint, struct al_http_access **ret_access,
                       struct al_str *ret_made, struct al_error *err)
{
    struct al_http_access *access = al_calloc(1, sizeof(*access));
    const struct al_config *config = &setup->config;
    int r;

    access->setup = setup;
    access->options = options;
    access->endpoint = endpoint;
    (void)pthread_mutex_init(&access->lock, NULL);
    if (!config->serve.token_file && !config->serve.no_token)
        al_tokens_make(&access->made, ret_made);
    r = read_all(access, &access->now, err);
    if (r < 0) {
        al_http_access_free(access);
        return r;
    }
    access->begun = &access->now->config;
    *ret_access = access;
    return 0;
}

void al_http_access_free(struct al_http_access *access)
{
    if (!access)
        return;
    if (access->now) /* the accounts have ended with their endpoint */
        (void)drop_tokens(access->now, access->now);
    for (struct reading *reading = access->now, *older; reading; reading = older) {
        older = reading->older;
        free_reading(reading);
    }
    al_tokens_clear(&access->made);
    (void)pthread_mutex_destroy(&access->lock);
    free(access);
}

size_t al_http_access_count(const struct al_http_access *access)
{
    return access->now->tokens.count;
}

int al_http_access_reload(struct al_http_access *access, size_t *ret_ended, struct al_error *err)
{
    struct reading *fresh = NULL, *old = access->now;
    int r = read_all(access, &fresh, err);

    if (r < 0)
        return r;
    al_warn_of_restart(access->begun, &fresh->config);
    (void)pthread_mutex_lock(&access->lock);
    access->now = fresh;
    (void)pthread_mutex_unlock(&access->lock);
    *ret_ended = drop_tokens(old, fresh);
    return 0;
}

struct al_account *al_http_access_find(struct al_http_access *access, const char *token, size_t len)
{
    const bool is_open = access->setup->config.serve.no_token;
    const struct al_token *found = NULL;
    const struct reading *now;

    al_hold(&access->lock);
    now = access->now;
    if (token && !is_open)
        found = al_tokens_find(&now->tokens, token, len);
    if (!found && !is_open)
        return NULL;
    return al_account_ref(now->entries[found ? found - now->tokens.items : 0].account);
}

const struct al_config *al_http_access_config(struct al_http_access *access)
{
    al_hold(&access->lock);
    return &access->now->config;
}
