package replicate

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/superfly/ltx"
)

// files parses "level:first-last" and "level:first-last@hours old".
func someFiles(t *testing.T, now time.Time, words string) (all []*ltx.FileInfo) {
	t.Helper()
	for word := range strings.FieldsSeq(words) {
		var level, first, last, age int
		if n, _ := fmt.Sscanf(word, "%d:%d-%d@%d", &level, &first, &last, &age); n < 3 {
			t.Fatal(word)
		}
		all = append(all, &ltx.FileInfo{Level: level, MinTXID: ltx.TXID(first), MaxTXID: ltx.TXID(last), CreatedAt: now.Add(-time.Duration(age) * time.Hour)})
	}
	return all
}

func shown(files []*ltx.FileInfo) string {
	var words []string
	for _, f := range files {
		words = append(words, fmt.Sprintf("%d:%d-%d", f.Level, f.MinTXID, f.MaxTXID))
	}
	return strings.Join(words, " ")
}

func TestPlan(t *testing.T) {
	for _, c := range []struct {
		files string
		from  ltx.TXID
		want  string
	}{
		{"", 0, ""},
		{"0:1-1 0:2-2 0:3-3", 0, "0:1-1 0:2-2 0:3-3"},
		{"0:1-1 0:2-2 0:3-3", 2, "0:3-3"},
		{"0:1-1 0:2-2 0:3-3", 3, ""},
		{"0:1-1 0:2-2 0:3-3", 9, ""},
		{"0:1-1 0:2-2 0:3-3 0:4-4 1:2-3", 0, "0:1-1 1:2-3 0:4-4"},
		{"0:1-1 0:2-2 0:3-3 9:1-3 0:4-4", 0, "9:1-3 0:4-4"},
		{"0:1-1 0:2-2 0:3-3 9:1-3 0:4-4", 2, "0:3-3 0:4-4"},
		{"0:3-3 9:1-3", 2, "0:3-3"},
		{"9:1-3 0:4-4", 1, "9:1-3 0:4-4"},
		{"0:1-1 0:2-2 0:2-3", 0, "0:1-1 0:2-3"}, // the first attempt may have been written
		{"0:1-1 0:2-2 0:2-3", 2, "0:2-3"},
		{"0:1-1 0:3-3", 0, "files are missing after transaction 1, before 3"},
		{"0:3-3", 0, "files are missing after transaction 0, before 3"},
	} {
		chosen, err := plan(someFiles(t, time.Now(), c.files), c.from)
		got := shown(chosen)
		if err != nil {
			got = err.Error()
			got = strings.NewReplacer("0000000000000000", "0", "0000000000000001", "1", "0000000000000003", "3").Replace(got)
		}
		if got != c.want {
			t.Errorf("%s from %d: %s, not %s", c.files, c.from, got, c.want)
		}
	}
}

func TestNeedless(t *testing.T) {
	for _, c := range []struct{ files, want string }{
		{"0:1-1@99 0:2-2@98", ""},
		{"0:1-1@99 0:2-2@98 0:3-3@0 1:2-3@0", "0:2-2"},
		{"0:1-1@99 0:2-2@98 1:2-3@70 9:1-3@30 0:4-4@29 9:1-4@1", "0:1-1 0:2-2 1:2-3"},
		{"9:1-3@50 9:1-5@30 1:4-5@30 1:4-6@30 9:1-9@1", "9:1-3 1:4-5"},
	} {
		now := time.Now()
		if got := shown(obsolete(someFiles(t, now, c.files), now, days)); got != c.want {
			t.Errorf("%s: %s, not %s", c.files, got, c.want)
		}
	}
}

func TestOpen(t *testing.T) {
	env := map[string]string{"AWS_ACCESS_KEY_ID": "a", "AWS_SECRET_ACCESS_KEY": "b"}
	for where, want := range map[string]string{
		"s3://bucket/a/b":                     "https://bucket.s3.us-east-1.amazonaws.com",
		"s3://bucket/a/b?region=eu-central-1": "https://bucket.s3.eu-central-1.amazonaws.com",
		"s3://dotted.name/a":                  "https://s3.us-east-1.amazonaws.com/dotted.name",
		"s3://bucket/a?endpoint=h:9000":       "https://h:9000/bucket",
		"s3://bucket/a?endpoint=http://h":     "http://h/bucket",
		"s3://bucket/a?endpoint=ftp://h":      "use an http or https URL",
		"s3://bucket/a?endpiont=h":            `no option "endpiont"`,
		"s3://bucket":                         "s3://bucket/path",
		"s3://id:secret@bucket/a":             "AWS_ACCESS_KEY_ID",
		"gs://bucket/a":                       "invalid place",
		"file://host/a":                       "invalid place",
		"":                                    "missing",
	} {
		p, err := Open(where, func(name string) string { return env[name] })
		got := fmt.Sprint(err)
		if err == nil {
			got = p.files.(*bucket).root.String()
		}
		if !strings.Contains(got, want) {
			t.Errorf("%s: %s, not %s", where, got, want)
		}
	}
	if _, err := Open("s3://bucket/a", func(string) string { return "" }); err == nil {
		t.Error("S3 without a key")
	}
}

// TestLeft removes old partial files of killed servers from a directory.
func TestLeft(t *testing.T) {
	p := directoryPlace(t)
	d := p.files.(directory)
	if err := os.MkdirAll(d.level(0), 0o700); err != nil {
		t.Fatal(err)
	}
	old, young := filepath.Join(d.level(0), ".partial-1"), filepath.Join(d.level(0), ".partial-2")
	for _, path := range []string{old, young} {
		if err := os.WriteFile(path, nil, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	past := time.Now().Add(-2 * partialMaxAge)
	if err := os.Chtimes(old, past, past); err != nil {
		t.Fatal(err)
	}
	if err := p.remove(context.Background(), nil); err != nil {
		t.Fatal(err)
	}
	_, gone := os.Stat(old)
	_, there := os.Stat(young)
	if !errors.Is(gone, os.ErrNotExist) || there != nil {
		t.Error(gone, there)
	}
}

// TestListedWhileWritten restores from a directory whose listing has a new file, but not the one before it.
func TestListedWhileWritten(t *testing.T) {
	p := directoryPlace(t)
	m := openMaster(t, filepath.Join(t.TempDir(), "a.sqlite"), p)
	defer m.close()
	for _, value := range []string{"1", "2", "3"} {
		m.do("SET", "tom", value)
		if err := m.shipper.Ship(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	for incomplete := range 3 {
		late := newPlace(&lateListing{p.files, incomplete}, p.name)
		if got := get(t, restored(t, late, time.Time{}), "tom"); got != "3" {
			t.Errorf("after %d incomplete lists: %q", incomplete, got)
		}
	}
	listed, err := p.list(t.Context(), 0)
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range listed {
		if f.MinTXID == 2 {
			if err := p.remove(t.Context(), []*ltx.FileInfo{f}); err != nil {
				t.Fatal(err)
			}
		}
	}
	if _, err := p.Restore(t.Context(), filepath.Join(t.TempDir(), "b.sqlite"), time.Time{}, nil); err == nil || !strings.Contains(err.Error(), "files are missing") {
		t.Errorf("with a gap: %v", err)
	}
}

// lateListing leaves the second file out of some lists.
type lateListing struct {
	files
	incomplete int
}

func (l *lateListing) list(ctx context.Context, level int) ([]*ltx.FileInfo, error) {
	all, err := l.files.list(ctx, level)
	if level == 0 && l.incomplete > 0 {
		l.incomplete--
		all = slices.DeleteFunc(all, func(f *ltx.FileInfo) bool { return f.MinTXID == 2 })
	}
	return all, err
}
