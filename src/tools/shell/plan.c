// SPDX-License-Identifier: Apache-2.0
#include "tools/shell/private.h"

#include "guard/glob.h"
#include "tools/words.h"

/* Paths that go is told to write have to lie below the working directory, like redirects.  Landlock
 * enforces the same; this check gives an error beforehand, also in a preview. */

/* Options whose value is a path to write, of go and of test binaries.  The latter accept them with
 * the prefix "test." as well. */
static const char outputs[] =
    " o outputdir coverprofile cpuprofile memprofile blockprofile mutexprofile trace pkgdir "
    "modfile testlogfile gocoverdir fuzzcachedir debug-trace debug-actiongraph "
    "debug-runtime-trace asmhdr linkobj traceprofile ";

/* Options whose value is a list of options for the compiler or the linker. */
static const char lists[] = " ldflags gcflags asmflags ";

/* The value of one of these options, in this word or in the next; NULL: it is another word, or has
 * none. */
static const char *value_of(const struct al_strv *words, size_t at, const char *names)
{
    const char *word = words->items[at];
    al_auto(al_freep) char *name = NULL;

    if (*word != '-')
        return NULL;
    word += word[1] == '-' ? 2 : 1;
    if (al_starts_with(word, "test."))
        word += strlen("test.");
    name = al_strndup(word, strcspn(word, "="));
    if (!al_shell_words_list(names, name))
        return NULL;
    word += strlen(name);
    return *word ? word + 1 : at + 1 < words->count ? words->items[at + 1] : NULL;
}

static int check_options(const struct al_root *root, const struct al_strv *words,
                         struct al_error *err);

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

static int check_options(const struct al_root *root, const struct al_strv *words,
                         struct al_error *err)
{
    int r = 0;

    for (size_t i = 0; i < words->count && r == 0; i++) {
        const char *list = value_of(words, i, lists), *value = value_of(words, i, outputs);

        if (list)
            r = check_list(root, list, err);
        else if (value && *value)
            r = al_output_check(root, value, err);
    }
    return r;
}

int al_shell_check_outputs(const struct al_root *root, const struct al_strv *words,
                           struct al_error *err)
{
    const bool edits =
        words->count > 2 && !strcmp(words->items[1], "mod") && !strcmp(words->items[2], "edit");
    int r = 0;

    if (al_shell_kind_of(words->items[0]) != AL_SHELL_GO)
        return 0;
    r = check_options(root, words, err);
    /* `go mod edit` writes the file that is its argument. */
    for (size_t i = 3; edits && i < words->count && r == 0; i++)
        if (words->items[i][0] != '-' && words->items[i][0])
            r = al_output_check(root, words->items[i], err);
    return r;
}

/* Half of the kernel's limit for arguments and environment, which is 2 MiB with the default stack
 * limit (execve(2)). */
#define WORDS_MAX_BYTES (1024u * 1024u)

void al_shell_plan_clear(struct al_shell_plan *plan)
{
    for (size_t i = 0; i < plan->nsteps; i++) {
        struct al_shell_step *step = &plan->steps[i];

        al_strv_clear(&step->given);
        al_strv_clear(&step->patterns);
        al_strv_clear(&step->words);
        for (size_t k = 0; k < AL_SHELL_STREAMS; k++) {
            free(step->files[k]);
            al_redirect_clear(&step->to[k]);
        }
    }
    plan->nsteps = 0;
}

static int check_words(const struct al_root *root, const struct al_strv *words,
                       struct al_error *err)
{
    int r = al_shell_check_words(words, err);

    return r < 0 ? r : al_shell_check_outputs(root, words, err);
}

/* Check the words before patterns are expanded, so that a refusal does not depend on the files that
 * exist. */
static int check_as_written(const struct al_shell *shell, const struct al_shell_step *step,
                            struct al_error *err)
{
    const struct al_root *root = &shell->options.roots->items[0];
    const char *pattern = step->patterns.items[0];
    int r = al_shell_check_command(shell->options.whitelist,
                                   *pattern ? pattern : step->given.items[0], err);

    if (r == 0)
        r = check_words(root, &step->given, err);
    for (size_t i = 0; i < AL_SHELL_STREAMS && r == 0; i++)
        if (step->files[i])
            r = al_redirect_check(root, step->files[i], err);
    return r;
}

static int expand(const struct al_root *root, struct al_shell_step *step, struct al_glob_cost *cost,
                  struct al_error *err)
{
    struct al_strv *words = &step->words;
    size_t bytes = 0;

    for (size_t i = 0; i < step->given.count; i++) {
        const char *pattern = step->patterns.items[i];
        size_t before = words->count;
        int r = *pattern ? al_glob_expand(root->fd, pattern, cost, words, err) : 0;

        if (r < 0)
            return r;
        if (words->count == before)
            al_strv_add(words, step->given.items[i]);
        for (size_t k = before; k < words->count; k++)
            bytes += strlen(words->items[k]) + 1;
        if (bytes > WORDS_MAX_BYTES)
            return al_error_set(err, AL_ERR_BAD_ARGS, "The command becomes longer than %u bytes",
                                WORDS_MAX_BYTES);
    }
    return 0;
}

int al_shell_plan(const struct al_shell *shell, const char *command, struct al_shell_plan *ret_plan,
                  struct al_error *err)
{
    const struct al_root *root = &shell->options.roots->items[0];
    struct al_glob_cost cost = AL_GLOB_COST_INIT;
    int r = al_shell_parse(command, ret_plan, err);

    for (size_t i = 0; i < ret_plan->nsteps && r == 0; i++)
        r = check_as_written(shell, &ret_plan->steps[i], err);
    for (size_t i = 0; i < ret_plan->nsteps && r == 0; i++) {
        struct al_shell_step *step = &ret_plan->steps[i];

        step->kind = al_shell_kind_of(step->given.items[0]);
        r = expand(root, step, &cost, err);
        if (r == 0)
            r = check_words(root, &step->words, err);
        for (size_t k = 0; k < AL_SHELL_STREAMS && r == 0; k++)
            if (step->files[k])
                r = al_redirect_find(root, step->files[k], &step->to[k], err);
    }
    if (r < 0)
        al_shell_plan_clear(ret_plan);
    return r;
}
