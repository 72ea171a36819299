// SPDX-License-Identifier: Apache-2.0
#include "cli/config/tokens.h"

#include <nettle/memops.h>
#include <nettle/sha2.h>
#include <stdlib.h>

#include "base/secret.h"
#include "guard/agent.h"
#include "guard/text.h"

#define RANDOM_BYTES 32u

/* TOKEN, GRANT, AGENT; one more is too many. */
enum { TOKEN_WORD, GRANT_WORD, AGENT_WORD, WORDS_MAX };

/* The file that is read. */
struct file {
    const char *name; /* safe text */
    unsigned line;
    const struct al_grants *grants;
    struct al_tokens tokens;
    struct al_error *err;
};

void al_tokens_clear(struct al_tokens *tokens)
{
    for (size_t i = 0; i < tokens->count; i++) {
        free(tokens->items[i].grant);
        free(tokens->items[i].agent);
    }
    if (tokens->count)
        explicit_bzero(tokens->items, tokens->count * sizeof(*tokens->items));
    free(tokens->items);
    *tokens = AL_TOKENS_INIT;
}

static void make_digest(const char *text, size_t len, uint8_t *ret_digest)
{
    struct sha256_ctx ctx;

    sha256_init(&ctx);
    sha256_update(&ctx, len, (const uint8_t *)text);
    sha256_digest(&ctx, AL_TOKEN_DIGEST_SIZE, ret_digest);
    explicit_bzero(&ctx, sizeof(ctx));
}

const struct al_token *al_tokens_find(const struct al_tokens *tokens, const char *presented,
                                      size_t len)
{
    uint8_t digest[AL_TOKEN_DIGEST_SIZE];
    size_t found = tokens->count;

    make_digest(presented, len, digest);
    for (size_t i = 0; i < tokens->count; i++) {
        size_t equal = (size_t)memeql_sec(digest, tokens->items[i].digest, sizeof(digest));

        found ^= (found ^ i) & (0 - equal);
    }
    explicit_bzero(digest, sizeof(digest));
    return found < tokens->count ? &tokens->items[found] : NULL;
}

static struct al_token *add_token(struct al_tokens *tokens, const char *text, size_t len)
{
    struct al_token *token;

    tokens->items = al_reallocarray(tokens->items, tokens->count + 1, sizeof(*tokens->items));
    token = &tokens->items[tokens->count++];
    *token = (struct al_token){ .line = 0 };
    make_digest(text, len, token->digest);
    return token;
}

void al_tokens_make(struct al_tokens *tokens, struct al_str *ret_text)
{
    char text[2 * RANDOM_BYTES + 1];

    al_random_hex(RANDOM_BYTES, text);
    al_str_reserve(ret_text, strlen(text));
    al_str_adds(ret_text, text);
    explicit_bzero(text, sizeof(text));
    (void)add_token(tokens, ret_text->buf, ret_text->len);
}

static int al_printf(2, 3) refuse(const struct file *file, const char *fmt, ...)
{
    al_auto(al_str_clear) struct al_str why = AL_STR_INIT;
    va_list args;

    va_start(args, fmt);
    al_str_addv(&why, fmt, args);
    va_end(args);
    return al_error_set(file->err, AL_ERR_BAD_ARGS, "%s:%u: %s", file->name, file->line, why.buf);
}

static int check_token(const struct file *file, const char *word, size_t count)
{
    const size_t len = strlen(word);
    const struct al_token *same;

    if (len < AL_TOKEN_MIN_BYTES)
        return refuse(
            file, "a token has at least %u characters%s; make one with: openssl rand -hex 32",
            AL_TOKEN_MIN_BYTES, count > 1 ? ", and comes first: TOKEN [GRANT [AGENT]]" : "");
    if (len > AL_TOKEN_MAX_BYTES)
        return refuse(file, "a token has at most %u characters", AL_TOKEN_MAX_BYTES);
    for (size_t i = 0; i < len; i++)
        if (word[i] <= 0x20 || word[i] >= 0x7f)
            return refuse(file, "a token consists of visible ASCII characters");
    if (file->tokens.count == AL_TOKENS_MAX)
        return refuse(file, "there are more than %u tokens", AL_TOKENS_MAX);
    same = al_tokens_find(&file->tokens, word, len);
    return same ? refuse(file, "the token of line %u again", same->line) : 0;
}

static int set_grant(const struct file *file, struct al_token *token, const char *word)
{
    al_auto(al_str_clear) struct al_str names = AL_STR_INIT;

    token->grant = al_strdup(word);
    for (size_t i = 0; i < file->grants->count; i++) {
        if (!strcmp(file->grants->items[i].name, token->grant))
            return 0;
        al_str_addf(&names, "%s%s", i ? ", " : "", file->grants->items[i].name);
    }
    return refuse(file, "the second word is no grant of the configuration, which has %s",
                  names.len ? names.buf : "none");
}

static int set_agent(const struct file *file, struct al_token *token, const char *word)
{
    al_auto(al_error_clear) struct al_error why = AL_ERROR_INIT;

    token->agent = al_strdup(word);
    if (al_agent_check_name(token->agent, &why) == 0)
        return 0;
    return refuse(file, "the third word, the agent's name, %s", why.message);
}

/* A line is cut up into its words, up to a comment.  One word too many is counted. */
static int read_line(struct file *file, char *line, size_t len)
{
    static const char space[] = " \t\r";
    const char *words[WORDS_MAX + 1];
    struct al_token *token;
    char *save = NULL;
    size_t count = 0;
    int r;

    if (strlen(line) < len)
        return refuse(file, "the line contains a NUL");
    for (const char *word = strtok_r(line, space, &save);
         word && *word != '#' && count <= WORDS_MAX; word = strtok_r(NULL, space, &save))
        words[count++] = word;
    if (!count)
        return 0;
    r = check_token(file, words[TOKEN_WORD], count);
    if (r == 0 && count > WORDS_MAX)
        r = refuse(file, "there are more than three words; a line is TOKEN [GRANT [AGENT]]");
    if (r < 0)
        return r;
    token = add_token(&file->tokens, words[TOKEN_WORD], strlen(words[TOKEN_WORD]));
    token->line = file->line;
    if (count > GRANT_WORD)
        r = set_grant(file, token, words[GRANT_WORD]);
    if (r == 0 && count > AGENT_WORD)
        r = set_agent(file, token, words[AGENT_WORD]);
    return r;
}

int al_tokens_parse(const char *name, struct al_str *text, const struct al_grants *grants,
                    struct al_tokens *ret_tokens, struct al_error *err)
{
    al_auto(al_freep) char *safe = al_text_sanitize_line(name);
    struct file file = { .name = safe, .grants = grants, .tokens = AL_TOKENS_INIT, .err = err };
    char *at = text->buf, *end = text->buf + text->len;
    int r = 0;

    while (at < end && r == 0) {
        char *newline = memchr(at, '\n', (size_t)(end - at));
        const size_t len = (size_t)((newline ? newline : end) - at);

        at[len] = '\0';
        file.line++;
        r = read_line(&file, at, len);
        at += len + 1;
    }
    if (r == 0 && !file.tokens.count)
        r = al_error_set(err, AL_ERR_BAD_ARGS,
                         "%s: there is no token; a line is TOKEN [GRANT [AGENT]]", safe);
    if (r < 0)
        al_tokens_clear(&file.tokens);
    else
        *ret_tokens = file.tokens;
    return r;
}

int al_tokens_read(const char *path, const struct al_grants *grants, struct al_tokens *ret_tokens,
                   struct al_error *err)
{
    static const struct al_secret_kind kind = {
        .what = "token file",
        .leaked = "make new tokens if somebody may have read them",
        .max = AL_TOKEN_FILE_MAX,
    };
    al_auto(al_freep) char *safe = al_text_sanitize_line(path);
    al_auto(al_str_clear) struct al_str text = AL_STR_INIT;
    int r = al_secret_read(path, safe, &kind, &text, err);

    if (r == 0)
        r = al_tokens_parse(path, &text, grants, ret_tokens, err);
    explicit_bzero(text.buf, text.len);
    return r;
}
