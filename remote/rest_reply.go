package remote

import (
	"bytes"
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/meowdis/meowdis/redis/commands"
	"github.com/meowdis/meowdis/redis/resp"
)

// A request has at most maxPipeline commands, and about maxPipelineBytes unless one command is larger.
const (
	maxPipeline      = 1000
	maxPipelineBytes = 16 << 20
)

// tooLarge reports a request that is larger than the endpoint accepts.
type tooLarge struct{ text string }

func (e *tooLarge) Error() string { return e.text }

// sizeRefused begins the error of an endpoint that refuses the size of a request.
const sizeRefused = "ERR max request size exceeded"

// size returns about how many bytes a call takes in a request.
func size(args [][]byte) (n int) {
	for _, a := range args {
		n += len(a) + 3
	}
	return n
}

// pipelined returns how many of the first calls one request may carry; 0 if the first call does not fit JSON.
func (r *REST) pipelined(calls [][][]byte) int {
	bytes := 0
	for n, call := range calls {
		if bytes += size(call); n > 0 && bytes > maxPipelineBytes || !r.fitsJSON(call) {
			return n
		}
	}
	return len(calls)
}

// send runs calls in order, in as few requests as their size allows, and returns their replies. With
// untilError it returns the replies up to the first error.
func (r *REST) send(ctx context.Context, calls [][][]byte, untilError bool) ([]resp.Value, error) {
	replies := make([]resp.Value, 0, len(calls))
	most := maxPipeline
	for len(calls) > 0 {
		n := r.pipelined(calls[:min(len(calls), most)])
		var got []resp.Value
		var err error
		if n > 1 {
			got, err = r.many(ctx, calls[:n], untilError)
		} else {
			n, got = 1, make([]resp.Value, 1)
			got[0], err = r.one(ctx, calls[0], untilError)
		}
		if large := (*tooLarge)(nil); errors.As(err, &large) {
			if n > 1 {
				most = n / 2 // nothing of the request ran
				continue
			}
			got[0], err = resp.MakeError(large.text), nil
		}
		if err != nil {
			return replies, err
		}
		replies, calls = append(replies, got...), calls[n:]
		if untilError && r.stops && got[len(got)-1].HasError() {
			break
		}
	}
	return replies, nil
}

// encoding returns the most exact JSON format that the endpoint is known to support.
func (r *REST) encoding() encoding {
	if r.base64 {
		return base64Encoding
	}
	return plainEncoding
}

// request sets the encoding of q for the endpoint.
func (r *REST) request(q request) request {
	q.encoding = rawEncoding
	if r.speaks == speaksJSON {
		q.encoding = r.encoding()
	}
	return q
}

// one runs one command.
func (r *REST) one(ctx context.Context, args [][]byte, untilError bool) (resp.Value, error) {
	call := [][][]byte{args}
	q := request{repeatable: Repeatable(call), untilError: untilError}
	if r.fitsJSON(args) {
		q.body = appendJSONCommand(nil, args)
	} else {
		q.path, q.body = pathCommand(args)
		q.raw = true
	}
	a, err := r.detect(ctx, q, call)
	if err != nil {
		return resp.Value{}, err
	}
	if a.isRaw() {
		return resp.NewReader(bytes.NewReader(a.body)).ReadReply()
	}
	v, err := r.single(a, args)
	if err != nil || !isUninitialised(v) {
		return v, err
	}
	if err := r.initialise(ctx); err != nil {
		return v, err
	}
	if a, err = r.post(ctx, r.request(q)); err != nil {
		return v, err
	}
	return r.single(a, args)
}

// many runs several commands as one request.
func (r *REST) many(ctx context.Context, calls [][][]byte, untilError bool) ([]resp.Value, error) {
	q := request{path: "pipeline", body: jsonCommands(calls), repeatable: Repeatable(calls), untilError: untilError}
	a, err := r.detect(ctx, q, calls)
	if err != nil {
		return nil, err
	}
	least := len(calls)
	if untilError && r.stops {
		least = 1
	}
	if a.isRaw() {
		replies, err := rawReplies(a.body, least)
		if a.status != 200 && len(replies) == 1 && replies[0].IsError() {
			return repeated(replies[0], len(calls)), nil
		}
		if err == nil {
			err = counted(replies, len(calls), least)
		}
		return replies, err
	}
	replies, whole, err := r.items(a, calls, least)
	if err == nil && slices.ContainsFunc(replies, isUninitialised) {
		if err := r.initialise(ctx); err != nil {
			return nil, err
		}
		if a, err = r.post(ctx, r.request(q)); err != nil {
			return nil, err
		}
		replies, whole, err = r.items(a, calls, least)
	}
	if whole == nil || err != nil {
		return replies, err
	}
	return repeated(*whole, len(calls)), nil
}

// repeated returns n copies of the reply to a request that was refused as a whole.
func repeated(whole resp.Value, n int) []resp.Value {
	replies := make([]resp.Value, n)
	for i := range replies {
		replies[i] = whole
	}
	return replies
}

// detect sends a request. The first responses show which format the endpoint uses. If JSON lost bytes of a
// reply and the calls are repeatable, it repeats the request with base64.
func (r *REST) detect(ctx context.Context, q request, calls [][][]byte) (answer, error) {
	a, err := r.post(ctx, r.request(q))
	if err != nil || r.speaks != unknownFormat || a.status != 200 {
		return a, err
	}
	if a.isRaw() {
		r.speaks = speaksRaw
		return a, nil
	}
	r.speaks = speaksJSON
	if err := r.probe(ctx); err != nil {
		return a, err
	}
	lossy := bytes.ContainsRune(a.body, utf8.RuneError) || bytes.Contains(bytes.ToLower(a.body), []byte(`\ufffd`))
	if r.base64 && lossy && Repeatable(calls) {
		return r.post(ctx, r.request(q))
	}
	return a, nil
}

func (a answer) isRaw() bool { return a.media == "application/octet-stream" }

// rawReplies reads the replies of a pipeline, which come one after the other or as one array of at least least
// elements.
func rawReplies(body []byte, least int) ([]resp.Value, error) {
	in := resp.NewReader(bytes.NewReader(body))
	var replies []resp.Value
	for {
		v, err := in.ReadReply()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return nil, fmt.Errorf("reading a pipeline's replies: %w", err)
		}
		replies = append(replies, v)
	}
	if len(replies) == 1 && replies[0].Kind == resp.Array && len(replies[0].Elems) >= least {
		replies = replies[0].Elems
	}
	return replies, nil
}

// counted returns an error unless there are n replies, or at least least.
func counted(replies []resp.Value, n, least int) error {
	if len(replies) < least || len(replies) > n {
		return fmt.Errorf("the endpoint sent %d replies to %d commands", len(replies), n)
	}
	return nil
}

// item holds a reply in JSON.
type item struct {
	Result json.RawMessage `json:"result"`
	Error  *string         `json:"error"`
}

// single decodes the JSON response to one command.
func (r *REST) single(a answer, args [][]byte) (resp.Value, error) {
	var v item
	if err := json.Unmarshal(a.body, &v); err != nil || v.Result == nil && v.Error == nil {
		return resp.Value{}, r.unexpected(a)
	}
	return v.value(a.asked, args)
}

// items decodes the JSON response to several commands: an array of items, or the single result of the original
// meowdis that contains them. whole is set if the request was refused as a whole.
func (r *REST) items(a answer, calls [][][]byte, least int) (replies []resp.Value, whole *resp.Value, err error) {
	var list []item
	if json.Unmarshal(a.body, &list) != nil {
		var one item
		if json.Unmarshal(a.body, &one) != nil || one.Result == nil && one.Error == nil {
			return nil, nil, r.unexpected(a)
		}
		if one.Error != nil {
			v := resp.MakeError(*one.Error)
			return nil, &v, nil
		}
		var results []json.RawMessage
		if json.Unmarshal(one.Result, &results) != nil {
			return nil, nil, r.unexpected(a)
		}
		for _, raw := range results {
			list = append(list, item{Result: raw})
		}
	}
	for i, it := range list[:min(len(list), len(calls))] {
		v, err := it.value(a.asked, calls[i])
		if err != nil {
			return nil, nil, err
		}
		replies = append(replies, v)
	}
	return replies, nil, counted(replies, len(calls), least)
}

func (r *REST) unexpected(a answer) error {
	if a.status == 200 {
		return fmt.Errorf("%s does not answer as a REST endpoint does", r.base.Host)
	}
	return fmt.Errorf("%s answered HTTP %d: %s", r.base.Host, a.status, errorText(a))
}

func (it item) value(asked encoding, args [][]byte) (resp.Value, error) {
	if it.Error != nil {
		return resp.MakeError(*it.Error), nil
	}
	dec := json.NewDecoder(bytes.NewReader(it.Result))
	dec.UseNumber()
	var x any
	if err := dec.Decode(&x); err != nil {
		return resp.Value{}, fmt.Errorf("reading a reply: %w", err)
	}
	return asStatus(jsonValue(x, asked), args), nil
}

func jsonValue(x any, asked encoding) resp.Value {
	switch x := x.(type) {
	case nil:
		return resp.Nil
	case bool:
		v := resp.Zero
		if x {
			v = resp.One
		}
		return v
	case json.Number:
		if n, err := strconv.ParseInt(x.String(), 10, 64); err == nil {
			return resp.MakeInt(n)
		}
		return resp.MakeString(x.String())
	case string:
		return jsonString(x, asked)
	case []any:
		v := resp.EmptyArray
		for _, e := range x {
			v.Elems = append(v.Elems, jsonValue(e, asked))
		}
		return v
	case map[string]any:
		if msg, ok := x["error"].(string); ok {
			return resp.MakeError(msg)
		}
	}
	text, _ := json.Marshal(x) // x was decoded from JSON
	return resp.MakeBulk(text)
}

// jsonString decodes a string. OK is never encoded; it is the status.
func jsonString(s string, asked encoding) resp.Value {
	if asked != base64Encoding {
		return resp.MakeString(s)
	}
	if s == "OK" {
		return resp.OK
	}
	if b, err := base64.StdEncoding.DecodeString(s); err == nil {
		return resp.MakeBulk(b)
	}
	return resp.MakeString(s)
}

// asStatus turns a string back into a status if the command replies with one. JSON has only one kind of
// string.
func asStatus(v resp.Value, args [][]byte) resp.Value {
	if v.Kind != resp.Bulk {
		return v
	}
	switch cmd := commands.Called(args); {
	case cmd == nil:
	case cmd.Name == "TYPE", cmd.Name == "PING" && len(args) == 1, cmd.Has(commands.AnswersOK) && string(v.Str) == "OK":
		v.Kind = resp.Status
	}
	return v
}

// isUninitialised reports whether v is the error of the original meowdis before its first INIT. No command has
// run then.
func isUninitialised(v resp.Value) bool {
	return v.IsError() && strings.Contains(string(v.Str), "no such table: keys")
}

func (r *REST) initialise(ctx context.Context) error {
	a, err := r.post(ctx, request{body: []byte(`["INIT"]`), repeatable: true})
	if err != nil {
		return err
	}
	var v item
	if json.Unmarshal(a.body, &v) != nil || v.Error != nil {
		return fmt.Errorf("preparing the database at %s: %s", r.base.Host, errorText(a))
	}
	return nil
}
