package expr

import "math"

// Row is what an expression or a reducer is evaluated over.
type Row struct {
	// Property returns the value of a property; ok is false if the row has none of that name.
	Property func(name string) (v Value, ok bool)
	// Names returns the names of the row's properties, for COLLECT's *; nil if the row cannot list them.
	Names        func() []string
	MatchedTerms []string // the terms of the query that the document matches
}

type node interface {
	eval(r *Row) (Value, error)
}

// Eval returns the value of the expression. The error is an *Error.
func (e *Expr) Eval(r *Row) (Value, error) { return e.root.eval(r) }

type literal struct{ value Value }

func (n *literal) eval(*Row) (Value, error) { return n.value, nil }

type property struct{ name string }

func (n *property) eval(r *Row) (Value, error) {
	v, ok := r.Property(n.name)
	if !ok {
		return v, failure("SEARCH_VALUE_NOT_FOUND",
			"Could not find the value for a parameter name, consider using EXISTS if applicable for %s", n.name)
	}
	return v, nil
}

// truth evaluates an operand of a logical operator: a missing property is false.
func truth(n node, r *Row) (bool, error) {
	v, err := n.eval(r)
	if e, ok := err.(*Error); ok && e.Code == "SEARCH_VALUE_NOT_FOUND" {
		return false, nil
	}
	return v.Truth(), err
}

type not struct{ operand node }

func (n *not) eval(r *Row) (Value, error) {
	v, err := truth(n.operand, r)
	return boolean(!v), err
}

type binary struct {
	op          string
	left, right node
}

func (n *binary) eval(r *Row) (Value, error) {
	if n.op == "&&" || n.op == "||" {
		v, err := truth(n.left, r)
		if err != nil || v == (n.op == "||") {
			return boolean(v), err
		}
		v, err = truth(n.right, r)
		return boolean(v), err
	}
	left, err := n.left.eval(r)
	if err != nil {
		return left, err
	}
	right, err := n.right.eval(r)
	if err != nil {
		return right, err
	}
	if v, is := compare(n.op, left, right); is {
		return v, nil
	}
	x, okX := left.Number()
	y, okY := right.Number()
	if !okX || !okY {
		return Value{}, failure("SEARCH_NUMERIC_VALUE_INVALID", "Could not convert value to a number")
	}
	return Num(arithmetic(n.op, x, y)), nil
}

// compare returns the value of a comparison; is is false for other operators. Nothing but null equals null.
func compare(op string, left, right Value) (v Value, is bool) {
	nulls := left.Kind == Null || right.Kind == Null
	equal := left.Kind == Null && right.Kind == Null
	order := 0
	if !nulls {
		order = Compare(left, right)
		equal = order == 0
	}
	switch op {
	case "==":
		return boolean(equal), true
	case "!=":
		return boolean(!equal), true
	case "<":
		return boolean(!nulls && order < 0), true
	case "<=":
		return boolean(!nulls && order <= 0), true
	case ">":
		return boolean(!nulls && order > 0), true
	case ">=":
		return boolean(!nulls && order >= 0), true
	}
	return v, false
}

func arithmetic(op string, x, y float64) float64 {
	switch op {
	case "+":
		return x + y
	case "-":
		return x - y
	case "*":
		return x * y
	case "/":
		return x / y
	case "%":
		return math.Mod(x, y)
	}
	return math.Pow(x, y)
}

type call struct {
	f    function
	args []node
}

func (n *call) eval(r *Row) (Value, error) {
	if n.f.lazy != nil {
		return n.f.lazy(r, n.args)
	}
	args := make([]Value, len(n.args))
	for i, arg := range n.args {
		v, err := arg.eval(r)
		if err != nil {
			return v, err
		}
		args[i] = v
	}
	return n.f.eager(args)
}
