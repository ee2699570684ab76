package follow

import (
	"math"
	"strconv"
	"strings"
)

// absolute replaces a relative expiry by a point in time. Servers before Redis 7.0 send SETEX, PSETEX, and SET with EX
// or PX as the client did; all others send points in time.
func absolute(name string, args [][]byte, now func() int64) [][]byte {
	switch {
	case (name == "SETEX" || name == "PSETEX") && len(args) == 4:
		if at, ok := pointInTime(args[2], name == "SETEX", now); ok {
			return [][]byte{[]byte("SET"), args[1], args[3], []byte("PXAT"), at}
		}
	case (name == "EXPIRE" || name == "PEXPIRE") && len(args) == 3:
		if at, ok := pointInTime(args[2], name == "EXPIRE", now); ok {
			return [][]byte{[]byte("PEXPIREAT"), args[1], at}
		}
	case name == "SET":
		for i := 3; i+1 < len(args); i++ {
			word := strings.ToUpper(string(args[i]))
			if word != "EX" && word != "PX" {
				continue
			}
			if at, ok := pointInTime(args[i+1], word == "EX", now); ok {
				changed := append([][]byte(nil), args...)
				changed[i], changed[i+1] = []byte("PXAT"), at
				return changed
			}
		}
	}
	return args
}

func pointInTime(arg []byte, seconds bool, now func() int64) ([]byte, bool) {
	n, err := strconv.ParseInt(string(arg), 10, 64)
	if seconds {
		if n > math.MaxInt64/1000 {
			return nil, false
		}
		n *= 1000
	}
	if err != nil || n <= 0 || n > math.MaxInt64-now() {
		return nil, false
	}
	return strconv.AppendInt(nil, now()+n, 10), true
}
