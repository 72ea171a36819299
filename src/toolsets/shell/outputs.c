// SPDX-License-Identifier: Apache-2.0
/* Paths that go is told to write have to lie below the working directory, like redirects.  Landlock
 * enforces the same; this check gives an error beforehand, also in a preview. */
#include "toolsets/shell/outputs.h"

#include <string.h>

#include "guard/redirect.h"
#include "toolsets/shell/rules.h"

/* Options whose value is a path to write, of go and of test binaries.  The latter accept them with
 * the prefix "test." as well. */
static const char *const outputs[] = {
    "o",
    "outputdir",
    "coverprofile",
    "cpuprofile",
    "memprofile",
    "blockprofile",
    "mutexprofile",
    "trace",
    "pkgdir",
    "modfile",
    "testlogfile",
    "gocoverdir",
    "fuzzcachedir",
    "debug-trace",
    "debug-actiongraph",
    "debug-runtime-trace",
    "asmhdr",
    "linkobj",
    "traceprofile",
};

/* Options whose value is a list of options for the compiler or the linker. */
static const char *const lists[] = { "ldflags", "gcflags", "asmflags" };

/* The rest of "-name", "--name" or "-name=value" after the name; NULL: another word. */
static const char *after_flag(const char *word, const char *name)
{
    size_t len = strlen(name);

    if (!word || *word != '-')
        return NULL;
    word += word[1] == '-' ? 2 : 1;
    if (al_starts_with(word, "test."))
        word += strlen("test.");
    return !strncmp(word, name, len) && (!word[len] || word[len] == '=') ? word + len : NULL;
}

/* The value of an option, in this word or in the next; NULL: none. */
static const char *value_of(const struct al_strv *words, size_t at, const char *const *names,
                            size_t nnames)
{
    for (size_t i = 0; i < nnames; i++) {
        const char *rest = after_flag(words->items[at], names[i]);

        if (rest && *rest)
            return rest + 1;
        if (rest)
            return at + 1 < words->count ? words->items[at + 1] : NULL;
    }
    return NULL;
}

static int check_options(const struct al_root *root, const struct al_strv *words,
                         struct al_error *err)
{
    int r = 0;

    for (size_t i = 0; i < words->count && r == 0; i++) {
        const char *value = value_of(words, i, outputs, AL_COUNT(outputs));

        if (value && *value)
            r = al_output_check(root, value, err);
    }
    return r;
}

/* Check the options in a value like "all=-o=x -N".  The package pattern and quotes are skipped. */
static int check_list(const struct al_root *root, const char *list, struct al_error *err)
{
    al_auto(al_strv_clear) struct al_strv words = AL_STRV_INIT;

    while (*list) {
        const size_t len = strcspn(list, " \t'\"");
        al_auto(al_freep) char *word = al_strndup(list, len);
        const char *option = words.count ? NULL : strstr(word, "=-");

        if (len)
            al_strv_add(&words, option ? option + 1 : word);
        list += len + strspn(list + len, " \t'\"");
    }
    return check_options(root, &words, err);
}

/* `go mod edit` writes the file that is its argument. */
static int check_mod_edit(const struct al_root *root, const struct al_strv *words,
                          struct al_error *err)
{
    bool edits =
        words->count > 2 && !strcmp(words->items[1], "mod") && !strcmp(words->items[2], "edit");
    int r = 0;

    for (size_t i = 3; edits && i < words->count && r == 0; i++)
        if (words->items[i][0] != '-' && words->items[i][0])
            r = al_output_check(root, words->items[i], err);
    return r;
}

int al_shell_check_outputs(const struct al_root *root, const struct al_strv *words,
                           struct al_error *err)
{
    int r = 0;

    if (al_shell_kind_of(words->items[0]) != AL_SHELL_GO)
        return 0;
    for (size_t i = 1; i < words->count && r == 0; i++) {
        const char *list = value_of(words, i, lists, AL_COUNT(lists));

        if (list)
            r = check_list(root, list, err);
    }
    if (r == 0)
        r = check_options(root, words, err);
    return r < 0 ? r : check_mod_edit(root, words, err);
}
