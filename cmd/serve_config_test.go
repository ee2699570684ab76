package cmd

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// serveOf returns the verb serve with flags, and its configuration file.
func serveOf(t *testing.T, args ...string) (verb *cobra.Command, file string) {
	t.Helper()
	var out bytes.Buffer
	root := newRoot(&streams{out: &out, err: &out, getenv: func(string) string { return "" }})
	root.SetArgs(append([]string{"serve", "--print-config"}, args...))
	verb, err := root.ExecuteC()
	if err != nil {
		t.Fatal(err)
	}
	return verb, out.String()
}

// ownLines returns the lines of a configuration file that set flags, without the parameters that the server reads.
func ownLines(text string) string {
	var own []string
	for line := range strings.Lines(text) {
		switch name, _, _ := strings.Cut(line, " "); name {
		case "#", "\n", "maxclients", "command-time-limit", "requirepass", "aclfile", "tls-auth-clients":
		default:
			own = append(own, line)
		}
	}
	return strings.Join(own, "")
}

// TestPrintConfig prints a configuration file in which every flag of serve is a line, and reads it again.
func TestPrintConfig(t *testing.T) {
	samples := map[string]string{"duration": "90s", "int": "7", "size": "512mb", "mode": "0660", "bool": "true"}
	args := []string{"-t", "cats.sqlite", "--resp", "6380", "--resp", "unix:/run/a b.sock"}
	plain, commented := serveOf(t)
	for _, g := range configGroups() {
		for _, name := range g.names {
			f := plain.Flags().Lookup(name)
			if f == nil || name == "target" || name == "resp" {
				continue
			}
			value, special := map[string]string{"tls-auth-clients": "optional", "log-level": "WARN", "timeout": "2.5s"}[name]
			if sample := samples[f.Value.Type()]; !special && sample != "" {
				value = sample
			} else if !special {
				value = "some " + name
			}
			args = append(args, "--"+name+"="+value)
		}
	}
	plain.Flags().VisitAll(func(f *pflag.Flag) {
		named := "\n# " + directive(f.Name) + " "
		if here := strings.Contains(commented, named); !f.Hidden && !here && f.Name != "config" && f.Name != "print-config" && f.Name != "json" && f.Name != "env-file" {
			t.Errorf("--%s is not in the file", f.Name)
		}
	})
	want, text := serveOf(t, args...)
	path := filepath.Join(t.TempDir(), "meowdis.conf")
	for _, file := range []string{text, "# only comments\n" + commented} {
		if err := os.WriteFile(path, []byte(file), 0o600); err != nil {
			t.Fatal(err)
		}
		got, again := serveOf(t, "--config", path)
		if file != text {
			continue
		}
		if again, text := ownLines(again), ownLines(text); again != text {
			t.Errorf("read again, it is\n%s\nnot\n%s", again, text)
		}
		want.Flags().VisitAll(func(f *pflag.Flag) {
			if f.Changed && f.Value.String() != got.Flags().Lookup(f.Name).Value.String() && !strings.HasPrefix(directive(f.Name), "command-") && directive(f.Name) == f.Name && f.Name != "tls-auth-clients" && f.Name != "requirepass" && f.Name != "aclfile" {
				t.Errorf("--%s is %s, not %s", f.Name, got.Flags().Lookup(f.Name).Value, f.Value)
			}
		})
	}
	// The command line is stronger.
	if got, _ := serveOf(t, "--config", path, "--http", "1"); got.Flags().Lookup("http").Value.String() != "[1]" {
		t.Error(got.Flags().Lookup("http").Value)
	}
}
