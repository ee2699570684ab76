package translator

import (
	"github.com/meowdis/meowdis/redis/resp"
	"github.com/meowdis/meowdis/translator/vector"
)

// maxDimension limits the components of a vector, as in Redis.
const maxDimension = 1 << 16

var badVector = resp.MakeError("ERR invalid vector specification")

// vectorArg holds a vector in a call.
type vectorArg struct {
	v      []float32
	reduce int // the dimension to reduce it to, 0 for none
	next   int // index of the next argument
}

// parseVector parses the vector at argument i: FP32 blob or VALUES n number…, after REDUCE dim if reducible.
func (c *Call) parseVector(i int, reducible bool) (a vectorArg, ok bool) {
	if reducible && len(c.Args) > i+2 && c.is(i, "REDUCE") {
		n, ok := parseInt(c.Args[i+1])
		if !ok || n <= 0 || n > maxDimension {
			return a, false
		}
		a.reduce = int(n)
		i += 2
	}
	if len(c.Args) < i+2 {
		return a, false
	}
	switch {
	case c.is(i, "FP32"):
		a.v, ok = vector.Parse(c.Args[i+1])
		a.next = i + 2
		return a, ok && len(a.v) <= maxDimension
	case c.is(i, "VALUES"):
		n, ok := parseInt(c.Args[i+1])
		if !ok || n < 1 || n > maxDimension || int64(len(c.Args)-i-2) < n {
			return a, false
		}
		a.next = i + 2 + int(n)
		a.v = make([]float32, n)
		for j, arg := range c.Args[i+2 : a.next] {
			f, ok := parseFloat(arg)
			if !ok {
				return a, false
			}
			a.v[j] = float32(f)
		}
		return a, true
	}
	return a, false
}

// errDimension returns the error for a vector of got components in a set with has components.
func errDimension(got, has int) resp.Value {
	return resp.MakeError("ERR Vector dimension mismatch - got " + resp.FormatInt(int64(got)) + " but set has " + resp.FormatInt(int64(has)))
}

func errInputDimension(got, has int) resp.Value {
	return resp.MakeError("ERR Input dimension mismatch for projection - got " + resp.FormatInt(int64(got)) +
		" but projection expects " + resp.FormatInt(int64(has)))
}
