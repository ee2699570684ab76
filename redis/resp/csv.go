package resp

import "strconv"

// AppendCSV appends v as one line of CSV, without the newline: strings quoted, nil
// as NULL, an error as two cells, the elements of an aggregate each as a cell. With
// escape strings are quoted as AppendQuoted does, what is nested is flattened, and
// the line is redis-cli's; without, as RFC 4180 has it, which programs read: a quote
// is doubled, all other bytes are themselves, and what is nested is a cell of JSON,
// as is an error among elements.
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
