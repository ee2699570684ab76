package transfer

import (
	"iter"
	"slices"
	"strconv"

	"github.com/meowdis/meowdis/redis/rdb"
)

// A command holds at most wholeBytes of a string, or at most callElements elements of about
// callBytes. A single element may be larger.
const (
	callElements = 1000
	callBytes    = 256 << 10
)

// Calls yields the commands that write the part to the named key. The key must not exist before
// the first part. After the last part it has no expiry: see ExpiryCall.
func (p Part) Calls(name []byte) iter.Seq[[][]byte] {
	return func(yield func([][]byte) bool) {
		w := &callBuilder{name: name, yield: yield}
		switch v := p.Value.(type) {
		case rdb.String:
			if p.First {
				w.put(call("SET", name, v[:min(len(v), wholeBytes)]))
				v = v[min(len(v), wholeBytes):]
			}
			for piece := range slices.Chunk(v, wholeBytes) {
				w.put(call("APPEND", name, piece))
			}
		case rdb.List:
			w.elements("RPUSH", len(v), func(i int) [][]byte { return v[i : i+1] })
		case rdb.Set:
			w.elements("SADD", len(v), func(i int) [][]byte { return v[i : i+1] })
		case rdb.ZSet:
			w.elements("ZADD", len(v), func(i int) [][]byte { return [][]byte{formatScore(v[i].Score), v[i].Name} })
		case rdb.Hash:
			w.elements("HSET", len(v), func(i int) [][]byte { return [][]byte{v[i].Name, v[i].Value} })
			w.fieldExpiries(v)
		case *rdb.Stream:
			w.stream(v, p.First, p.Last)
		case *rdb.Module:
			plain, _ := plainSeries(v)
			w.put(call("RESTORE", name, []byte("0"), rdb.Dump(plain, nil)))
		case Document:
			w.put(call("JSON.SET", name, []byte("$"), v))
		case *VectorSet:
			w.vectors(v)
		case *Elements:
			for _, element := range v.List {
				w.put(v.Of.RebuildCall(name, element))
			}
		case *Array:
			w.elements("ARMSET", len(v.Slots), func(i int) [][]byte {
				return [][]byte{strconv.AppendUint(nil, v.Slots[i].Index, 10), v.Slots[i].Value}
			})
			if p.Last && v.Next > 0 {
				w.put(call("ARSEEK", name, strconv.AppendUint(nil, v.Next, 10)))
			}
		}
	}
}

// ExpiryCall returns the command that sets the expiry of the named key, in Unix ms.
func ExpiryCall(name []byte, at int64) [][]byte { return call("PEXPIREAT", name, decimal(at)) }

// formatScore formats a score without loss of precision.
func formatScore(f float64) []byte { return strconv.AppendFloat(nil, f, 'g', 17, 64) }

// callBuilder yields commands on one key until the consumer stops.
type callBuilder struct {
	name  []byte
	yield func([][]byte) bool
	ended bool
}

func (w *callBuilder) put(args [][]byte) {
	w.ended = w.ended || !w.yield(args)
}

// elements emits commands that add n elements. arg returns the arguments of an element.
func (w *callBuilder) elements(command string, n int, arg func(int) [][]byte) {
	args := call(command, w.name)
	bytes := 0
	for i := range n {
		element := arg(i)
		if len(args) > 2 && (len(args) > callElements || bytes+size(element) > callBytes) {
			w.put(args)
			args, bytes = call(command, w.name), 0
		}
		args = append(args, element...)
		bytes += size(element)
	}
	if len(args) > 2 {
		w.put(args)
	}
}

// fieldExpiries emits the commands that set field expiries, one per distinct time.
func (w *callBuilder) fieldExpiries(h rdb.Hash) {
	together := map[int64][][]byte{}
	for _, f := range h {
		if f.ExpiresAt > 0 {
			together[f.ExpiresAt] = append(together[f.ExpiresAt], f.Name)
		}
	}
	var times []int64
	for at := range together {
		times = append(times, at)
	}
	slices.Sort(times)
	for _, at := range times {
		for names := range slices.Chunk(together[at], callElements) {
			args := call("HPEXPIREAT", w.name, decimal(at), []byte("FIELDS"), decimal(int64(len(names))))
			w.put(append(args, names...))
		}
	}
}
