package rest

import (
	"context"
	"errors"
	"strconv"
	"strings"

	"github.com/meowdis/meowdis/engine"
	"github.com/meowdis/meowdis/redis/commands"
	"github.com/meowdis/meowdis/redis/resp"
)

// DatabaseHeader selects the database of a request, 0 without it. The response repeats it. It is an extension of
// meowdis.
const DatabaseHeader = "Meowdis-Database"

// PipelineHeader with the value UntilError stops a pipeline after its first error. Commands that did not run get no
// reply. The response repeats the header. It is an extension of meowdis.
const (
	PipelineHeader = "Meowdis-Pipeline"
	UntilError     = "until-error"
)

// RulesHeader with the value Redis makes commands follow Redis's rules where Upstash's differ (translator.Rules). It is
// an extension of meowdis.
const (
	RulesHeader = "Meowdis-Rules"
	Redis       = "redis"
)

// Call holds a request.
type Call struct {
	Method      string
	Path, Query string                   // as sent, percent-encoded
	Header      func(name string) string // returns "" for a missing header
	Body        func() ([]byte, error)   // reads the body; its error is the reply

	Context context.Context // context of the commands
	Session *engine.Session // new, with a guard and a budget
	// Failed returns the reply to a request of that many commands if the store failed.
	Failed func(err error, commands int) resp.Value

	form       form
	untilError bool
}

// HTTP statuses of answers.
const (
	statusOK     = 200
	statusBad    = 400
	statusFailed = 500
)

// Answer runs the request. It passes response headers to set.
func (c *Call) Answer(set func(name, value string)) Answer {
	a := c.answer(set)
	a.form = c.form
	return a
}

func (c *Call) answer(set func(name, value string)) Answer {
	var err error
	if c.form, err = formOf(c.Header); err != nil {
		return BadRequest(err)
	}
	if name := c.Header(DatabaseHeader); name != "" {
		db, bad := commands.DBIndex([]byte(name))
		if bad.IsError() {
			return Single(statusBad, bad)
		}
		c.Session.Select(db)
	}
	set(DatabaseHeader, strconv.Itoa(c.Session.DB()))
	if c.untilError = c.Header(PipelineHeader) == UntilError; c.untilError {
		set(PipelineHeader, UntilError)
	}
	if c.Header(RulesHeader) != Redis {
		c.Session.FollowUpstash()
	}
	body, err := c.Body()
	if err != nil {
		return BadRequest(err)
	}
	switch path := trimPath(c.Path); {
	case path == "pipeline":
		return c.pipeline(body)
	case path == "multi-exec":
		return c.transaction(body)
	case path == "" && (c.Method == "POST" || c.Method == "PUT"):
		args, err := parseCommand(body)
		if err != nil {
			return BadRequest(err)
		}
		return c.command(args)
	}
	args, err := PathCommand(c.Path, c.Query, body)
	if err != nil {
		return BadRequest(err)
	}
	return c.command(args)
}

// command runs a single command.
func (c *Call) command(args [][]byte) Answer {
	if len(args) == 0 {
		return BadRequest(errors.New("ERR empty command"))
	}
	replies, err := c.run([][][]byte{args})
	switch {
	case err != nil:
		return Single(statusFailed, c.Failed(err, 1))
	case replies[0].IsError():
		return Single(statusBad, replies[0])
	}
	return Single(statusOK, replies[0])
}

// run runs commands in order. Commands that REST does not allow get an error in place of running.
func (c *Call) run(calls [][][]byte) ([]resp.Value, error) {
	if c.untilError {
		return c.runUntilError(calls)
	}
	replies := make([]resp.Value, len(calls))
	var places []int // indexes in replies of the allowed commands
	var allowed [][][]byte
	for i, args := range calls {
		if v, no := refused(args); no {
			replies[i] = v
		} else {
			places, allowed = append(places, i), append(allowed, args)
		}
	}
	answers, err := c.Session.Pipeline(c.Context, allowed)
	if err != nil {
		return nil, err
	}
	for i, place := range places {
		replies[place] = answers[i]
	}
	return replies, nil
}

// runUntilError runs commands up to the first error.
func (c *Call) runUntilError(calls [][][]byte) ([]resp.Value, error) {
	for i, args := range calls {
		v, no := refused(args)
		if !no {
			continue
		}
		replies, err := c.Session.PipelineUntilError(c.Context, calls[:i])
		if err != nil {
			return nil, err
		}
		if i == 0 || len(replies) == i && !replies[i-1].HasError() {
			replies = append(replies, v)
		}
		return replies, nil
	}
	return c.Session.PipelineUntilError(c.Context, calls)
}

// refused returns the error for a command that may not run, if any.
func refused(args [][]byte) (v resp.Value, no bool) {
	switch {
	case len(args) == 0:
		return resp.MakeError("ERR empty pipeline command"), true
	case !allowed(args):
		return resp.MakeError(`ERR Command "` + strings.ToUpper(string(args[0])) + `" is not allowed in REST or it has a special context path`), true
	}
	return resp.Value{}, false
}

// allowed reports whether REST may run the command. Commands that act on a connection are not allowed. Commands that
// may block, such as XREAD, do not wait, as inside MULTI.
func allowed(args [][]byte) bool { return !commands.Known(args).Has(commands.NeedsConnection) }

// pipeline serves POST /pipeline.
func (c *Call) pipeline(body []byte) Answer {
	calls, err := parsePipeline(body)
	if err != nil {
		return BadRequest(err)
	}
	replies, err := c.run(calls)
	if err != nil {
		return Single(statusFailed, c.Failed(err, len(calls)))
	}
	return Answer{Status: statusOK, replies: replies, many: true}
}

// transaction serves POST /multi-exec. A malformed command refuses the whole transaction; an error while a command
// runs affects only its own reply. The reply is always JSON.
func (c *Call) transaction(body []byte) Answer {
	c.form.resp2 = false
	calls, err := parsePipeline(body)
	if err != nil {
		return BadRequest(err)
	}
	for _, args := range calls {
		if v, no := refused(args); no {
			return Single(statusBad, v)
		}
		cmd, bad := commands.Find(args)
		if cmd == nil {
			return Single(statusBad, bad)
		}
		if v, refused := c.Session.Refused(cmd, args, engine.Queueing); refused {
			return Single(statusBad, v)
		}
	}
	calls = append(append([][][]byte{{[]byte("MULTI")}}, calls...), [][]byte{[]byte("EXEC")})
	replies, err := c.Session.Pipeline(c.Context, calls)
	if err != nil {
		return Single(statusFailed, c.Failed(err, len(calls)))
	}
	executed := replies[len(replies)-1]
	if executed.IsError() {
		return Single(statusBad, executed)
	}
	return Answer{Status: statusOK, replies: executed.Elems, many: true}
}
