// SPDX-License-Identifier: Apache-2.0
#include "git/plumbing/bare.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/fs.h"
#include "git/command.h"
#include "git/oid.h"
#include "git/refs.h"
#include "git/run.h"

/* git does not synchronise references by itself.  A reference that came back after a power failure
 * would lead to objects that were removed. */
#define SYNC_REFS "core.fsync=committed"

/* --- Making it --- */

static int sync_dirs(int dir_fd)
{
    static const char *const dirs[] = { "refs", "objects", ".", "..", "../.." };
    int r = 0;

    for (size_t i = 0; i < AL_COUNT(dirs) && r == 0; i++) {
        al_auto(al_closep) int fd = openat(dir_fd, dirs[i], O_RDONLY | O_DIRECTORY | O_CLOEXEC);

        r = fd < 0 ? -errno : al_fs_sync(fd);
    }
    return r;
}

static int make_dirs(int dir_fd, const char *const *dirs)
{
    for (; *dirs; dirs++)
        if (mkdirat(dir_fd, *dirs, 0700) < 0 && errno != EEXIST)
            return -errno;
    return 0;
}

static int fill(int dir_fd, bool sha256, const char *const *refs, const char *settings,
                const char *attributes)
{
    static const char *const dirs[] = { "objects", "objects/pack", "objects/info",
                                        "refs",    "refs/heads",   "info",
                                        NULL };
    al_auto(al_freep) char *config =
        al_asprintf("%s\tbare = true\n\tautocrlf = false\n[gc]\n\tauto = 0\n"
                    "[pack]\n\twriteReverseIndex = false\n%s",
                    sha256 ? "[extensions]\n\tobjectFormat = sha256\n"
                             "[core]\n\trepositoryFormatVersion = 1\n"
                           : "[core]\n\trepositoryFormatVersion = 0\n",
                    settings);
    const char *const files[][2] = { { "config", config },
                                     { "info/attributes", attributes },
                                     /* last: with HEAD it is a repository */
                                     { "HEAD", "ref: refs/heads/none\n" } };
    int r;

    if (faccessat(dir_fd, "HEAD", F_OK, 0) == 0)
        return 0;
    r = make_dirs(dir_fd, dirs);
    if (r == 0)
        r = make_dirs(dir_fd, refs);
    for (size_t i = 0; r == 0 && i < AL_COUNT(files); i++)
        if (files[i][1])
            r = al_fs_write_durable(dir_fd, files[i][0], files[i][1], strlen(files[i][1]), 0600);
    return r < 0 ? r : sync_dirs(dir_fd);
}

int al_bare_open(struct al_location *at, bool sha256, const char *const *refs, const char *settings,
                 const char *attributes)
{
    static char none[] = "/dev/null";
    static const struct al_git_config config = { .global = none };
    al_auto(al_freep) char *dir = al_fs_fd_path(at->dir_fd);

    if (!dir)
        return -ENOENT;
    al_location_set_own(at, dir);
    at->config = &config;
    return fill(at->dir_fd, sha256, refs, settings, attributes);
}

/* --- Running git --- */

static int write_quietly(const struct al_location *at, bool starts_children,
                         const char *const *words, const struct al_str *input, struct al_error *err)
{
    al_auto(al_git_command_clear) struct al_git_command command = AL_GIT_COMMAND_INIT;

    command.starts_children = starts_children;
    if (input)
        al_git_command_feed(&command, input);
    al_strv_add(&command.argv, "git");
    for (; *words; words++)
        al_strv_add(&command.argv, *words);
    return al_git_write(at, &command, 0, err);
}

/* The state while objects are read. */
struct reading {
    const char *const *oids;
    size_t noids, which;
    al_object_fn take;
    void *payload;
    int status;
    struct al_error *err;
};

static int lost(const char *oid, struct al_error *err)
{
    return al_error_set(err, AL_ERR_EXECUTION, "the store has lost an object: %s", oid);
}

static bool begin_object(void *payload, const char *oid, const char *type, uint64_t size)
{
    struct reading *reading = payload;

    (void)size;
    if (!type || reading->which == reading->noids ||
        strcmp(oid, reading->oids[reading->which]) != 0)
        reading->status = lost(oid, reading->err);
    return reading->status == 0;
}

static bool add_object(void *payload, const char *data, size_t len, bool last)
{
    struct reading *reading = payload;

    reading->status =
        reading->take(reading->payload, reading->which, data, len, last, reading->err);
    reading->which += last;
    return reading->status == 0;
}

int al_bare_read(const struct al_location *at, const char *const *oids, size_t noids,
                 al_object_fn take, void *payload, struct al_error *err)
{
    al_auto(al_git_command_clear) struct al_git_command command = AL_GIT_COMMAND_INIT;
    al_auto(al_str_clear) struct al_str input = AL_STR_INIT;
    struct reading reading = {
        .oids = oids, .noids = noids, .take = take, .payload = payload, .err = err
    };
    al_auto(al_cat_file_clear) struct al_cat_file reader =
        AL_CAT_FILE_INIT(begin_object, add_object, &reading);
    int r;

    if (!noids)
        return 0;
    reader.verifies = command.borrows = true;
    for (size_t i = 0; i < noids; i++)
        al_str_addf(&input, "%s\n", oids[i]);
    al_git_command_feed(&command, &input);
    al_strv_adds(&command.argv, "git", "cat-file", "--batch", "--buffer", NULL);
    r = al_git_read(at, &command, (struct al_sink){ al_cat_file_add, &reader }, err);
    if (reading.status < 0)
        return reading.status;
    if (reader.mismatch)
        return al_error_set(err, AL_ERR_EXECUTION,
                            "object %s of the repository has other content than its id says",
                            reader.id);
    return r == 0 && reading.which != noids ? lost(oids[reading.which], err) : r;
}

int al_git_find_objects(const struct al_location *at, const struct al_strv *names, bool blobs,
                        struct al_strv *ret_there, struct al_strv *ret_missing,
                        struct al_error *err)
{
    al_auto(al_git_command_clear) struct al_git_command command = AL_GIT_COMMAND_INIT;
    al_auto(al_str_clear) struct al_str input = AL_STR_INIT, output = AL_STR_INIT;
    const char *answer;
    int r;

    for (size_t i = 0; i < names->count; i++)
        al_str_add(&input, names->items[i], strlen(names->items[i]) + 1);
    command.borrows = true;
    al_git_command_feed(&command, &input);
    al_strv_adds(&command.argv, "git", "cat-file", "-z", "--batch-check=%(objecttype)", "--buffer",
                 NULL);
    r = names->count ? al_git_read(at, &command, al_git_sink(&output), err) : 0;
    /* An answer is the type, or the name, which may have any byte, and " missing". */
    answer = output.buf;
    for (size_t i = 0; r == 0 && *answer && i < names->count; i++) {
        const char *name = names->items[i];
        const size_t len = strlen(name);
        const bool missing =
            !strncmp(answer, name, len) && al_starts_with(answer + len, " missing\n");
        struct al_strv *to = missing                                      ? ret_missing
                             : blobs && !al_starts_with(answer, "blob\n") ? NULL
                                                                          : ret_there;

        if (to)
            al_strv_add(to, name);
        answer = strchrnul(answer + (missing ? len : 0), '\n');
        answer += *answer == '\n';
    }
    return r;
}

void al_bare_pack_command(struct al_git_command *command, const struct al_str *lines,
                          bool reachable)
{
    command->input = lines ? lines->buf : NULL;
    command->input_len = lines ? lines->len : 0;
    command->class = AL_GIT_WRITE;
    command->borrows = lines != NULL;
    al_strv_adds(&command->argv, "git", "pack-objects", "-q", "--non-empty", NULL);
    /* Missing objects were lost before, or never downloaded; the others are still packed.  Existing
     * deltas are reused; the search for new ones would take the time of a call. */
    if (reachable)
        al_strv_adds(&command->argv, "--revs", "--missing=allow-any", "--window=0", NULL);
    if (!lines)
        al_strv_adds(&command->argv, "--all", "--honor-pack-keep", NULL);
    al_strv_add(&command->argv, "objects/pack/pack");
}

int al_bare_pack(const struct al_location *at, const struct al_str *lines, bool reachable,
                 char **ret_hash, struct al_error *err)
{
    al_auto(al_git_command_clear) struct al_git_command command = AL_GIT_COMMAND_INIT;
    al_auto(al_str_clear) struct al_str output = AL_STR_INIT;
    int r;

    al_bare_pack_command(&command, lines, reachable);
    r = al_git_read(at, &command, al_git_sink(&output), err);
    if (r < 0)
        return r;
    al_str_trim_end(&output);
    *ret_hash = al_strndup(output.buf, output.len);
    return 0;
}

static void add_paths(struct al_git_command *command, const char *const *paths)
{
    al_strv_add(&command->argv, "--");
    for (; paths && *paths; paths++)
        al_strv_add(&command->argv, *paths);
}

int al_bare_list_tree(const struct al_location *at, const char *treeish, const char *const *paths,
                      al_record_fn take, void *payload, struct al_error *err)
{
    al_auto(al_git_command_clear) struct al_git_command command = AL_GIT_COMMAND_INIT;

    al_strv_adds(&command.argv, "git", "ls-tree", "-r", "-z", "--full-tree", treeish, NULL);
    add_paths(&command, paths);
    return al_git_read_records(at, &command, 1, take, payload, err);
}

static int read_changes(const struct al_location *at, const struct al_git_command *command,
                        struct al_str *message, al_bare_change_fn take, void *payload,
                        struct al_error *err)
{
    al_auto(al_diff_raw_clear) struct al_diff_raw changes = AL_DIFF_RAW_INIT;
    int r;

    changes.all = true;
    changes.message = message;
    r = al_git_list_changes(at, command, &changes, err);
    for (size_t i = 0; r == 0 && i < changes.count && take(payload, &changes.items[i]); i++)
        continue;
    return r;
}

int al_bare_read_commit(const struct al_location *at, const char *commit,
                        struct al_str *ret_message, al_bare_change_fn take, void *payload,
                        struct al_error *err)
{
    al_auto(al_git_command_clear) struct al_git_command command = AL_GIT_COMMAND_INIT;

    al_strv_adds(&command.argv, "git", "diff-tree", "--root", "-r", "-z", "--raw", "--no-abbrev",
                 "--no-renames", "--always", "--format=%B%x00", commit, NULL);
    return read_changes(at, &command, ret_message, take, payload, err);
}

int al_bare_read_changes(const struct al_location *at, const char *from, const char *to,
                         const char *const *paths, al_bare_change_fn take, void *payload,
                         struct al_error *err)
{
    al_auto(al_git_command_clear) struct al_git_command command = AL_GIT_COMMAND_INIT;

    al_strv_adds(&command.argv, "git", "diff-tree", "-r", "-z", "--raw", "--no-abbrev",
                 "--no-renames", from, to, NULL);
    add_paths(&command, paths);
    return read_changes(at, &command, NULL, take, payload, err);
}

int al_bare_diff(const struct al_location *at, const char *from, const char *to, unsigned how,
                 size_t max_bytes, struct al_str *ret_text, struct al_error *err)
{
    al_auto(al_git_command_clear) struct al_git_command command = AL_GIT_COMMAND_INIT;
    struct al_text text = AL_TEXT_INIT(max_bytes);
    int r;

    al_strv_adds(&command.argv, "git", "diff-tree", "-r", "--no-renames", "--no-ext-diff",
                 "--no-textconv", how & AL_BARE_LINES ? "--patch" : "--stat",
                 how & AL_BARE_WORKTREE ? "--relative=worktree" : "--no-relative", from, to, NULL);
    text.show_controls = true;
    command.quotes_names = true;
    command.borrows = true;
    r = al_git_read(at, &command, al_git_text_sink(&text), err);
    al_text_end(&text);
    if (r == 0)
        al_str_add(ret_text, text.out.buf, text.out.len);
    (void)al_text_truncate(ret_text, max_bytes);
    al_text_clear(&text);
    return r;
}

int al_bare_commit_patch(const struct al_location *at, const char *commit, const char *below,
                         struct al_sink sink, struct al_error *err)
{
    al_auto(al_git_command_clear) struct al_git_command command = AL_GIT_COMMAND_INIT;

    al_strv_adds(&command.argv, "git", "diff-tree", "-r", "--no-commit-id", "--no-renames",
                 "--no-ext-diff", "--no-textconv", "--patch", NULL);
    al_strv_addf(&command.argv, "--src-prefix=a%s", below);
    al_strv_addf(&command.argv, "--dst-prefix=b%s", below);
    al_strv_add(&command.argv, commit);
    return al_git_read(at, &command, sink, err);
}

int al_bare_index_tree(const struct al_location *at, const char *index, bool borrows,
                       char ret_tree[AL_OID_TEXT], struct al_error *err)
{
    al_auto(al_git_command_clear) struct al_git_command command = AL_GIT_COMMAND_INIT;
    al_auto(al_str_clear) struct al_str tree = AL_STR_INIT;
    int r;

    command.class = AL_GIT_WRITE;
    command.index = index;
    /* git 2.51 to 2.54 take trees of the index's cache for written that are not there */
    al_strv_adds(&command.argv, "git", "write-tree", "--missing-ok", "--ignore-cache-tree", NULL);
    command.borrows = borrows;
    r = al_git_read(at, &command, al_git_sink(&tree), err);
    if (r == 0)
        (void)snprintf(ret_tree, AL_OID_TEXT, "%.*s", (int)strcspn(tree.buf, "\n"), tree.buf);
    return r;
}

int al_bare_write_tree(const struct al_location *at, const struct al_str *index,
                       char ret_tree[AL_OID_TEXT], struct al_error *err)
{
    al_auto(al_freep) char *name = al_asprintf("tree-%ld.index", (long)getpid());
    int r = al_fs_write_atomic(at->dir_fd, name, index->buf, index->len, 0600, true);

    if (r < 0)
        return al_error_errno(err, -r, "cannot write to the checkpoint store");
    r = al_bare_index_tree(at, name, true, ret_tree, err);
    (void)unlinkat(at->dir_fd, name, 0); /* if this fails, the next call replaces it */
    return r;
}

int al_bare_refs(const struct al_location *at, struct al_sink sink, struct al_error *err)
{
    al_auto(al_git_command_clear) struct al_git_command command = AL_GIT_COMMAND_INIT;

    al_strv_adds(&command.argv, "git", "for-each-ref", "--format=%(refname) %(contents:body)",
                 "--sort=contents:body", NULL);
    return al_git_read(at, &command, sink, err);
}

int al_bare_delete_refs(const struct al_location *at, const struct al_strv *names,
                        struct al_error *err)
{
    static const char *const update[] = { "-c", SYNC_REFS, "update-ref", "--stdin", NULL };
    al_auto(al_str_clear) struct al_str input = AL_STR_INIT;

    for (size_t i = 0; i < names->count; i++)
        al_str_addf(&input, "delete %s\n", names->items[i]);
    return write_quietly(at, false, update, &input, err);
}

int al_bare_tidy(const struct al_location *at, bool refs, struct al_error *err)
{
    static const char *const repack[] = { "repack", "-d", "-q", "--geometric=2", NULL };
    static const char *const pack_refs[] = { "-c", SYNC_REFS, "pack-refs", "--all", NULL };
    int r = write_quietly(at, true, repack, NULL, err);

    return r < 0 || !refs ? r : write_quietly(at, false, pack_refs, NULL, err);
}

int al_bare_expire(const struct al_location *at, const char *expiry, struct al_error *err)
{
    al_auto(al_freep) char *unpack = al_asprintf("--unpack-unreachable=%s", expiry);
    al_auto(al_freep) char *expire = al_asprintf("--expire=%s", expiry);
    const char *const repack[] = { "repack", "-A", "-d", "-q", "--window=0", unpack, NULL };
    const char *const prune[] = { "prune", expire, NULL };
    int r = write_quietly(at, true, repack, NULL, err);

    return r < 0 ? r : write_quietly(at, false, prune, NULL, err);
}

/* --- Cat file --- */

/* Words of a request may be paths in a tree. */
#define HEADER_MAX_BYTES (64u * 1024u)

static const char missing[] = " missing";

void al_cat_file_clear(struct al_cat_file *reader)
{
    al_str_clear(&reader->line);
}

static void begin_hash(struct al_cat_file *reader, const char *oid, const char *type,
                       unsigned long long bytes)
{
    al_auto(al_freep) char *header = al_asprintf("%s %llu", type, bytes);
    const bool sha256 = strlen(oid) == 2 * al_oid_bytes(true);

    if (!reader->verifies)
        return;
    (void)snprintf(reader->id, sizeof(reader->id), "%s", oid);
    al_hash_init(&reader->hash, sha256);
    al_hash_add(&reader->hash, header, strlen(header) + 1);
}

/* Pass on a piece of an object, unless it is the last one and the object is not what it says. */
static bool add_piece(struct al_cat_file *reader, const char *data, size_t len, bool last)
{
    char text[AL_OID_TEXT];

    if (reader->verifies)
        al_hash_add(&reader->hash, data, len);
    if (reader->verifies && last) {
        al_hash_text(&reader->hash, text);
        reader->mismatch = strcmp(text, reader->id) != 0;
    }
    return !reader->mismatch && reader->add(reader->payload, data, len, last);
}

/* "<oid> <type> <size>" or "<word> missing". */
static bool take_header(struct al_cat_file *reader)
{
    char *line = reader->line.buf, *type = strchr(line, ' '), *size = strrchr(line, ' '), *rest;
    unsigned long long bytes;

    if (al_ends_with(line, missing)) {
        al_str_truncate(&reader->line, reader->line.len - strlen(missing));
        return !reader->begin || reader->begin(reader->payload, line, NULL, 0);
    }
    if (!type || size == type || !al_is_oid(line, (size_t)(type - line)) || size[1] < '0' ||
        size[1] > '9')
        return false;
    bytes = strtoull(size + 1, &rest, 10);
    if (*rest || bytes > UINT64_MAX / 2)
        return false;
    *type = *size = '\0';
    reader->left = bytes + 1;
    begin_hash(reader, line, type + 1, bytes);
    return (!reader->begin || reader->begin(reader->payload, line, type + 1, bytes)) &&
           (bytes || add_piece(reader, "", 0, true));
}

static size_t take_line(struct al_cat_file *reader, const char *data, size_t len)
{
    const char *end = memchr(data, '\n', len);
    const size_t piece = end ? (size_t)(end - data) : len;

    al_str_add(&reader->line, data, piece);
    reader->broken = reader->line.len > HEADER_MAX_BYTES;
    if (!end || reader->broken)
        return piece;
    reader->broken = !take_header(reader);
    al_str_reset(&reader->line);
    return piece + 1;
}

static size_t take_content(struct al_cat_file *reader, const char *data, size_t len)
{
    const size_t piece = reader->left - 1 < len ? (size_t)(reader->left - 1) : len;

    if (!piece) { /* the newline after the object */
        reader->left = 0;
        reader->broken = *data != '\n';
        return 1;
    }
    reader->left -= piece;
    reader->broken = !add_piece(reader, data, piece, reader->left == 1);
    return piece;
}

bool al_cat_file_add(void *payload, const char *data, size_t len)
{
    struct al_cat_file *reader = payload;

    while (len && !reader->broken) {
        const size_t taken =
            reader->left ? take_content(reader, data, len) : take_line(reader, data, len);

        data += taken;
        len -= taken;
    }
    return !reader->broken;
}

bool al_cat_file_is_whole(const struct al_cat_file *reader)
{
    return !reader->broken && !reader->left && !reader->line.len;
}
