package repl

import "testing"

func TestHoldsSecret(t *testing.T) {
	for line, want := range map[string]bool{
		"AUTH secret":                                      true,
		"auth user secret":                                 true,
		"3 AUTH secret":                                    true,
		`AUTH "secret`:                                     true,
		`"AUTH" secret`:                                    true,
		"HELLO 3 AUTH user secret":                         true,
		"HELLO 3":                                          false,
		"ACL SETUSER cat >secret":                          true,
		"ACL RESTTOKEN user secret":                        true,
		"ACL LIST":                                         false,
		"CONFIG SET requirepass secret":                    true,
		"config set maxmemory 1 masterauth secret":         true,
		"CONFIG SET maxmemory 1":                           false,
		"CONFIG GET requirepass":                           false,
		"SENTINEL SET master auth-pass secret":             true,
		"MIGRATE host 6379 k 0 100 AUTH secret":            true,
		"MIGRATE host 6379 k 0 100 COPY AUTH2 user secret": true,
		"MIGRATE host 6379 k 0 100":                        false,
		"SET auth value":                                   false,
		"GET a\nAUTH secret":                               true,
		":connect redis://user:secret@host":                true,
		":connect redis://host/0":                          false,
		":explain AUTH secret":                             true,
		":peek auth":                                       false,
		"AUTH":                                             false,
		"":                                                 false,
	} {
		if got := holdsSecret(line); got != want {
			t.Errorf("%q: got %v", line, got)
		}
	}
}
