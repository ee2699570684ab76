// Package corpus holds transcripts of the replies of every command, and plays them on any
// command runner.
//
// A transcript is a text file. A line "> SET k v" is a command, in redis-cli's
// quoting; the lines below it, up to the next command or a blank line, are the
// reply as redis-cli prints it on a terminal. "2> GET k" comes from a second client.
//
//	# a comment, outside of replies
//	!since 7.4       the commands of the file are missing in earlier servers;
//	                 if Debian lacks this version, a comment names the source
//	                 of the expected replies
//	!before 8.0      the lines below are the reply of earlier servers, if it
//	                 differs from the one above; at most one per step
//	!clock +5000     advances the clock by ms; only the stores with an injected
//	                 clock run the steps after it
//	~ unordered      between command and reply: elements in any order, at every depth
//	~ pairs          a flat list of pairs, in any order
//	~ approx 10      numbers may differ by 10
//	~ any            only the kind of reply counts
//	~ code           of an error, only the first word counts
//
// Replies are from Redis 8.0, which meowdis follows; they are also compared with 7.0.
// "go test ./internal/test/corpus -run TestOracle -update" writes the replies of the
// redis-server on the PATH. Version 7.0 writes its different replies below "!before 8.0".
package corpus

import (
	"bytes"
	"embed"
	"fmt"
	"io/fs"
	"path"
	"slices"
	"sort"
	"strconv"
	"strings"

	"github.com/meowdis/meowdis/internal/test/oracle"
	"github.com/meowdis/meowdis/redis/resp"
)

//go:embed transcripts
var files embed.FS

// Transcript is one file of the corpus.
type Transcript struct {
	Name  string         // without the directory and the ending
	Since oracle.Version // the first that knows its commands, "" for any
	Steps []Step
}

// Step is one command and its reply.
type Step struct {
	Line   int // of the command in the file
	Client int // 1 or 2
	Args   [][]byte
	Notes  []string       // "unordered", "approx 10", …
	Want   string         // as printed, without the last newline
	Before oracle.Version // servers before it answer Older; "" when they don't differ
	Older  string
	Clock  int64 // ms to advance the clock by before the command

	replyLines int  // lines that the replies take in the file, for updating
	either     bool // Older will do, too
}

// On returns the transcript as a server of the version must answer it. Where exactly
// a later one than 7.0 began to answer otherwise is not known: either reply will do.
func (t Transcript) On(v oracle.Version) Transcript {
	steps := slices.Clone(t.Steps)
	for i, s := range steps {
		switch {
		case !v.Before(s.Before):
		case v.Before("7.1"):
			steps[i].Want, steps[i].Older = s.Older, ""
		default:
			steps[i].either = true
		}
	}
	t.Steps = steps
	return t
}

// Expires reports whether the transcript advances the clock. Otherwise its keys cannot expire:
// a key that gets an expiry in the past is deleted at once.
func (t Transcript) Expires() bool {
	return slices.ContainsFunc(t.Steps, func(s Step) bool { return s.Clock != 0 })
}

// All returns the whole corpus.
func All() ([]Transcript, error) {
	names, err := fs.Glob(files, "transcripts/*.txt")
	if err != nil {
		return nil, err
	}
	var all []Transcript
	for _, name := range names {
		text, err := files.ReadFile(name)
		if err != nil {
			return nil, err
		}
		t, err := Parse(strings.TrimSuffix(path.Base(name), ".txt"), string(text))
		if err != nil {
			return nil, err
		}
		all = append(all, t)
	}
	return all, nil
}

// Parse reads one transcript.
func Parse(name, text string) (Transcript, error) {
	t := Transcript{Name: name}
	var clock int64
	lines := strings.Split(text, "\n")
	for i := 0; i < len(lines); i++ {
		line := lines[i]
		fail := func(what string) (Transcript, error) {
			return t, fmt.Errorf("%s.txt:%d: %s", name, i+1, what)
		}
		switch {
		case line == "" || line[0] == '#':
		case strings.HasPrefix(line, "!since "):
			t.Since = oracle.Version(line[len("!since "):])
		case strings.HasPrefix(line, "!clock +"):
			n, err := strconv.ParseInt(line[len("!clock +"):], 10, 64)
			if err != nil {
				return fail("a clock line is !clock +MS")
			}
			clock += n
		case strings.HasPrefix(line, "> ") || strings.HasPrefix(line, "2> "):
			s := Step{Line: i + 1, Client: 1, Clock: clock}
			clock = 0
			if line[0] == '2' {
				s.Client, line = 2, line[1:]
			}
			var err error
			if s.Args, err = resp.SplitLine(line[2:]); err != nil {
				return fail(err.Error())
			}
			for i+1 < len(lines) && strings.HasPrefix(lines[i+1], "~ ") {
				i++
				s.Notes = append(s.Notes, lines[i][2:])
			}
			from := i + 1
			i = reply(lines, from) - 1
			s.Want = strings.Join(lines[from:i+1], "\n")
			if i+1 < len(lines) && strings.HasPrefix(lines[i+1], before) {
				s.Before = oracle.Version(lines[i+1][len(before):])
				end := reply(lines, i+2)
				s.Older = strings.Join(lines[i+2:end], "\n")
				i = end - 1
			}
			s.replyLines = i + 1 - from
			t.Steps = append(t.Steps, s)
		default:
			return fail("neither a command, a directive nor a comment")
		}
	}
	return t, nil
}

const before = "!before "

// reply returns the end of the reply that begins at the line i: the index of the
// first line that does not belong to it.
func reply(lines []string, i int) int {
	for i < len(lines) && lines[i] != "" && !slices.ContainsFunc([]string{"> ", "2> ", "!", "#"}, func(start string) bool {
		return strings.HasPrefix(lines[i], start)
	}) {
		i++
	}
	return i
}

// Show prints a reply the way that transcripts write it: in RESP2's shape, as
// redis-cli does, with bytes beyond ASCII escaped. An empty line of a multi-line
// status is dropped.
func Show(v resp.Value) string {
	text := string(resp.AppendTyped(nil, resp.Downgrade(v), false))
	if !strings.Contains(text, "\n\n") {
		return text
	}
	var kept []string
	for _, l := range strings.Split(text, "\n") {
		if l != "" {
			kept = append(kept, l)
		}
	}
	return strings.Join(kept, "\n")
}

// Same reports whether two replies of the step are equal under its notes.
func (s Step) Same(a, b resp.Value) bool {
	a, b = resp.Downgrade(a), resp.Downgrade(b)
	for _, note := range s.Notes {
		word, arg, _ := strings.Cut(note, " ")
		switch word {
		case "unordered":
			a, b = sorted(a), sorted(b)
		case "pairs":
			a, b = sortedPairs(a), sortedPairs(b)
		case "approx":
			tolerance, _ := strconv.ParseFloat(arg, 64)
			return near(a, b, tolerance)
		case "any":
			return a.Kind == b.Kind || a.IsNull() && b.IsNull()
		case "code":
			return a.IsError() && b.IsError() && code(a) == code(b)
		}
	}
	return bytes.Equal(resp.Append2(nil, a), resp.Append2(nil, b))
}

// Reply parses the expected reply, in RESP2 form.
func (s Step) Reply() (resp.Value, error) { return parseShown(s.Want) }

// Matches reports whether the reply is as expected.
func (s Step) Matches(v resp.Value) bool {
	return s.matches(v, s.Want) || s.either && s.matches(v, s.Older)
}

func (s Step) matches(v resp.Value, text string) bool {
	if len(s.Notes) == 0 {
		return Show(v) == text
	}
	want, err := parseShown(text)
	return err == nil && s.Same(v, want)
}

// MatchesText is Matches for a reply in the form that Show prints.
func (s Step) MatchesText(text string) bool {
	if len(s.Notes) == 0 {
		return text == s.Want
	}
	v, err := parseShown(text)
	return err == nil && s.Matches(v)
}

func code(v resp.Value) string {
	word, _, _ := strings.Cut(string(v.Str), " ")
	return word
}

func sorted(v resp.Value) resp.Value {
	if v.Kind != resp.Array {
		return v
	}
	elems := make([]resp.Value, len(v.Elems))
	for i := range elems {
		elems[i] = sorted(v.Elems[i])
	}
	sort.Slice(elems, func(i, j int) bool {
		return bytes.Compare(resp.Append2(nil, elems[i]), resp.Append2(nil, elems[j])) < 0
	})
	return resp.MakeArray(elems...)
}

func sortedPairs(v resp.Value) resp.Value {
	if v.Kind != resp.Array {
		return v
	}
	var grouped []resp.Value
	for i := 0; i+1 < len(v.Elems); i += 2 {
		grouped = append(grouped, resp.Value{Kind: resp.Map, Elems: v.Elems[i : i+2]})
	}
	return sorted(resp.MakeArray(grouped...))
}

func near(a, b resp.Value, tolerance float64) bool {
	if a.Kind != b.Kind || len(a.Elems) != len(b.Elems) {
		return false
	}
	switch a.Kind {
	case resp.Array:
		for i := range a.Elems {
			if !near(a.Elems[i], b.Elems[i], tolerance) {
				return false
			}
		}
		return true
	case resp.Int:
		return within(float64(a.Int), float64(b.Int), tolerance)
	case resp.Bulk:
		x, err1 := strconv.ParseFloat(string(a.Str), 64)
		y, err2 := strconv.ParseFloat(string(b.Str), 64)
		if err1 == nil && err2 == nil {
			return within(x, y, tolerance)
		}
	}
	return bytes.Equal(a.Str, b.Str)
}

func within(x, y, tolerance float64) bool { return x-y <= tolerance && y-x <= tolerance }

// Update returns the transcript's text with the replies of other, which has the same steps.
func (t Transcript) Update(text string, other []Step) string {
	lines := strings.Split(text, "\n")
	var out []string
	at := 0
	for i, s := range t.Steps {
		head := s.Line + len(s.Notes)
		out = append(append(out, lines[at:head]...), strings.Split(other[i].Want, "\n")...)
		if b := other[i].Before; b != "" {
			out = append(append(out, before+string(b)), strings.Split(other[i].Older, "\n")...)
		}
		at = head + s.replyLines
	}
	return strings.Join(append(out, lines[at:]...), "\n")
}

// Answered returns the step with the reply of a server of version v.
func (s Step) Answered(v oracle.Version, reply resp.Value) Step {
	switch {
	case s.replyLines == 0 || !v.Before("8.0"):
		if !s.matches(reply, s.Want) {
			s.Want = Show(reply)
		}
		if s.Want == s.Older {
			s.Before, s.Older = "", ""
		}
	case s.matches(reply, s.Want):
		s.Before, s.Older = "", ""
	case s.Before == "" || !s.matches(reply, s.Older):
		s.Before, s.Older = "8.0", Show(reply)
	}
	return s
}
