package script

import (
	"math"
	"strconv"
	"strings"

	"github.com/meowdis/meowdis/redis/lua"
)

// jsonSettings holds the settings that cjson's functions change.
type jsonSettings struct {
	sparseConvert             bool
	sparseRatio, sparseSafe   int
	encodeDepth, decodeDepth  int
	precision                 int
	encodeInvalid             int // 0 fails, 1 writes it, 2 writes null
	decodeInvalid, keepBuffer bool
}

var defaultJSON = jsonSettings{sparseRatio: 2, sparseSafe: 10, encodeDepth: 1000, decodeDepth: 1000, precision: 14, decodeInvalid: true, keepBuffer: true}

// null represents cjson.null, the NULL pointer.
var null = lua.Of(&lua.Userdata{Name: "NULL"})

// jsonLibrary returns the table cjson with its settings.
func jsonLibrary(set *jsonSettings) *lua.Table {
	fns := map[string]lua.GoFunction{
		"encode": set.jsonEncode, "decode": set.jsonDecode,
		"encode_sparse_array":     set.jsonSparse,
		"encode_max_depth":        jsonIntSetting(&set.encodeDepth, 1, math.MaxInt32),
		"decode_max_depth":        jsonIntSetting(&set.decodeDepth, 1, math.MaxInt32),
		"encode_number_precision": jsonIntSetting(&set.precision, 1, 14),
		"encode_keep_buffer":      jsonBoolSetting(&set.keepBuffer),
		"decode_invalid_numbers":  jsonBoolSetting(&set.decodeInvalid),
		"encode_invalid_numbers":  set.jsonInvalid,
	}
	fns["new"] = func(s *lua.State, _ []lua.Value) []lua.Value {
		own := defaultJSON
		return s.One(lua.Of(jsonLibrary(&own)))
	}
	t := lua.Library(fns)
	t.SetField("null", null)
	t.SetField("_NAME", lua.String("cjson"))
	t.SetField("_VERSION", lua.String("2.1.0"))
	return t
}

func checkArgCount(s *lua.State, args []lua.Value, most int) {
	if len(args) > most {
		s.BadArgument(most+1, "found too many arguments")
	}
}

func jsonIntSetting(to *int, least, most int) lua.GoFunction {
	return func(s *lua.State, args []lua.Value) []lua.Value {
		checkArgCount(s, args, 1)
		jsonIntArg(s, args, 1, to, least, most)
		return s.One(lua.Number(float64(*to)))
	}
}

func jsonIntArg(s *lua.State, args []lua.Value, n int, to *int, least, most int) {
	if lua.Arg(args, n).IsNil() {
		return
	}
	v := s.CheckInt(args, n)
	if v < least || v > most {
		s.BadArgument(1, "expected integer between "+strconv.Itoa(least)+" and "+strconv.Itoa(most))
	}
	*to = v
}

func jsonBoolSetting(to *bool) lua.GoFunction {
	return func(s *lua.State, args []lua.Value) []lua.Value {
		checkArgCount(s, args, 1)
		jsonBoolArg(s, args, 1, to)
		return s.One(lua.Bool(*to))
	}
}

func jsonBoolArg(s *lua.State, args []lua.Value, n int, to *bool) {
	if v := lua.Arg(args, n); !v.IsNil() {
		b, ok := v.AsBool()
		if !ok {
			jsonOption(s, args, n, "off", "on")
			text, _ := v.Text()
			b = text == "on"
		}
		*to = b
	}
}

// jsonOption checks that an argument is one of the words.
func jsonOption(s *lua.State, args []lua.Value, n int, words ...string) int {
	text, _, _ := strings.Cut(s.CheckString(args, n), "\x00")
	for i, w := range words {
		if w == text {
			return i
		}
	}
	s.BadArgument(n, "invalid option '"+text+"'")
	return 0
}

func (set *jsonSettings) jsonSparse(s *lua.State, args []lua.Value) []lua.Value {
	checkArgCount(s, args, 3)
	jsonBoolArg(s, args, 1, &set.sparseConvert)
	jsonIntArg(s, args, 2, &set.sparseRatio, 0, math.MaxInt32)
	jsonIntArg(s, args, 3, &set.sparseSafe, 0, math.MaxInt32)
	return []lua.Value{lua.Bool(set.sparseConvert), lua.Number(float64(set.sparseRatio)), lua.Number(float64(set.sparseSafe))}
}

func (set *jsonSettings) jsonInvalid(s *lua.State, args []lua.Value) []lua.Value {
	checkArgCount(s, args, 1)
	if v := lua.Arg(args, 1); !v.IsNil() {
		if b, ok := v.AsBool(); ok {
			set.encodeInvalid = map[bool]int{true: 1}[b]
		} else {
			set.encodeInvalid = jsonOption(s, args, 1, "off", "on", "null")
		}
	}
	switch set.encodeInvalid {
	case 2:
		return s.One(lua.String("null"))
	case 1:
		return s.One(lua.True)
	}
	return s.One(lua.False)
}

// maxJSONDepth limits the nesting depth that a script may set.
const maxJSONDepth = 100_000

type jsonWriter struct {
	*lua.Buffer
	s   *lua.State
	set *jsonSettings
}

func (set *jsonSettings) jsonEncode(s *lua.State, args []lua.Value) []lua.Value {
	if len(args) != 1 {
		s.BadArgument(1, "expected 1 argument")
	}
	w := &jsonWriter{s.Buffer(), s, set}
	defer w.Close()
	w.value(args[0], 0)
	return s.One(w.Value())
}

func (w *jsonWriter) value(v lua.Value, depth int) {
	switch v.Type() {
	case "string":
		text, _ := v.AsString()
		w.text(text)
	case "number":
		n, _ := v.AsNumber()
		w.number(n)
	case "boolean":
		w.String(strconv.FormatBool(v.Truth()))
	case "nil":
		w.String("null")
	case "table":
		w.table(v.AsTable(), depth+1)
	default:
		if v == null {
			w.String("null")
			return
		}
		w.fail(v, "type not supported")
	}
}

func (w *jsonWriter) fail(v lua.Value, why string) {
	w.s.Throw("Cannot serialise " + v.Type() + ": " + why)
}

func (w *jsonWriter) number(n float64) {
	if math.IsNaN(n) || math.IsInf(n, 0) {
		switch w.set.encodeInvalid {
		case 0:
			w.fail(lua.Number(n), "must not be NaN or Inf")
		case 2:
			w.String("null")
			return
		}
		switch {
		case math.IsNaN(n):
			w.String("nan")
		case n > 0:
			w.String("inf")
		default:
			w.String("-inf")
		}
		return
	}
	w.Bytes(strconv.AppendFloat(w.Scratch[:0], n, 'g', w.set.precision, 64))
}

const hexDigits = "0123456789abcdef"

func (w *jsonWriter) text(s string) {
	w.Byte('"')
	from := 0 // what begins there is written as it is
	for i := range len(s) {
		c := s[i]
		k := strings.IndexByte("\b\t\n\f\r\"\\/", c)
		if k < 0 && c >= ' ' && c != 0x7f {
			continue
		}
		w.String(s[from:i])
		from = i + 1
		if k >= 0 {
			w.Byte('\\')
			w.Byte("btnfr\"\\/"[k])
		} else {
			w.String(`\u00`)
			w.Byte(hexDigits[c>>4])
			w.Byte(hexDigits[c&15])
		}
	}
	w.String(s[from:])
	w.Byte('"')
}

func (w *jsonWriter) table(t *lua.Table, depth int) {
	if depth > min(w.set.encodeDepth, maxJSONDepth) {
		w.s.Throw("Cannot serialise, excessive nesting (" + strconv.Itoa(depth) + ")")
	}
	if n := w.arrayLength(t); n > 0 {
		w.Byte('[')
		for i := 1; i <= n; i++ {
			if i > 1 {
				w.Byte(',')
			}
			w.value(t.Index(i), depth)
		}
		w.Byte(']')
		return
	}
	w.Byte('{')
	first := true
	for k, v, _ := t.Next(lua.Nil); !k.IsNil(); k, v, _ = t.Next(k) {
		if !first {
			w.Byte(',')
		}
		first = false
		switch k.Type() {
		case "number":
			n, _ := k.AsNumber()
			w.Byte('"')
			w.number(n)
			w.Byte('"')
		case "string":
			text, _ := k.AsString()
			w.text(text)
		default:
			w.fail(k, "table key must be a number or string")
		}
		w.Byte(':')
		w.value(v, depth)
	}
	w.Byte('}')
}

// arrayLength returns the length of a table that is an array, and 0 for an object.
func (w *jsonWriter) arrayLength(t *lua.Table) int {
	most, items := 0, 0
	for k, _, _ := t.Next(lua.Nil); !k.IsNil(); k, _, _ = t.Next(k) {
		n, ok := k.AsNumber()
		if !ok || n != math.Floor(n) || n < 1 {
			return 0
		}
		if n > float64(most) {
			most = lua.Int32(n) // beyond 32 bits it is negative, and the table an object
		}
		items++
	}
	if w.set.sparseRatio > 0 && most > items*w.set.sparseRatio && most > w.set.sparseSafe {
		if !w.set.sparseConvert {
			w.fail(lua.Of(t), "excessively sparse array")
		}
		return 0
	}
	return most
}
