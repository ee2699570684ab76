package profile

import (
	"path/filepath"
	"reflect"
	"testing"
)

// FuzzFile reads configurations as people may have written them. What is read is
// saved and read again the same.
func FuzzFile(f *testing.F) {
	f.Add("profile = \"a\"\n[profiles.a]\nurl = \"https://h\"\ntoken = \"t\"\ndatabase = 3\nread_only = true\n")
	f.Add("[profiles.\"a b\"]\ndb = '''/x\ny'''\n")
	f.Add("profile = \"gone\"")
	f.Add("[profiles.a]\nurl = 1")
	f.Add("profiles = []")
	f.Add("[inspect]\ntheme = 'terminal'\n[inspect.keys]\nfilter = '/'\nquit = ['q', 'Q']\n[inspect.colors]\ndim = '#777'\n")
	f.Add("[inspect.keys]\nfilter = [1]")
	f.Fuzz(func(t *testing.T, text string) {
		was := &File{path: filepath.Join(t.TempDir(), "config.toml")}
		if was.parse(text) != nil {
			return
		}
		if err := was.Save(); err != nil {
			t.Fatal(err)
		}
		is, err := Load(was.path)
		if err != nil || is.InUse != was.InUse || len(is.Profiles) != len(was.Profiles) || len(is.Profiles) > 0 && !reflect.DeepEqual(is.Profiles, was.Profiles) || !sameInspect(is.Inspect, was.Inspect) {
			t.Fatalf("%+v came back as %+v, %v", was, is, err)
		}
	})
}

// sameInspect compares what was given: an empty table is as none.
func sameInspect(a, b *Inspect) bool {
	if a == nil {
		a = &Inspect{}
	}
	if b == nil {
		b = &Inspect{}
	}
	return a.Theme == b.Theme && (len(a.Keys) == 0 && len(b.Keys) == 0 || reflect.DeepEqual(a.Keys, b.Keys)) &&
		(len(a.Colors) == 0 && len(b.Colors) == 0 || reflect.DeepEqual(a.Colors, b.Colors))
}
