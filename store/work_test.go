package store

import (
	"errors"
	"io"
	"testing"
	"time"
)

// exceeded returns the panic value of fn, nil when fn returns.
func exceeded(fn func()) (e *Exceeded) {
	defer func() {
		if v := recover(); v != nil {
			e = v.(*Exceeded)
		}
	}()
	fn()
	return nil
}

func TestWork(t *testing.T) {
	var none *Work
	if exceeded(func() { none.Grow(1 << 40); none.Step(1 << 40) }) != nil {
		t.Error("a nil Work has a limit")
	}
	w := &Work{Budget: NewBudget(nil, 100, 0)}
	if exceeded(func() { w.Grow(60) }) != nil {
		t.Error("60 of 100 bytes are too many")
	}
	if e := exceeded(func() { w.Grow(60) }); e == nil || string(e.Reply.Str) != string(RequestTooLarge.Str) {
		t.Errorf("120 of 100 bytes: %v", e)
	}
	if w.Budget.Used() != 60 {
		t.Errorf("%d bytes are charged, want 60", w.Budget.Used())
	}
	end, checks := errors.New("end"), 0
	var first time.Time
	w.Watch(func(began time.Time) error {
		switch checks++; {
		case checks == 1:
			first = began
		case began != first:
			t.Errorf("check %d is of another call", checks)
		case checks == 3:
			return end
		}
		return nil
	})
	e := exceeded(func() {
		for range 4 * StepsPerCheck {
			w.Step(1)
		}
	})
	if e == nil || e.Err != end || checks != 3 {
		t.Errorf("%v after %d checks", e, checks)
	}
	w.Check = func(began time.Time) error {
		if !began.After(first) {
			t.Error("the next call has the time of the one before it")
		}
		return nil
	}
	w.Begin()
	w.Step(StepsPerCheck)
	if w.Budget.Used() != 60 {
		t.Errorf("%d bytes are charged after Watch, want 60", w.Budget.Used())
	}
}

func TestCaught(t *testing.T) {
	if err := Caught(func() error { return io.EOF }); err != io.EOF {
		t.Errorf("the error is %v", err)
	}
}
