package inspect

import (
	"os"
	"strings"
	"testing"

	"github.com/meowdis/meowdis/internal/test/race"
)

// TestDocumentation compares the table of keys in the documentation with the bindings; -update writes
// it.
func TestDocumentation(t *testing.T) {
	race.Skip(t)
	const file = "../docs/inspect.md"
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	head, rest, ok := strings.Cut(string(text), "<!-- keys -->\n")
	_, tail, ok2 := strings.Cut(rest, "<!-- /keys -->\n")
	if !ok || !ok2 {
		t.Fatalf("%s has no place for the keys", file)
	}
	want := head + "<!-- keys -->\n" + keyTable() + "<!-- /keys -->\n" + tail
	switch {
	case *update:
		if err := os.WriteFile(file, []byte(want), 0o644); err != nil {
			t.Fatal(err)
		}
	case want != string(text):
		t.Errorf("%s lists other keys (write it with -update)", file)
	}
}

func keyTable() string {
	var b strings.Builder
	b.WriteString("| Key | Where | What |\n|---|---|---|\n")
	where := map[scope]string{everywhere: "anywhere", inKeys: "keys", inValue: "value"}
	for _, binding := range bindings() {
		var keys []string
		for _, key := range strings.Fields(binding.label()) {
			keys = append(keys, "`"+key+"`")
		}
		if len(keys) == 0 {
			keys = []string{"`^P`"}
		}
		b.WriteString("| " + strings.Join(keys, " ") + " | " + where[binding.where] + " | " + binding.help + " |\n")
	}
	return b.String()
}
