package resp

import "strconv"

// AppendCSV appends v as one line of redis-cli's CSV, without the newline:
// strings quoted as AppendQuoted does, nil as NULL, aggregates flattened, an
// error as two cells.
func AppendCSV(out []byte, v Value) []byte {
	switch v.Kind {
	case Null, NullArray:
		return append(out, "NULL"...)
	case Error:
		return AppendQuoted(append(out, "ERROR,"...), v.Str, false)
	case Int:
		return strconv.AppendInt(out, v.Int, 10)
	case Double:
		return append(out, v.doubleText()...)
	case Bool:
		return strconv.AppendBool(out, v.Int != 0)
	case BigNumber:
		return append(out, v.Str...)
	case Array, Map, Set, Push, Scored:
		for i, e := range v.Elems {
			if i > 0 {
				out = append(out, ',')
			}
			out = AppendCSV(out, e)
		}
		return out
	}
	return AppendQuoted(out, v.Str, false)
}
