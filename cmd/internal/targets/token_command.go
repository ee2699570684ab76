package targets

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os/exec"
	"runtime"
	"strings"
	"sync"
	"time"

	"github.com/meowdis/meowdis/remote"
)

const (
	// A command for a token is killed after tokenTime.
	tokenTime = 30 * time.Second
	// A token is renewed tokenMargin before it expires.
	tokenMargin = 30 * time.Second
	// Outputs are read up to tokenBytes.
	tokenBytes = 64 << 10
)

// tokenCommand runs the token_command of a profile, and keeps its output until it expires or is refused.
type tokenCommand struct {
	profile, command string

	mu   sync.Mutex
	last remote.Credentials // no password before the first run
}

// get returns the credentials. It runs the command again if the last password was refused, or expires soon.
func (t *tokenCommand) get(ctx context.Context, refused string) (remote.Credentials, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.last.Password != "" && t.last.Password != refused && (t.last.Until.IsZero() || time.Now().Before(t.last.Until)) {
		return t.last, nil
	}
	ctx, cancel := context.WithTimeout(ctx, tokenTime)
	defer cancel()
	c := shellCommand(ctx, t.command)
	c.WaitDelay = time.Second
	var out, said limitedBuffer
	c.Stdout, c.Stderr = &out, &said
	err := c.Run()
	if err == nil {
		t.last, err = readToken(out.Bytes(), time.Now())
	}
	switch {
	case errors.Is(ctx.Err(), context.DeadlineExceeded):
		err = fmt.Errorf("it took longer than %v", tokenTime)
	case ctx.Err() != nil:
		return t.last, context.Cause(ctx)
	}
	if err != nil {
		t.last = remote.Credentials{}
		if text := strings.TrimSpace(said.String()); text != "" {
			err = fmt.Errorf("%w: %s", err, text)
		}
		return t.last, fmt.Errorf("the token_command of profile %s failed: %w", t.profile, err)
	}
	return t.last, nil
}

func shellCommand(ctx context.Context, command string) *exec.Cmd {
	if runtime.GOOS == "windows" {
		return exec.CommandContext(ctx, "cmd", "/C", command)
	}
	return exec.CommandContext(ctx, "sh", "-c", command)
}

// readToken reads the output of a token_command: the token alone, or a JSON object as cloud providers print. It never
// returns an error that shows the token.
func readToken(out []byte, now time.Time) (c remote.Credentials, err error) {
	text := bytes.TrimSpace(out)
	if !bytes.HasPrefix(text, []byte("{")) {
		c.Password = string(text)
		switch {
		case len(text) == 0:
			return c, errors.New("it printed nothing")
		case bytes.ContainsAny(text, "\r\n"):
			return c, errors.New("it printed more than one line")
		}
		return c, nil
	}
	var found struct {
		Token, Password  string
		AccessToken      string `json:"access_token"`
		AccessTokenAzure string `json:"accessToken"`
		User, Username   string
		ExpiresIn        float64 `json:"expires_in"` // seconds
		ExpiresOn        float64 `json:"expires_on"` // Unix seconds
	}
	if json.Unmarshal(text, &found) != nil {
		return c, errors.New("it printed invalid JSON")
	}
	c.Password = cmp.Or(found.Token, found.Password, found.AccessToken, found.AccessTokenAzure)
	c.User = cmp.Or(found.User, found.Username)
	if c.Password == "" {
		return c, errors.New(`it printed JSON without "token", "password", "access_token" or "accessToken"`)
	}
	switch {
	case found.ExpiresIn > 0:
		c.Until = now.Add(min(time.Duration(found.ExpiresIn), 1<<30) * time.Second)
	case found.ExpiresOn > 0:
		c.Until = time.Unix(int64(found.ExpiresOn), 0)
	}
	if !c.Until.IsZero() {
		c.Until = c.Until.Add(-min(tokenMargin, c.Until.Sub(now)/4))
	}
	return c, nil
}

// limitedBuffer keeps the first tokenBytes.
type limitedBuffer struct{ bytes.Buffer }

func (b *limitedBuffer) Write(p []byte) (int, error) {
	b.Buffer.Write(p[:min(len(p), max(0, tokenBytes-b.Len()))])
	return len(p), nil
}
