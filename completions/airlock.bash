# SPDX-License-Identifier: Apache-2.0
# bash completion for airlock(1)

_airlock() {
    local cur=${COMP_WORDS[COMP_CWORD]} prev=${COMP_WORDS[COMP_CWORD - 1]} command=${COMP_WORDS[1]}
    local shared='--root --toolset --approval --agent --grant --worker --tool --command-timeout --no-git --audit --config --help'

    case $prev in
    --root) COMPREPLY=($(compgen -d -- "$cur")); return ;;
    --audit | --config | --worker | --token-file | --tls-cert | --tls-key) COMPREPLY=($(compgen -f -- "$cur")); return ;;
    --approval) COMPREPLY=($(compgen -W 'ask allow deny' -- "$cur")); return ;;
    --grant) COMPREPLY=($(compgen -W "$(_airlock_names grants)" -- "$cur")); return ;;
    --toolset) COMPREPLY=($(compgen -W 'everyday git workflow readonly shell files staging parallel' -- "$cur")); return ;;
    --tool)
        if [[ $command == log ]]; then
            COMPREPLY=($(compgen -W "$(_airlock_names tools)" -- "$cur"))
        else
            COMPREPLY=($(compgen -W 'command all read write' -- "$cur"))
        fi
        return ;;
    --command-timeout | --agent | --http | --label | --session | --since | --to) return ;;
    esac
    if ((COMP_CWORD == 1)); then
        COMPREPLY=($(compgen -W 'serve call git run snapshot tools policy log diff rollback staging review install doctor version help --help --version --tool-log --rollback' -- "$cur"))
        return
    fi
    case $command in
    serve) COMPREPLY=($(compgen -W "$shared -v --http --token-file --no-token --tls-cert --tls-key --behind-proxy" -- "$cur")) ;;
    call) COMPREPLY=($(compgen -W "$shared -v --json $(_airlock_names tools)" -- "$cur")) ;;
    policy)
        if ((COMP_CWORD == 2)); then
            COMPREPLY=($(compgen -W explain -- "$cur"))
        else
            COMPREPLY=($(compgen -W "$shared --json $(_airlock_names tools)" -- "$cur"))
        fi
        ;;
    tools) COMPREPLY=($(compgen -W "$shared --json --markdown $(_airlock_names tools)" -- "$cur")) ;;
    doctor) COMPREPLY=($(compgen -W "$shared --json" -- "$cur")) ;;
    install)
        COMPREPLY=($(compgen -W "claude-code claude-desktop codex cursor gemini opencode vscode zed $shared --user --with-rules --shell --remove --print --dry-run -y --yes" -- "$cur"))
        ;;
    git) COMPREPLY=($(compgen -f -- "$cur")) ;;
    run) COMPREPLY=($(compgen -f -W '--label --confine --network --agent --root --audit --config --help' -- "$cur")) ;;
    snapshot) COMPREPLY=($(compgen -W '--label --agent --root --audit --config --help' -- "$cur")) ;;
    log) COMPREPLY=($(compgen -W '--audit --config --all --json --verify --follow --running --tool --agent --session --since --help' -- "$cur")) ;;
    rollback) COMPREPLY=($(compgen -W '--dry-run --execution --to --force --newest --redo -y --yes --agent --root --audit --config --help' -- "$cur")) ;;
    diff) COMPREPLY=($(compgen -W '--execution --since --stat --agent --root --audit --config --help' -- "$cur")) ;;
    staging)
        if ((COMP_CWORD == 2)); then
            COMPREPLY=($(compgen -W 'list show diff push discard open --root --worker --config --json --help' -- "$cur"))
        elif ((COMP_CWORD == 3)) && [[ $prev =~ ^(show|diff|push|discard)$ ]]; then
            COMPREPLY=($(compgen -W "$(_airlock_names staged)" -- "$cur"))
        else
            COMPREPLY=($(compgen -W '--target --branch --approval --root --worker --config --json --help' -- "$cur"))
        fi
        ;;
    review)
        if ((COMP_CWORD == 2)); then
            COMPREPLY=($(compgen -W '--list --json --web --audit --config --help show approve reject' -- "$cur"))
        elif ((COMP_CWORD == 3)) && [[ $prev =~ ^(show|approve|reject)$ ]]; then
            COMPREPLY=($(compgen -W "$(_airlock_names questions)" -- "$cur"))
        else
            COMPREPLY=($(compgen -W '--always --json --help' -- "$cur"))
        fi
        ;;
    help) COMPREPLY=($(compgen -W 'serve call git run snapshot tools policy log diff rollback staging review install doctor version' -- "$cur")) ;;
    esac
}

# Names of tools, grants, staged commits or questions, as the configuration on the line has them.
_airlock_names() {
    local i config=()

    for ((i = 1; i < COMP_CWORD; i++)); do
        [[ ${COMP_WORDS[i]} == --config ]] && config=(--config "${COMP_WORDS[i + 1]}")
    done
    case $1 in
    staged) command airlock staging list "${config[@]}" | sed -n 's/^[0-9: -]* UTC  \([0-9a-f]\{8\}\) .*/\1/p' ;;
    questions) command airlock review --list "${config[@]}" | sed -n '/^Running:/q; s/^\([0-9a-f]\{8\}\)  .*/\1/p' ;;
    *) command airlock complete "$1" "${config[@]}" | cut -f1 ;;
    esac 2>/dev/null
}

complete -F _airlock airlock git-airlock
