package tenants_test

import (
	"net/http"
	"strings"
	"testing"

	"github.com/meowdis/meowdis/server/tenants"
)

// bothWays runs a test on the loop and with a goroutine for each connection.
func bothWays(t *testing.T, run func(*testing.T)) {
	t.Run("loop", run)
	goroutineEach = true
	defer func() { goroutineEach = false }()
	t.Run("goroutines", run)
}

const (
	noAuth    = "(error) NOAUTH Authentication required."
	wrongPass = "(error) WRONGPASS invalid username-password pair or user is disabled."
)

func TestEnter(t *testing.T) { bothWays(t, testEnter) }

func testEnter(t *testing.T) {
	h := open(t, 4, "tom", "kitty")
	p := h.stranger()
	p.want(noAuth, "PING")
	p.want(noAuth, "GET", "k")
	p.want(noAuth, "MULTI")
	p.want("(error) ERR unknown command 'NONSENSE', with args beginning with: ", "NONSENSE")
	p.want(wrongPass, "AUTH", "nonsense")
	p.want(wrongPass, "AUTH", "kitty", h.token["tom"])
	p.want(wrongPass, "AUTH", "TOM", h.token["tom"])
	p.want(wrongPass, "AUTH", "tom", "")
	p.want(noAuth, "GET", "k")
	p.want("OK", "AUTH", "tom", h.token["tom"])
	p.want("OK", "SET", "k", "of tom")
	p.want("OK", "AUTH", h.token["tom"])
	p.want("OK", "AUTH", "default", h.token["tom"])
	p.want(wrongPass, "AUTH", "nonsense")
	p.want("(error) ERR this connection belongs to another database: open a connection for each", "AUTH", h.token["kitty"])
	p.want(`"of tom"`, "GET", "k")

	// Commands in the same packet run for the tenant after AUTH, and are refused before it.
	p = h.stranger()
	p.send("GET", "k")
	p.send("AUTH", h.token["kitty"])
	p.send("GET", "k")
	p.send("SET", "k", "of kitty")
	p.send("GET", "k")
	for _, want := range []string{noAuth, "OK", "(nil)", "OK", `"of kitty"`} {
		if got := p.reply(); got != want {
			t.Errorf("got %s, want %s", got, want)
		}
	}

	// After RESET a connection is unauthenticated and may enter another tenant.
	p.want("OK", "CLIENT", "SETNAME", "cat")
	p.send("SUBSCRIBE", "news")
	p.reply()
	p.want("RESET", "RESET")
	p.want(noAuth, "GET", "k")
	p.send("AUTH", h.token["tom"])
	p.send("GET", "k")
	if p.reply(); p.reply() != `"of tom"` {
		t.Error("a connection that was reset is not the other tenant's")
	}
	p.want("(nil)", "CLIENT", "GETNAME")
	h.of("kitty").want("(integer) 0", "PUBLISH", "news", "x")

	p = h.stranger()
	if got := p.do("HELLO", "3"); !strings.HasPrefix(got, "(error) NOAUTH HELLO must be called") {
		t.Errorf("HELLO answers a stranger %s", got)
	}
	got := p.do("HELLO", "3", "AUTH", "default", h.token["tom"], "SETNAME", "cat")
	id := p.do("CLIENT", "ID")
	if !strings.Contains(got, `"id" => `+id) {
		t.Errorf("HELLO says %s, and the client has the ID %s", got, id)
	}
	p.want(`"cat"`, "CLIENT", "GETNAME")
	p.want(`"of tom"`, "GET", "k")
}

// The administrator's database is the registry. No tenant can access it.
func TestAdministrator(t *testing.T) {
	h := open(t, 4, "tom")
	p := h.stranger()
	p.want("OK", "AUTH", adminPass)
	p.want("(integer) 1", "EXISTS", "tenant:tom")
	p.want("(error) ERR this connection belongs to another database: open a connection for each", "AUTH", h.token["tom"])
	h.wantREST(http.StatusOK, `{"result":1}`, adminToken, "/exists/tenant:tom")
	h.wantREST(http.StatusOK, `{"result":0}`, h.token["tom"], "/exists/tenant:tom")
	status, page := h.get(adminToken, "/metrics")
	for _, line := range []string{
		"meowdis_tenants_open 1", `meowdis_commands_total{command="exists",family="generic"} 3`, "meowdis_rest_requests_total",
	} {
		if status != http.StatusOK || !strings.Contains(page, line) {
			t.Errorf("the metrics have no %q: %d\n%s", line, status, page)
		}
	}
	h.wantREST(http.StatusNotFound, `{"error":"ERR tenants have no metrics`, h.token["tom"], "/metrics")
	h.wantREST(http.StatusOK, "ok", "", "/healthz")
	h.wantREST(http.StatusUnauthorized, `{"error":"WRONGPASS`, "", "/get/k")
	h.wantREST(http.StatusUnauthorized, `{"error":"WRONGPASS`, "nonsense", "/get/k")
}

func TestNames(t *testing.T) {
	h := open(t, 1, "tom", "Tom", "tom@example.com", "..", "-")
	for _, name := range []string{"", "a/b", `a\b`, "a b", "tom", "default", "DEFAULT", "kätzchen", "a\x00", strings.Repeat("a", 65), "*"} {
		if token, err := h.book.Add(t.Context(), name, tenants.Limits{}); err == nil || token != "" {
			t.Errorf("%q may be a name", name)
		}
	}
	h.of("tom").want("OK", "SET", "k", "1")
	h.of("Tom").want("(nil)", "GET", "k")
	h.of("..").want("OK", "SET", "k", "2")
}
