# SPDX-License-Identifier: Apache-2.0
# fish completion for airlock(1)

function __airlock_tools
    command airlock complete tools 2>/dev/null
end

function __airlock_grants
    set -l words (commandline -opc)
    set -l at (contains -i -- --config $words)
    and command airlock complete grants --config $words[(math $at + 1)] 2>/dev/null
    or command airlock complete grants 2>/dev/null
end

function __airlock_staged
    command airlock staging list 2>/dev/null | sed -n 's/^[0-9: -]* UTC  \([0-9a-f]\{8\}\) \(.*\) (.*/\1\t\2/p'
end

function __airlock_questions
    command airlock review --list 2>/dev/null | sed -n '/^Running:/q; s/^\([0-9a-f]\{8\}\)  /\1\t/p'
end

set -l commands serve call git run snapshot tools policy log diff rollback staging review install doctor version help
set -l sessions serve call tools policy install doctor

complete -c airlock -f
complete -c airlock -n "not __fish_seen_subcommand_from $commands" -a serve -d 'be an MCP server on standard input and output'
complete -c airlock -n "not __fish_seen_subcommand_from $commands" -a call -d 'run one tool from the shell'
complete -c airlock -n "not __fish_seen_subcommand_from $commands" -a git -d 'git with the same checks'
complete -c airlock -n "not __fish_seen_subcommand_from $commands" -a run -d 'any command, between two checkpoints'
complete -c airlock -n "not __fish_seen_subcommand_from $commands" -a snapshot -d 'take a checkpoint by hand'
complete -c airlock -n '__fish_seen_subcommand_from run snapshot' -l label -x -d 'a name to go back to'
complete -c airlock -n '__fish_seen_subcommand_from run' -l confine -d 'in a sandbox'
complete -c airlock -n '__fish_seen_subcommand_from run' -l network -d 'with the network there'
complete -c airlock -n "not __fish_seen_subcommand_from $commands" -a tools -d 'list the tools an agent would see'
complete -c airlock -n "not __fish_seen_subcommand_from $commands" -a policy -d 'say which rule decides a call'
complete -c airlock -n "not __fish_seen_subcommand_from $commands" -a log -d 'show the last tool executions'
complete -c airlock -n "not __fish_seen_subcommand_from $commands" -l tool-log -d 'the same'
complete -c airlock -n "not __fish_seen_subcommand_from $commands" -a diff -d 'show what the last executions changed'
complete -c airlock -n "not __fish_seen_subcommand_from $commands" -a rollback -d 'undo the last executions'
complete -c airlock -n "not __fish_seen_subcommand_from $commands" -l rollback -d 'the same'
complete -c airlock -n '__fish_seen_subcommand_from rollback diff' -l execution -x -d 'an execution of airlock log'
complete -c airlock -n '__fish_seen_subcommand_from rollback' -l to -x -d 'a label, a number or a time'
complete -c airlock -n '__fish_seen_subcommand_from rollback' -l newest -x -d 'refuse if a later execution came'
complete -c airlock -n '__fish_seen_subcommand_from rollback' -l dry-run -d 'only say what would change'
complete -c airlock -n '__fish_seen_subcommand_from rollback' -l redo -d 'undo the last rollback'
complete -c airlock -n '__fish_seen_subcommand_from rollback' -s y -l yes -d 'do not ask'
complete -c airlock -n '__fish_seen_subcommand_from rollback' -l force -d 'also where something would be lost'
complete -c airlock -n '__fish_seen_subcommand_from diff' -l stat -d 'only how much'
complete -c airlock -n '__fish_seen_subcommand_from rollback diff' -l root -x -a '(__fish_complete_directories)' -d 'a directory the agent works in'
complete -c airlock -n "not __fish_seen_subcommand_from $commands" -a staging -d 'show what agents have staged'
complete -c airlock -n '__fish_seen_subcommand_from staging; and not __fish_seen_subcommand_from list show diff push discard open' -a 'list show diff push discard open'
complete -c airlock -n '__fish_seen_subcommand_from staging; and __fish_seen_subcommand_from show diff push discard' -a '(__airlock_staged)'
complete -c airlock -n '__fish_seen_subcommand_from staging' -l json -d 'as JSON'
complete -c airlock -n '__fish_seen_subcommand_from staging' -l worker -r -F -d 'a worker file'
complete -c airlock -n '__fish_seen_subcommand_from staging; and __fish_seen_subcommand_from push' -l target -x -a 'local: local-bare: github:' -d 'where to'
complete -c airlock -n '__fish_seen_subcommand_from staging; and __fish_seen_subcommand_from push' -l branch -x -d 'the branch'
complete -c airlock -n '__fish_seen_subcommand_from staging; and __fish_seen_subcommand_from push' -l approval -x -a 'ask allow deny' -d 'how it is approved'
complete -c airlock -n '__fish_seen_subcommand_from staging' -l root -x -a '(__fish_complete_directories)' -d 'the root'
complete -c airlock -n "not __fish_seen_subcommand_from $commands" -a review -d 'show and answer the calls that wait'
complete -c airlock -n '__fish_seen_subcommand_from review; and not __fish_seen_subcommand_from show approve reject' -a 'show approve reject'
complete -c airlock -n '__fish_seen_subcommand_from review; and __fish_seen_subcommand_from show approve reject' -a '(__airlock_questions)'
complete -c airlock -n '__fish_seen_subcommand_from review' -l list -d 'what waits and what runs'
complete -c airlock -n '__fish_seen_subcommand_from review' -l web -d 'a page for a browser'
complete -c airlock -n '__fish_seen_subcommand_from review' -l json -d 'as JSON'
complete -c airlock -n '__fish_seen_subcommand_from review; and __fish_seen_subcommand_from approve' -l always -d 'also from now on'
complete -c airlock -n '__fish_seen_subcommand_from serve call' -s v -d 'say what each call does'
complete -c airlock -n "not __fish_seen_subcommand_from $commands" -a install -d 'write the entry into the settings of a client'
complete -c airlock -n '__fish_seen_subcommand_from install' -a 'claude-code claude-desktop codex cursor gemini opencode vscode zed'
complete -c airlock -n '__fish_seen_subcommand_from install' -l user -d 'for every repository'
complete -c airlock -n '__fish_seen_subcommand_from install' -l with-rules -d 'rules of the client too'
complete -c airlock -n '__fish_seen_subcommand_from install' -l shell -d 'hooks of the client too'
complete -c airlock -n '__fish_seen_subcommand_from install' -l remove -d 'take it back'
complete -c airlock -n '__fish_seen_subcommand_from install' -l print -d 'only show the change'
complete -c airlock -n '__fish_seen_subcommand_from install' -l dry-run -d 'only show the change'
complete -c airlock -n '__fish_seen_subcommand_from install' -s y -l yes -d 'do not ask'
complete -c airlock -n "not __fish_seen_subcommand_from $commands" -a doctor -d 'what this machine and repository offer'
complete -c airlock -n "not __fish_seen_subcommand_from $commands" -a version -d 'show versions'
complete -c airlock -n "not __fish_seen_subcommand_from $commands" -l version -d 'show versions'
complete -c airlock -s h -l help -d 'show help'
complete -c airlock -n "__fish_seen_subcommand_from $sessions" -l root -x -a '(__fish_complete_directories)' -d 'a directory the agent may work in'
complete -c airlock -n "__fish_seen_subcommand_from $sessions" -l toolset -x -a 'everyday git workflow readonly shell files staging parallel' -d 'a toolset to offer'
complete -c airlock -n "__fish_seen_subcommand_from $sessions" -l no-git -d 'take no checkpoints'
complete -c airlock -n "__fish_seen_subcommand_from $sessions" -l grant -x -a '(__airlock_grants)' -d 'narrow the session to a grant of the configuration'
complete -c airlock -n "__fish_seen_subcommand_from $sessions" -l worker -r -F -d 'a worker file'
complete -c airlock -n "__fish_seen_subcommand_from $sessions" -l approval -x -a 'ask allow deny' -d 'what to do with calls that change a repository'
complete -c airlock -n "__fish_seen_subcommand_from $sessions" -l tool -x -a 'command all read write' -d 'what bash_command may do'
complete -c airlock -n "__fish_seen_subcommand_from $sessions" -l command-timeout -x -d 'seconds for one command'
complete -c airlock -n "__fish_seen_subcommand_from $sessions log" -l audit -r -F -d 'the journal'
complete -c airlock -n "__fish_seen_subcommand_from $sessions log" -l config -r -F -d 'the configuration'
complete -c airlock -n '__fish_seen_subcommand_from call tools policy doctor log' -l json -d 'as JSON'
complete -c airlock -n '__fish_seen_subcommand_from policy' -a explain -d 'a tool and its arguments'
complete -c airlock -n '__fish_seen_subcommand_from call tools policy' -a '(__airlock_tools)'
complete -c airlock -n '__fish_seen_subcommand_from log' -l verify -d 'check the chain'
complete -c airlock -n '__fish_seen_subcommand_from log' -l follow -d 'go on as things happen'
complete -c airlock -n '__fish_seen_subcommand_from log' -l running -d 'what runs now'
complete -c airlock -n '__fish_seen_subcommand_from log' -l tool -x -a '(__airlock_tools)' -d 'only this tool'
complete -c airlock -n '__fish_seen_subcommand_from log' -l all -d 'in other repositories too'
complete -c airlock -n '__fish_seen_subcommand_from log' -l session -x -d 'only this session'
complete -c airlock -n '__fish_seen_subcommand_from log diff' -l since -x -a 'today yesterday \'1 hour ago\' \'1 week ago\'' -d 'only from then on'
complete -c airlock -n '__fish_seen_subcommand_from serve' -l http -x -d 'serve over HTTP: ADDR:PORT or unix:PATH'
complete -c airlock -n '__fish_seen_subcommand_from serve' -l token-file -r -F -d 'the tokens of clients'
complete -c airlock -n '__fish_seen_subcommand_from serve' -l no-token -d 'let in everybody who reaches it'
complete -c airlock -n '__fish_seen_subcommand_from serve' -l tls-cert -r -F -d 'the certificate'
complete -c airlock -n '__fish_seen_subcommand_from serve' -l tls-key -r -F -d 'its key'
complete -c airlock -n '__fish_seen_subcommand_from serve' -l behind-proxy -d 'a proxy does TLS'
