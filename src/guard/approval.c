// SPDX-License-Identifier: Apache-2.0
#include "guard/approval.h"

#include <dirent.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/base64.h"
#include "base/fs.h"
#include "base/lock.h"
#include "base/utf8.h"
#include "guard/text.h"

/* No session goes on for so long after its last answer. */
#define FILE_AGE_S     (24 * 3600)
#define FILE_MAX_BYTES (1u << 20)

struct al_approvals {
    pthread_mutex_t lock;
    char *file;          /* with the lines of `known`, for other processes; NULL: none */
    struct al_str known; /* a line for each answer: the digest of what it covers */
};

static const char *const modes[] = {
    [AL_APPROVAL_ASK] = "ask",
    [AL_APPROVAL_ALLOW] = "allow",
    [AL_APPROVAL_DENY] = "deny",
};

const char *al_approval_mode_name(enum al_approval_mode mode)
{
    return modes[mode];
}

static const char *const answers[] = {
    [AL_ANSWER_ONCE] = "once", [AL_ANSWER_ALWAYS] = "always", [AL_ANSWER_REJECT] = "reject"
};

const char *al_answer_word(enum al_answer answer)
{
    return (size_t)answer < AL_COUNT(answers) ? answers[answer] : NULL;
}

enum al_answer al_answer_of(const char *word)
{
    for (size_t i = 0; word && i < AL_COUNT(answers); i++)
        if (answers[i] && !strcmp(word, answers[i]))
            return (enum al_answer)i;
    return AL_ANSWER_NONE;
}

void al_approval_answer_clear(struct al_approval_answer *answer)
{
    free(answer->reason);
    *answer = AL_APPROVAL_ANSWER_INIT;
}

/* The length in bytes of the first `max` characters. */
static size_t characters(const char *text, size_t max)
{
    const size_t len = strlen(text);
    size_t at = 0;
    uint32_t ignored;

    for (; max && at < len; max--) {
        int n = al_utf8_next(text + at, len - at, &ignored);

        at += n > 0 ? (size_t)n : 1;
    }
    return at;
}

void al_approval_answer_set_reason(struct al_approval_answer *answer, const char *text)
{
    al_auto(al_freep) char *line = al_text_join_lines(text);
    const char *from = line + strspn(line, " ");
    size_t len = characters(from, AL_APPROVAL_REASON_MAX);

    while (len && from[len - 1] == ' ')
        len--;
    free(answer->reason);
    answer->reason = len ? al_strndup(from, len) : NULL;
}

static bool is_long(const struct al_approval_request *request)
{
    return request->summary[characters(request->summary, AL_APPROVAL_SUMMARY_MAX)] != '\0';
}

void al_approval_add_heading(const struct al_approval_request *request, struct al_str *out)
{
    al_auto(al_freep) char *repository = al_text_sanitize_shown_line(request->repository);

    al_str_add(out, request->summary, characters(request->summary, AL_APPROVAL_SUMMARY_MAX));
    al_str_addf(out, "%s\nIn %s, by %s (%s)\n", is_long(request) ? "..." : "", repository,
                request->tool, request->operation);
    if (request->why)
        al_str_addf(out, "Why it asks: %s\n", request->why);
    if (request->always_covers)
        al_str_addf(out, "\"always\" covers %s\n", request->always_covers);
}

void al_approval_add_full_summary(const struct al_approval_request *request, struct al_str *out)
{
    if (is_long(request))
        al_str_addf(out, "The whole first line:\n%s\n", request->summary);
}

struct al_approvals *al_approvals_new(const char *file)
{
    struct al_approvals *approvals = al_calloc(1, sizeof(*approvals));

    (void)pthread_mutex_init(&approvals->lock, NULL); /* cannot fail with default attributes */
    approvals->known = AL_STR_INIT;
    approvals->file = file ? al_strdup(file) : NULL;
    return approvals;
}

void al_approvals_free(struct al_approvals *approvals)
{
    if (!approvals)
        return;
    al_str_clear(&approvals->known);
    free(approvals->file);
    (void)pthread_mutex_destroy(&approvals->lock);
    free(approvals);
}

/* The scope of an answer, in one line.  Caller frees. */
static char *digest_of(const char *tool, const char *operation, const char *repository)
{
    const char *const parts[] = { tool, operation, repository };
    al_auto(al_str_clear) struct al_str text = AL_STR_INIT;
    al_auto(al_freep) char *hex = NULL;

    for (size_t i = 0; i < AL_COUNT(parts); i++)
        al_str_add(&text, parts[i], strlen(parts[i]) + 1);
    hex = al_sha256(text.buf, text.len);
    return al_asprintf("%s\n", hex);
}

static bool is_old(int dir_fd, const char *name)
{
    struct stat st;

    return fstatat(dir_fd, name, &st, AT_SYMLINK_NOFOLLOW) == 0 &&
           st.st_mtime < time(NULL) - FILE_AGE_S;
}

/* Remove the files of sessions that have ended. */
static void remove_old(const char *path)
{
    al_auto(al_closedirp) DIR *dir = opendir(path);
    const struct dirent *entry;

    while (dir && (entry = readdir(dir)))
        if (al_starts_with(entry->d_name, "always-") && is_old(dirfd(dir), entry->d_name))
            (void)unlinkat(dirfd(dir), entry->d_name, 0);
}

/* A file that cannot be written only means that the user is asked again in another process. */
static void append_to_file(const char *file, const char *line)
{
    al_auto(al_freep) char *dir = al_strndup(file, (size_t)(strrchr(file, '/') - file));
    al_auto(al_closep) int fd = -1;

    if (al_fs_mkdirs(dir, 0700) < 0)
        return;
    remove_old(dir);
    fd = open(file, O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600);
    if (fd >= 0)
        (void)al_write_all(fd, line, strlen(line));
}

void al_approvals_remember(struct al_approvals *approvals, const char *tool, const char *operation,
                           const char *repository)
{
    al_auto(al_freep) char *line = digest_of(tool, operation, repository);

    al_hold(&approvals->lock);
    al_str_adds(&approvals->known, line);
    if (approvals->file)
        append_to_file(approvals->file, line);
}

bool al_approvals_has(struct al_approvals *approvals, const char *tool, const char *operation,
                      const char *repository)
{
    al_auto(al_freep) char *line = digest_of(tool, operation, repository);
    al_auto(al_str_clear) struct al_str others = AL_STR_INIT;

    al_hold(&approvals->lock);
    if (strstr(approvals->known.buf, line))
        return true;
    return approvals->file && !is_old(AT_FDCWD, approvals->file) &&
           al_fs_read(AT_FDCWD, approvals->file, FILE_MAX_BYTES, &others) == 0 &&
           strstr(others.buf, line);
}
