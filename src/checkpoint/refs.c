// SPDX-License-Identifier: Apache-2.0
#include "checkpoint/refs.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdlib.h>
#include <unistd.h>

#include "gitops/deadline.h"
#include "gitops/oid.h"
#include "guard/nofollow.h"
#include "util/fs.h"

#define VALUE_MAX_BYTES  4096u
#define PACKED_MAX_BYTES (256u << 20)

/** Reads the loose references below a directory. */
struct reader {
    int dir_fd;        /* the directory that has refs/ */
    bool per_worktree; /* read only those of one working tree, or only the shared ones */
    bool all;          /* read both; there is no linked working tree */
    bool sha256;
    struct al_deadline *deadline;
    struct al_refs *refs;
    struct al_error *err;
};

void al_refs_clear(struct al_refs *refs)
{
    for (size_t i = 0; i < refs->count; i++) {
        free(refs->items[i].name);
        free(refs->items[i].value);
    }
    free(refs->items);
    *refs = (struct al_refs){ .items = NULL };
}

static void add(struct al_refs *refs, char *name, char *value)
{
    if (refs->count == refs->capacity) {
        refs->capacity = refs->capacity ? 2 * refs->capacity : 64;
        refs->items = al_reallocarray(refs->items, refs->capacity, sizeof(*refs->items));
    }
    refs->items[refs->count++] = (struct al_saved_ref){ .name = name, .value = value };
}

/* git refuses such names too, and a list with one reference a line could not represent them. */
static bool is_name(const char *name)
{
    if (!al_starts_with(name, "refs/") || strlen(name) > PATH_MAX)
        return false;
    for (const unsigned char *at = (const unsigned char *)name; *at; at++)
        if (*at <= ' ' || *at == 0x7f)
            return false;
    return true;
}

char *al_ref_value(const char *text, bool sha256)
{
    al_auto(al_freep) char *line = al_strndup(text, strcspn(text, "\r\n"));
    struct al_oid oid;

    if (al_starts_with(line, "ref:")) {
        const char *target = line + 4 + strspn(line + 4, " \t");
        al_auto(al_str_clear) struct al_str value = AL_STR_INIT;

        al_str_adds(&value, target);
        al_str_trim_end(&value);
        return is_name(value.buf) ? al_asprintf("ref: %s", value.buf) : NULL;
    }
    if (!al_oid_parse(line, sha256, &oid))
        return NULL;
    line[2 * al_oid_bytes(sha256)] = '\0';
    return al_take(&line);
}

static bool is_per_worktree(const char *name)
{
    return al_starts_with(name, "refs/bisect") || al_starts_with(name, "refs/worktree") ||
           al_starts_with(name, "refs/rewritten");
}

/* A symbolic link is an old form of a symbolic reference. */
static char *read_link(int fd, const char *file, bool sha256)
{
    char target[VALUE_MAX_BYTES];
    ssize_t len = readlinkat(fd, file, target, sizeof(target) - 1);
    al_auto(al_freep) char *line = NULL;

    if (len <= 0)
        return NULL;
    target[len] = '\0';
    line = al_asprintf("ref: %s", target);
    return al_ref_value(line, sha256);
}

static int too_many(struct al_error *err)
{
    return al_error_set(err, AL_ERR_EXECUTION, "the repository has more than %u references",
                        AL_REFS_MAX);
}

static int add_loose(struct reader *reader, int fd, const char *file, const char *name)
{
    al_auto(al_str_clear) struct al_str text = AL_STR_INIT;
    int r = al_fs_read(fd, file, VALUE_MAX_BYTES, &text);
    char *value = r == -ELOOP ? read_link(fd, file, reader->sha256)
                  : r == 0    ? al_ref_value(text.buf, reader->sha256)
                              : NULL;

    if (!value)
        return 0;
    add(reader->refs, al_strdup(name), value);
    return reader->refs->count > AL_REFS_MAX ? too_many(reader->err) : 0;
}

static int walk_dir(struct reader *reader, const char *dir_name, int depth);

static int add_entry(struct reader *reader, int fd, const char *dir_name,
                     const struct dirent *entry, int depth)
{
    al_auto(al_freep) char *name = al_fs_join(dir_name, entry->d_name);
    unsigned char type = entry->d_type;
    struct stat st;
    int r;

    if (type == DT_UNKNOWN && fstatat(fd, entry->d_name, &st, AT_SYMLINK_NOFOLLOW) == 0)
        type = (unsigned char)IFTODT(st.st_mode);
    if (!is_name(name) || (!reader->all && is_per_worktree(name) != reader->per_worktree))
        return 0;
    r = al_deadline_step(reader->deadline, reader->err);
    if (r == 0 && type == DT_DIR)
        r = walk_dir(reader, name, depth + 1);
    else if (r == 0 && !al_ends_with(name, ".lock"))
        r = add_loose(reader, fd, entry->d_name, name);
    return r;
}

static int walk_dir(struct reader *reader, const char *dir_name, int depth)
{
    al_auto(al_closedirp) DIR *dir =
        al_fs_list(al_nofollow_open(reader->dir_fd, dir_name, O_RDONLY | O_DIRECTORY));
    struct dirent *entry;
    int r = 0;

    if (!dir)
        return 0;
    if (depth > AL_REFS_DEPTH_MAX)
        r = al_error_set(reader->err, AL_ERR_EXECUTION,
                         "the repository has references below more than %d directories",
                         AL_REFS_DEPTH_MAX);
    while (r == 0 && (entry = readdir(dir)))
        if (entry->d_name[0] != '.')
            r = add_entry(reader, dirfd(dir), dir_name, entry, depth);
    return r;
}

static int by_name(const void *a, const void *b)
{
    return strcmp(((const struct al_saved_ref *)a)->name, ((const struct al_saved_ref *)b)->name);
}

static void sort(struct al_refs *refs)
{
    for (size_t i = 1; i < refs->count; i++) {
        if (by_name(&refs->items[i - 1], &refs->items[i]) > 0) {
            qsort(refs->items, refs->count, sizeof(*refs->items), by_name);
            return;
        }
    }
}

/* Add a line of packed-refs.  Comments and peeled values are skipped. */
static void add_packed(struct al_refs *refs, char *line, bool sha256)
{
    char *space = strchr(line, ' ');
    struct al_oid oid;

    if (line[0] == '#' || line[0] == '^' || !space || !is_name(space + 1) ||
        !al_oid_parse(line, sha256, &oid))
        return;
    *space = '\0';
    add(refs, al_strdup(space + 1), al_strdup(line));
}

static int read_packed(int common_fd, bool sha256, struct al_refs *refs, struct al_error *err)
{
    al_auto(al_str_clear) struct al_str text = AL_STR_INIT;
    char *save = NULL;
    int r = al_fs_read(common_fd, "packed-refs", PACKED_MAX_BYTES, &text);

    if (r == -ENOENT)
        return 0;
    if (r < 0)
        return al_error_errno(err, -r, "cannot read packed-refs");
    for (char *line = strtok_r(text.buf, "\n", &save); line; line = strtok_r(NULL, "\n", &save)) {
        add_packed(refs, line, sha256);
        if (refs->count > AL_REFS_MAX)
            return too_many(err);
    }
    sort(refs);
    return 0;
}

/* A loose reference hides a packed one of the same name. */
static void merge(struct al_refs *loose, struct al_refs *packed, struct al_refs *into)
{
    size_t i = 0, k = 0;

    while (i < loose->count || k < packed->count) {
        int order = i == loose->count    ? 1
                    : k == packed->count ? -1
                                         : by_name(&loose->items[i], &packed->items[k]);
        struct al_saved_ref *from = order <= 0 ? &loose->items[i++] : &packed->items[k];

        if (order >= 0)
            k++;
        if (into->count && !strcmp(into->items[into->count - 1].name, from->name))
            continue;
        add(into, al_take(&from->name), al_take(&from->value));
    }
}

int al_refs_read(int common_fd, int git_fd, bool sha256, struct al_deadline *deadline,
                 struct al_refs *ret_refs, struct al_error *err)
{
    al_auto(al_refs_clear) struct al_refs loose = { .items = NULL };
    al_auto(al_refs_clear) struct al_refs packed = { .items = NULL };
    struct reader reader = { .dir_fd = common_fd,
                             .all = git_fd < 0,
                             .sha256 = sha256,
                             .deadline = deadline,
                             .refs = &loose,
                             .err = err };
    int r = walk_dir(&reader, "refs", 0);

    if (r == 0 && git_fd >= 0) {
        reader.dir_fd = git_fd;
        reader.per_worktree = true;
        r = walk_dir(&reader, "refs", 0);
    }
    if (r == 0)
        r = read_packed(common_fd, sha256, &packed, err);
    if (r < 0)
        return r;
    sort(&loose);
    *ret_refs = (struct al_refs){ .items = NULL };
    merge(&loose, &packed, ret_refs);
    if (ret_refs->count <= AL_REFS_MAX)
        return 0;
    al_refs_clear(ret_refs);
    return too_many(err);
}

void al_refs_dump(const struct al_refs *refs, struct al_str *out)
{
    for (size_t i = 0; i < refs->count; i++) {
        al_str_adds(out, refs->items[i].value);
        al_str_addc(out, ' ');
        al_str_adds(out, refs->items[i].name);
        al_str_addc(out, '\n');
    }
}

bool al_refs_parse(const char *text, size_t len, struct al_refs *ret_refs)
{
    al_auto(al_refs_clear) struct al_refs refs = { .items = NULL };

    while (len) {
        const char *end = memchr(text, '\n', len);
        const char *space = end ? memrchr(text, ' ', (size_t)(end - text)) : NULL;

        if (!space)
            return false;
        add(&refs, al_strndup(space + 1, (size_t)(end - space - 1)),
            al_strndup(text, (size_t)(space - text)));
        len -= (size_t)(end - text) + 1;
        text = end + 1;
    }
    *ret_refs = refs;
    refs = (struct al_refs){ .items = NULL };
    return true;
}
