package profile

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/zalando/go-keyring"
)

// TestCommentsAreKept changes profiles in a file that a person wrote.
func TestCommentsAreKept(t *testing.T) {
	path := filepath.Join(t.TempDir(), "config.toml")
	const before = `# my targets
profile = "dev" # in use

# local
[profiles.dev]
db = "/dev.sqlite"
# asks nothing
confirm = "none"

# far away
[profiles."prod.eu"] # careful
url = "https://eu.example"

[inspect]
theme = "dark" # for the night
`
	if err := os.WriteFile(path, []byte(before), 0o600); err != nil {
		t.Fatal(err)
	}
	change := func(do func(f *File) error) string {
		t.Helper()
		f, err := Load(path)
		if err == nil {
			err = do(f)
		}
		if err == nil {
			err = f.Save()
		}
		text, err2 := os.ReadFile(path)
		if err != nil || err2 != nil {
			t.Fatal(err, err2)
		}
		return string(text)
	}
	add := func(f *File) error { return f.Add("new", Profile{URL: "redis://new.example", Database: 3}) }
	if got := change(add); got != before+"\n[profiles.new]\nurl = \"redis://new.example\"\ndatabase = 3\n" {
		t.Errorf("after add:\n%s", got)
	}
	use := func(f *File) error { f.InUse = "new"; return nil }
	if got := change(use); !strings.HasPrefix(got, "# my targets\nprofile = \"new\"\n\n# local\n") {
		t.Errorf("after use:\n%s", got)
	}
	remove := func(f *File) error { f.Remove("new"); f.Remove("prod.eu"); return nil }
	want := "# my targets\n\n# local\n[profiles.dev]\ndb = \"/dev.sqlite\"\n# asks nothing\nconfirm = \"none\"\n\n# far away\n[inspect]\ntheme = \"dark\" # for the night\n"
	if got := strings.TrimRight(change(remove), "\n") + "\n"; got != want {
		t.Errorf("after remove:\n%s", got)
	}
	// Profiles in a form that is not edited line by line are still saved.
	if err := os.WriteFile(path, []byte("profiles = {dev = {db = \"/a\"}}\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	change(add)
	if f, err := Load(path); err != nil || len(f.Profiles) != 2 {
		t.Error(f, err)
	}
}

func TestFileComesBack(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "meowdis", "config.toml")
	f, err := Load(path)
	if err != nil || len(f.Names()) != 0 {
		t.Fatalf("a missing file: %v, %v", f, err)
	}
	prod := Profile{URL: "https://example.com", Token: "s3cret", Database: 2, Confirm: ConfirmName, ReadOnly: true, Color: "red"}
	if err := f.Add("prod", prod); err != nil {
		t.Fatal(err)
	}
	if err := f.Add("dev.1", Profile{DB: "/d e v"}); err != nil {
		t.Fatal(err)
	}
	f.InUse = "prod"
	if err := f.Save(); err != nil {
		t.Fatal(err)
	}
	info, err := os.Stat(path)
	if err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("mode %v, %v", info.Mode(), err)
	}
	if f, err = Load(path); err != nil {
		t.Fatal(err)
	}
	if got, err := f.Get("prod"); err != nil || got != prod || f.InUse != "prod" {
		t.Errorf("got %+v, %v, in use %q", got, err, f.InUse)
	}
	f.Remove("prod")
	if _, err := f.Get("prod"); err == nil || f.InUse != "" {
		t.Errorf("after Remove: %v, in use %q", err, f.InUse)
	}

	// A file that is a link stays one, and nothing is left lying about.
	link := filepath.Join(dir, "link.toml")
	if err := os.Symlink(path, link); err != nil {
		t.Fatal(err)
	}
	if f, err = Load(link); err != nil {
		t.Fatal(err)
	}
	f.Remove("prod")
	if err := f.Save(); err != nil {
		t.Fatal(err)
	}
	if info, err := os.Lstat(link); err != nil || info.Mode()&os.ModeSymlink == 0 {
		t.Errorf("the link is gone: %v, %v", info, err)
	}
	if left, err := os.ReadDir(filepath.Dir(path)); err != nil || len(left) != 1 {
		t.Errorf("left: %v, %v", left, err)
	}
}

func TestWrongFiles(t *testing.T) {
	for text, want := range map[string]string{
		"[profiles.a]\ndb = 'x'\n\nconfrim = 'name'\n":                  `line 4: unknown setting "profiles.a.confrim"`,
		"[inspect]\ntheme = 'x'\n[inspect.keys]\nquit = 3\n":            "line 4",
		"[inspect.keys]\nquit = ['q',\n 3]\n":                           "line ",
		"[inspect.decoders.x]\nkeys = 'x:*'\n":                          "line 1: inspect.decoders.x: a decoder needs keys",
		"[inspect]\nmouse = true\n":                                     `line 2: unknown setting "inspect.mouse"`,
		"theme = 1\n":                                                   `line 1: unknown setting "theme"`,
		"[profiles.a]\ndb = 'x'\nurl = 'y'\n":                           "profile a: give either db or url",
		"[profiles.a]\n":                                                "profile a: give either db or url",
		"[profiles.a]\ndb = 'x'\nconfirm = 'maybe'\n":                   `confirm "maybe": give none, yes or name`,
		"[profiles.a]\ndb = 'x'\ncolor = 'beige'\n":                     `color "beige": give one of red, `,
		"[profiles.'a/b']\ndb = 'x'\n":                                  "invalid profile name",
		"profile = 'gone'\n":                                            "unknown profile",
		"[profiles.a]\ndb = 'x'\nread_only = 'yes'\n":                   "line 3",
		"[profiles.a]\ndb = 'x\n":                                       "line 2",
		"profiles = { a = { db = 'x', oops = '''\nlong\n''' } }\n# end": `line 3: unknown setting "profiles.a.oops"`,
	} {
		path := filepath.Join(t.TempDir(), "config.toml")
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		if _, err := Load(path); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v\nwant %s", text, err, want)
		}
	}
}

func TestSecret(t *testing.T) {
	keyring.MockInit()
	getenv := func(name string) string { return map[string]string{"T": "from-env"}[name] }
	if err := SaveToken("a", "kept"); err != nil {
		t.Fatal(err)
	}
	for want, p := range map[string]Profile{"": {}, "plain": {Token: "plain"}, "kept": {Keyring: true}, "from-env": {TokenEnv: "T"}} {
		if got, err := p.ReadToken("a", getenv); err != nil || got != want {
			t.Errorf("%+v: %q, %v", p, got, err)
		}
	}
	for range 2 {
		if err := DeleteToken("a"); err != nil {
			t.Error(err)
		}
	}
	for _, p := range []Profile{{Keyring: true}, {TokenEnv: "NOT_SET"}} {
		if got, err := p.ReadToken("a", getenv); err == nil {
			t.Errorf("%+v: %q", p, got)
		}
	}
}
