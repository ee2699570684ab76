package cmd

import (
	"fmt"
	"io"
	"os"
	"slices"
	"strconv"

	"github.com/spf13/cobra"

	"github.com/meowdis/meowdis/local"
)

// callOptions are the flags and arguments that make the one command of exec.
type callOptions struct {
	args     []string
	lastArg  bool   // -x
	tag      string // -X
	eval     string // file of a Lua script
	times    int    // -1 for no end
	interval interval

	tagged bool
}

func (o *callOptions) addFlags(cmd *cobra.Command) {
	f := cmd.Flags()
	f.BoolVarP(&o.lastArg, "stdin", "x", false, "take the last argument from stdin, as it is")
	f.StringVarP(&o.tag, "stdin-tag", "X", "", "take the argument that is `TAG` from stdin, as it is")
	f.StringVar(&o.eval, "eval", "", "run the Lua script in `FILE`; the arguments are KEY... , ARG...")
	f.IntVarP(&o.times, "repeat", "r", 1, "run the command `COUNT` times; -1 has no end")
	f.VarP(&o.interval, "interval", "i", "wait `SECONDS` between the runs of --repeat")
	cmd.RegisterFlagCompletionFunc("stdin-tag", cobra.NoFileCompletions)
	cmd.MarkFlagFilename("eval", "lua")
}

// given reports whether there is a command.
func (o *callOptions) given() bool { return len(o.args) > 0 || o.eval != "" }

func (o *callOptions) check(cmd *cobra.Command) error {
	o.tagged = cmd.Flags().Changed("stdin-tag")
	repeats := cmd.Flags().Changed("repeat") || cmd.Flags().Changed("interval")
	switch {
	case o.lastArg && o.tagged:
		return usagef("give only one of -x and -X")
	case (o.lastArg || o.tagged) && !o.given():
		return usagef("-x and -X need a command")
	case repeats && !o.given():
		return usagef("-r and -i need a command")
	case o.tagged && !slices.Contains(o.args, o.tag):
		return usagef("no argument is %q, which -X is to replace", o.tag)
	case o.times < -1:
		return usagef("-r is -1 or more")
	}
	return nil
}

// command is the command as far as it says what is run; nil for a script.
func (o *callOptions) command() [][]byte {
	if o.eval != "" {
		return command([]string{"EVAL"})
	}
	return command(o.args)
}

// words are the words of the command.
func (o *callOptions) words(s *streams) ([][]byte, error) {
	args, err := o.typed()
	if err != nil || !o.lastArg && !o.tagged {
		return args, err
	}
	text, err := io.ReadAll(s.in)
	if err != nil {
		return nil, fmt.Errorf("reading an argument: %w", err)
	}
	if o.lastArg {
		return append(args, text), nil
	}
	for i, arg := range args {
		if string(arg) == o.tag {
			args[i] = text
		}
	}
	return args, nil
}

// typed are the words that the command line gives.
func (o *callOptions) typed() ([][]byte, error) {
	var words [][]byte
	args := o.args
	if o.eval != "" {
		script, err := os.ReadFile(o.eval)
		if err != nil {
			return nil, usagef("--eval %s: %w", o.eval, local.Pathless(err))
		}
		keys := slices.Index(args, ",")
		if keys < 0 {
			keys = len(args)
		} else {
			args = slices.Concat(args[:keys], args[keys+1:])
		}
		words = [][]byte{[]byte("EVAL"), script, strconv.AppendInt(nil, int64(keys), 10)}
	}
	for _, arg := range args {
		words = append(words, []byte(arg))
	}
	return words, nil
}
