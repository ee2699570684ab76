package mcptools

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/google/jsonschema-go/jsonschema"
	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/meowdis/meowdis/internal/spelling"
	"github.com/meowdis/meowdis/keyspace"
	"github.com/meowdis/meowdis/redis/commands"
	"github.com/meowdis/meowdis/redis/resp"
)

type commandArgs struct {
	Command  []string `json:"command,omitempty" jsonschema:"the command and its arguments, a string each: [\"HGET\", \"cat:1\", \"name\"]"`
	Line     string   `json:"line,omitempty" jsonschema:"instead of command: a line in redis-cli's quoting, which can express any byte: GET \"\\xff\""`
	Limit    int      `json:"limit,omitempty" jsonschema:"number of elements of the reply to show, at all depths: 1 to 1000 (default 100)"`
	Database *int     `json:"database,omitempty" jsonschema:"number of the database (default: the target's own)"`
}

func (in commandArgs) args() ([][]byte, error) {
	if in.Line != "" && in.Command != nil {
		return nil, errors.New("give command or line, not both")
	}
	var args [][]byte
	for _, word := range in.Command {
		args = append(args, []byte(word))
	}
	if in.Line != "" {
		var err error
		if args, err = resp.SplitLine(in.Line); err != nil {
			return nil, fmt.Errorf("line: %w", err)
		}
	}
	if len(args) == 0 {
		return nil, errors.New("give a command: a list of its words, or a line")
	}
	return args, nil
}

const explainHelp = `Shows the SQL that a Redis command runs on a SQLite file of meowdis, its query plan and steps. Nothing is written.`

func (t *tools) explain(ctx context.Context, in commandArgs) (resp.Value, error) {
	args, err := in.args()
	if err != nil {
		return resp.Value{}, err
	}
	db := t.database
	if in.Database != nil {
		db = *in.Database
	}
	said, refusal, err := t.Explain(ctx, db, args)
	switch {
	case err != nil:
		return resp.Value{}, err
	case refusal.IsError():
		return resp.Value{}, errors.New(string(refusal.Str))
	}
	c := newTruncation(1)
	text := string(c.text(bytes.ToValidUTF8(said, []byte("\ufffd"))))
	if cut := c.description(); cut != "" {
		text += "\n… " + cut
	}
	return resp.Value{Kind: resp.Verbatim, Str: []byte(text)}, nil
}

const queryHelp = `Runs one command that only reads, such as HGET, ZRANGE, XRANGE, INFO. A command that may write is refused.`

func (t *tools) query(ctx context.Context, in commandArgs) (resp.Value, error) {
	args, err := in.args()
	if err != nil {
		return resp.Value{}, err
	}
	if cmd := commands.Known(args); cmd != nil && slices.Contains(readOnlyScripts, cmd.Name) {
		return resp.Value{}, fmt.Errorf("%s runs a script, which may block a server: query refuses scripts", cmd.Name)
	}
	return t.run(ctx, t.Reading, args, in)
}

// run runs one command on a session.
func (t *tools) run(ctx context.Context, s keyspace.Session, args [][]byte, in commandArgs) (resp.Value, error) {
	limit, err := limited(in.Limit)
	if err != nil {
		return resp.Value{}, err
	}
	if err := refused(commands.Known(args), args); err != nil {
		return resp.Value{}, err
	}
	if err := t.selectDB(ctx, in.Database); err != nil {
		return resp.Value{}, err
	}
	v, err := s.Do(ctx, args...)
	if err != nil {
		return v, err
	}
	if v.IsError() {
		return v, errors.New(string(v.Str) + suggestion(args))
	}
	c := newTruncation(limit)
	v = c.cut(resp.Upgrade(v))
	cut := c.description()
	if cut != "" {
		cut += ": raise limit, or ask for a range or a page (LRANGE, ZRANGE, XRANGE, GETRANGE, HSCAN, SSCAN, or the tool read)"
	}
	return answer("reply", v, "cut", cut), nil
}

// readOnlyScripts may run forever on a server, which then blocks its other clients, and may reset its slow log.
var readOnlyScripts = []string{"EVAL_RO", "EVALSHA_RO", "FCALL_RO"}

// secretCommands lists the commands whose replies hold passwords or their hashes.
var secretCommands = []string{"CONFIG GET", "ACL LIST", "ACL GETUSER"}

// refused returns an error if a command is not for agents. Unknown commands are left to the target.
func refused(cmd *commands.Command, args [][]byte) error {
	switch {
	case cmd == nil:
	case cmd.Name == "SELECT":
		return errors.New("SELECT needs a connection of its own, and calls are independent: give database with the call")
	case (cmd.Name == "XREAD" || cmd.Name == "XREADGROUP") && waits(args):
		return fmt.Errorf("%s with BLOCK waits, and calls must return at once: leave out BLOCK", cmd.Name)
	case cmd.Has(commands.OfConnection | commands.NeedsConnection | commands.OpensStream | commands.Unpaired):
		return fmt.Errorf("%s needs a connection of its own, and calls are independent", cmd.Name)
	case slices.Contains(secretCommands, cmd.Name):
		return fmt.Errorf("%s shows secrets: agents have no permission", cmd.Name)
	}
	return nil
}

// waits reports whether an XREAD or XREADGROUP has BLOCK.
func waits(args [][]byte) bool {
	for i := 1; i < len(args); i++ {
		switch word := strings.ToUpper(string(args[i])); word {
		case "GROUP":
			i += 2 // its group and consumer
		case "BLOCK", "STREAMS":
			return word == "BLOCK"
		}
	}
	return false
}

// suggestion returns a suggestion for an unknown command, as the end of a message.
func suggestion(args [][]byte) string {
	if commands.Called(args) != nil {
		return ""
	}
	var names []string
	for _, c := range commands.All() {
		if !strings.Contains(c.Name, " ") {
			names = append(names, c.Name)
		}
	}
	question := spelling.Question(spelling.Nearest(strings.ToUpper(string(args[0])), names))
	if question == "" {
		return ""
	}
	return "." + question
}

const changeHelp = `Runs one command that may change keys, such as SET, HSET, DEL, EXPIRE. Dangerous commands (FLUSHALL, …) need a person's confirmation.`

// change runs one command. A dangerous one returns a question for the user first; the client then calls again with
// the answer.
func (t *tools) change(ctx context.Context, req *mcp.CallToolRequest, in commandArgs) (*mcp.CallToolResult, any, error) {
	args, err := in.args()
	if err != nil {
		return nil, nil, err
	}
	if risk := t.Risk(args); risk != "" {
		question, err := t.confirmed(req, risk, args)
		if err != nil || question != nil {
			return question, nil, err
		}
	}
	v, err := t.runExclusive(ctx, func(ctx context.Context) (resp.Value, error) { return t.run(ctx, t.Session, args, in) })
	if err != nil {
		return nil, nil, err
	}
	return result(v), nil, nil
}

// The name of the question, and of the field in its answer.
const (
	confirmation = "confirmation"
	typedName    = "name"
)

// confirmed returns nil, nil if the user confirmed this very call; otherwise the question, or an error.
func (t *tools) confirmed(req *mcp.CallToolRequest, risk string, args [][]byte) (*mcp.CallToolResult, error) {
	asked := fmt.Sprintf("%q", args)
	given, answered := req.Params.InputResponses[confirmation].(*mcp.ElicitResult)
	if !answered || req.Params.RequestState != asked {
		can := req.ClientCapabilities()
		if can == nil || can.Elicitation == nil {
			return nil, fmt.Errorf("CONFIRM %s needs the confirmation of a person, and this client cannot ask: start meowdis mcp with --yes to allow it", risk)
		}
		return &mcp.CallToolResult{RequestState: asked, InputRequests: mcp.InputRequestMap{confirmation: t.question(risk)}}, nil
	}
	typed, _ := given.Content[typedName].(string)
	if given.Action != "accept" || t.Typed != "" && strings.TrimSpace(typed) != t.Typed {
		return nil, errors.New("CONFIRM not confirmed: nothing was run")
	}
	return nil, nil
}

// question returns the question for the user.
func (t *tools) question(risk string) *mcp.ElicitParams {
	q := &mcp.ElicitParams{
		Message:         fmt.Sprintf("%s on %s. Run it?", risk, t.Name),
		RequestedSchema: &jsonschema.Schema{Type: "object", Properties: map[string]*jsonschema.Schema{}},
	}
	if t.Typed != "" {
		q.Message = fmt.Sprintf("%s on %s. Type %s to run it.", risk, t.Name, t.Typed)
		q.RequestedSchema = &jsonschema.Schema{
			Type: "object", Required: []string{typedName},
			Properties: map[string]*jsonschema.Schema{typedName: {Type: "string", Title: "Name of the profile"}},
		}
	}
	return q
}
