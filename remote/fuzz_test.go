package remote

import (
	"bytes"
	"net/url"
	"reflect"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/meowdis/meowdis/redis/resp"
)

// FuzzEvents reads streams of events. What is read must not depend on how the bytes
// arrive.
func FuzzEvents(f *testing.F) {
	f.Add([]byte(": hello\n\ndata: subscribe,a,1\n\ndata:x\ndata: y\r\n\r\nevent: x\n\ndata"))
	f.Add([]byte("data\n\ndata:\n\n\n\ndata: \n\n"))
	f.Fuzz(func(t *testing.T, stream []byte) {
		read := func(in *bytes.Reader, byByte bool) (all []string) {
			each := func(data []byte) error {
				all = append(all, string(data))
				return nil
			}
			var err error
			if byByte {
				err = events(iotest.OneByteReader(in), each)
			} else {
				err = events(in, each)
			}
			if err != errClosed {
				t.Fatal(err)
			}
			return all
		}
		whole, byByte := read(bytes.NewReader(stream), false), read(bytes.NewReader(stream), true)
		if !reflect.DeepEqual(whole, byByte) || len(strings.Join(whole, "")) > len(stream) {
			t.Fatalf("%q, byte by byte %q", whole, byByte)
		}
	})
}

// FuzzAnswer reads what an endpoint may answer to one command and to several: there
// are as many replies as commands, or an error.
func FuzzAnswer(f *testing.F) {
	for _, body := range []string{
		`{"result":[1,"a",null,true,{"error":"x"},{"k":[1.5]}]}`, `{"error":"ERR no"}`, `[{"result":"T0s="},{"error":"ERR"}]`, `[{"result":1},{"result":2},{"result":3}]`, `{"result":[1,2]}`,
		`{"result":1e999}`, `{"result":` + strings.Repeat("[", 20_000), `null`, "*2\r\n+OK\r\n:1\r\n", "+OK\r\n$1\r\na\r\n", "*2147483647\r\n",
	} {
		f.Add([]byte(body), true)
		f.Add([]byte(body), false)
	}
	f.Fuzz(func(t *testing.T, body []byte, encoded bool) {
		r := &REST{base: &url.URL{Host: "h"}}
		a := answer{status: 200, body: body}
		if encoded {
			a.asked = base64Encoding
		}
		calls := [][][]byte{{[]byte("GET"), []byte("k")}, {[]byte("TYPE"), []byte("k")}}
		count := func(replies []resp.Value, err error) {
			if err == nil && len(replies) != len(calls) {
				t.Fatalf("%d replies to %d commands", len(replies), len(calls))
			}
		}
		r.single(a, calls[0])
		if replies, whole, err := r.items(a, calls, len(calls)); whole == nil {
			count(replies, err)
		}
		replies, err := rawReplies(body, len(calls))
		if err == nil {
			err = counted(replies, len(calls), len(calls))
		}
		count(replies, err)
	})
}
