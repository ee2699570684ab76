package remote_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"

	"github.com/meowdis/meowdis/redis/resp"
	"github.com/meowdis/meowdis/remote"
)

// eventServer answers paths with events and keeps the connection open, as the
// endpoints of Upstash do. "end" for an event ends it.
func eventServer(t *testing.T, events map[string][]string) *httptest.Server {
	t.Helper()
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Header.Get("Authorization") != "Bearer purr" {
			w.WriteHeader(http.StatusUnauthorized)
			io.WriteString(w, `{"error":"WRONGPASS"}`)
			return
		}
		all, known := events[r.URL.EscapedPath()]
		if !known || r.Header.Get("Accept") != "text/event-stream" {
			w.WriteHeader(http.StatusBadRequest)
			io.WriteString(w, `{"error":"ERR no such path"}`)
			return
		}
		w.Header().Set("Content-Type", "text/event-stream")
		for _, e := range all {
			if e == "end" {
				return
			}
			io.WriteString(w, e)
			w.(http.Flusher).Flush()
		}
		<-r.Context().Done()
	}))
	t.Cleanup(srv.Close)
	return srv
}

func TestListenToEvents(t *testing.T) {
	srv := eventServer(t, map[string][]string{
		"/subscribe/a%2Cb":   {": hello\n\ndata: subscribe,a,b,1\n\n", "data: message,a,b,one,two\n\n", "data:message,a,b,x\ndata: y\n\n"},
		"/subscribe/gone":    {"data: subscribe,gone,1\n\n", "end"},
		"/psubscribe/n%2A":   {"data: psubscribe,n*,1\n\n", "data: pmessage,n*,news,a,b\n\n"},
		"/monitor":           {"data: \"OK\"\n\n", "data: 1721284005.242090 [0 0.0.0.0:0] \"GET\" \"k\"\n\n"},
		"/subscribe/a%2Fb":   {"data: message,a/b,slash\n\n"},
		"/subscribe/strange": {"event: x\nid: 1\n\ndata: other\n\n", "data: message,strange,\n\n"},
	})
	listen := func(token, line string, count int) (string, error) {
		r, err := remote.OpenREST(srv.URL, token, remote.Options{})
		if err != nil {
			t.Fatal(err)
		}
		defer r.Close()
		var got []string
		enough := errors.New("enough")
		err = r.Listen(context.Background(), words(strings.Fields(line)...), func(v resp.Value) error {
			got = append(got, string(resp.Printer{Format: resp.JSON}.Append(nil, v)))
			if len(got) == count {
				return enough
			}
			return nil
		})
		if errors.Is(err, enough) {
			err = nil
		}
		slices.Sort(got) // those of several channels come as they like
		return strings.Join(got, ""), err
	}
	for _, test := range []struct {
		line  string
		count int
		want  string
	}{
		{"SUBSCRIBE a,b", 3, "[\"message\",\"a,b\",\"one,two\"]\n[\"message\",\"a,b\",\"x\\ny\"]\n[\"subscribe\",\"a,b\",1]\n"},
		{"psubscribe n*", 2, "[\"pmessage\",\"n*\",\"news\",\"a,b\"]\n[\"psubscribe\",\"n*\",1]\n"},
		{"SUBSCRIBE a/b strange", 2, "[\"message\",\"a/b\",\"slash\"]\n[\"message\",\"strange\",\"\"]\n"},
		{"MONITOR", 2, "\"1721284005.242090 [0 0.0.0.0:0] \\\"GET\\\" \\\"k\\\"\"\n\"OK\"\n"},
		{"SUBSCRIBE unknown", 0, "{\"error\":\"ERR no such path\"}\n"},
		{"SSUBSCRIBE a", 0, "{\"error\":\"ERR SSUBSCRIBE is not available over REST\"}\n"},
	} {
		if got, err := listen("purr", test.line, test.count); got != test.want || err != nil {
			t.Errorf("%s: %s%v, want %s", test.line, got, err, test.want)
		}
	}
	if _, err := listen("purr", "SUBSCRIBE gone", 0); err == nil || !strings.Contains(err.Error(), "closed the connection") {
		t.Errorf("a stream that ends: %v", err)
	}
	if _, err := listen("wrong", "SUBSCRIBE a,b", 0); err == nil || !strings.Contains(err.Error(), "refused the token") {
		t.Errorf("a wrong token: %v", err)
	}
}

// A listener ends with its context, for its cause, also before anything came.
func TestListenToEventsEnds(t *testing.T) {
	srv := eventServer(t, map[string][]string{"/monitor": {"data: \"OK\"\n\n"}})
	r, err := remote.OpenREST(srv.URL, "purr", remote.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	ctx, cancel := context.WithCancelCause(context.Background())
	cause := fmt.Errorf("enough")
	err = r.Listen(ctx, words("MONITOR"), func(resp.Value) error {
		cancel(cause)
		return nil
	})
	if !errors.Is(err, cause) {
		t.Errorf("ended with %v", err)
	}
}

func words(all ...string) [][]byte {
	args := make([][]byte, len(all))
	for i, w := range all {
		args[i] = []byte(w)
	}
	return args
}
