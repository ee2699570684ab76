package remote_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/meowdis/meowdis/remote"
)

// startRedis runs a redis-server or a sentinel on a free port until the test ends.
func startRedis(t *testing.T, args func(port int) []string) (address string, port int, cmd *exec.Cmd) {
	t.Helper()
	for range 10 {
		port = 10_000 + rand.IntN(20_000)
		address = fmt.Sprintf("127.0.0.1:%d", port)
		if l, err := net.Listen("tcp", address); err != nil {
			continue
		} else {
			l.Close()
		}
		cmd = exec.Command("redis-server", args(port)...)
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { cmd.Process.Kill(); cmd.Wait() })
		for range 1000 {
			if c, err := net.Dial("tcp", address); err == nil {
				c.Close()
				return address, port, cmd
			}
			<-time.After(10 * time.Millisecond)
		}
	}
	t.Fatal("redis-server does not start")
	return "", 0, nil
}

func commandOf(line string) (args [][]byte) {
	for word := range strings.FieldsSeq(line) {
		args = append(args, []byte(word))
	}
	return args
}

// The session is on the master of the moment, again after it was killed and a replica took over.
func TestSentinel(t *testing.T) {
	dir := t.TempDir()
	plain := func(port int) []string {
		return []string{"--port", fmt.Sprint(port), "--bind", "127.0.0.1", "--save", "", "--dir", dir, "--repl-diskless-sync-delay", "0"}
	}
	_, port, master := startRedis(t, plain)
	replica, _, _ := startRedis(t, func(own int) []string { return append(plain(own), "--replicaof", fmt.Sprintf("127.0.0.1 %d", port)) })
	sentinel, _, _ := startRedis(t, func(own int) []string {
		conf := filepath.Join(dir, fmt.Sprintf("sentinel-%d.conf", own))
		text := fmt.Sprintf("port %d\nbind 127.0.0.1\ndir %s\nsentinel monitor cats 127.0.0.1 %d 1\nsentinel down-after-milliseconds cats 500\nrequirepass hiss\nsentinel failover-timeout cats 3000\n", own, dir, port)
		if err := os.WriteFile(conf, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		return []string{conf, "--sentinel"}
	})
	ctx := context.Background()
	ask, err := remote.OpenRedis(ctx, "redis://:hiss@"+sentinel, false, remote.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer ask.Close()
	if mode, err := ask.Mode(ctx); mode != "sentinel" || err != nil {
		t.Errorf("the mode is %q: %v", mode, err)
	}
	for end := time.Now().Add(time.Minute); ; <-time.After(50 * time.Millisecond) {
		v, err := ask.Do(ctx, commandOf("SENTINEL REPLICAS cats")...)
		linked := false
		for _, replica := range v.Elems {
			for i := 0; i+1 < len(replica.Elems); i += 2 {
				linked = linked || string(replica.Elems[i].Str) == "master-link-status" && string(replica.Elems[i+1].Str) == "ok"
			}
		}
		if linked {
			break
		}
		if time.Now().After(end) {
			t.Fatalf("the sentinel does not know the replica: %v %v", v, err)
		}
	}
	s, err := remote.OpenRedis(ctx, "redis-sentinel://127.0.0.1:1,"+sentinel+"/cats/2?sentinel_password=hiss", false, remote.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	if s.DB() != 2 {
		t.Errorf("database %d", s.DB())
	}
	if v, err := s.Do(ctx, commandOf("SET a 1")...); err != nil || string(v.Str) != "OK" {
		t.Fatalf("%s %v", v.Str, err)
	}
	if v, err := s.Do(ctx, commandOf("WAIT 1 20000")...); err != nil || v.Int != 1 {
		t.Fatalf("%d %v", v.Int, err)
	}
	master.Process.Kill()
	master.Wait()
	if v, err := s.Do(ctx, commandOf("GET a")...); err != nil || string(v.Str) != "1" || s.Address() != replica {
		t.Errorf("after the failover: %q %v, from %s", v.Str, err, s.Address())
	}
	if v, err := s.Do(ctx, commandOf("SET a 2")...); err != nil || string(v.Str) != "OK" {
		t.Errorf("%s %v", v.Str, err)
	}
	if _, err := remote.OpenRedis(ctx, "redis-sentinel://"+sentinel+"/cats", false, remote.Options{}); err == nil || !strings.Contains(err.Error(), "sentinel_password") {
		t.Error(err)
	}
	if _, err := remote.OpenRedis(ctx, "redis-sentinel://"+sentinel+"/dogs?sentinel_user=default&sentinel_password=hiss", false, remote.Options{}); err == nil || !strings.Contains(err.Error(), `knows no master "dogs"`) {
		t.Error(err)
	}
	if err := remote.CheckURL("redis-sentinel://" + sentinel); err == nil {
		t.Error("a URL without a name is accepted")
	}
}
