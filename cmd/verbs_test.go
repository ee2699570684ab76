package cmd

import (
	"os"
	"strings"
	"testing"
)

// TestOneFileAVerb finds each verb in the file that is named as it.
func TestOneFileAVerb(t *testing.T) {
	elsewhere := map[string]string{
		"psubscribe": "subscribe.go", // but for a word the same
		"completion": "",             // cobra's
	}
	for _, verb := range newRoot(&streams{}).Commands() {
		if verb.Hidden || verb.IsAdditionalHelpTopicCommand() {
			continue
		}
		file, known := elsewhere[verb.Name()]
		if !known {
			file = verb.Name() + ".go"
		}
		if file == "" {
			continue
		}
		source, err := os.ReadFile(file)
		if err != nil {
			t.Error(err)
		} else if !strings.Contains(string(source), `"`+verb.Name()) {
			t.Errorf("%s does not make the verb %s", file, verb.Name())
		}
	}
}
