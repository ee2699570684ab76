package slot

import "testing"

// The examples are those of https://redis.io/docs/latest/operate/oss_and_stack/reference/cluster-spec/.
func TestOf(t *testing.T) {
	for key, want := range map[string]int{
		"123456789":                     0x31C3,
		"{user1000}.following":          Of([]byte("user1000")),
		"foo{}{bar}":                    8363, // all of it
		"foo{{bar}}zap":                 Of([]byte("{bar")),
		"foo{bar}{zap}":                 Of([]byte("bar")),
		"{unclosed":                     Of([]byte("{unclosed")),
		"":                              0,
		"a":                             15495,
		"\x00\xff{\xfe}after the \xffs": Of([]byte("\xfe")),
	} {
		if got := Of([]byte(key)); got != want {
			t.Errorf("%q is in slot %d, want %d", key, got, want)
		}
	}
}

func TestTag(t *testing.T) {
	for slot := range Count {
		if tag := Tag(slot); Of([]byte("meowdis:{"+tag+"}{other}")) != slot {
			t.Fatalf("{%s} is not in slot %d", tag, slot)
		}
	}
}
