package translator

import (
	"testing"

	"github.com/meowdis/meowdis/redis/commands"
	"github.com/meowdis/meowdis/redis/resp"
)

func TestMemoryDoctor(t *testing.T) {
	cmd, _ := commands.Find([][]byte{[]byte("memory"), []byte("doctor")})
	if cmd == nil {
		t.Fatal("there is no doctor")
	}
	if v := Translate(cmd, nil, Env{}).Reply; v.Kind != resp.Verbatim || len(v.Str) == 0 {
		t.Errorf("%v", v)
	}
}
