package clients

import (
	"os"
	"testing"

	"github.com/meowdis/meowdis/internal/hermetic"
)

// TestMain keeps the user's own settings from the clients.
func TestMain(m *testing.M) {
	if err := hermetic.Clear(); err != nil {
		panic(err)
	}
	os.Exit(m.Run())
}
