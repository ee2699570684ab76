package cmd_test

import "testing"

func TestREPLPager(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	s := openScreen(t, 80, 10, "HOME="+dir, "XDG_STATE_HOME="+dir+"/state", "XDG_CONFIG_HOME="+dir+"/config", `PAGER=sed s/^/paged:/`)
	s.check(s.Run("cd " + dir + " && clear && meowdis repl -t t.sqlite"))
	s.lastLine("t.sqlite>")
	s.runs("RPUSH l 1 2 3 4 5 6 7 8 9 10 11 12", "(integer) 12", "t.sqlite>")
	s.runs("LRANGE l 0 1", `1) "1"`, `2) "2"`, "t.sqlite>")
	s.check(s.Run("LRANGE l 0 -1"))
	s.ends(`paged:12) "12"`, "t.sqlite>")
	s.runs("PING", "PONG", "t.sqlite>")
}
