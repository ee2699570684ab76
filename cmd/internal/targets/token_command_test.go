package targets

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

func TestReadToken(t *testing.T) {
	now := time.Unix(1000, 0)
	for _, test := range []struct {
		out, user, token string
		until            int64 // Unix seconds
		err              string
	}{
		{out: "purr\n", token: "purr"},
		{out: `{"token":"purr"}`, token: "purr"},
		{out: `{"accessToken":"purr","expires_on":2000,"tokenType":"Bearer"}`, token: "purr", until: 1970},
		{out: `{"access_token":"purr","username":"cat","expires_in":40}`, token: "purr", user: "cat", until: 1030},
		{out: "", err: "printed nothing"},
		{out: "secret\nsecret", err: "more than one line"},
		{out: `{"secret":"x"}`, err: "without"},
		{out: `{"token":"secret"`, err: "invalid JSON"},
	} {
		c, err := readToken([]byte(test.out), now)
		if err != nil {
			if test.err == "" || !strings.Contains(err.Error(), test.err) || strings.Contains(err.Error(), "secret") {
				t.Errorf("%q: %v", test.out, err)
			}
			continue
		}
		if c.Password != test.token || c.User != test.user || test.until == 0 != c.Until.IsZero() || test.until > 0 && c.Until.Unix() != test.until {
			t.Errorf("%q: %+v", test.out, c)
		}
	}
}

func TestTokenCommand(t *testing.T) {
	file := filepath.Join(t.TempDir(), "token")
	c := &tokenCommand{profile: "prod", command: "echo warning >&2; cat '" + file + "'"}
	get := func(refused, want string) {
		t.Helper()
		got, err := c.get(context.Background(), refused)
		if err != nil {
			got.Password = err.Error()
		}
		if !strings.Contains(got.Password, want) {
			t.Errorf("%s, not %s", got.Password, want)
		}
	}
	get("", "the token_command of profile prod failed: exit status 1: warning")
	for _, token := range []string{"one", "two"} {
		if err := os.WriteFile(file, []byte(token), 0o600); err != nil {
			t.Fatal(err)
		}
		get("", "one") // kept
		get("one", token)
		c.last.Until = time.Unix(1, 0)
		get("", token)
		if token == "one" {
			c.last.Until = time.Time{}
		}
	}
}
