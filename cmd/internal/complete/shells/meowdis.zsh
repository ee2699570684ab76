#compdef meowdis
# Completion of meowdis in zsh.

_meowdis() {
    local program=${(Q)words[1]} line rest options value
    local -a lines values shown match mbegin mend
    (( $+commands[$program] )) || [[ -x $program ]] || program=meowdis # an alias
    line="${(j: :)words[1,CURRENT-1]} $QIPREFIX$IPREFIX$PREFIX"
    # Variables of the shell that the line uses are exported to the program. Within
    # $( no comment can stand: zsh reads it as what somebody types.
    lines=("${(@f)$(
        rest=$line
        while [[ $rest =~ '\$\{?([A-Za-z_][A-Za-z0-9_]*)(.*)' ]]; do
            export "${match[1]}"
            rest=${match[2]}
        done
        $program __line zsh "$line" $COLUMNS 2> /dev/null
    )}")
    options=${lines[1]}
    for line in "${(@)lines[2,-1]}"; do
        value=${line%%$'\t'*}
        [[ -n $value ]] || continue
        values+=("$value")
        shown+=("${line#*$'\t'}")
    done
    [[ $PREFIX == -*=* ]] && compset -P '*='
    if [[ "$shown" != "$values" ]]; then
        compadd -l -d shown -a values
    else
        compadd -a values
    fi
    [[ $options == none ]] || _files
}

if [[ $funcstack[1] == _meowdis ]]; then
    _meowdis "$@"
else
    compdef _meowdis meowdis
fi
