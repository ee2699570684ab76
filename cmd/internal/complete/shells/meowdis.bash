# Completion of meowdis in bash, from 3.2 on. Nothing else is needed for it.

_meowdis() {
    local name program=$1 line=${COMP_LINE:0:COMP_POINT} options reply
    type -P -- "$program" > /dev/null || program=meowdis # an alias
    COMPREPLY=()
    {
        read -r options
        while IFS= read -r reply; do
            COMPREPLY+=("$reply")
        done
    } < <(
        # What the line says of the shell's own variables.
        rest=$line
        while [[ $rest =~ \$\{?([A-Za-z_][A-Za-z0-9_]*)(.*) ]]; do
            export "${BASH_REMATCH[1]}"
            rest=${BASH_REMATCH[2]}
        done
        "$program" __line bash "$line" "$2" "$COMP_TYPE" "$COLUMNS" 2> /dev/null
    )
    case $options in
    none) compopt +o default 2> /dev/null ;;
    both)
        compopt -o filenames 2> /dev/null
        while IFS= read -r reply; do
            COMPREPLY+=("$reply")
        done < <(compgen -f -- "$2")
        ;;
    esac
}

complete -o default -F _meowdis meowdis
