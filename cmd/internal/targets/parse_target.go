package targets

import (
	"cmp"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"unicode"

	"github.com/meowdis/meowdis/cmd/internal/exit"
	"github.com/meowdis/meowdis/cmd/internal/profile"
	"github.com/meowdis/meowdis/internal/spelling"
	"github.com/meowdis/meowdis/local"
	"github.com/meowdis/meowdis/redis/commands"
)

// Own describes the arguments of a verb that follow its target.
type Own struct {
	What        string // the first one: PATTERN, KEY, CHANNEL, COMMAND or FILE
	Least, Most int    // their number; Most is -1 without a limit
}

// Split takes the target from the arguments of a verb, and returns the verb's own arguments. The first argument is the
// target if it is a URL, @PROFILE or the name of a database file, or if the verb has no other use for it. After -t it
// returns all arguments.
func (o *Options) Split(args []string, own Own) ([]string, error) {
	if len(args) == 0 || o.namesTarget() {
		return args, nil
	}
	is, err := isTarget(args[0], own.What)
	switch {
	case err != nil:
		return nil, err
	case !is && (own.Most < 0 || len(args) <= own.Most):
		return args, nil
	}
	if len(args) == 1 && own.Least > 0 {
		return nil, exit.Usagef("%s is a target: give a %s after it, or name the target with -t", ShownArg(args[0]), own.What)
	}
	o.Spec = args[0]
	return args[1:], nil
}

// Argument sets the target to the argument of a verb that takes at most one target and nothing else.
func (o *Options) Argument(args []string) error {
	if len(args) == 0 {
		return nil
	}
	if o.namesTarget() {
		return exit.Usagef("give one target: %s or -t", ShownArg(args[0]))
	}
	o.Spec = args[0]
	return nil
}

// isTarget reports whether arg is written as a target rather than as a what. It returns an error for the mistyped name
// of a file or a profile.
func isTarget(arg, what string) (bool, error) {
	if scheme, _, isURL := strings.Cut(arg, "://"); isURL {
		return slices.Contains(schemes(), scheme), nil
	}
	if name, marked := strings.CutPrefix(arg, "@"); marked {
		return isProfile(name, arg, what)
	}
	switch {
	case arg == local.Memory:
		return what != "FILE", nil
	case what == "FILE", what == "COMMAND" && commands.Lookup(arg) != nil, strings.ContainsAny(arg, `*?[\`):
		return false, nil
	case isDatabase(arg), isFile(arg) && hasDatabaseEnding(arg):
		return true, nil
	}
	if near := similarDatabases(arg); len(near) > 0 || hasDatabaseEnding(arg) {
		return false, exit.Usagef("no such file: %s.%s A %s of that name needs -t TARGET before it", arg, spelling.Question(near), what)
	}
	return false, nil
}

// isProfile reports whether name is a profile, or an error if it is a misspelt one. A command never begins with @.
func isProfile(name, arg, what string) (bool, error) {
	config, err := profile.Load(ConfigFile())
	if err != nil {
		return what == "COMMAND", nil // the error is reported when the target is opened
	}
	if _, err := config.Get(name); err == nil || what == "COMMAND" {
		return true, nil
	}
	if near := spelling.Nearest(name, config.Names()); len(near) > 0 {
		return false, exit.Usagef("unknown profile %q.%s A %s of that name needs -t TARGET before it", name, spelling.Question(near), what)
	}
	return false, nil
}

// databaseEndings lists the usual endings of database files.
var databaseEndings = []string{".sqlite", ".sqlite3", ".db"}

func hasDatabaseEnding(path string) bool { return slices.Contains(databaseEndings, filepath.Ext(path)) }

// similarDatabases returns the database files whose names are similar to a missing path with an ending.
func similarDatabases(path string) (near []string) {
	if filepath.Ext(path) == "" || strings.Contains(path, ":") {
		return nil
	}
	if _, err := os.Stat(path); err == nil {
		return nil
	}
	dir, name := filepath.Split(path)
	entries, err := os.ReadDir(cmp.Or(dir, "."))
	if err != nil {
		return nil
	}
	var files, databases []string
	for _, e := range entries {
		if files = append(files, e.Name()); hasDatabaseEnding(e.Name()) {
			databases = append(databases, e.Name())
		}
	}
	for _, file := range spelling.Nearest(name, databases) {
		near = append(near, dir+file)
	}
	for _, file := range spelling.Nearest(name, files) {
		if isDatabase(dir+file) && !slices.Contains(near, dir+file) {
			near = append(near, dir+file)
		}
	}
	return near
}

// Question asks whether a missing file was meant to be one with a similar name. It returns "" without such a file.
func (t Target) Question() string { return spelling.Question(similarDatabases(t.Path)) }

// Misplaced returns an error if the first argument of exec, which takes a command, is a target.
func (o *Options) Misplaced(args []string) error {
	if len(args) == 0 || o.namesTarget() {
		return nil
	}
	is, err := isTarget(args[0], "COMMAND")
	if is {
		shown := shellWords(args[0])
		if strings.Contains(shown, "://") {
			shown = "URL"
		}
		rest := append([]string{}, args[1:]...)
		if len(rest) == 0 {
			rest = []string{"COMMAND"}
		}
		err = exit.Usagef("%s is a target: meowdis exec -t %s %s", ShownArg(args[0]), shown, shellWords(rest...))
	}
	return err
}

// ShownArg returns an argument without the password of a URL.
func ShownArg(arg string) string {
	if strings.Contains(arg, "://") {
		return ShownURL(arg)
	}
	return arg
}

// shellWords quotes words for a shell.
func shellWords(words ...string) string {
	quoted := make([]string, len(words))
	for i, w := range words {
		if quoted[i] = w; w == "" || strings.ContainsFunc(w, special) {
			quoted[i] = "'" + strings.ReplaceAll(w, "'", `'\''`) + "'"
		}
	}
	return strings.Join(quoted, " ")
}

func special(r rune) bool {
	return !unicode.IsLetter(r) && !unicode.IsDigit(r) && !strings.ContainsRune("_@%+=:,./-", r)
}

func isFile(path string) bool {
	info, err := os.Stat(path)
	return err == nil && info.Mode().IsRegular()
}

// isDatabase reports whether path is a SQLite file.
func isDatabase(path string) bool {
	const magic = "SQLite format 3\x00"
	if !isFile(path) {
		return false
	}
	f, err := os.Open(path)
	if err != nil {
		return false
	}
	defer f.Close()
	head := make([]byte, len(magic))
	_, err = io.ReadFull(f, head)
	return err == nil && string(head) == magic
}
