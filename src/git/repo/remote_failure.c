// SPDX-License-Identifier: Apache-2.0
/*
 * A git that failed while it talked to another repository: the one place that reads what it, ssh
 * and curl then say in the C locale.  Their exit codes are the same for all of it.
 */
#include <stdlib.h>

#include "git/failure.h"
#include "git/repo/remotes.h"

const char al_remote_check_address[] =
    "See git_remote with action list whether the address is right, "
    "and whether the network is there.";

static const char too_much[] = "Where it is more than max_fetch_bytes in [tools.git] of the "
                               "configuration, the user can raise that.";

static const struct failure {
    const char *words; /* printed by git, ssh or curl in the C locale */
    const char *cause; /* %s: the address */
    const char *remedy;
} failures[] = {
    { "Host key verification failed", "ssh does not know the host key of %s, or another one by now",
      "The user can connect there once with ssh, check the key and accept it." },
    { "Permission denied (", "%s accepts none of the keys that ssh has here",
      "The user can load the right one with ssh-add, or register it with the server." },
    { "Could not resolve host", "The host of %s is not known", al_remote_check_address },
    { "Name or service not known", "The host of %s is not known", al_remote_check_address },
    { "Temporary failure in name resolution", "The host of %s cannot be looked up",
      al_remote_check_address },
    { "Connection refused", "Nobody answers at %s", al_remote_check_address },
    { "Failed to connect to", "Nobody answers at %s", al_remote_check_address },
    { "Couldn't connect to server", "Nobody answers at %s", al_remote_check_address },
    { "Network is unreachable", "There is no way to %s", al_remote_check_address },
    { "No route to host", "There is no way to %s", al_remote_check_address },
    { "Connection timed out", "%s does not answer", al_remote_check_address },
    { "certificate verification failed", "The certificate of %s is not one this machine trusts",
      "The user can check it, and name its authority in http.sslCAInfo of their ~/.gitconfig." },
    { "SSL certificate problem", "The certificate of %s is not one this machine trusts",
      "The user can check it, and name its authority in http.sslCAInfo of their ~/.gitconfig." },
    { "Repository not found", "There is no repository at %s, or none these credentials may see",
      al_remote_check_address },
    { "does not appear to be a git repository", "There is no repository at %s",
      al_remote_check_address },
    { "not a git repository", "There is no repository at %s", al_remote_check_address },
    { "access denied or repository not exported", "There is no repository at %s, or not for us",
      al_remote_check_address },
    { "The requested URL returned error: 404", "There is no repository at %s",
      al_remote_check_address },
    { "' not found", "There is no repository at %s", al_remote_check_address },
    { "The requested URL returned error: 403", "%s does not allow it",
      "The user can give the credentials in use the right to do this." },
    { "does not support this repository's hash algorithm",
      "The object ids of %s are of another kind than those here (SHA-1, SHA-256)",
      "Push to a repository of the same kind." },
    { "early EOF", "The connection to %s was cut", "Nothing was changed here; try again." },
    { "unexpected disconnect", "The connection to %s was cut",
      "Nothing was changed here; try again." },
    { "hung up unexpectedly", "The connection to %s was cut",
      "Nothing was changed here; try again." },
    { "RPC failed", "The connection to %s was cut", "Nothing was changed here; try again." },
    /* after the errors of index-pack itself, which prints none when a file grew too large */
    { "index-pack output", "What %s sent could not be stored", too_much },
    { "unpack-objects abnormal exit", "What was sent to %s could not be stored", too_much },
    { "index-pack abnormal exit", "What was sent to %s could not be stored", too_much },
};

/* Append the lines that are not from a hook at the other end, which must not decide the cause. */
static void add_own_words(const struct al_git_output *output, struct al_str *out)
{
    al_auto(al_freep) char *copy = al_strdup(output->err.out.buf);
    char *save = NULL;

    for (char *line = strtok_r(copy, "\n", &save); line; line = strtok_r(NULL, "\n", &save))
        if (!al_starts_with(line, "remote: "))
            al_str_addf(out, "%s\n", line);
}

bool al_remote_asked_credentials(const struct al_git_output *output)
{
    static const char *const words[] = { "fatal: could not read Username for '",
                                         "fatal: could not read Password for '",
                                         "fatal: Authentication failed for '" };
    al_auto(al_str_clear) struct al_str said = AL_STR_INIT;

    add_own_words(output, &said);
    for (size_t i = 0; output->exit_code != 0 && i < AL_COUNT(words); i++)
        if (strstr(said.buf, words[i]))
            return true;
    return false;
}

bool al_remote_lacks_branch(const struct al_git_output *output)
{
    al_auto(al_str_clear) struct al_str words = AL_STR_INIT;

    add_own_words(output, &words);
    return output->exit_code != 0 && strstr(words.buf, "fatal: Remote branch ") &&
           strstr(words.buf, " not found in upstream ");
}

static int no_such_branch(const char *words, struct al_error *err)
{
    static const char mark[] = "couldn't find remote ref ";
    const char *name = strstr(words, mark) + strlen(mark);
    al_auto(al_freep) char *ref = al_strndup(name, strcspn(name, "\n"));
    const char *branch = al_starts_with(ref, "refs/heads/") ? ref + strlen("refs/heads/") : ref;
    int r = al_error_set_code(err, AL_ERR_EXECUTION, AL_CODE_BRANCH_NOT_FOUND,
                              "The remote has no branch '%s'", branch);

    r = al_error_remedy(al_error_reason(r, err, "not_found"), err,
                        "Fetch without a branch, then see the remote's in git_branch.");
    return al_error_about(r, err, AL_SUBJECT_THEIR_BRANCH, branch);
}

int al_remote_failed(const struct al_git_output *output, const char *where, struct al_error *err)
{
    al_auto(al_str_clear) struct al_str words = AL_STR_INIT;
    int r;

    add_own_words(output, &words);
    if (strstr(words.buf, "couldn't find remote ref "))
        return no_such_branch(words.buf, err);
    for (size_t i = 0; i < AL_COUNT(failures); i++) {
        al_auto(al_str_clear) struct al_str cause = AL_STR_INIT;
        const char *gap = strstr(failures[i].cause, "%s");

        if (!strstr(words.buf, failures[i].words))
            continue;
        al_str_add(&cause, failures[i].cause, (size_t)(gap - failures[i].cause));
        al_str_addf(&cause, "%s%s", where, gap + strlen("%s"));
        return al_remote_error(err, failures[i].remedy, "%s", cause.buf);
    }
    r = al_git_failed(output, err);
    if (err) {
        err->code = AL_CODE_REMOTE_ERROR;
        err->reason = NULL;
    }
    return r;
}
