package cmd_test

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// agentOf is the client of "meowdis mcp" with these arguments, in a process of its own.
func agentOf(t *testing.T, ask func(*mcp.ElicitParams) *mcp.ElicitResult, args ...string) *mcp.ClientSession {
	t.Helper()
	return agentIn(t, nil, ask, args...)
}

// agentIn adds variables to the environment of the process.
func agentIn(t *testing.T, env []string, ask func(*mcp.ElicitParams) *mcp.ElicitResult, args ...string) *mcp.ClientSession {
	t.Helper()
	var how *mcp.ClientOptions
	if ask != nil {
		how = &mcp.ClientOptions{ElicitationHandler: func(_ context.Context, r *mcp.ElicitRequest) (*mcp.ElicitResult, error) {
			return ask(r.Params), nil
		}}
	}
	run := exec.Command("meowdis", append([]string{"mcp"}, args...)...)
	run.Env = append(os.Environ(), env...)
	var says bytes.Buffer
	run.Stderr = &says
	client, err := mcp.NewClient(&mcp.Implementation{Name: "test", Version: "1"}, how).Connect(t.Context(), &mcp.CommandTransport{Command: run}, nil)
	if err != nil {
		t.Fatalf("%v: %s", err, says.String())
	}
	t.Cleanup(func() {
		if client.Close(); says.Len() > 0 || run.ProcessState == nil || run.ProcessState.ExitCode() != 0 {
			t.Errorf("it ended with %v and %s", run.ProcessState, says.String())
		}
	})
	return client
}

// tool calls a tool with a line of a command.
func tool(t *testing.T, c *mcp.ClientSession, name, line string) (text string, failed bool) {
	t.Helper()
	r, err := c.CallTool(t.Context(), &mcp.CallToolParams{Name: name, Arguments: map[string]any{"line": line}})
	if err != nil {
		t.Fatalf("%s %s: %v", name, line, err)
	}
	for _, c := range r.Content {
		text += c.(*mcp.TextContent).Text
	}
	return text, r.IsError
}

func wants(t *testing.T, c *mcp.ClientSession, name, line string, fails bool, want string) {
	t.Helper()
	if got, failed := tool(t, c, name, line); failed != fails || !strings.Contains(got, want) {
		t.Errorf("%s %s: %s (failed: %v), want %s", name, line, got, failed, want)
	}
}

// TestAgent has an agent use a file, an endpoint and a server.
func TestAgent(t *testing.T) {
	t.Parallel()
	rest, redis := serveMemory(t)
	file := filepath.Join(t.TempDir(), "cats.sqlite")
	for _, where := range [][]string{{file}, {"-t", rest, "--token", restToken}, {redis}} {
		writes := agentOf(t, nil, append([]string{"--write"}, where...)...)
		wants(t, writes, "change", "SET cat:1 Tom", false, `{"reply":"OK"}`)
		wants(t, writes, "change", "FLUSHALL", true, "needs the confirmation of a person")
		wants(t, writes, "change", `EVAL "return redis.call('FLUSHALL')" 0`, true, "EVAL needs the confirmation of a person")
		c := agentOf(t, nil, where...) // beside it
		wants(t, c, "query", "GET cat:1", false, `{"reply":"Tom"}`)
		wants(t, c, "query", "SET cat:1 Felix", true, "READONLY SET may write")
		wants(t, c, "explain", "GET cat:1", false, "SELECT")
		r, err := c.CallTool(t.Context(), &mcp.CallToolParams{Name: "keys", Arguments: map[string]any{"containing": "Tom"}})
		if err != nil || !strings.Contains(r.Content[0].(*mcp.TextContent).Text, `"key":"cat:1"`) {
			t.Errorf("keys of %v: %v, %v", where, r, err)
		}
		if r, err := c.CallTool(t.Context(), &mcp.CallToolParams{Name: "change", Arguments: map[string]any{"line": "SET k v"}}); err == nil {
			t.Errorf("there is a tool that changes %v: %v", where, r)
		}
		wants(t, c, "query", "GET cat:1", false, `{"reply":"Tom"}`)
		if where[0] == file {
			hurried := agentOf(t, nil, "--write", "--yes", "--timeout", "200ms", file)
			explains := agentIn(t, []string{shortWriterLimit}, nil, file)
			wants(t, explains, "explain", `EVAL "redis.call('SET', 'cat:1', 'x') while true do end" 0`, false, "time limit of 100ms exceeded")
			wants(t, c, "explain", `EVAL "local s = string.rep('x', 1048576) local t = {} for i = 1, 3000 do t[i] = s end return t" 0`, false, "request memory limit exceeded")
			wants(t, hurried, "change", `EVAL "redis.call('SET', 'cat:1', 'x') while true do end" 0`, true, "time limit of 200ms exceeded")
		}
		wants(t, c, "query", "GET cat:1", false, `{"reply":"Tom"}`)
		wants(t, agentOf(t, nil, append([]string{"--write", "--yes"}, where...)...), "change", "FLUSHALL", false, `{"reply":"OK"}`)
	}
}

// A profile says how an agent's commands are confirmed, as for people.
func TestAgentOfProfile(t *testing.T) {
	t.Parallel()
	config := []string{"XDG_CONFIG_HOME=" + t.TempDir()}
	file := filepath.Join(t.TempDir(), "cats.sqlite")
	meowdis := func(args ...string) ([]byte, error) {
		run := exec.Command("meowdis", args...)
		run.Env = append(os.Environ(), config...)
		return run.CombinedOutput()
	}
	for _, args := range [][]string{
		{"exec", "-t", file, "SET", "k", "v"},
		{"profile", "add", "loose", "-t", file, "--confirm", "none"}, {"profile", "add", "strict", "-t", file, "--confirm", "name"},
		{"profile", "add", "sealed", "-t", file, "--read-only"},
	} {
		if out, err := meowdis(args...); err != nil {
			t.Fatalf("%v: %v\n%s", args, err, out)
		}
	}
	typed := ""
	strict := agentIn(t, config, func(p *mcp.ElicitParams) *mcp.ElicitResult {
		if !strings.Contains(p.Message, "Type strict to run it") {
			t.Errorf("asked %s", p.Message)
		}
		return &mcp.ElicitResult{Action: "accept", Content: map[string]any{"name": typed}}
	}, "--write", "@strict")
	typed = "yes"
	wants(t, strict, "change", "FLUSHALL", true, "not confirmed")
	typed = "strict"
	wants(t, strict, "change", "FLUSHALL", false, "OK")
	wants(t, agentIn(t, config, nil, "--write", "@loose"), "change", "FLUSHALL", false, "OK")
	out, err := meowdis("mcp", "--write", "@sealed")
	if err == nil || !strings.Contains(string(out), "READONLY --write needs a writable target, and") {
		t.Errorf("writing to a read-only profile: %v\n%s", err, out)
	}
}

// TestAgentWire speaks an older version of the protocol, and hangs up in the middle.
func TestAgentWire(t *testing.T) {
	t.Parallel()
	file := filepath.Join(t.TempDir(), "cats.sqlite")
	if out, err := exec.Command("meowdis", "exec", "-t", file, "SET", "k", "v").CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	for _, end := range []string{"closes", "signals", "hangs up"} {
		run := exec.Command("meowdis", "mcp", "--write", file)
		in, _ := run.StdinPipe()
		out, _ := run.StdoutPipe()
		var says bytes.Buffer
		run.Stderr = &says
		if err := run.Start(); err != nil {
			t.Fatal(err)
		}
		lines := bufio.NewReader(out)
		ask := func(message string) (reply map[string]any) {
			t.Helper()
			io.WriteString(in, message+"\n")
			line, err := lines.ReadBytes('\n')
			if err == nil {
				err = json.Unmarshal(line, &reply)
			}
			if err != nil {
				t.Fatalf("%s: %s, %v\n%s", message, line, err, says.String())
			}
			return reply
		}
		ask(`{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":{"elicitation":{}},"clientInfo":{"name":"t","version":"1"}}}`)
		io.WriteString(in, `{"jsonrpc":"2.0","method":"notifications/initialized"}`+"\n")
		question := ask(`{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"change","arguments":{"line":"FLUSHALL"}}}`)
		if question["method"] != "elicitation/create" {
			t.Fatalf("it asks %v", question)
		}
		reply, _ := json.Marshal(map[string]any{"jsonrpc": "2.0", "id": question["id"], "result": map[string]any{"action": "decline"}})
		if r := ask(string(reply))["result"].(map[string]any); r["isError"] != true {
			t.Errorf("after a no: %v", r)
		}
		switch end {
		case "signals":
			run.Process.Signal(syscall.SIGTERM)
		case "hangs up": // with a call under way
			io.WriteString(in, `{"jsonrpc":"2.0","id":3,"method":"tools/call","params":{"name":"query","arguments":{"line":"XREAD BLOCK 0 STREAMS s $"}}}`+"\n")
			out.Close()
			in.Close()
		default:
			in.Close()
		}
		io.Copy(io.Discard, lines)
		if err := run.Wait(); err != nil && end != "hangs up" || says.Len() > 0 && end != "hangs up" {
			t.Errorf("%s: %v\n%s", end, err, says.String())
		}
	}
}
