package otherformats

import (
	"bytes"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/meowdis/meowdis/store"
)

func TestDetect(t *testing.T) {
	for _, test := range []struct {
		file File
		want string
	}{
		{File{"rkey": {"id", "key", "type", "etime"}}, "a Redka file"},
		{File{"rkey": {"id", "key"}}, ""},
		{File{"keys": {"id", "db", "key", "type", "expire_at"}, "lists": {"key_id", "pos"}}, "a Redlite file"},
		{File{"keys": {"db", "key", "type", "expires_at"}, "lists": {"db", "key", "position"}}, "a Redlite file"},
		{File{"keys": {"key", "type", "expires_at"}, "lists": {"key", "index"}}, "a file of the first meowdis"},
		{File{"keys": {"key", "type", "expires_at"}, "lists": {"key", "position"}}, ""},
		{File{"keys": {"key", "value"}}, ""},
		{File{}, ""},
	} {
		got := ""
		if k := Detect(test.file); k != nil {
			got = k.Name
			if tables := k.Tables(test.file); len(tables) != len(shown) {
				t.Errorf("%v: %d tables", test.file, len(tables))
			}
		}
		if got != test.want {
			t.Errorf("%v is %q, not %q", test.file, got, test.want)
		}
	}
}

// TestPlan checks which conditions the file evaluates.
func TestPlan(t *testing.T) {
	table := table("hashes", "main.h e", "e.rowid", owner("e.kid", 100), hash("e.name", "main.h", "e.rowid"), text("field", "e.name"), text("value", "e.v"))
	for _, test := range []struct {
		constraints []Constraint
		order       []Order
		where       string // the FROM clause
		taken       []int
		ordered     bool
	}{
		{nil, nil, "", nil, true},
		{[]Constraint{{0, Equal}, {1, Equal}, {2, Equal}}, nil, " WHERE e.kid = ? AND e.name IN (?, ?, ?)", []int{0, 2, 1}, true},
		{[]Constraint{{0, Equal}, {1, Equal}}, nil, " WHERE e.kid = ?", []int{0}, true},
		{[]Constraint{{0, Equal}, {2, Greater}}, nil, " WHERE e.kid = ?", []int{0}, true},
		{[]Constraint{{0, Equal}, {1, Greater}}, []Order{{1, false}}, " WHERE e.kid = ? AND e.rowid > ? ORDER BY e.rowid", []int{0, 1}, true},
		{[]Constraint{{0, Equal}}, []Order{{1, false}}, " WHERE e.kid = ?", []int{0}, false},
		{[]Constraint{{0, Equal}}, []Order{{2, true}}, " WHERE e.kid = ? ORDER BY e.name DESC", []int{0}, true},
		{[]Constraint{{0, Equal}}, []Order{{-1, false}}, " WHERE e.kid = ?", []int{0}, false},
		{[]Constraint{{Op: Offset}, {0, Equal}, {Op: Limit}}, nil, " WHERE e.kid = ? LIMIT ? OFFSET ?", []int{1, 2, 0}, true},
		{[]Constraint{{0, Equal}, {Op: Limit}, {Op: Other}}, nil, " WHERE e.kid = ?", []int{0}, true},
		{[]Constraint{{0, Equal}, {Op: Limit}}, []Order{{1, false}}, " WHERE e.kid = ?", []int{0}, false},
		{[]Constraint{{0, Equal}, {1, GreaterEqual}}, nil, " WHERE e.kid = ? AND e.rowid >= ? % (SELECT ifnull(max(rowid), 0) + 1 FROM main.h)", []int{0, 1}, true},
	} {
		plan := table.Plan(test.constraints, test.order, 0b1111)
		_, where, _ := strings.Cut(plan.SQL, " FROM main.h e")
		if where != test.where || !slices.Equal(plan.Taken, test.taken) || plan.Ordered != test.ordered {
			t.Errorf("%v %v: %s, %v, ordered %v", test.constraints, test.order, plan.SQL, plan.Taken, plan.Ordered)
		}
	}
	if plan := table.Plan(nil, nil, 0b0100); !strings.HasPrefix(plan.SQL, "SELECT NULL, NULL, e.name, NULL, ") {
		t.Errorf("it reads what was not asked for: %s", plan.SQL)
	}
}

func TestForms(t *testing.T) {
	blob := func(s string) store.Value { return store.Bytes([]byte(s)) }
	for _, test := range []struct {
		form     Form
		in, want store.Value
	}{
		{Bytes, store.String("süß"), blob("süß")}, {Bytes, store.Int(-7), blob("-7")}, {Bytes, store.Float(3), blob("3")},
		{Bytes, store.Float(0.1), blob("0.1")}, {Bytes, store.Float(math.Inf(1)), blob("inf")}, {Bytes, store.Value{}, store.Value{}},
		{Integer, store.Int(5), store.Int(5)}, {Integer, store.Float(1.7e12), store.Int(1.7e12)}, {Integer, store.String("12"), store.Int(12)},
		{Integer, store.String("12.0"), store.Int(12)}, {Integer, store.Value{}, store.Value{}},
		{Real, store.Int(2), store.Float(2)}, {Real, store.String("2.5"), store.Float(2.5)},
		{Plain, store.String("x"), store.String("x")},
	} {
		if got, err := test.form.FromFile(test.in); err != nil || got.String() != test.want.String() {
			t.Errorf("%d of %s: %s, %v, not %s", test.form, test.in, got, err, test.want)
		}
	}
	for in, want := range map[string]string{"x": "x'78' 'x' NULL", "12": "x'3132' '12' 12", "012": "x'303132' '012' NULL", "1.5": "x'312e35' '1.5' 1.5", "": "x'' '' NULL"} {
		var got []string
		for _, v := range Bytes.ToFile(blob(in)) {
			got = append(got, v.String())
		}
		if strings.Join(got, " ") != want {
			t.Errorf("%q is looked for as %s, not %s", in, strings.Join(got, " "), want)
		}
	}
	for in, want := range map[string]string{
		"\x00\x00\x00\x00\x00\x00\x00\x01\x00\x00\x00\x00\x00\x00\x00\x02": "1 2", strings.Repeat("\xff", 16): "9223372036854775807 9223372036854775807", "": "0 0",
	} {
		id := EntryID.ToFile(blob(in))
		if got := id[0].String() + " " + id[1].String(); got != want {
			t.Errorf("%q is %s, not %s", in, got, want)
		}
	}
}

func TestEntryFields(t *testing.T) {
	for in, want := range map[string]string{
		"\x90": "", "\x91\x92\xc4\x01a\xa1b": "a b", "\x91\x92\x92\x61\xcc\xff\x90": "a\xff ", "\x92\x92\xa1a\xa1b\x92\xa1c\xd9\x01d": "a b c d",
	} {
		got, err := EntryFields([]byte(in))
		if err != nil || string(bytes.Join(got, []byte(" "))) != want {
			t.Errorf("%q is %q, %v", in, got, err)
		}
	}
	whole := []byte("\x92\x92\xa1a\x92\x61\xcc\xff\x92\xc4\x01c\xd9\x01d")
	for n := range whole {
		if got, err := EntryFields(whole[:n]); err == nil {
			t.Errorf("%q is %q", whole[:n], got)
		}
	}
	for _, bad := range []string{"\x91\x92\xa1a\xa1bx", "\x91\x93\xa1a\xa1b\xa1c", "\xdf\xff\xff\xff\xff", "\xdd\xff\xff\xff\xff", "\x91\x92\xdd\xff\xff\xff\xff\x01", "\x91\x92\xdb\x7f\xff\xff\xffa", "\xc0"} {
		if got, err := EntryFields([]byte(bad)); err == nil {
			t.Errorf("%q is %q", bad, got)
		}
	}
}
