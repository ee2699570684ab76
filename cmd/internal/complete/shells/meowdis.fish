# Completion of meowdis in fish.

function __meowdis
    set -l words
    for word in (commandline -opc)[2..]
        # What the line says of the shell's own variables.
        set -l name (string match -r '^"?\$(\w+)"?$' -- $word)[2]
        if test -n "$name"
            set -a words $$name
        else
            set -a words (string replace -r '^~/' "$HOME/" -- $word)
        end
    end
    set -l typed (commandline -ct | string replace -r '^["\']' '' | string replace -ra '\\\\(.)' '$1')
    set -l lines (command meowdis __line fish $words "$typed" 2> /dev/null)
    # The value of --flag=value is all that was completed.
    set -l flag (string match -r '^-[^=]*=' -- $typed)
    for line in $lines[2..]
        printf "%s\n" "$flag$line"
    end
    if test "$lines[1]" != none
        __fish_complete_path $typed
    end
end

complete -c meowdis -e
complete -c meowdis -f -a '(__meowdis)'
