// SPDX-License-Identifier: Apache-2.0
/*
 * Reading commits and writing them.
 *
 * Source: git-commit(1) "DISCUSSION" (encodings), git-var(1), git-cat-file(1) "BATCH OUTPUT".
 */
#include <errno.h>
#include <iconv.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "gitops/failure.h"
#include "gitops/inmemory/private.h"
#include "gitops/plumbing/revision.h"
#include "gitops/repo/repo.h"
#include "gitops/vet/vet.h"
#include "util/utf8.h"

#define IDENT_BYTES 8192u

void al_commits_read_clear(struct al_commits_read *commits)
{
    for (size_t i = 0; i < commits->count; i++) {
        struct al_commit_read *commit = &commits->items[i];

        free(commit->oid);
        free(commit->tree);
        free(commit->author);
        free(commit->message);
        al_strv_clear(&commit->parents);
    }
    free(commits->items);
    *commits = (struct al_commits_read){ .items = NULL };
}

/* The text in UTF-8; false: iconv(3) does not know the encoding, or the text is not in it. */
static bool encode(const char *from, const char *text, struct al_str *out)
{
    iconv_t cd = iconv_open("UTF-8", strcasecmp(from, "latin-1") ? from : "ISO-8859-1");
    char *in = (char *)(uintptr_t)text; /* iconv(3) does not write there */
    size_t left = strlen(text);
    bool good = cd != (iconv_t)-1;

    while (good && left) {
        char piece[4096], *to = piece;
        size_t room = sizeof(piece);

        errno = 0;
        if (iconv(cd, &in, &left, &to, &room) == (size_t)-1 && errno != E2BIG)
            good = false;
        al_str_add(out, piece, sizeof(piece) - room);
    }
    if (cd != (iconv_t)-1)
        (void)iconv_close(cd);
    return good;
}

/* The rest of a header line with this name; NULL: the line has another one.  Caller frees. */
static char *header_value(const char *line, const char *name)
{
    const size_t len = strlen(name);

    if (strncmp(line, name, len) != 0 || line[len] != ' ')
        return NULL;
    return al_strndup(line + len + 1, strcspn(line + len + 1, "\n"));
}

static void take_header(struct al_commit_read *commit, const char *line)
{
    char *parent;

    if (!commit->tree)
        commit->tree = header_value(line, "tree");
    if (!commit->author)
        commit->author = header_value(line, "author");
    parent = header_value(line, "parent");
    if (parent)
        al_strv_take(&commit->parents, parent);
}

/* The headers, an empty line, the message. */
static bool parse_text(const char *text, struct al_commit_read *commit)
{
    const char *line = text;

    while (*line && *line != '\n') {
        take_header(commit, line);
        line += strcspn(line, "\n");
        line += *line == '\n';
    }
    commit->message = al_strdup(*line ? line + 1 : line);
    return commit->tree && commit->author;
}

static char *find_encoding(const char *text)
{
    for (const char *line = text; *line && *line != '\n'; line += *line == '\n') {
        char *value = header_value(line, "encoding");

        if (value)
            return value;
        line += strcspn(line, "\n");
    }
    return NULL;
}

/* git encodes a whole commit at once, and takes it as it is where that fails. */
static bool parse_commit(const char *text, struct al_commit_read *commit)
{
    al_auto(al_freep) char *encoding = find_encoding(text);
    al_auto(al_str_clear) struct al_str encoded = AL_STR_INIT;
    const bool is_utf8 =
        !encoding || !strcasecmp(encoding, "UTF-8") || !strcasecmp(encoding, "UTF8");

    if (!is_utf8 && encode(encoding, text, &encoded))
        return parse_text(encoded.buf, commit);
    return parse_text(text, commit);
}

static int read_one(const struct al_inmemory *memory, const char *oid, const char **at,
                    const char *end, struct al_commit_read *commit, struct al_error *err)
{
    const bool sha256 = memory->real->vetting->is_sha256;
    al_auto(al_freep) char *expected = al_asprintf("%s commit ", oid);
    char text[AL_OID_TEXT], *rest;
    al_auto(al_freep) char *data = NULL;
    struct al_oid id;
    size_t len;

    if ((size_t)(end - *at) < strlen(expected) || strncmp(*at, expected, strlen(expected)) != 0)
        return al_error_set(err, AL_ERR_EXECUTION, "%s is not a commit of this repository", oid);
    len = (size_t)strtoull(*at + strlen(expected), &rest, 10);
    if (*rest != '\n' || len >= (size_t)(end - rest - 1))
        return al_error_set(err, AL_ERR_EXECUTION, "git cat-file did not say what was asked");
    al_oid_of(sha256, AL_OBJECT_COMMIT, rest + 1, len, &id);
    al_oid_text(&id, sha256, text);
    if (strcmp(text, oid) != 0)
        return al_error_set(err, AL_ERR_EXECUTION,
                            "Commit %s has other content than its id says; the user can look with "
                            "git fsck",
                            oid);
    data = al_strndup(rest + 1, len);
    *at = rest + 1 + len + 1;
    commit->oid = al_strdup(oid);
    if (!parse_commit(data, commit))
        return al_error_set(err, AL_ERR_EXECUTION, "Commit %s cannot be read", oid);
    return 0;
}

int al_inmemory_read(const struct al_inmemory *memory, const struct al_strv *oids,
                     struct al_run_limits *budget, struct al_commits_read *ret_commits,
                     struct al_error *err)
{
    al_auto(al_git_command_clear) struct al_git_command command = AL_GIT_CONTENT_INIT;
    al_auto(al_commits_read_clear) struct al_commits_read commits = { .items = NULL };
    al_auto(al_str_clear) struct al_str words = AL_STR_INIT;
    struct al_buffer out = { .max_bytes = 0 };
    const char *at;
    int r;

    for (size_t i = 0; i < oids->count; i++)
        al_str_addf(&words, "%s\n", oids->items[i]);
    command.input = words.buf;
    command.input_len = words.len;
    al_strv_adds(&command.argv, "git", "cat-file", "--batch", "--buffer", NULL);
    r = words.len ? al_inmemory_git(memory, &command, budget, &out, NULL, err) : 0;
    commits.items = al_calloc(oids->count, sizeof(*commits.items));
    at = out.data;
    for (size_t i = 0; r == 0 && i < oids->count; i++) {
        commits.count++;
        r = read_one(memory, oids->items[i], &at, out.data + out.len, &commits.items[i], err);
    }
    al_buffer_clear(&out);
    if (r < 0)
        return r;
    *ret_commits = commits;
    commits = (struct al_commits_read){ .items = NULL };
    return 0;
}

/* "Name <mail> <seconds> <zone>".  Caller frees. */
static int find_identity(const struct al_inmemory *memory, const char *variable,
                         struct al_run_limits *budget, char **ret_identity, struct al_error *err)
{
    al_auto(al_git_command_clear) struct al_git_command command = AL_GIT_COMMAND_INIT;
    struct al_buffer out = { .max_bytes = IDENT_BYTES };
    int r;

    if (!memory->real->vetting->has_identity)
        return al_git_no_identity(err);
    al_strv_adds(&command.argv, "git", "var", variable, NULL);
    r = al_inmemory_git(memory, &command, budget, &out, NULL, err);
    if (r == 0)
        *ret_identity =
            al_strndup(out.data ? out.data : "", out.data ? strcspn(out.data, "\n") : 0);
    al_buffer_clear(&out);
    return r;
}

static bool is_character(uint32_t c)
{
    return (c & 0x1ffffe) != 0xfffe && (c < 0xfdd0 || c > 0xfdef);
}

/* git takes bytes of a commit that are not UTF-8 for Latin-1. */
static void add_as_utf8(const char *text, size_t len, struct al_str *out)
{
    for (size_t at = 0; at < len;) {
        const unsigned char byte = (unsigned char)text[at];
        uint32_t c = 0;
        const int n = al_utf8_next(text + at, len - at, &c);

        if (n > 0 && is_character(c)) {
            al_str_add(out, text + at, (size_t)n);
            at += (size_t)n;
            continue;
        }
        al_str_addc(out, (char)(0xc0 + (byte >> 6)));
        al_str_addc(out, (char)(0x80 + (byte & 0x3f)));
        at++;
    }
}

static void add_parents(struct al_inmemory *memory, const struct al_strv *parents,
                        struct al_str *out)
{
    for (size_t i = 0; parents && i < parents->count; i++) {
        al_str_addf(out, "parent %s\n", parents->items[i]);
        al_inmemory_add_bound(memory, parents->items[i]);
    }
}

int al_inmemory_commit(struct al_inmemory *memory, const struct al_new_commit *commit,
                       struct al_run_limits *budget, char **ret_oid, struct al_error *err)
{
    al_auto(al_str_clear) struct al_str text = AL_STR_INIT;
    al_auto(al_str_clear) struct al_str utf8 = AL_STR_INIT;
    const char *author = commit->author;
    char oid[AL_OID_TEXT];
    int r = al_git_check_signature(memory->real, err);

    if (r == 0 && !memory->committer)
        r = find_identity(memory, "GIT_COMMITTER_IDENT", budget, &memory->committer, err);
    if (r == 0 && !author && !memory->author)
        r = find_identity(memory, "GIT_AUTHOR_IDENT", budget, &memory->author, err);
    if (r < 0)
        return r;
    author = author ? author : memory->author;
    al_str_addf(&text, "tree %s\n", commit->tree);
    add_parents(memory, commit->parents, &text);
    al_str_addf(&text, "author %s\ncommitter %s\n\n%s", author, memory->committer, commit->message);
    add_as_utf8(text.buf, text.len, &utf8);
    r = al_inmemory_write(memory, AL_OBJECT_COMMIT, utf8.buf, utf8.len, oid, err);
    if (r < 0)
        return r;
    al_strv_add(&memory->made, oid);
    *ret_oid = al_strdup(oid);
    return 0;
}

int al_inmemory_nothing(struct al_inmemory *memory, struct al_run_limits *budget, char **ret_oid,
                        struct al_error *err)
{
    char tree[AL_OID_TEXT];
    const struct al_new_commit commit = { .tree = tree, .message = "" };
    int r = al_inmemory_write(memory, AL_OBJECT_TREE, "", 0, tree, err);

    return r < 0 ? r : al_inmemory_commit(memory, &commit, budget, ret_oid, err);
}
