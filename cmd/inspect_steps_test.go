package cmd_test

import (
	"fmt"
	"strings"
	"time"
)

// expires sets a key that expires while it is shown. A slow machine may look too late, and then again at one that lives
// longer.
func (p *party) expires(key string) {
	p.t.Helper()
	for ttl := 2500 * time.Millisecond; ; ttl *= 2 {
		meowdisExec(p.t, p.dir, fmt.Sprintf("SET %s token PX %d\n", key, ttl.Milliseconds()), "-t", "t.sqlite")
		set, shown := time.Now(), false
		screen, err := p.Wait(key+" to be gone", func(screen string) bool {
			line := lineWith(screen, key)
			shown = shown || line != ""
			return strings.Contains(line, "gone") || line == "" && (shown || time.Since(set) > ttl)
		})
		p.check(err)
		if strings.Contains(lineWith(screen, key), "gone") {
			return
		}
	}
}

// rests waits until what was pressed has had its effect: until the screen stays as
// it is.
func (p *party) rests() {
	p.t.Helper()
	last, same := "", 0
	_, err := p.Wait("a screen that rests", func(screen string) bool {
		if same++; screen != last {
			last, same = screen, 0
		}
		return same == 3
	})
	p.check(err)
}

// lineWith is the first line of the screen with the text; "" when none has it.
func lineWith(screen, text string) string {
	for line := range strings.Lines(screen) {
		if strings.Contains(line, text) {
			return line
		}
	}
	return ""
}

// sees waits until the screen shows one of the texts that "|" parts, or, after "!",
// until it shows none of them.
func (p *party) sees(want string) {
	p.t.Helper()
	gone, goes := strings.CutPrefix(want, "!")
	_, err := p.Wait(fmt.Sprintf("%q", want), func(screen string) bool {
		if goes {
			return !strings.Contains(screen, gone)
		}
		for _, text := range strings.Split(want, "|") {
			if strings.Contains(screen, text) {
				return true
			}
		}
		return false
	})
	p.check(err)
}
