package resp

import "strconv"

// AppendCSV appends v as one CSV line without the newline: strings quoted, nil as NULL, an
// error as two cells, an aggregate as one cell per element. With escape, the line is
// redis-cli's: strings are quoted as by AppendQuoted, and nested values are flattened. Without
// escape it follows RFC 4180, for programs: quotes are doubled, all other bytes are literal,
// and a nested value or an error among elements is a cell of JSON.
func AppendCSV(out []byte, v Value, escape bool) []byte {
	switch v.Kind {
	case Null, NullArray:
		return append(out, "NULL"...)
	case Error:
		return appendCell(append(out, "ERROR,"...), v.Str, escape)
	case Int:
		return strconv.AppendInt(out, v.Int, 10)
	case Double:
		return append(out, v.doubleText()...)
	case Bool:
		return strconv.AppendBool(out, v.Int != 0)
	case BigNumber:
		return append(out, v.Str...)
	case Array, Map, Set, Push, Scored, PairMap:
		for i, e := range v.Elems {
			if i > 0 {
				out = append(out, ',')
			}
			if !escape && (e.Kind == Error || e.Kind >= Array && e.Kind <= PairMap) {
				e = MakeBulk(AppendJSON(nil, e))
			}
			out = AppendCSV(out, e, escape)
		}
		return out
	}
	return appendCell(out, v.Str, escape)
}

func appendCell(out, s []byte, escape bool) []byte {
	if escape {
		return AppendQuoted(out, s, false)
	}
	out = append(out, '"')
	for _, c := range s {
		if c == '"' {
			out = append(out, '"')
		}
		out = append(out, c)
	}
	return append(out, '"')
}
