package transfer

import (
	"bufio"
	"bytes"
	"context"
	"math"
	"reflect"
	"strings"
	"testing"

	"github.com/meowdis/meowdis/redis/rdb"
)

// sampleParts returns parts of every type.
func sampleParts() []Part {
	id, name := rdb.ID{Ms: 1, Seq: 2}, []byte("n\xff")
	whole := func(t Type, v Value) Part { return Whole(&Key{DB: 3, Name: []byte(t), Type: t, ExpiresAt: 7}, v) }
	large := &Key{Name: name, Type: ListType, Count: 2}
	return []Part{
		whole(StringType, rdb.String("v")), whole(SetType, rdb.Set{name}), whole(ZSetType, rdb.ZSet{{Name: name, Score: math.Inf(-1)}}),
		{Key: large, Value: rdb.List{name}, First: true},
		{Key: large, Value: rdb.List{nil}, Last: true, Changed: true},
		whole(HashType, rdb.Hash{{Name: name, Value: []byte("v"), ExpiresAt: 9}}), whole(JSONType, Document(`{"a":[1]}`)),
		whole(ArrayType, &Array{Slots: []Slot{{Index: math.MaxUint64 - 1, Value: name}}, Next: 7}),
		whole(StreamType, &rdb.Stream{Entries: []rdb.Entry{{ID: id, Fields: [][]byte{name, name}}}, Last: id, Added: 1, Groups: []rdb.Group{
			{Name: name, Last: id, Read: rdb.Unknown, Consumers: []rdb.Consumer{{Name: name, SeenAt: 5, ActiveAt: -1, Pending: []rdb.Pending{{ID: id, DeliveredAt: 5, Deliveries: 1}}}}},
		}}),
		{Key: &Key{Name: name, Type: SetType}, First: true, Last: true, Err: errVoid},
	}
}

// written returns the output of a sink for parts.
func written(t testing.TB, out *bytes.Buffer, sink Sink, parts []Part) []byte {
	t.Helper()
	for _, p := range parts {
		if err := sink.Put(context.Background(), p); err != nil {
			t.Fatal(err)
		}
	}
	if err := sink.Close(context.Background(), nil); err != nil {
		t.Fatal(err)
	}
	return out.Bytes()
}

func inArchive(t testing.TB, parts []Part) []byte {
	var out bytes.Buffer
	return written(t, &out, NewArchiveWriter(&out), parts)
}

func inLines(t testing.TB, parts []Part) []byte {
	var out bytes.Buffer
	return written(t, &out, NewJSONWriter(&out), parts)
}

// yielded returns the parts of a source, up to its error.
func yielded(s Source) (parts []Part, err error) {
	for p, err := range s {
		if err != nil {
			return parts, err
		}
		parts = append(parts, p)
	}
	return parts, nil
}

func readArchive(in []byte, o ArchiveOptions) ([]Part, error) {
	return yielded(FromArchive(bytes.NewReader(in), o))
}

// sealed returns an archive of one block with valid checksums and arbitrary content.
func sealed(t testing.TB, records []byte) []byte {
	var out bytes.Buffer
	w := NewArchiveWriter(&out)
	if err := w.flush(blockRecords, records); err != nil {
		t.Fatal(err)
	}
	return out.Bytes()
}

// FuzzRecords reads intact blocks with arbitrary content. Records must survive a second write
// and read unchanged.
func FuzzRecords(f *testing.F) {
	for _, p := range sampleParts() {
		var record block
		if err := writeRecord(&record, p); err != nil {
			f.Fatal(err)
		}
		f.Add([]byte(record))
	}
	f.Add([]byte("\x03\x03\x00\x01k\x00\x00\xff\xff\xff\xff\x0f")) // a set that claims 2^32 members
	f.Fuzz(func(t *testing.T, records []byte) {
		parts, _ := readArchive(sealed(t, records), ArchiveOptions{})
		if n := len(parts); n > 0 && parts[n-1].Err == errLostPart {
			parts = parts[:n-1]
		}
		for n := len(parts); n > 0 && !parts[n-1].Last; n = len(parts) {
			parts = parts[:n-1]
		}
		again, err := readArchive(inArchive(t, parts), ArchiveOptions{})
		if err != nil || len(again) != len(parts) || len(parts) > 0 && !reflect.DeepEqual(again, parts) {
			t.Fatalf("%+v came back as %+v, %v", parts, again, err)
		}
	})
}

// FuzzArchive reads damaged archives, with and without continuing after damage. It must yield
// nothing that the intact archive lacks.
func FuzzArchive(f *testing.F) {
	whole := inArchive(f, sampleParts())
	f.Add(whole)
	f.Add(whole[:len(whole)/2])
	f.Add(append(append(bytes.Clone(whole[:8]), blockMark...), whole[8:]...))
	f.Add(bytes.Replace(whole, []byte(blockMark), []byte(blockMark[:3]), 1))
	f.Add([]byte(archiveMagic + "\x01" + blockMark + "\x01\x00\x00\x00\x00\xff\xff\xff\xff\xff\xff\xff\xff"))
	f.Fuzz(func(t *testing.T, in []byte) {
		readArchive(in, ArchiveOptions{})
		damage := 0
		if _, err := readArchive(in, ArchiveOptions{Damaged: func(*Damage) { damage++ }}); err != nil && damage > 0 {
			t.Fatalf("%v, after damage that was to be passed over", err)
		}
	})
}

// FuzzJSONLines reads edited JSON lines. Parts must survive a second write and read unchanged.
func FuzzJSONLines(f *testing.F) {
	for _, p := range sampleParts() {
		if p.First && p.Last {
			f.Add(inLines(f, []Part{p}))
		}
	}
	f.Add(inLines(f, sampleParts()))
	f.Add([]byte(`{"key":{"base64":"/w=="},"type":"zset","value":[{"member":"a","score":"inf"}]}`))
	f.Add([]byte(`{"key":"k","type":"list","part":1,"more":true,"value":[]}` + "\n" + `{"key":"k","type":"list","part":3,"value":null}`))
	f.Fuzz(func(t *testing.T, in []byte) {
		parts, err := yielded(FromJSONLines(bytes.NewReader(in)))
		if err != nil {
			return
		}
		lines := inLines(t, parts)
		again, err := yielded(FromJSONLines(bytes.NewReader(lines)))
		if err != nil || !bytes.Equal(inLines(t, again), lines) {
			t.Fatalf("%s came back as %s, %v", lines, inLines(t, again), err)
		}
	})
}

// FuzzLog reads append-only files: an optional dump, then commands.
func FuzzLog(f *testing.F) {
	const dump = "REDIS0010\xfe\x00\x00\x01k\x01v\xff\x00\x00\x00\x00\x00\x00\x00\x00"
	f.Add([]byte("*1\r\n$5\r\nMULTI\r\n#TS:1700000000\r\n*3\r\n$3\r\nSET\r\n$1\r\nk\r\n$1\r\nv\r\n"))
	f.Add([]byte(dump + "*1\r\n$4\r\nEXEC\r\n"))
	f.Add([]byte("#\r\n\r\n*0\r\nSELECT 1\r\n*1\r\n$536870912\r\n"))
	f.Fuzz(func(t *testing.T, log []byte) {
		in := bufio.NewReader(bytes.NewReader(log))
		if rdb.IsFile(log) {
			if _, err := yielded(FromRDB(in, RDBOptions{})); err != nil {
				return
			}
		}
		for commands := FromLog(in, 0); ; {
			args, place, err := commands()
			if err != nil {
				return
			}
			if len(args) == 0 || place == "" {
				t.Fatalf("%q at %q", args, place)
			}
		}
	})
}

// FuzzLogFiles reads manifests, which must not name a file in another directory.
func FuzzLogFiles(f *testing.F) {
	f.Add("file appendonly.aof.1.base.rdb seq 1 type b\nfile appendonly.aof.1.incr.aof seq 1 type i\n")
	f.Add("file a seq 1 type h\n# a comment\nfile \"b c\" type i seq 2\n")
	f.Add("file ../x type b\n")
	f.Add("file .. type b\n")
	f.Fuzz(func(t *testing.T, manifest string) {
		names, err := LogFiles(strings.NewReader(manifest))
		if err != nil {
			return
		}
		for _, name := range names {
			if name == "" || name == "." || name == ".." || strings.ContainsAny(name, "/\\\x00") {
				t.Fatalf("%q is no file of its directory", name)
			}
		}
	})
}
