package server_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/meowdis/meowdis/internal/test/oracle"
	"github.com/meowdis/meowdis/server"
	"github.com/meowdis/meowdis/server/rest"
)

// userFiles are valid and invalid user files.
var userFiles = []string{
	"",
	"user bob on >secret ~* +@all\n",
	"user default off\nuser bob on nopass ~* &* +@all\n\n\n  user ann on #2bb80d537b1da3e38bd30361aa855686bde0eacd7162fef6a25fe97bf527a25b (~a +get) ( %R~b +@read )\r\n",
	"user bob on\nuser bob off\n",
	"# a comment\nuser bob\n",
	"user\n",
	"user bob +nosuch +@nosuch ~* ~a >x !x\nuser ann <x <y\n",
	"user bob (~a +get\nuser ann ~* ~a\n",
	"user a\tb on\n",
	"user bob on  nopass   ~*\n",
	"nothing",
}

// TestUserFile loads and saves files here and on redis-server.
func TestUserFile(t *testing.T) {
	theirs, ours := filepath.Join(t.TempDir(), "users.acl"), filepath.Join(t.TempDir(), "users.acl")
	write := func(text string) {
		for _, path := range []string{theirs, ours} {
			if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
				t.Fatal(err)
			}
		}
	}
	write("")
	redis := oracle.Start(t, "--aclfile", theirs)
	if version := redis.Dial(t).Version(); version.Before("8.0") {
		t.Skipf("the errors are those of 8.0, and redis-server is %s", version)
	}
	s := serve(t, server.Config{ACLFile: ours})
	admin, reference := s.dial(t), dial(t, "unix", redis.Socket)
	same := func(args ...string) {
		t.Helper()
		got, want := admin.raw(words(args...)), reference.raw(words(args...))
		if got = strings.ReplaceAll(got, ours, theirs); got != want {
			t.Errorf("%q\nserver:       %q\nredis-server: %q", args, got, want)
		}
	}
	for _, text := range userFiles {
		write(text)
		same("ACL", "LOAD")
		same("ACL", "LIST")
		same("ACL", "SAVE")
		got, _ := os.ReadFile(ours)
		if want, _ := os.ReadFile(theirs); string(got) != string(want) {
			t.Errorf("%q is saved as\n%s\nand by redis-server as\n%s", text, got, want)
		}
	}
	os.Remove(ours)
	os.Remove(theirs)
	same("ACL", "LOAD")
	same("CONFIG", "SET", "aclfile", "x")
	same("ACL", "SAVE")
}

// TestLoadCloses closes only the connections of users missing from the file.
func TestLoadCloses(t *testing.T) {
	path := filepath.Join(t.TempDir(), "users.acl")
	os.WriteFile(path, []byte("user bob on nopass +@all\nuser ann on nopass +@all\n"), 0o600)
	s := serve(t, server.Config{ACLFile: path})
	if err := s.server.LoadUsers(); err != nil {
		t.Fatal(err)
	}
	bob, ann, admin := s.dial(t), s.dial(t), s.dial(t)
	want(t, bob.do("AUTH", "bob", "x"), "OK")
	want(t, ann.do("AUTH", "ann", "x"), "OK")
	os.WriteFile(path, []byte("user ann on nopass +ping\n"), 0o600)
	want(t, admin.do("ACL", "LOAD"), "OK")
	bob.wantClosed()
	want(t, ann.do("PING"), "PONG")
	want(t, ann.do("GET", "a"), "(error) NOPERM User ann has no permissions to run the 'get' command")
	os.WriteFile(path, []byte("user"), 0o600)
	if err := s.server.LoadUsers(); err == nil {
		t.Error("a bad file is no error")
	}
}

// TestRESTTokens sends requests with tokens of users.
func TestRESTTokens(t *testing.T) {
	s := serve(t, server.Config{})
	admin := s.dial(t)
	ask := func(token, body string) string {
		t.Helper()
		path := "/"
		if strings.HasPrefix(body, "[[") {
			path = "/pipeline"
		}
		_, text, _ := s.exchange(t, "POST", path, body, "Authorization: Bearer "+token)
		return text
	}
	same := func(got, want string) {
		t.Helper()
		if got != want {
			t.Errorf("got %s, want %s", got, want)
		}
	}
	want(t, admin.do("ACL", "SETUSER", "reader", "on", ">secret", "~cats:*", "+@read", "+acl|whoami"), "OK")
	want(t, admin.do("SET", "cats:1", "tom"), "OK")
	wrong := `(error) ERR Wrong password or user "reader" does not exist`
	want(t, admin.do("ACL", "RESTTOKEN", "reader", "wrong"), wrong)
	want(t, admin.do("ACL", "RESTTOKEN", "nosuch", "x"), strings.ReplaceAll(wrong, "reader", "nosuch"))
	reader := string(admin.do("ACL", "RESTTOKEN", "reader", "secret").Str)
	same(ask(reader, `["GET","cats:1"]`), `{"result":"tom"}`)
	same(ask(reader, `["GET","dogs:1"]`), `{"error":"NOPERM No permissions to access a key"}`)
	same(ask(reader, `["SET","cats:1","x"]`), `{"error":"NOPERM User reader has no permissions to run the 'set' command"}`)
	same(ask(reader, `["ACL","WHOAMI"]`), `{"result":"reader"}`)
	same(ask(token, `["ACL","WHOAMI"]`), `{"result":"default"}`)
	same(ask(reader, `[["GET","cats:1"],["DEL","cats:1"]]`), `[{"result":"tom"},{"error":"NOPERM User reader has no permissions to run the 'del' command"}]`)
	_, text, _ := s.exchange(t, "POST", "/multi-exec", `[["GET","cats:1"],["DEL","cats:1"]]`, "Authorization: Bearer "+reader)
	same(text, `{"error":"NOPERM User reader has no permissions to run the 'del' command"}`)
	_, text, _ = s.exchange(t, "POST", "/pipeline", `[["GET","cats:1"],["DEL","cats:1"],["GET","cats:1"]]`, "Authorization: Bearer "+reader, rest.PipelineHeader+": "+rest.UntilError)
	same(text, `[{"result":"tom"},{"error":"NOPERM User reader has no permissions to run the 'del' command"}]`)
	status, text, _ := s.exchange(t, "GET", "/get/cats:1?_token="+reader, "")
	if status != 200 {
		t.Errorf("a token in the query: %d %s", status, text)
	}

	// A token made by GENTOKEN is also a password, and so is the password it wraps.
	made := string(admin.do("ACL", "GENTOKEN", "writer", "p").Str)
	denied := `{"error":"WRONGPASS invalid or missing auth token"}`
	same(ask(made, `["PING"]`), denied)
	want(t, admin.do("ACL", "SETUSER", "writer", "on", ">"+made, "allkeys", "+@write"), "OK")
	same(ask(made, `["SET","cats:1","x"]`), `{"result":"OK"}`)
	for _, password := range []string{"p", made} {
		want(t, admin.do("ACL", "RESTTOKEN", "writer", password), `"`+made+`"`)
	}
	random := string(admin.do("ACL", "GENTOKEN", "writer").Str)
	same(ask(random, `["PING"]`), denied)

	// Revoked permissions apply to the token, too.
	want(t, admin.do("ACL", "SETUSER", "reader", "-get"), "OK")
	same(ask(reader, `["GET","cats:1"]`), `{"error":"NOPERM User reader has no permissions to run the 'get' command"}`)
	want(t, admin.do("ACL", "SETUSER", "reader", "off"), "OK")
	same(ask(reader, `["GET","cats:1"]`), denied)
	want(t, admin.do("ACL", "SETUSER", "reader", "on", "resetpass", ">other"), "OK")
	same(ask(reader, `["GET","cats:1"]`), denied)
	want(t, admin.do("ACL", "DELUSER", "writer"), "(integer) 1")
	same(ask(made, `["PING"]`), denied)

	// The server's own token is the default user's.
	want(t, admin.do("ACL", "SETUSER", "default", "-get"), "OK")
	same(ask(token, `["GET","cats:1"]`), `{"error":"NOPERM User default has no permissions to run the 'get' command"}`)
	want(t, admin.do("ACL", "SETUSER", "default", "off"), "OK")
	same(ask(token, `["PING"]`), denied)

	text = admin.raw(words("ACL", "LOG", "100"))
	if !strings.Contains(text, "REST") || !strings.Contains(text, "addr=127.0.0.1") {
		t.Errorf("the log does not say what was refused over REST: %q", text)
	}
}
