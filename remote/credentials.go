package remote

import (
	"cmp"
	"context"
	"strings"
	"time"

	"github.com/meowdis/meowdis/redis/resp"
)

// Credentials are a user and a password, or the token of a REST endpoint.
type Credentials struct {
	User, Password string    // User may be ""
	Until          time.Time // when they expire; zero if that is unknown
}

// CredentialsFunc returns the credentials of the moment. refused holds a password that the server has refused, or "".
type CredentialsFunc func(ctx context.Context, refused string) (Credentials, error)

// identify sets the credentials for the next connection. refused is a password that the server has refused, or "".
func (r *Redis) identify(ctx context.Context, refused string) error {
	if r.server.options.Credentials == nil {
		return nil
	}
	c, err := r.server.options.Credentials(ctx, refused)
	if err != nil {
		return err
	}
	r.server.auth = nil
	if user := cmp.Or(c.User, r.server.user); user != "" {
		r.server.auth = append(r.server.auth, []byte(user))
	}
	r.server.auth = append(r.server.auth, []byte(c.Password))
	r.authUntil = c.Until
	return nil
}

// password returns the password of the connection, or "".
func (r *Redis) password() string {
	if len(r.server.auth) == 0 {
		return ""
	}
	return string(r.server.auth[len(r.server.auth)-1])
}

// authExpired reports whether the connection's credentials have expired, so that a new connection needs others.
func (r *Redis) authExpired() bool {
	return !r.authUntil.IsZero() && !time.Now().Before(r.authUntil) && !r.multi && !r.watching
}

// wantsAuth reports whether the server ran none of the calls, since the credentials have expired there.
func wantsAuth(replies []resp.Value) bool {
	for _, v := range replies {
		if !v.IsError() || !strings.HasPrefix(string(v.Str), "NOAUTH ") {
			return false
		}
	}
	return len(replies) > 0
}

// refusesAuth reports whether v, a reply to AUTH or HELLO, says that the credentials are wrong.
func refusesAuth(v resp.Value) bool {
	return v.IsError() && (strings.HasPrefix(string(v.Str), "WRONGPASS ") || strings.HasPrefix(string(v.Str), "ERR invalid password"))
}
