package lua

// The tree that the parser makes. Names are resolved in it: a local is a slot of its
// function's frame, and one that an inner function uses has a cell of its own.

type variable struct {
	name     string
	slot     int
	captured bool
}

// capture is where a new closure finds an upvalue: in a local of the function that
// makes it, or among that function's own upvalues.
type capture struct {
	local *variable
	outer int
}

// function is a function's body.
type function struct {
	parent   *function
	chunk    string // as messages name it
	source   string // as it was given
	line     int
	params   []*variable
	vararg   bool
	hasArg   *variable // what a vararg function of Lua 5.0's style calls arg
	body     []any
	slots    int
	upvalues []capture
	names    []string // of the upvalues

	code *code // of this body, once it is compiled
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
		method *text // when it is called with ':'
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
		array int // items without a key
		line  int
	}
	tableItem struct {
		key, value any // key is nil for the next of the array
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
		blocks [][]any // one more than conds with an else
	}
	numericFor struct {
		v                 *variable
		from, limit, step any // step may be nil
		body              []any
		line, doLine      int // an error of the three values is at doLine
	}
	genericFor struct {
		vars   []*variable
		values []any
		state  int // the slot of the first of three
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
