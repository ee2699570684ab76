package replicate

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/meowdis/meowdis/internal/test/s3test"
	"github.com/superfly/ltx"
)

// bucketPlace returns a place on an S3 server of its own.
func bucketPlace(t *testing.T) *Place {
	t.Helper()
	p, err := Open("s3://cats/the/path?endpoint="+s3test.Start(t, "../../internal/test/s3"), func(name string) string {
		return map[string]string{"AWS_ACCESS_KEY_ID": "id", "AWS_SECRET_ACCESS_KEY": "secret"}[name]
	})
	if err != nil {
		t.Fatal(err)
	}
	return p
}

func TestBucket(t *testing.T) {
	p := bucketPlace(t)
	p.files.(*bucket).piece = 1 << 20
	m := openMaster(t, filepath.Join(t.TempDir(), "cats.sqlite"), p)
	var b strings.Builder
	for r := rand.New(rand.NewPCG(1, 2)); b.Len() < 3<<20; {
		fmt.Fprintf(&b, "%c", r.Uint32()&0xff) // which LZ4 cannot compress
	}
	random := b.String()
	m.do("SET", "big", random)
	m.ship()
	m.do("SET", "tom", "1")
	m.ship()
	all, err := p.all(context.Background())
	if err != nil || len(all) != 2 || all[0].Size <= 1<<20 {
		t.Fatal(all, err)
	}
	for range 40 {
		m.now = m.now.Add(time.Hour)
		m.do("INCR", "tom")
		m.ship()
	}
	session := restored(t, p, time.Time{})
	if got := string(do(t, session, "GET", "tom").Str); got != "41" {
		t.Error(got)
	}
	if got := string(do(t, session, "GET", "big").Str); got != random {
		t.Error("the large value is another one")
	}
	if got := string(do(t, restored(t, p, m.now.Add(-10*time.Hour)), "GET", "tom").Str); got != "31" {
		t.Error(got)
	}
	gone := *all[0]
	gone.MaxTXID = 4711
	if _, err := p.open(context.Background(), &gone, 0, 0); !errors.Is(err, fs.ErrNotExist) {
		t.Error(err)
	}
	if err := p.remove(context.Background(), []*ltx.FileInfo{&gone}); err != nil {
		t.Error(err)
	}
	f := openFollower(t, p)
	m.do("SET", "tom", "77")
	m.ship()
	f.follow()
	if got := get(t, f.session, "tom"); got != "77" {
		t.Error(got)
	}
}

// TestBucketLease does with a bucket what TestLease and TestLeaseRace do with a directory.
func TestBucketLease(t *testing.T) {
	p := bucketPlace(t)
	for _, test := range []func(*Place){
		func(p *Place) { testLease(t, func(*testing.T) *Place { return p }) },
		func(p *Place) { testLeaseRace(t, p) },
	} {
		b := *p.files.(*bucket)
		b.path += "/more"
		p = newPlace(&b, p.name)
		test(p)
	}
}
