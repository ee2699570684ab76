package targets

import (
	"context"
	"errors"
	"net"
	"net/url"
	"strings"

	"github.com/meowdis/meowdis/cmd/internal/exit"
	"github.com/meowdis/meowdis/remote/ssh"
)

// sshScheme begins targets on the other side of ssh: ssh://HOST/URL of a server that HOST reaches, and ssh://HOST/PATH
// of a file there.
const sshScheme = "ssh://"

// overSSH holds the part of a target on the other side of ssh. The URL of a file is unix://PATH, since meowdis there is a
// server.
type overSSH struct {
	host ssh.Host
	file *ssh.File // nil for a server
}

// sshHost holds the value of --ssh.
type sshHost struct {
	host  ssh.Host
	given bool
}

func (h *sshHost) Type() string { return "host" }

func (h *sshHost) String() string {
	if !h.given {
		return ""
	}
	return h.host.String()
}

func (h *sshHost) Set(text string) (err error) {
	h.host, err = ssh.Parse(text)
	h.given = err == nil
	return err
}

// dialer returns the function that connects to the target, nil for the network.
func (o *Reach) dialer(t Target) func(ctx context.Context, network, address string) (net.Conn, error) {
	switch {
	case t.over != nil && t.over.file != nil:
		return t.over.file.Dial
	case t.over != nil:
		return t.over.host.Dial
	case o.jump.given:
		return o.jump.host.Dial
	}
	return nil
}

// fromSSH returns the target of ssh://HOST/URL or ssh://HOST/PATH.
func fromSSH(raw, token, source string) (Target, error) {
	where, rest, _ := strings.Cut(strings.TrimPrefix(raw, sshScheme), "/")
	host, err := ssh.Parse(where)
	if err != nil {
		return Target{}, exit.Usagef("%s: the host of ssh://: %w", source, err)
	}
	over := &overSSH{host: host}
	if scheme, _, isURL := strings.Cut(rest, "://"); isURL && !strings.ContainsAny(scheme, "/?") {
		t, err := FromURL(rest, token, source)
		switch {
		case err != nil:
			return t, err
		case t.over != nil:
			return Target{}, exit.Usagef("%s: ssh:// in ssh://: set ProxyJump in the configuration of ssh", source)
		case t.IsStorage() || t.URL.Scheme == "unix":
			return Target{}, exit.Usagef("%s: %s:// cannot be reached through ssh://", source, t.URL.Scheme)
		}
		t.over = over
		return t, nil
	}
	u, err := url.Parse("file:///" + rest)
	if err != nil || rest == "" {
		return Target{}, exit.Usagef("%s: give ssh://HOST/PATH of a file, or ssh://HOST/redis://HOST:6379", source)
	}
	over.file = &ssh.File{Host: host, Path: u.Path, Program: u.Query().Get("meowdis")}
	if home, ok := strings.CutPrefix(u.Path, "/~/"); ok { // commands of ssh begin there
		over.file.Path = "./" + home
	}
	return Target{URL: &url.URL{Scheme: "unix", Path: u.Path, RawQuery: u.RawQuery}, source: source, over: over}, nil
}

// shown returns a target without its secrets.
func (o *overSSH) shown(inner string) string {
	if o.file != nil {
		inner = strings.TrimPrefix(inner, "unix:///")
	}
	return sshScheme + o.host.String() + "/" + inner
}

// errNoJump reports --ssh for a file.
var errNoJump = errors.New("--ssh is for servers: give ssh://HOST/PATH for a file there")

// existing returns t, whose file must exist.
func (t Target) existing() Target {
	if t.over != nil && t.over.file != nil {
		over, file := *t.over, *t.over.file
		file.Existing = true
		over.file, t.over = &file, &over
	}
	return t
}
