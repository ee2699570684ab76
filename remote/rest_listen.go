package remote

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"mime"
	"net/http"
	"strconv"
	"strings"
	"sync"

	"github.com/meowdis/meowdis/redis/resp"
)

// Listen sends SUBSCRIBE or PSUBSCRIBE with channels, or MONITOR, and gives what
// comes to each, in the shapes that a Redis server gives it. The endpoint sends it
// as events, each channel's over a connection of its own; each is called for one at
// a time. It ends with ctx, whose cause it returns, with an error of each, after an
// error reply, or when a connection is lost.
func (r *REST) Listen(ctx context.Context, args [][]byte, each func(resp.Value) error) error {
	name := commandName(args)
	var streams []eventStream
	switch name {
	case "MONITOR":
		streams = []eventStream{{path: "monitor", parse: monitorEvent}}
	case "SUBSCRIBE", "PSUBSCRIBE":
		for _, channel := range args[1:] {
			streams = append(streams, subscription(strings.ToLower(name), channel))
		}
	default:
		return each(resp.MakeError("ERR " + name + " is not available over REST"))
	}
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	var one sync.Mutex
	var running sync.WaitGroup
	for _, s := range streams {
		running.Go(func() {
			cancel(r.follow(ctx, s, func(v resp.Value) error {
				one.Lock()
				defer one.Unlock()
				if ctx.Err() != nil {
					return context.Cause(ctx)
				}
				return each(v)
			}))
		})
	}
	running.Wait()
	if err := context.Cause(ctx); !errors.Is(err, errRefused) {
		return err
	}
	return nil
}

// errRefused ends a stream whose request was answered with an error reply.
var errRefused = errors.New("refused")

// eventStream is something that an endpoint sends events about.
type eventStream struct {
	path  string
	parse func(data []byte) (resp.Value, bool)
}

// subscription is the stream of a channel or a pattern. Its name is known, so that
// a comma in it does not matter.
func subscription(kind string, channel []byte) eventStream {
	path, _ := pathCommand([][]byte{[]byte(kind), channel, nil})
	path = strings.TrimSuffix(path, "/")
	message := strings.Replace(kind, "subscribe", "message", 1)
	return eventStream{path: path, parse: func(data []byte) (resp.Value, bool) {
		if rest, ok := bytes.CutPrefix(data, []byte(kind+","+string(channel)+",")); ok {
			n, _ := strconv.ParseInt(string(rest), 10, 64) // which is not needed
			return resp.MakeArray(resp.MakeString(kind), resp.MakeBulk(channel), resp.MakeInt(n)), true
		}
		rest, ok := bytes.CutPrefix(data, []byte(message+","+string(channel)+","))
		if !ok {
			return resp.Value{}, false
		}
		v := resp.MakeArray(resp.MakeString(message), resp.MakeBulk(channel))
		if kind == "psubscribe" {
			from, payload, _ := bytes.Cut(rest, []byte(","))
			v.Elems, rest = append(v.Elems, resp.MakeBulk(from)), payload
		}
		v.Elems = append(v.Elems, resp.MakeBulk(rest))
		return v, true
	}}
}

func monitorEvent(data []byte) (resp.Value, bool) {
	if string(data) == `"OK"` {
		return resp.OK, true
	}
	return resp.MakeStatus(string(data)), true
}

// follow reads the events of s until ctx ends or the connection.
func (r *REST) follow(ctx context.Context, s eventStream, each func(resp.Value) error) error {
	req, err := r.httpRequest(ctx, request{path: s.path, body: []byte("[]")})
	if err != nil {
		return err
	}
	req.Header.Set("Accept", "text/event-stream")
	// A stream has no end that could be waited for.
	endless := http.Client{Transport: r.client.Transport, CheckRedirect: r.client.CheckRedirect}
	res, err := endless.Do(req)
	if err != nil {
		return r.lost(ctx, err)
	}
	defer res.Body.Close()
	a := answer{status: res.StatusCode}
	if a.media, _, _ = mime.ParseMediaType(res.Header.Get("Content-Type")); a.media == "text/event-stream" && a.status == http.StatusOK {
		var own error
		lost := events(res.Body, func(data []byte) error {
			if v, ok := s.parse(data); ok {
				own = each(v)
			}
			return own
		})
		if own != nil {
			return own
		}
		return r.lost(ctx, lost)
	}
	if a.body, err = io.ReadAll(res.Body); err != nil {
		return r.lost(ctx, err)
	}
	if a.status == http.StatusUnauthorized {
		return r.unauthorized(a)
	}
	var v item
	if json.Unmarshal(a.body, &v) != nil || v.Error == nil {
		return fmt.Errorf("%s sends no events at /%s", r.base.Host, s.path)
	}
	if err := each(resp.MakeError(*v.Error)); err != nil {
		return err
	}
	return errRefused
}

// events gives the data of each event to each: the lines that begin with "data:",
// of one event joined by newlines. Other lines are comments and the like. It ends
// with the stream, and says so, or with an error of each.
func events(in io.Reader, each func(data []byte) error) error {
	lines := bufio.NewReader(in)
	var data []byte
	has := false
	for {
		line, err := lines.ReadBytes('\n')
		line = bytes.TrimRight(line, "\r\n")
		value, isData := bytes.CutPrefix(line, []byte("data:"))
		switch {
		case errors.Is(err, io.EOF):
			return errClosed
		case err != nil:
			return err
		case isData && has:
			data = append(append(data, '\n'), bytes.TrimPrefix(value, []byte(" "))...)
		case isData:
			data, has = bytes.Clone(bytes.TrimPrefix(value, []byte(" "))), true
		case len(line) == 0 && has:
			if err := each(data); err != nil {
				return err
			}
			has = false
		}
	}
}
