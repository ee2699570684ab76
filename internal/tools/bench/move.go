package main

import (
	"bytes"
	"database/sql"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"time"
)

// moving times processes that move many keys from one file to another, and one that compares
// them.
func moving(o *options, parent string) error {
	dir, err := os.MkdirTemp(parent, "move")
	if err != nil {
		return err
	}
	place := func(name string) string { return filepath.Join(dir, name) }
	source, archive := place("source.sqlite"), place("archive")
	if _, _, err := load(o, source, shuffled(o.keys)); err != nil {
		return err
	}
	redis, err := start(redisServer, dir)
	if err != nil {
		return err
	}
	defer redis.stop()
	if err := redisDump(redis.port, source, o); err != nil {
		return fmt.Errorf("making an RDB file: %w", err)
	}
	alone, err := sqliteCopy(o, place("alone.sqlite"), source)
	if err != nil {
		return err
	}
	fmt.Fprintf(o.out, "%d strings, in no order, whole processes:\n\n| | time | processor time | bytes written |\n|---|---:|---:|---:|\n", o.keys)
	limit := fmt.Sprintf("SQLite alone: %s", alone.Round(1e8))
	for _, m := range []struct {
		name   string
		goal   time.Duration // processor time of a key; 0 for none
		beside string        // what SQLite itself takes
		wrote  string        // a file that is written from nothing
		args   []string
	}{
		{"`dump`", 0, "", "", []string{"dump", "-t", source, archive}},
		{"`restore`", 10 * time.Microsecond, limit, place("restored.sqlite"), []string{"restore", "-t", place("restored.sqlite"), archive}},
		{"`import` of an RDB file", 10 * time.Microsecond, limit, "", []string{"import", "-t", place("imported.sqlite"), place("dump.rdb")}},
		{"`copy`", 10 * time.Microsecond, limit, "", []string{"copy", source, place("copied.sqlite")}},
		{"`diff` of two files", 0, "", "", []string{"diff", source, place("copied.sqlite")}},
		{"`diff` of redis-server and a file", 15 * time.Microsecond, "", "", []string{"diff", "redis://localhost:" + redis.port, source}},
		{"`export`", 0, "", "", []string{"export", "-t", source, place("exported.rdb")}},
	} {
		var took started
		var wrote int64
		c := exec.Command(o.meowdis, m.args...)
		if err := took.addWith(c, func() error { wrote = bytesWritten(c); return nil }); err != nil {
			return fmt.Errorf("%q: %w", m.args, err)
		}
		fmt.Fprintf(o.out, "| %s | %s | %s | %d MB |\n", m.name, took.wall[0].Round(1e8), took.cpu[0].Round(1e8), wrote>>20)
		if m.goal > 0 {
			o.goals.withinBeside(fmt.Sprintf("processor time of %s, %d keys", m.name, o.keys), took.cpu[0], time.Duration(o.keys)*m.goal, m.beside)
		}
		if m.wrote == "" {
			continue
		}
		file, err := os.Stat(m.wrote)
		if err != nil {
			return err
		}
		o.goals.atMost("bytes that "+m.name+" writes : bytes of the file", float64(wrote)/float64(file.Size()), 3)
	}
	fmt.Fprintf(o.out, "| INSERT … SELECT of the same rows into the same tables, SQLite alone | | %s | |\n\n", alone.Round(1e8))
	return following(o, redis, place("followed.sqlite"))
}

// bytesWritten returns the bytes that the process of c has written when it ends, as the kernel counts them.
func bytesWritten(c *exec.Cmd) (n int64) {
	for {
		counts, err := os.ReadFile(fmt.Sprintf("/proc/%d/io", c.Process.Pid))
		if err != nil {
			return n
		}
		state, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", c.Process.Pid))
		for line := range strings.Lines(string(counts)) {
			if text, ok := strings.CutPrefix(line, "wchar: "); ok {
				n, _ = strconv.ParseInt(strings.TrimSpace(text), 10, 64)
			}
		}
		if _, after, _ := bytes.Cut(state, []byte(") ")); err != nil || bytes.HasPrefix(after, []byte("Z")) {
			return n // it has ended, and nothing has waited for it
		}
		time.Sleep(10 * time.Millisecond)
	}
}

// redisDump makes a redis-server write the keys of the file source to dump.rdb in its directory.
func redisDump(port, source string, o *options) error {
	commands, err := exec.Command(o.meowdis, "dump", "-t", source, "--format", "resp", "-").Output()
	if err != nil {
		return err
	}
	fill := exec.Command("redis-cli", "-p", port, "--pipe")
	fill.Stdin = bytes.NewReader(commands)
	if err := fill.Run(); err != nil {
		return err
	}
	return exec.Command("redis-cli", "-p", port, "SAVE").Run()
}

// sqliteCopy returns the processor time that SQLite alone takes to put the keys of the file source into the tables of a
// new file at path, as a load does: sorted by name, the index by hash last. No program that keeps these tables can take
// less.
func sqliteCopy(o *options, path, source string) (time.Duration, error) {
	if err := exec.Command(o.meowdis, "exec", "-t", path, "DEL", "none").Run(); err != nil { // creates the file
		return 0, err
	}
	db, err := sql.Open("sqlite", path+"?_pragma=synchronous(normal)&_pragma=cache_size(-65536)")
	if err != nil {
		return 0, err
	}
	defer db.Close()
	db.SetMaxOpenConns(1) // which has the other file attached
	began := processorTime()
	for _, text := range []string{
		"ATTACH '" + source + "' AS source",
		"DROP INDEX keys_by_hash",
		`INSERT INTO keys(db, key, hash, type, version, created_at, updated_at, value)
			SELECT db, key, hash, type, version, created_at, updated_at, value FROM source.keys ORDER BY db, key`,
		"CREATE INDEX keys_by_hash ON keys(db, hash)",
	} {
		if _, err := db.Exec(text); err != nil {
			return 0, fmt.Errorf("%s: %w", text, err)
		}
	}
	return processorTime() - began, nil
}
