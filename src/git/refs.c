// SPDX-License-Identifier: Apache-2.0
#include "git/refs.h"

#include <fcntl.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/fs.h"
#include "git/command.h"
#include "git/layer.h"
#include "git/location.h"
#include "git/oid.h"
#include "git/run.h"
#include "guard/nofollow.h"
#include "guard/path.h"
#include "guard/root.h"

#define REF_MAX_BYTES       4096u
#define PACKED_MAX_BYTES    (1u << 30)
#define SYMREF_DEPTH_MAX    5
#define SHALLOW_MAX_BYTES   (1u << 20)
#define FOLLOWERS_MAX_BYTES (1u << 20)

/* git refuses other names too, and a list with one reference a line could not represent them. */
static bool is_name(const char *name)
{
    const char *at = name;

    while ((unsigned char)*at > ' ' && *at != 0x7f)
        at++;
    return *name && !*at;
}

/* Whether a reference name may be followed to a file: it has refs/ in front and no "..". */
static bool is_reference(const char *name)
{
    return al_starts_with(name, "refs/") && !strstr(name, "..") && is_name(name);
}

bool al_is_oid(const char *text, size_t len)
{
    return len > 0 && strspn(text, "0123456789abcdef") == len;
}

const char *al_ref_short(const char *ref)
{
    static const char *const prefixes[] = { "refs/heads/", "refs/remotes/", "refs/tags/" };

    for (size_t i = 0; i < AL_COUNT(prefixes); i++)
        if (al_starts_with(ref, prefixes[i]))
            return ref + strlen(prefixes[i]);
    return ref;
}

bool al_ref_is_stored(const struct al_location *at, const char *name)
{
    static const char *const own[] = { "HEAD",        "ORIG_HEAD",          "CHERRY_PICK_HEAD",
                                       "REVERT_HEAD", "REBASE_HEAD",        "AUTO_MERGE",
                                       "BISECT_HEAD", "BISECT_EXPECTED_REV" };
    bool is = is_reference(name) || al_ends_with(name, "/HEAD");

    for (size_t i = 0; i < AL_COUNT(own); i++)
        is |= !strcmp(name, own[i]);
    return is && at->config && at->config->has_reftable;
}

/* The answer of git about a reference; NULL: nothing. */
static char *ask(const struct al_location *at, const char *const *words, const char *name)
{
    al_auto(al_git_command_clear) struct al_git_command command = AL_GIT_COMMAND_INIT;
    al_auto(al_git_output_clear) struct al_git_output output = { .exit_code = -1 };

    al_strv_add(&command.argv, "git");
    for (; *words; words++)
        al_strv_add(&command.argv, *words);
    al_strv_adds(&command.argv, "--", name, NULL);
    if (!al_git_ask(at, &command, REF_MAX_BYTES, &output))
        return NULL;
    al_str_trim_end(&output.out.out);
    return al_str_detach(&output.out.out);
}

char *al_ref_stored(const struct al_location *at, const char *name)
{
    static const char *const symbolic[] = { "symbolic-ref", "--quiet", "--no-recurse", NULL };
    static const char *const plain[] = { "show-ref", "--verify", "--hash", NULL };
    al_auto(al_freep) char *target = NULL;

    if (!al_ref_is_stored(at, name))
        return NULL;
    target = ask(at, symbolic, name);
    return target ? al_asprintf("ref: %s", target) : ask(at, plain, name);
}

/* Open a reference, or the symbolic link in its place; -1 when a part of its path leads outside. */
static int open_reference(const struct al_location *at, const char *ref, int flags)
{
    al_auto(al_freep) char *path = al_fs_join(at->common_dir, ref);
    al_auto(al_freep) char *abs = NULL;
    int fd;

    if (at->is_own && is_reference(ref))
        return al_nofollow_open(at->dir_fd, ref, flags);
    if (!is_reference(ref) || al_roots_open(al_roots_parts(at->git->roots), path,
                                            flags | O_NOFOLLOW, &fd, &abs, NULL) < 0)
        return -1;
    return fd;
}

/* The rest of a symbolic reference is a part of its name for git, and of an id what follows it is
 * nothing. */
static size_t value_length(const char *text)
{
    return al_starts_with(text, "ref:") ? strlen(text) : strcspn(text, "\r\n");
}

/* git reads an id or a name there however long the file is, so longer files must not be refused. */
char *al_ref_line_of(int fd)
{
    char text[REF_MAX_BYTES + 1];
    al_auto(al_str_clear) struct al_str line = AL_STR_INIT;
    struct stat st;
    ssize_t len;

    if (fd < 0 || fstat(fd, &st) < 0 || !S_ISREG(st.st_mode))
        return NULL;
    len = pread(fd, text, REF_MAX_BYTES, 0);
    if (len < 0)
        return NULL;
    text[len] = '\0';
    al_str_add(&line, text, value_length(text));
    al_str_trim_end(&line);
    return al_str_detach(&line);
}

char *al_ref_read_loose(const struct al_location *at, const char *ref)
{
    al_auto(al_closep) int fd = -1;

    if (al_ref_is_stored(at, ref))
        return al_ref_stored(at, ref);
    fd = open_reference(at, ref, O_RDONLY);
    return al_ref_line_of(fd);
}

/* The line in a file of the working tree's own git directory, such as HEAD or MERGE_HEAD. */
static char *read_own(const struct al_location *at, const char *name)
{
    al_auto(al_freep) char *path = al_fs_join(at->git_dir, name);
    al_auto(al_closep) int fd = -1;

    if (al_ref_is_stored(at, name))
        return al_ref_stored(at, name);
    fd = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);

    return al_ref_line_of(fd);
}

char *al_ref_read_head(const struct al_location *at)
{
    return read_own(at, "HEAD");
}

/* Its lines are "<oid> SP <ref>". */
char *al_ref_packed(const char *common_dir, const char *ref)
{
    al_auto(al_freep) char *path = al_fs_join(common_dir, "packed-refs");
    al_auto(al_freep) char *needle = al_asprintf(" %s\n", ref);
    al_auto(al_str_clear) struct al_str text = AL_STR_INIT;
    const char *at = al_fs_read(AT_FDCWD, path, PACKED_MAX_BYTES, &text) < 0
                         ? NULL
                         : memmem(text.buf, text.len, needle, strlen(needle));
    const char *line = at;

    while (line && line > text.buf && line[-1] != '\n')
        line--;
    return at ? al_strndup(line, (size_t)(at - line)) : NULL;
}

bool al_ref_exists(const struct al_location *at, const char *ref)
{
    al_auto(al_freep) char *loose = al_ref_read_loose(at, ref);
    al_auto(al_freep) char *packed =
        loose || al_ref_is_stored(at, ref) ? NULL : al_ref_packed(at->common_dir, ref);

    return loose || packed;
}

/* The target of a symbolic reference; NULL when the value is an object id. */
static char *symref_target(const char *value)
{
    if (!value || !al_starts_with(value, "ref:"))
        return NULL;
    return al_strdup(value + 4 + strspn(value + 4, " \t"));
}

/* The target of a symbolic link, an old form of symbolic reference; NULL when it is not one. */
static char *link_target(int link)
{
    char target[REF_MAX_BYTES];
    ssize_t len = readlinkat(link, "", target, sizeof(target) - 1);

    if (len <= 0)
        return NULL;
    target[len] = '\0';
    return al_starts_with(target, "refs/") ? al_strdup(target) : NULL;
}

/* The reference that this one leads to, or HEAD (NULL); NULL when there is none. `ret_line` is what
 * its file says, NULL when it has none. */
static char *follow(const struct al_location *at, const char *ref, char **ret_line)
{
    al_auto(al_freep) char *head = al_fs_join(at->git_dir, "HEAD");
    al_auto(al_closep) int link = -1;

    *ret_line = ref ? al_ref_read_loose(at, ref) : al_ref_read_head(at);
    if (*ret_line)
        return symref_target(*ret_line);
    link = ref ? open_reference(at, ref, O_PATH) : open(head, O_PATH | O_CLOEXEC | O_NOFOLLOW);
    return link_target(link);
}

/* Append `ref`, if it is not HEAD (NULL), and the references it leads through.  `ret_line` is what
 * the file of the last one says, NULL when it has none. */
static void follow_all(const struct al_location *at, const char *ref, struct al_strv *ret_refs,
                       char **ret_line)
{
    char *next = ref ? al_strdup(ref) : follow(at, NULL, ret_line);

    for (int depth = 0; next && depth < SYMREF_DEPTH_MAX && is_reference(next); depth++) {
        al_strv_take(ret_refs, next);
        free(*ret_line);
        next = follow(at, next, ret_line);
    }
    free(next);
}

void al_ref_follow_head(const struct al_location *at, struct al_strv *ret_refs)
{
    al_auto(al_freep) char *line = NULL;

    follow_all(at, NULL, ret_refs, &line);
}

char *al_ref_head(const struct al_location *at)
{
    return al_ref_oid(at, NULL);
}

char *al_ref_oid(const struct al_location *at, const char *ref)
{
    al_auto(al_strv_clear) struct al_strv refs = AL_STRV_INIT;
    al_auto(al_freep) char *line = NULL;
    const char *last;

    follow_all(at, ref, &refs, &line);
    last = refs.count ? refs.items[refs.count - 1] : NULL;
    if (last && !line && !al_ref_is_stored(at, last))
        line = al_ref_packed(at->common_dir, last);
    /* one that is itself symbolic leads outside, or the chain is too long */
    return line && !al_starts_with(line, "ref:") ? al_take(&line) : al_strdup("");
}

char *al_ref_broken(const struct al_location *at, const char *ref)
{
    al_auto(al_strv_clear) struct al_strv refs = AL_STRV_INIT;
    al_auto(al_freep) char *line = NULL;
    size_t len;

    follow_all(at, ref, &refs, &line);
    if (!refs.count)
        return !ref && (line ? al_starts_with(line, "ref:") : al_ref_is_stored(at, "HEAD"))
                   ? al_strdup("HEAD")
                   : NULL;
    len = line ? strcspn(line, " \t") : 0;
    if (!line || al_starts_with(line, "ref:") || ((len == 40 || len == 64) && al_is_oid(line, len)))
        return NULL;
    return al_strdup(refs.items[refs.count - 1]);
}

bool al_ref_is_unborn(const struct al_location *at)
{
    al_auto(al_freep) char *head = al_ref_head(at);
    al_auto(al_freep) char *broken = al_ref_broken(at, NULL);

    return !*head && !broken;
}

char *al_shallow_commits(const struct al_location *at)
{
    al_auto(al_freep) char *path = al_fs_join(at->common_dir, "shallow");
    al_auto(al_str_clear) struct al_str text = AL_STR_INIT;

    return al_fs_read(AT_FDCWD, path, SHALLOW_MAX_BYTES, &text) < 0 ? NULL : al_str_detach(&text);
}

/* Append the branch that a stopped rebase will move when it is completed. */
static void add_rebased(const struct al_location *at, struct al_strv *refs)
{
    static const char *const files[] = { "rebase-merge/head-name", "rebase-apply/head-name" };

    for (size_t i = 0; i < AL_COUNT(files); i++) {
        al_auto(al_freep) char *ref = read_own(at, files[i]);

        if (ref && is_reference(ref))
            al_strv_add(refs, ref);
    }
}

void al_ref_followers(const struct al_location *at, struct al_strv *ret_refs)
{
    al_auto(al_freep) char *path = al_fs_join(at->git_dir, "rebase-merge/update-refs");
    al_auto(al_closep) int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
    al_auto(al_str_clear) struct al_str text = AL_STR_INIT;
    size_t number = 0;

    if (fd < 0 || al_fs_read_fd(fd, FOLLOWERS_MAX_BYTES, &text) < 0)
        return;
    for (const char *line = text.buf; *line; number++) { /* a name, and two ids */
        const size_t len = strcspn(line, "\n");
        al_auto(al_freep) char *ref = number % 3 ? NULL : al_strndup(line, len);

        if (ref && is_reference(ref))
            al_strv_take(ret_refs, al_take(&ref));
        line += len + (line[len] == '\n');
    }
}

void al_ref_head_branches(const struct al_location *at, struct al_strv *ret_names)
{
    static const char heads[] = "refs/heads/";
    al_auto(al_strv_clear) struct al_strv refs = AL_STRV_INIT;

    al_ref_follow_head(at, &refs);
    if (!refs.count)
        al_strv_add(ret_names, "HEAD");
    add_rebased(at, &refs);
    al_ref_followers(at, &refs);
    for (size_t i = 0; i < refs.count; i++) {
        const char *ref = refs.items[i];

        al_strv_add(ret_names, al_starts_with(ref, heads) ? ref + strlen(heads) : ref);
    }
}

char *al_ref_head_branch(const struct al_location *at)
{
    al_auto(al_strv_clear) struct al_strv names = AL_STRV_INIT;

    al_ref_head_branches(at, &names);
    return al_strdup(names.items[0]);
}

char *al_ref_value(const char *text, bool sha256)
{
    al_auto(al_str_clear) struct al_str line = AL_STR_INIT;
    al_auto(al_freep) char *target = NULL;
    struct al_oid oid;

    al_str_add(&line, text, value_length(text));
    al_str_trim_end(&line);
    target = symref_target(line.buf);
    if (target)
        return is_name(target) ? al_asprintf("ref: %s", target) : NULL;
    for (char *digit = line.buf; (digit = strpbrk(digit, "ABCDEF"));)
        *digit = (char)(*digit + 'a' - 'A'); /* git reads them as well */
    return al_oid_parse(line.buf, sha256, &oid) ? al_strndup(line.buf, 2 * al_oid_bytes(sha256))
                                                : NULL;
}
