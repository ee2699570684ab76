package lua_test

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/meowdis/meowdis/redis/lua"
)

// TestLanguage runs each line of testdata's files here and by Lua 5.1 itself: what it
// returns and what its errors say are the same.
func TestLanguage(t *testing.T) {
	reference, err := exec.LookPath("lua5.1")
	if err != nil {
		t.Fatalf("%v: install Debian's lua5.1", err)
	}
	driver, err := os.ReadFile("testdata/driver.lua")
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"numbers", "strings", "tables", "errors"} {
		t.Run(name, func(t *testing.T) {
			text, err := os.ReadFile("testdata/" + name + ".lua")
			if err != nil {
				t.Fatal(err)
			}
			lines := strings.Split(strings.TrimSuffix(string(text), "\n"), "\n")
			program := "lines = {\n"
			for _, line := range lines {
				program += "[====[" + line + "]====],\n"
			}
			program += "}\n" + string(driver)
			file := filepath.Join(t.TempDir(), "all.lua")
			if err := os.WriteFile(file, []byte(program), 0o600); err != nil {
				t.Fatal(err)
			}
			out, err := exec.Command(reference, file).CombinedOutput()
			if err != nil {
				t.Fatalf("%v: %s", err, out)
			}
			want, got := byLine(string(out)), byLine(printed(t, program))
			for i, line := range lines {
				if n := fmt.Sprint(i + 1); got[n] != want[n] {
					t.Errorf("%s\nhere:    %s\nLua 5.1: %s", line, got[n], want[n])
				}
			}
		})
	}
}

// byLine are the parts of what the driver prints, by the line that they are about.
func byLine(out string) map[string]string {
	parts, last := map[string]string{}, ""
	for _, line := range strings.Split(out, "\n") {
		if n, rest, ok := strings.Cut(line, "\t"); ok && strings.Trim(n, "0123456789") == "" {
			last = n
			line = rest
		}
		parts[last] += line + "\n"
	}
	return parts
}

func printed(t *testing.T, program string) string {
	var b strings.Builder
	s := lua.NewState()
	defer s.Close()
	s.OpenLibraries()
	s.Globals.SetField("print", lua.Of(lua.GoFunc("print", func(s *lua.State, args []lua.Value) []lua.Value {
		for i, v := range args {
			if i > 0 {
				b.WriteByte('\t')
			}
			b.WriteString(s.ToString(v))
		}
		b.WriteByte('\n')
		return nil
	})))
	fn, err := s.Load(program, "@all.lua")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := s.Call(fn); err != nil {
		t.Fatal(err)
	}
	return b.String()
}
