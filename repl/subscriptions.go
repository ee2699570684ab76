package repl

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/meowdis/meowdis/redis/resp"
)

// subscription holds a SUBSCRIBE, PSUBSCRIBE or SSUBSCRIBE that listens while commands are typed. It
// has a connection of its own.
type subscription struct {
	name     string // of the command, in upper case
	channels []string
	end      context.CancelFunc
	ended    chan struct{}
}

// subscribe starts to listen, and returns after the first message.
func (l *loop) subscribe(ctx context.Context, args [][]byte) {
	ctx, cancel := context.WithCancel(ctx)
	s := &subscription{name: strings.ToUpper(string(args[0])), end: cancel, ended: make(chan struct{})}
	for _, channel := range args[1:] {
		s.channels = append(s.channels, string(channel))
	}
	format, listen := l.Format, l.Target.Listen
	first := make(chan struct{})
	began := sync.OnceFunc(func() { close(first) })
	go func() {
		defer close(s.ended)
		defer began()
		err := listen(ctx, args, func(v resp.Value) error {
			l.editor.printAbove(string(format(nil, args, v)))
			began()
			return nil
		})
		if ctx.Err() == nil && err != nil {
			l.editor.printAbove(l.coloured("31", "Error: "+visible(err.Error())) + "\n")
		}
		cancel()
	}()
	l.subscriptions = append(l.subscriptions, s)
	select {
	case <-first:
	case <-time.After(pageTimeout):
	}
	l.note("messages appear here; UNSUBSCRIBE, or Ctrl-C on an empty line, ends them")
}

// listening returns the subscriptions that have not ended.
func (l *loop) listening() []*subscription {
	l.subscriptions = slices.DeleteFunc(l.subscriptions, func(s *subscription) bool {
		select {
		case <-s.ended:
			return true
		default:
			return false
		}
	})
	return l.subscriptions
}

// unsubscribe runs UNSUBSCRIBE, PUNSUBSCRIBE and SUNSUBSCRIBE for the prompt's subscriptions. It
// returns false if the command is another one, or nothing listens.
func (l *loop) unsubscribe(args [][]byte) bool {
	name := strings.ToUpper(string(args[0]))
	of := map[string]string{"UNSUBSCRIBE": "SUBSCRIBE", "PUNSUBSCRIBE": "PSUBSCRIBE", "SUNSUBSCRIBE": "SSUBSCRIBE"}[name]
	if of == "" || len(l.listening()) == 0 {
		return false
	}
	for _, channel := range args[1:] {
		for _, s := range l.subscriptions {
			if i := slices.Index(s.channels, string(channel)); i >= 0 && s.name == of && len(s.channels) > len(args)-1 {
				l.printError(fmt.Sprintf("%s was subscribed together with %s: end them together, with %s %s", s.channels[i], strings.Join(slices.Delete(slices.Clone(s.channels), i, i+1), " "), name, strings.Join(s.channels, " ")))
				return true
			}
		}
	}
	ended := l.endSubscriptions(func(s *subscription) bool {
		return s.name == of && (len(args) == 1 || slices.ContainsFunc(args[1:], func(a []byte) bool { return slices.Contains(s.channels, string(a)) }))
	})
	if len(ended) == 0 {
		l.printError("not subscribed to " + quoteCall(args[1:]))
	}
	return true
}

// endSubscriptions ends the subscriptions that which accepts, and says so.
func (l *loop) endSubscriptions(which func(*subscription) bool) (ended []string) {
	for _, s := range l.listening() {
		if which(s) {
			s.end()
			<-s.ended
			ended = append(ended, s.channels...)
		}
	}
	l.listening()
	if len(ended) > 0 {
		l.note("unsubscribed from " + strings.Join(ended, " "))
	}
	return ended
}

// printAbove prints a text above the line that is being edited; while a command runs, the text
// waits for the next prompt.
func (e *editor) printAbove(text string) {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.closed {
		e.above.WriteString(text)
		return
	}
	e.screen.printAbove(strings.ReplaceAll(text, "\n", "\r\n"))
	e.draw()
}

// pushes collects the messages that a server sends without a request. A completion may receive
// them, so they are shown with the next reply.
type pushes struct {
	mu   sync.Mutex
	text strings.Builder
}

func (p *pushes) add(v resp.Value) {
	p.mu.Lock()
	defer p.mu.Unlock()
	words := make([]string, len(v.Elems))
	for i, e := range v.Elems {
		words[i] = strings.TrimSpace(strings.ReplaceAll(string(resp.Printer{}.Append(nil, e)), "\n", " "))
	}
	if len(words) > 0 {
		words[0] = strings.Trim(words[0], `"`) + ":"
	}
	p.text.WriteString("-> " + strings.Join(words, " ") + "\n")
}

// take returns the messages and forgets them.
func (p *pushes) take() string {
	p.mu.Lock()
	defer p.mu.Unlock()
	defer p.text.Reset()
	return p.text.String()
}
