package inspect

import (
	"context"
	"fmt"
	"testing"

	"github.com/meowdis/meowdis/internal/test/race"
	"github.com/meowdis/meowdis/keyspace"
	"github.com/meowdis/meowdis/redis/resp"
)

// rehashing replies as a server that rehashes during a scan: each page starts with the last elements of
// the previous page, and an empty page ends the scan.
type rehashing struct{ *fake }

func (r rehashing) Pipeline(ctx context.Context, calls [][][]byte) ([]resp.Value, error) {
	values, err := r.fake.Pipeline(ctx, calls)
	for i, call := range calls {
		name := string(call[0])
		cells := map[string]int{"SCAN": 1, "SSCAN": 1, "HSCAN": 2}[name]
		if err != nil || cells == 0 || values[i].IsError() {
			continue
		}
		words := call[1:] // a cursor, COUNT and a number
		if name != "SCAN" {
			words = call[2:]
		}
		from, count := atoi(string(words[0])), atoi(string(words[2]))
		all := r.elements(name, string(call[1]))
		to := min(from+cells*count, len(all))
		next := fmt.Sprint(to)
		if from == len(all) {
			next = "0"
		}
		values[i] = resp.MakeArray(resp.MakeString(next), bulks(all[max(from-7*cells, 0):to]))
	}
	return values, err
}

func (r rehashing) elements(name, key string) (all []string) {
	if name != "SCAN" {
		return r.find(key).elems
	}
	for _, v := range r.dbs[r.db] {
		all = append(all, v.key)
	}
	return all
}

// TestRepeatedElements lists each element once in both directions.
func TestRepeatedElements(t *testing.T) {
	race.Skip(t)
	f := newFake()
	var fields, members []string
	for i := range 3000 {
		fields = append(fields, fmt.Sprintf("field%04d", i), "v")
		members = append(members, fmt.Sprintf("member%04d", i))
	}
	f.add(fakeValue{key: "hash", kind: "hash", elems: fields}, fakeValue{key: "set", kind: "set", elems: members})
	s := browseOn(t, rehashing{f}, f, 80, 24)
	for key, element := range map[string]string{"hash": "field", "set": "member"} {
		s.choose(key)
		s.press("enter", "/")
		s.typing("0399")
		s.press("enter")
		s.shows("▌ " + element + "0399")
		s.shows("400 of 3,000")
		s.press("n")
		s.shows("No other 0399")
		for n := 400; n < 3000; n++ {
			s.send(namedKeys["down"])
			row := s.model.value.Selection().Element
			if want := fmt.Sprintf("%s%04d", element, n); row == nil || row.Row[0] != want {
				t.Fatalf("%v is row %d, not %s", row, n, want)
			}
		}
		s.press("home")
		s.shows("▌ " + element + "0000")
		s.press("end")
		s.shows("3,000 of 3,000", "▌ "+element+"2999")
		s.press("home")
		s.shows("1 of 3,000", "▌ "+element+"0000")
		s.press("end")
		for n := 2999; n > 0; n-- {
			s.send(namedKeys["up"])
			row := s.model.value.Selection().Element
			if want := fmt.Sprintf("%s%04d", element, n-1); row == nil || row.Row[0] != want {
				t.Fatalf("%v is before row %d, not %s", row, n, want)
			}
		}
		s.press("esc")
	}
}

// TestRepeatedKeys lists and counts each key once.
func TestRepeatedKeys(t *testing.T) {
	race.Skip(t)
	f := newFake().plain(3000)
	f.options = func(o *Options) {
		o.Unlock = func(context.Context) (keyspace.Client, error) { return rehashing{f}, nil }
	}
	s := browseOn(t, rehashing{f}, f, 80, 24)
	s.shows("▾ key:", "3,000 keys")
	s.press("w", "g", "d")
	s.shows("Delete key:*, 3,000 keys?")
	s.press("n")
	s.press("`", "end")
	s.shows("3,000 of 3,000", "▌ key:02999")
}
