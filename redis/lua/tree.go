package lua

// The tree that the parser builds, with resolved names: a local is a slot of its function's frame, and a local
// that an inner function uses has a cell of its own.

type variable struct {
	name     string
	slot     int
	captured bool
}

// capture describes the source of an upvalue for a new closure: a local or an upvalue of the enclosing
// function.
type capture struct {
	local *variable
	outer int
}

// function is the body of a function.
type function struct {
	parent   *function
	loaded   *loaded
	chunk    string // name in messages
	source   string // name as given
	line     int
	params   []*variable
	vararg   bool
	hasArg   *variable // the local arg of a Lua 5.0 vararg function
	body     []any
	slots    int
	upvalues []capture
	names    []string // of the upvalues

	code *code // compiled body
}

// loaded is the chunk of a function. Each function of a chunk keeps all of it in memory.
type loaded struct {
	bytes int // that count in the memory of a state: 0 for the chunks of the embedder
}

type (
	constant  struct{ v Value }
	localRef  struct{ v *variable }
	upvalRef  struct{ index int }
	globalRef struct {
		name *text
		line int
	}
	varargs struct{}
	index   struct {
		object, key any
		line        int
	}
	callExpr struct {
		fn     any
		method *text // set for a call with ':'
		args   []any
		line   int
	}
	functionExpr struct{ fn *function }
	binary       struct {
		op          int
		left, right any
		line        int
	}
	unary struct {
		op   int
		of   any
		line int
	}
	logical struct {
		and         bool
		left, right any
	}
	paren     struct{ of any }
	tableExpr struct {
		items []tableItem
		array int // number of items without a key
		line  int
	}
	tableItem struct {
		key, value any // key is nil for an array item
		line       int
	}
)

type (
	localStmt struct {
		vars   []*variable
		values []any
	}
	assignment struct {
		targets, values []any
		line            int
	}
	callStmt  struct{ call *callExpr }
	block     struct{ body []any }
	whileStmt struct {
		cond, body any
		line       int
	}
	repeatStmt struct {
		body []any
		cond any
		line int
	}
	ifStmt struct {
		conds  []any
		blocks [][]any // one more than conds if it has an else
	}
	numericFor struct {
		v                 *variable
		from, limit, step any // step may be nil
		body              []any
		line, doLine      int // errors of the three values are at doLine
	}
	genericFor struct {
		vars   []*variable
		values []any
		state  int // first of three slots
		body   []any
		line   int
	}
	localFunction struct {
		v  *variable
		fn *function
	}
	returnStmt struct {
		values []any
		line   int
	}
	breakStmt struct{}
)
