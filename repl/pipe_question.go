package repl

import (
	"fmt"
	"os/exec"
	"strings"

	"github.com/meowdis/meowdis/redis/commands"
)

// askPipe asks whether a | without blanks, as in GET s|cat, is a pipe or part of an argument,
// and turns c into a pipe for that answer. It returns false if nothing should run.
func (l *loop) askPipe(text string, c *command) bool {
	pipe, ok := c.gluedPipe(text)
	if !ok || l.editor == nil {
		return true
	}
	l.note(fmt.Sprintf("pipe:      %s | %s", quoteCall(pipe.args()), pipe.target))
	l.note("argument:  " + quotedPipes(*c))
	switch answer, err := l.editor.ask("Is it a (p)ipe or an (a)rgument? "); {
	case err != nil:
		return false
	case isAnswer(answer, "pipe"):
		*c = pipe
		return true
	case isAnswer(answer, "argument"):
		return true
	}
	l.note("nothing was run")
	return false
}

// isAnswer reports whether answer is a prefix of word.
func isAnswer(answer, word string) bool {
	answer = strings.ToLower(strings.TrimSpace(answer))
	return answer != "" && strings.HasPrefix(word, answer)
}

// gluedPipe returns c with the first | that lacks a blank as a pipe. ok is false unless the |
// follows a complete read-only command and precedes an installed program.
func (c command) gluedPipe(text string) (pipe command, ok bool) {
	if c.op != "" {
		return pipe, false
	}
	for i, w := range c.words {
		at := strings.IndexByte(w.value, '|')
		if w.quoted || at < 0 || i == 0 {
			continue
		}
		pipe = command{words: c.words[:i:i], times: c.times, op: "|", opWord: w, target: text[w.from+at+1 : c.words[len(c.words)-1].to]}
		if at > 0 {
			w.value, w.to = w.value[:at], w.from+at
			pipe.words = append(pipe.words, w)
		}
		program, _, _ := strings.Cut(strings.TrimSpace(pipe.target), " ")
		if program == "" || !pipe.isComplete() || !pipe.onlyReads() {
			return pipe, false
		}
		_, err := exec.LookPath(program)
		return pipe, err == nil
	}
	return pipe, false
}

// onlyReads reports whether the command changes nothing.
func (c command) onlyReads() bool {
	cmd, _ := commands.Find(c.args())
	return c.isColon() || cmd != nil && cmd.Flags&commands.ReadOnly != 0
}

// quotedPipes returns the call with quotes around words that contain a |.
func quotedPipes(c command) string {
	words := make([]string, len(c.words))
	for i, w := range c.words {
		words[i] = quoteWord([]byte(w.value), strings.Contains(w.value, "|"))
	}
	return strings.Join(words, " ")
}
