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
	"github.com/meowdis/meowdis/store"
)

// Listen sends MONITOR, or SUBSCRIBE or PSUBSCRIBE with channels, and passes each message to each in the shape
// of a Redis server's. The endpoint sends the messages as events, with one connection per channel. Calls of
// each do not overlap. It returns the cause of ctx when ctx ends, the error of each, nil after an error reply,
// or an error when a connection is lost.
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
			cancel(store.Caught(func() error {
				return r.follow(ctx, s, func(v resp.Value) error {
					one.Lock()
					defer one.Unlock()
					if ctx.Err() != nil {
						return context.Cause(ctx)
					}
					return each(v)
				})
			}))
		})
	}
	running.Wait()
	if err := context.Cause(ctx); !errors.Is(err, errRefused) {
		return err
	}
	return nil
}

// errRefused ends a stream whose request got an error reply.
var errRefused = errors.New("refused")

// eventStream reads events from an endpoint.
type eventStream struct {
	path  string
	parse func(data []byte) (resp.Value, bool)
}

// subscription returns the stream of a channel or pattern. Its name is known, so it may contain commas.
func subscription(kind string, channel []byte) eventStream {
	path, _ := pathCommand([][]byte{[]byte(kind), channel, nil})
	path = strings.TrimSuffix(path, "/")
	message := strings.Replace(kind, "subscribe", "message", 1)
	return eventStream{path: path, parse: func(data []byte) (resp.Value, bool) {
		if rest, ok := bytes.CutPrefix(data, []byte(kind+","+string(channel)+",")); ok {
			n, _ := strconv.ParseInt(string(rest), 10, 64) // the count is not needed
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

// follow reads the events of s until ctx or the connection ends.
func (r *REST) follow(ctx context.Context, s eventStream, each func(resp.Value) error) error {
	if err := r.identify(ctx, ""); err != nil {
		return err
	}
	req, err := r.httpRequest(ctx, request{path: s.path, body: []byte("[]")})
	if err != nil {
		return err
	}
	req.Header.Set("Accept", "text/event-stream")
	// A stream must not time out.
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

// events passes the data of each event to each: the event's lines that begin with "data:", joined by newlines.
// It ignores other lines. It returns errClosed at the end of the stream, or the error of each.
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
