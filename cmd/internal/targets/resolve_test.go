package targets

import (
	"errors"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/adrg/xdg"
	"github.com/spf13/cobra"

	"github.com/meowdis/meowdis/cmd/internal/exit"
	"github.com/meowdis/meowdis/cmd/internal/profile"
)

// atHome gives the test directories of its own, with the profiles "cats", a file, and
// "prod", a URL with a token.
func atHome(t *testing.T) {
	t.Helper()
	for _, name := range []string{"XDG_DATA_HOME", "XDG_CONFIG_HOME", "XDG_STATE_HOME"} {
		t.Setenv(name, t.TempDir())
	}
	xdg.Reload()
	t.Cleanup(xdg.Reload)
	config, err := profile.Load(ConfigFile())
	if err != nil {
		t.Fatal(err)
	}
	for name, p := range map[string]profile.Profile{"cats": {DB: "/cats.sqlite"}, "prod": {URL: "https://prod.example", Token: "purr"}} {
		if err := config.Add(name, p); err != nil {
			t.Fatal(err)
		}
	}
	if err := config.Save(); err != nil {
		t.Fatal(err)
	}
}

// resolved is the target that flags, an argument (which has no dash) and variables
// choose, with its token, and what chose it.
func resolved(t *testing.T, flags []string, env map[string]string) (string, error) {
	t.Helper()
	o := &Options{}
	cmd := &cobra.Command{}
	o.AddFlags(cmd)
	o.AddServerFlags(cmd)
	if err := cmd.ParseFlags(flags); err != nil {
		t.Fatal(err)
	}
	if args := cmd.Flags().Args(); len(args) > 0 {
		o.Spec = args[0]
	}
	found, err := o.Resolve(func(name string) string { return env[name] })
	return strings.TrimSpace(found.String() + " " + found.token + " (" + found.source + ")"), err
}

// TestPrecedence chooses among what names a target.
func TestPrecedence(t *testing.T) {
	atHome(t)
	all := map[string]string{
		"MEOWDIS_DB": "env.sqlite", "MEOWDIS_URL": "https://env.example", "MEOWDIS_TOKEN": "meow", "MEOWDIS_PROFILE": "cats",
		"UPSTASH_REDIS_REST_URL": "https://upstash.example", "UPSTASH_REDIS_REST_TOKEN": "hiss",
		"KV_REST_API_URL": "https://kv.example", "KV_REST_API_TOKEN": "kv", "REDIS_URL": "redis://:secret@redis.example/3",
	}
	without := func(names ...string) map[string]string {
		left := map[string]string{}
		for name, value := range all {
			left[name] = value
		}
		for _, name := range names {
			delete(left, name)
		}
		return left
	}
	for _, test := range []struct {
		flags string
		env   map[string]string
		want  string
	}{
		{"--db a.sqlite", all, "a.sqlite  (-t)"},
		{"--url https://a.example", all, "https://a.example meow (-t)"},
		{"--url https://a.example --token mine", all, "https://a.example mine (-t)"},
		{"--profile prod", all, "https://prod.example purr (-t)"},
		{"@prod", all, "https://prod.example purr (@prod)"},
		{"cats", nil, "/cats.sqlite  (cats)"},
		{"other.sqlite", nil, "other.sqlite  (other.sqlite)"},
		{"", all, "env.sqlite  (MEOWDIS_DB)"},
		{"", without("MEOWDIS_DB"), "https://env.example meow (MEOWDIS_URL)"},
		{"", without("MEOWDIS_DB", "MEOWDIS_URL"), "/cats.sqlite  (MEOWDIS_PROFILE)"},
		{"", without("MEOWDIS_DB", "MEOWDIS_URL", "MEOWDIS_PROFILE"), "https://upstash.example hiss (UPSTASH_REDIS_REST_URL)"},
		{"", map[string]string{"KV_REST_API_URL": "https://kv.example", "KV_REST_API_TOKEN": "kv", "REDIS_URL": all["REDIS_URL"]}, "https://kv.example kv (KV_REST_API_URL)"},
		{"", map[string]string{"REDIS_URL": all["REDIS_URL"]}, "redis://redis.example/3  (REDIS_URL)"},
		{"", nil, DefaultFile() + "  (default)"},
		// redis-cli's flags.
		{"-h a.example", all, "redis://a.example:6379  (-h)"},
		{"-h a.example -p 7000 --tls", nil, "rediss://a.example:7000  (-h)"},
		{"-p 7000", all, "redis://127.0.0.1:7000  (-p)"},
		{"-h ::1", nil, "redis://[::1]:6379  (-h)"},
		{"-s /run/redis.sock", nil, "unix:///run/redis.sock  (-s)"},
		{"-u redis://a.example/3", all, "redis://a.example/3  (-u)"},
		{"--tls", nil, "rediss://127.0.0.1:6379  (--tls)"},
		{"-a pw", nil, "redis://127.0.0.1:6379  (-a)"},
		{"-a pw", map[string]string{"REDIS_URL": "redis://a.example"}, "redis://a.example  (REDIS_URL)"},
		{"-t redis://a.example --user cat -a pw", nil, "redis://a.example  (-t)"},
		// A token is for a URL: files that the command line does not name are passed over.
		{"--token mine", all, "https://env.example mine (MEOWDIS_URL)"},
	} {
		if got, err := resolved(t, strings.Fields(test.flags), test.env); err != nil || got != test.want {
			t.Errorf("%q: %s, %v\nwant %s", test.flags, got, err, test.want)
		}
	}
}

// TestPasswords sends the password of redis-cli's flags and of its variable to Redis servers only.
func TestPasswords(t *testing.T) {
	atHome(t)
	for _, test := range []struct{ flags, auth, want string }{
		{"-h a -a pw", "", "redis://:pw@a:6379"},
		{"-h a --pass pw --user cat", "", "redis://cat:pw@a:6379"},
		{"-h a", "env", "redis://:env@a:6379"},
		{"-h a --user cat", "env", "redis://cat:env@a:6379"},
		{"-h a -a pw", "env", "redis://:pw@a:6379"},
		{"-t redis://cat@a", "env", "redis://cat:env@a"},
		{"-u redis://cat:own@a", "env", "redis://cat:own@a"},
		{"-t https://a", "env", "https://a"},
		{"--profile prod", "env", "https://prod.example"},
	} {
		o, cmd := &Options{}, &cobra.Command{}
		o.AddFlags(cmd)
		o.AddServerFlags(cmd)
		if err := cmd.ParseFlags(strings.Fields(test.flags)); err != nil {
			t.Fatal(err)
		}
		got, err := o.Resolve(func(name string) string { return map[string]string{"REDISCLI_AUTH": test.auth}[name] })
		if err != nil || got.URL.String() != test.want {
			t.Errorf("%s: %s, %v, not %s", test.flags, got.URL, err, test.want)
		}
	}
}

// TestWrongTargets holds mistakes to the exit code of a command line that is wrong.
func TestWrongTargets(t *testing.T) {
	atHome(t)
	for flags, says := range map[string]string{
		"-t a.sqlite -h localhost":      "give one target",
		"-u redis://a -s /b":            "give only one of -u and -s",
		"-p 99999":                      "ports are numbers",
		"--profile nope":                "nope",
		"-u a.sqlite":                   "is not a URL",
		"-t a.example:6379":             "give redis://a.example:6379",
		"-t ftp://a.example":            "unknown scheme ftp://",
		"--url redis://a.example:99999": "ports are numbers",
		"--db a.sqlite -n -1":           "numbered from 0",
		"--db a.sqlite -n 16":           "a file has the databases 0 to 15",
		"--token mine":                  "--token needs a URL",
		"--env-file none":               "--env-file none",
	} {
		_, err := resolved(t, strings.Fields(flags), nil)
		var usage exit.UsageError
		if !errors.As(err, &usage) || !strings.Contains(err.Error(), says) {
			t.Errorf("%q: %v, which does not say %q", flags, err, says)
		}
	}
	if _, err := resolved(t, []string{"-t", ""}, nil); err == nil || !strings.Contains(err.Error(), "-t is empty") {
		t.Error(err)
	}
}

// TestFileOf passes over servers that the command line does not name.
func TestFileOf(t *testing.T) {
	atHome(t)
	getenv := func(name string) string {
		return map[string]string{"MEOWDIS_URL": "https://env.example", "MEOWDIS_PROFILE": "cats"}[name]
	}
	if found, err := new(Options).File(getenv); err != nil || found.Path != "/cats.sqlite" {
		t.Error(found, err)
	}
	if _, err := (&Options{Spec: "redis://a.example"}).File(getenv); err == nil || !strings.Contains(err.Error(), "works on files") {
		t.Error(err)
	}
}

// TestHomeless uses no default file when no variable says where it is.
func TestHomeless(t *testing.T) {
	if runtime.GOOS == "windows" {
		return // where the system knows the directory
	}
	atHome(t)
	t.Setenv("HOME", "")
	if got, err := resolved(t, nil, nil); err != nil {
		t.Errorf("with XDG_DATA_HOME: %s, %v", got, err)
	}
	t.Setenv("XDG_DATA_HOME", "")
	xdg.Reload()
	t.Setenv("XDG_CONFIG_HOME", "")
	t.Setenv("XDG_STATE_HOME", "")
	t.Setenv("XDG_CACHE_HOME", "")
	for home, why := range map[string]string{"": "HOME is not set", "/": "HOME is /"} {
		t.Setenv("HOME", home)
		xdg.Reload()
		if got, err := resolved(t, nil, nil); err == nil || err.Error() != why+", so the default file has no directory: name a file, as in -t cats.sqlite" {
			t.Errorf("%s: %s, %v", why, got, err)
		}
		if paths := HistoryFile() + UndoDirectory() + RecentsDirectory() + ConfigFile() + CertificateDirectory() + cachedCommands("x"); paths != "" {
			t.Errorf("%s: files in the root directory: %s", why, paths)
		}
		if config, err := profile.Load(ConfigFile()); err != nil || config.Save() == nil {
			t.Errorf("%s: profiles: %v", why, err)
		}
	}
	if got, err := resolved(t, []string{"--db", "cats.sqlite"}, nil); err != nil {
		t.Errorf("with --db: %s, %v", got, err)
	}
}

// TestShown shows targets without their secrets, and as a shell takes them.
func TestShown(t *testing.T) {
	t.Setenv("HOME", t.TempDir())
	home, err := os.UserHomeDir()
	if err != nil {
		t.Fatal(err)
	}
	url, err := FromURL("rediss://me:secret@a.example:6380/2?x=secret", "", "--url")
	if err != nil {
		t.Fatal(err)
	}
	for _, test := range []struct {
		target            Target
		text, label, args string
	}{
		{url, "rediss://a.example:6380/2", "a.example:6380", "-t rediss://a.example:6380/2"},
		{Target{Path: "my cats.sqlite"}, "my cats.sqlite", "my cats.sqlite", "-t 'my cats.sqlite'"},
		{Target{Path: filepath.Join(home, "a.db")}, filepath.Join(home, "a.db"), "~/a.db", "-t " + filepath.Join(home, "a.db")},
		{Target{Path: "a.db", Profile: "it's"}, "a.db", "it's", `-t '@it'\''s'`},
	} {
		if got := test.target; got.String() != test.text || got.Label() != test.label || got.Args() != test.args {
			t.Errorf("%s, %s, %s\nwant %s, %s, %s", got, got.Label(), got.Args(), test.text, test.label, test.args)
		}
	}
	if got := ShownURL("://secret"); got != "(not a URL)" {
		t.Error(got)
	}
}
