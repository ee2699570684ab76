package clients

import (
	"os/exec"
	"regexp"
	"strings"
	"testing"
)

var (
	ourCall = regexp.MustCompile(`(?m)(?:^|[\s;|&])meowdis ([a-z]+)([^\n;|]*)`)
	ourFlag = regexp.MustCompile(`\s(--[a-z-]+)`)
)

// TestStoresPage cannot run the blocks of docs/stores.md, which need clusters and accounts. It checks that a shell
// can parse them, and that the verbs and flags of meowdis in them exist.
func TestStoresPage(t *testing.T) {
	t.Parallel()
	meowdis, flags, calls := build(t), map[string]string{}, 0
	for _, b := range blocksOf(t, "../../../docs/stores.md") {
		if b.language != "sh" {
			continue
		}
		if out, err := exec.Command("bash", "-n", "-c", b.text).CombinedOutput(); err != nil {
			t.Errorf("line %d: %v\n%s", b.line, err, out)
		}
		for _, call := range ourCall.FindAllStringSubmatch(strings.ReplaceAll(b.text, "\\\n", " "), -1) {
			calls++
			if flags[call[1]] == "" {
				out, err := exec.Command(meowdis, call[1], "--help").Output()
				if err != nil {
					t.Fatalf("line %d: %s: %v", b.line, call[0], err)
				}
				flags[call[1]] = string(out)
			}
			for _, flag := range ourFlag.FindAllStringSubmatch(call[2], -1) {
				if !regexp.MustCompile(regexp.QuoteMeta(flag[1]) + `[\s,=]`).MatchString(flags[call[1]]) {
					t.Errorf("line %d: %s: there is no %s", b.line, strings.TrimSpace(call[0]), flag[1])
				}
			}
		}
	}
	if calls < 6 {
		t.Errorf("only %d calls of meowdis", calls)
	}
}
