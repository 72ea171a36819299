// SPDX-License-Identifier: Apache-2.0
#include "git/plumbing/stash_owners.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/fs.h"
#include "base/log.h"
#include "git/command.h"
#include "git/layer.h"
#include "git/location.h"
#include "git/refs.h"
#include "git/run.h"
#include "guard/text.h"

/* About 2000 records.  The stash's own log is bounded like any file of git's that is read. */
#define FILE_MAX_BYTES (256u << 10)
#define LOG_MAX_BYTES  (16u << 20)

#define NOTHING        "-" /* in place of an id */
#define SPACES         " \t\n\v\f\r"

void al_stash_owners_clear(struct al_stash_owners *owners)
{
    al_strv_clear(&owners->lines);
    free(owners->own);
    owners->own = NULL;
}

static bool count_linked(void *count, const char *name, int git_dir_fd, const char *top)
{
    (void)name;
    (void)git_dir_fd;
    (void)top;
    return ++*(size_t *)count < 2;
}

/* Whether there is another working tree.  A common directory without an index is bare. */
static bool has_others(const struct al_repo *repo)
{
    al_auto(al_freep) char *index = al_fs_join(repo->at.common_dir, "index");
    size_t count = al_location_is_linked(&repo->at) && access(index, F_OK) < 0 ? 0 : 1;

    (void)al_git_each_linked(&repo->at, count_linked, &count, NULL);
    return count > 1;
}

char *al_stash_owner_id(const char *git_dir)
{
    al_auto(al_closep) int fd = open(git_dir, O_PATH | O_DIRECTORY | O_CLOEXEC);

    return al_fs_dir_id(fd);
}

/* "<inode>.<birth> TAB <worktree> TAB"; NULL when the name has a character that would not fit into
 * a record.  Inode and birth tell a working tree from a later one of the same name, which may get
 * the inode again.  Caller frees. */
static char *name_own(const struct al_repo *repo)
{
    const char *name = al_location_is_linked(&repo->at) ? strrchr(repo->at.git_dir, '/') + 1 : "";
    al_auto(al_freep) char *id = al_stash_owner_id(repo->at.git_dir);

    return strpbrk(name, "\t\n") || !id ? NULL : al_asprintf("%s\t%s\t", id, name);
}

/* The part of a record after the id, if the record is about it; NULL: it is not. */
static const char *rest_of(const char *line, const char *oid)
{
    size_t len = strlen(oid);

    return !strncmp(line, oid, len) && line[len] == '\t' ? line + len + 1 : NULL;
}

/* The newest record about an entry, without the id; NULL: there is none. */
static const char *find_record(const struct al_stash_owners *owners, const char *oid)
{
    for (size_t i = owners->lines.count; i > 0; i--) {
        const char *rest = rest_of(owners->lines.items[i - 1], oid);

        if (rest)
            return rest;
    }
    return NULL;
}

/* Whether the last push in this working tree saved nothing. */
static bool has_pushed_nothing(const struct al_stash_owners *owners)
{
    for (size_t i = owners->lines.count; owners->own && i > 0; i--) {
        const char *line = owners->lines.items[i - 1], *tab = strchr(line, '\t');

        if (tab && al_starts_with(tab + 1, owners->own))
            return rest_of(line, NOTHING);
    }
    return false;
}

/* Add the lines that are whole records. */
static void split(char *text, struct al_strv *lines)
{
    char *save = NULL;

    for (char *line = strtok_r(text, "\n", &save); line; line = strtok_r(NULL, "\n", &save)) {
        size_t tabs = 0;

        for (const char *at = line; *at; at++)
            tabs += *at == '\t';
        if (tabs == 4 && al_ends_with(line, "\t."))
            al_strv_add(lines, line);
    }
}

void al_stash_owners_read(const struct al_repo *repo, struct al_stash_owners *ret_owners)
{
    al_auto(al_freep) char *name = al_location_dir_name(repo->at.common_dir);
    al_auto(al_freep) char *path = name ? al_fs_join(repo->at.git->stash_dir, name) : NULL;
    al_auto(al_str_clear) struct al_str text = AL_STR_INIT;

    *ret_owners = AL_STASH_OWNERS_INIT;
    ret_owners->is_shared = has_others(repo);
    ret_owners->own = name_own(repo);
    if (!path || al_fs_read(AT_FDCWD, path, FILE_MAX_BYTES * 2, &text) < 0 || !text.len)
        return;
    split(text.buf, &ret_owners->lines);
    ret_owners->pushed_nothing = has_pushed_nothing(ret_owners);
}

bool al_stash_is_own(const struct al_stash_owners *owners, const char *oid)
{
    const char *record = find_record(owners, oid);

    return record && owners->own && al_starts_with(record, owners->own);
}

bool al_stash_is_others(const struct al_stash_owners *owners, const char *oid)
{
    return owners->is_shared && owners->own && find_record(owners, oid) &&
           !al_stash_is_own(owners, oid);
}

char *al_stash_owner_words(const struct al_stash_owners *owners, const char *oid)
{
    const char *record = find_record(owners, oid);
    const char *name = record ? strchr(record, '\t') + 1 : NULL;
    const char *agent = name ? strchr(name, '\t') + 1 : NULL;
    al_auto(al_freep) char *words = NULL;

    if (!record)
        return al_strdup("no worktree");
    if (al_stash_is_own(owners, oid))
        return al_strdup("this worktree");
    words = al_asprintf("%s%.*s%s%.*s", *name == '\t' ? "the main working tree" : "worktree ",
                        (int)strcspn(name, "\t"), name, *agent == '\t' ? "" : ", agent ",
                        (int)strcspn(agent, "\t"), agent);
    return al_text_sanitize_line(words);
}

/* Keep the newer half of the records. */
static int shorten(int dir_fd, const char *name, const struct al_strv *lines)
{
    al_auto(al_str_clear) struct al_str text = AL_STR_INIT;

    for (size_t i = lines->count / 2; i < lines->count; i++)
        al_str_addf(&text, "\n%s\n", lines->items[i]);
    return al_fs_write_atomic(dir_fd, name, text.buf, text.len, 0600, true);
}

static int append(const char *dir, const char *name, const struct al_strv *lines,
                  const char *record)
{
    al_auto(al_closep) int dir_fd = -1;
    al_auto(al_closep) int fd = -1;
    struct stat st;
    int r = al_fs_mkdirs(dir, 0700);

    if (r < 0)
        return r;
    dir_fd = open(dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (dir_fd < 0)
        return -errno;
    if (fstatat(dir_fd, name, &st, AT_SYMLINK_NOFOLLOW) == 0 && st.st_size > FILE_MAX_BYTES)
        r = shorten(dir_fd, name, lines);
    if (r < 0)
        return r;
    fd = openat(dir_fd, name, O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600);
    return fd < 0 ? -errno : al_write_all(fd, record, strlen(record));
}

void al_stash_owners_add(const struct al_repo *repo, const char *oid, const char *agent)
{
    al_auto(al_stash_owners_clear) struct al_stash_owners owners = AL_STASH_OWNERS_INIT;
    al_auto(al_freep) char *name = al_location_dir_name(repo->at.common_dir);
    al_auto(al_freep) char *record = NULL;
    int r;

    al_stash_owners_read(repo, &owners);
    if (!name || !owners.own || (!oid && owners.pushed_nothing))
        return;
    /* The newline in front ends a record that a killed process has not finished. */
    record = al_asprintf("\n%s\t%s%s\t.\n", oid ? oid : NOTHING, owners.own, agent ? agent : "");
    r = append(repo->at.git->stash_dir, name, &owners.lines, record);
    if (r < 0)
        al_log_warn("the stash entry belongs to no worktree: its record cannot be written to '%s': "
                    "%s",
                    repo->at.git->stash_dir, strerrordesc_np(-r));
}

/* --- Stored --- */

#define STASH "refs/stash"

void al_git_stored_stash(const struct al_location *at, struct al_str *log)
{
    al_auto(al_git_command_clear) struct al_git_command command = AL_GIT_COMMAND_INIT;
    al_auto(al_git_output_clear) struct al_git_output output = { .exit_code = -1 };
    al_auto(al_strv_clear) struct al_strv lines = AL_STRV_INIT;
    al_auto(al_freep) char *before = NULL;

    /* the third field: stash@{<seconds> <zone>} */
    al_strv_adds(&command.argv, "git", "log", "--walk-reflogs", "--no-show-signature", "--date=raw",
                 "--format=%H %gn <%ge> %gd%x09%gs", STASH, "--", NULL);
    if (!al_git_ask(at, &command, LOG_MAX_BYTES, &output))
        return;
    al_strv_split(&lines, output.out.out.buf, "\n");
    for (size_t i = lines.count; i > 0; i--) {
        char *line = lines.items[i - 1], *tab = strchr(line, '\t');
        char *date = tab ? memmem(line, (size_t)(tab - line), "> stash@{", strlen("> stash@{")) : 0;
        const int width = (int)strcspn(line, " ");

        if (!date || tab[-1] != '}')
            continue;
        if (!before)
            before = al_asprintf("%0*d", width, 0);
        al_str_addf(log, "%s %.*s> %.*s%s\n", before, (int)(date - line), line,
                    (int)(tab - 1 - date - (int)strlen("> stash@{")), date + strlen("> stash@{"),
                    tab);
        free(before);
        before = al_strndup(line, (size_t)width);
    }
}

/* Add an entry: "<id before> <id> <name> <<mail>> <seconds> <zone>" TAB "<message>". */
static int store_entry(const struct al_repo *repo, char *line, struct al_error *err)
{
    al_auto(al_git_command_clear) struct al_git_command command = AL_GIT_COMMAND_INIT;
    al_auto(al_strv_clear) struct al_strv env = AL_STRV_INIT;
    const struct al_git_link link = { .protocol = "none", .env = &env };
    char *save = NULL, *id, *name, *mail, *date, *message;

    (void)strtok_r(line, " ", &save);
    id = strtok_r(NULL, " ", &save);
    name = strtok_r(NULL, "<", &save);
    mail = strtok_r(NULL, ">", &save);
    date = strtok_r(NULL, "\t", &save);
    message = strtok_r(NULL, "", &save);
    if (!date || !al_is_oid(id, strlen(id)))
        return 0;
    al_strv_addf(&env, "GIT_COMMITTER_NAME=%.*s", (int)strlen(name) - 1, name);
    al_strv_addf(&env, "GIT_COMMITTER_EMAIL=%s", mail);
    al_strv_addf(&env, "GIT_COMMITTER_DATE=@%s", date + 1);
    command.link = &link;
    al_strv_adds(&command.argv, "git", "update-ref", "--create-reflog", "-m",
                 message ? message : "", STASH, id, NULL);
    return al_git_write(&repo->at, &command, 0, err);
}

int al_git_store_stash(const struct al_repo *repo, const char *log, struct al_error *err)
{
    al_auto(al_git_command_clear) struct al_git_command command = AL_GIT_COMMAND_INIT;
    al_auto(al_freep) char *text = al_strdup(log);
    char *save = NULL;
    int r;

    al_strv_adds(&command.argv, "git", "update-ref", "--no-deref", "-d", STASH, NULL);
    r = al_git_write(&repo->at, &command, 0, err);
    for (char *line = strtok_r(text, "\n", &save); r == 0 && line;
         line = strtok_r(NULL, "\n", &save))
        r = store_entry(repo, line, err);
    return r;
}

/* Each line of the log is "<id before> <id> <name> <<mail>> <date>" TAB "<message>".  Adds the ids,
 * newest first, and the messages if they are wanted. */
static void read_log(const struct al_repo *repo, struct al_strv *oids, struct al_strv *messages)
{
    al_auto(al_freep) char *path = al_fs_join(repo->at.common_dir, "logs/refs/stash");
    al_auto(al_strv_clear) struct al_strv lines = AL_STRV_INIT;
    al_auto(al_str_clear) struct al_str text = AL_STR_INIT;

    if (al_ref_is_stored(&repo->at, STASH))
        al_git_stored_stash(&repo->at, &text);
    else if (al_fs_read(AT_FDCWD, path, LOG_MAX_BYTES, &text) < 0)
        return;
    al_strv_split(&lines, text.len ? text.buf : NULL, "\n");
    for (size_t i = lines.count; i > 0; i--) {
        const char *oid = strchr(lines.items[i - 1], ' ');
        const char *message = strchr(lines.items[i - 1], '\t');

        if (!oid || strspn(oid + 1, "0123456789abcdef") < 40)
            continue;
        al_strv_take(oids, al_strndup(oid + 1, strcspn(oid + 1, " ")));
        if (messages)
            al_strv_add(messages, message ? message + 1 : "");
    }
}

void al_git_stash_entries(const struct al_repo *repo, struct al_strv *ret_oids)
{
    read_log(repo, ret_oids, NULL);
}

/* A log has git's output with one space for each run of them. */
static void squeeze(const struct al_str *said, struct al_str *out)
{
    al_auto(al_freep) char *text = al_strndup(said->len ? said->buf : "", said->len);
    char *save = NULL;

    for (char *word = strtok_r(text, SPACES, &save); word; word = strtok_r(NULL, SPACES, &save))
        al_str_addf(out, " %s", word);
}

size_t al_git_stash_find_new(const struct al_repo *repo, const struct al_strv *before,
                             const struct al_str *said, char **ret_oid)
{
    al_auto(al_strv_clear) struct al_strv oids = AL_STRV_INIT, messages = AL_STRV_INIT;
    al_auto(al_str_clear) struct al_str words = AL_STR_INIT;
    const char *found = NULL, *named = NULL;
    size_t count = 0, count_named = 0;

    squeeze(said, &words);
    read_log(repo, &oids, &messages);
    for (size_t i = 0; i < oids.count; i++) {
        if (al_strv_contains(before, oids.items[i]))
            continue;
        found = oids.items[i];
        count++;
        if (words.len && al_ends_with(words.buf, messages.items[i])) {
            named = oids.items[i];
            count_named++;
        }
    }
    if (count > 1)
        found = count_named == 1 ? named : NULL;
    *ret_oid = found ? al_strdup(found) : NULL;
    return count;
}

bool al_git_stash_find(const struct al_repo *repo, const char *oid, int64_t *ret_index)
{
    al_auto(al_strv_clear) struct al_strv oids = AL_STRV_INIT;

    al_git_stash_entries(repo, &oids);
    for (size_t i = 0; i < oids.count; i++)
        if (!strcmp(oids.items[i], oid)) {
            *ret_index = (int64_t)i;
            return true;
        }
    return false;
}
