// SPDX-License-Identifier: Apache-2.0
/*
 * guard/arg.h, guard/root.h and the journal's redaction: single words.  The first byte selects
 * which kind of word the rest is.
 */
#include <stdlib.h>
#include <strings.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/fs.h"
#include "guard/arg.h"
#include "guard/gitdir.h"
#include "guard/path.h"
#include "guard/redact.h"
#include "guard/root.h"
#include "history/journal_private.h"
#include "tests/fuzz/fuzz.h"

static void require_refusal(int r, const struct al_error *err)
{
    fuzz_require(r < 0 && err->status == r);
    fuzz_require(fuzz_is_safe_line(err->message));
}

static bool has_control(const char *word)
{
    for (; *word; word++)
        if ((unsigned char)*word < 0x20 || *word == 0x7f)
            return true;
    return false;
}

static void check_branch(const char *word)
{
    al_auto(al_error_clear) struct al_error err = AL_ERROR_INIT;
    al_auto(al_freep) char *framed = al_asprintf("/%s/", word);
    int r = al_arg_check_branch("name", word, &err);

    if (r < 0) {
        require_refusal(r, &err);
        return;
    }
    fuzz_require(*word && *word != '-' && !has_control(word));
    fuzz_require(!strpbrk(word, " ~^:?*[\\") && !strstr(word, "..") && !strstr(word, "@{"));
    fuzz_require(strcmp(word, "@") != 0 && strcmp(word, "HEAD") != 0 && !al_ends_with(word, "."));
    fuzz_require(!strstr(framed, "//") && !strstr(framed, "/.") && !strstr(framed, ".lock/"));
}

static void check_revision(const char *word)
{
    al_auto(al_error_clear) struct al_error err = AL_ERROR_INIT;
    int r = al_arg_check_revision("revision", word, &err);

    if (r < 0)
        require_refusal(r, &err);
    else
        fuzz_require(*word && *word != '-' && !has_control(word) && !strstr(word, ".."));
}

static void check_pathspec(const char *word)
{
    for (int exists = 0; exists < 2; exists++) {
        al_auto(al_error_clear) struct al_error err = AL_ERROR_INIT;
        al_auto(al_freep) char *spec = NULL;
        int r = al_arg_pathspec("paths", word, exists, &spec, &err);

        if (r < 0) {
            require_refusal(r, &err);
            fuzz_require(!spec && (!*word || (!exists && *word == ':')));
            continue;
        }
        fuzz_require(al_ends_with(spec, word));
        fuzz_require(*spec != ':' || (exists && al_starts_with(spec, ":(literal)")));
        fuzz_require(!exists || *spec == ':' || !strpbrk(spec, "*?[\\"));
    }
}

/* The plain spellings of .git, which the check must always find. */
static void check_dot_git(const char *path)
{
    bool expected = false;

    for (const char *at = path; *at; at += strspn(at, "/")) {
        size_t len = strcspn(at, "/");

        expected |= len == 4 && !strncasecmp(at, ".git", 4);
        expected |= len == 5 && !strncasecmp(at, ".git.", 5);
        expected |= len == 5 && !strncasecmp(at, "git~1", 5);
        at += len;
    }
    fuzz_require(!expected || al_path_has_dot_git(path));
    fuzz_require(strpbrk(path, "gG") || !al_path_has_dot_git(path));
}

/* A root with links of every kind, and something beside it that must not be reached. */
static char scratch[] = "/tmp/airlock-fuzz-XXXXXX";
static struct al_roots roots;

static void remove_scratch(void)
{
    al_roots_clear(&roots);
    al_fs_remove_tree(scratch);
}

static void make_scratch(void)
{
    static const char *const directories[] = { "root", "root/dir", "root/dir/sub", "root/.git",
                                               "outside" };
    static const char *const links[][2] = {
        { "dir", "root/in" },        { "..", "root/up" },          { "../outside", "root/out" },
        { "/", "root/top" },         { "loop", "root/loop" },      { "nowhere", "root/gone" },
        { "../no", "root/gone_up" }, { "../../in", "root/dir/i" }, { "/proc/self", "root/me" },
    };
    al_auto(al_freep) char *root = NULL;

    fuzz_require(mkdtemp(scratch) != NULL);
    (void)atexit(remove_scratch);
    for (size_t i = 0; i < AL_COUNT(directories); i++) {
        al_auto(al_freep) char *path = al_fs_join(scratch, directories[i]);

        fuzz_require(mkdir(path, 0700) == 0);
    }
    for (size_t i = 0; i < AL_COUNT(links); i++) {
        al_auto(al_freep) char *path = al_fs_join(scratch, links[i][1]);

        fuzz_require(symlink(links[i][0], path) == 0);
    }
    roots = AL_ROOTS_INIT;
    root = al_fs_join(scratch, "root");
    fuzz_require(al_roots_add(&roots, root, &AL_STRV_INIT, NULL, NULL) == 0);
}

static void require_inside(const struct al_path *path)
{
    const struct al_root *root = &roots.items[0];
    al_auto(al_freep) char *framed = al_asprintf("%s/", path->abs);
    al_auto(al_freep) char *prefix = al_asprintf("%s/", root->path);
    al_auto(al_freep) char *opened = path->fd >= 0 ? al_fs_fd_path(path->fd) : NULL;
    struct stat st;

    fuzz_require(path->root == root);
    fuzz_require(al_starts_with(framed, prefix));
    fuzz_require(!strstr(framed, "/../") && !strstr(framed, "//") && !strstr(framed, "/./"));
    fuzz_require(path->fd < 0 || (opened && !strcmp(opened, path->abs)));
    fuzz_require((path->fd >= 0) == (lstat(path->abs, &st) == 0));
    fuzz_require(path->fd < 0 || path->mode == st.st_mode);
}

/* '@' at the beginning stands for the root, so that an absolute path can be valid. */
static void check_resolve(const char *word)
{
    al_auto(al_freep) char *given = NULL;
    al_auto(al_path_clear) struct al_path path = AL_PATH_INIT;
    al_auto(al_error_clear) struct al_error err = AL_ERROR_INIT;
    int r;

    if (!roots.count)
        make_scratch();
    given = *word == '@' ? al_asprintf("%s%s", roots.items[0].path, word + 1) : al_strdup(word);
    r = al_path_resolve(&roots, roots.items[0].path, given, &path, &err);
    if (r == 0) {
        require_inside(&path);
        return;
    }
    require_refusal(r, &err);
    fuzz_require(r == AL_ERR_BAD_ARGS || r == AL_ERR_SANDBOX || r == AL_ERR_EXECUTION);
    fuzz_require(path.fd < 0 && !path.abs);
}

static bool is_word(char c)
{
    return c == '_' || (c >= '0' && c <= '9') || ((c | 0x20) >= 'a' && (c | 0x20) <= 'z');
}

/* A token replaces the input's first '@'; it is redacted wherever that is.  The input does not hold
 * the token itself, since it could be part of another word there. */
static void check_redaction(const char *word)
{
    static const char token[] = "ghp_0123456789abcdefghijABCDEFGHIJ";
    const char *at = strstr(word, token) ? NULL : strchr(word, '@');
    al_auto(al_str_clear) struct al_str text = AL_STR_INIT;
    al_auto(al_str_clear) struct al_str out = AL_STR_INIT;

    if (at) {
        al_str_add(&text, word, (size_t)(at - word));
        if (text.len && is_word(text.buf[text.len - 1]))
            al_str_addc(&text, ' ');
        al_str_adds(&text, token);
        al_str_adds(&text, at + 1);
    } else {
        al_str_adds(&text, word);
    }
    al_redact_text(text.buf, text.len, &out);
    fuzz_require(!at || !strstr(out.buf, token));
    fuzz_require(strlen(out.buf) == out.len);
}

static void check_json_redaction(const char *text)
{
    al_auto(al_json_decrefp) json_t *value = json_loads(text, JSON_DECODE_ANY, NULL);
    al_auto(al_json_decrefp) json_t *clean = NULL;
    al_auto(al_json_decrefp) json_t *recorded = NULL;
    al_auto(al_str_clear) struct al_str line = AL_STR_INIT;
    al_auto(al_str_clear) struct al_str direct = AL_STR_INIT;

    if (!value)
        return;
    clean = al_redact_json(value, NULL);
    fuzz_require(json_typeof(clean) == json_typeof(value));
    fuzz_require(!json_is_array(value) || json_array_size(value) == json_array_size(clean));
    al_json_dump(clean, true, &line);
    recorded = al_redact_input(value, NULL);
    al_json_dump(recorded, true, &direct);
    if (line.len > AL_REDACT_INPUT_MAX_BYTES) {
        fuzz_require(direct.len <= AL_REDACT_INPUT_MAX_BYTES);
        return;
    }
    fuzz_require(line.len == direct.len && !memcmp(line.buf, direct.buf, line.len));
    for (size_t i = 0; i < line.len; i++)
        fuzz_require(line.buf[i] >= ' ' && line.buf[i] <= 0x7f);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static void (*const checks[])(const char *) = {
        check_branch,  check_revision,  check_pathspec,       check_dot_git,
        check_resolve, check_redaction, check_json_redaction,
    };
    struct fuzz_input input = { (const char *)data, size };
    uint8_t choice = fuzz_byte(&input);
    al_auto(al_freep) char *word = fuzz_string(&input);

    checks[choice % AL_COUNT(checks)](word);
    return 0;
}
