package flags

import (
	"fmt"
	"io"
	"strings"

	"github.com/spf13/pflag"
)

// topicKey annotates flags that a help topic explains.
const topicKey = "meowdis_topic"

// InTopic notes that a help topic explains the flags, instead of the help of each verb.
func InTopic(f *pflag.FlagSet, topic string, names ...string) {
	for _, name := range names {
		f.SetAnnotation(name, topicKey, []string{topic}) // fails only for a missing flag
	}
}

// Topic returns the help topic that explains f, or "".
func Topic(f *pflag.Flag) string { return strings.Join(f.Annotations[topicKey], "") }

// Alias adds the hidden old name of a flag.
func Alias(f *pflag.FlagSet, old, name string) {
	OldForm(f, old, name, func(value string) (string, error) { return value, nil })
}

// OldForm adds a hidden flag that sets the flag name to the result of convert. An error of convert says what the old
// flag takes.
func OldForm(f *pflag.FlagSet, old, name string, convert func(value string) (string, error)) {
	now := f.Lookup(name)
	v := &oldValue{Value: now.Value, flags: f, now: now, convert: convert}
	f.AddFlag(&pflag.Flag{Name: old, Usage: now.Usage, Value: v, DefValue: now.DefValue, NoOptDefVal: now.NoOptDefVal, Hidden: true})
}

// oldValue sets another flag.
type oldValue struct {
	pflag.Value
	flags   *pflag.FlagSet
	now     *pflag.Flag
	convert func(string) (string, error)
	given   string // the converted value
}

func (v *oldValue) Set(text string) error {
	if text == "" {
		return v.flags.Set(v.now.Name, "")
	}
	converted, err := v.convert(text)
	if err != nil {
		return err
	}
	v.given = converted
	return v.flags.Set(v.now.Name, converted)
}

// NoteOld writes one line with the new form of each old flag that the user gave.
func NoteOld(w io.Writer, given *pflag.FlagSet) {
	given.Visit(func(f *pflag.Flag) {
		v, old := f.Value.(*oldValue)
		if !old {
			return
		}
		form := "--" + v.now.Name
		if v.now.Shorthand != "" {
			form = "-" + v.now.Shorthand
		}
		fmt.Fprintf(w, "meowdis: write %s instead of --%s\n", strings.TrimSpace(form+" "+v.shown()), f.Name)
	})
}

// shown returns the value, or its placeholder if the value may hold a secret or must be quoted.
func (v *oldValue) shown() string {
	if v.now.NoOptDefVal != "" {
		return ""
	}
	if v.given == "" || v.now.Name == "token" || strings.LastIndex(v.given, "@") > 0 || strings.ContainsAny(v.given, " ?'\"\\$`\n") {
		placeholder, _ := pflag.UnquoteUsage(v.now)
		return placeholder
	}
	return v.given
}
