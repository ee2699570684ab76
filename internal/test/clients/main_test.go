package clients

import (
	"flag"
	"os"
	"testing"

	"github.com/meowdis/meowdis/internal/test/hermetic"
)

// TestMain keeps the user's own settings from the clients. Programs wait most of the time, so
// that more of them run at once than there are processors.
func TestMain(m *testing.M) {
	if err := hermetic.Clear(); err != nil {
		panic(err)
	}
	flag.Parse()
	if err := flag.Set("test.parallel", "8"); err != nil {
		panic(err)
	}
	code := m.Run()
	os.RemoveAll(projectDir)
	os.RemoveAll(buildDir)
	os.Exit(code)
}
