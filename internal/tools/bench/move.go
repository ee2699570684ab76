package main

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
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
	if err := redisDump(source, o, dir); err != nil {
		return fmt.Errorf("making an RDB file: %w", err)
	}
	fmt.Fprintf(o.out, "%d strings, in no order, whole processes:\n\n| | time | processor time |\n|---|---:|---:|\n", o.keys)
	for _, args := range [][]string{
		{"dump", "-t", source, archive},
		{"restore", "-t", place("restored.sqlite"), archive},
		{"import", "-t", place("imported.sqlite"), place("dump.rdb")},
		{"copy", source, place("copied.sqlite")},
		{"diff", source, place("copied.sqlite")},
		{"export", "-t", source, place("exported.rdb")},
	} {
		var took started
		if err := took.add(exec.Command(o.meowdis, args...)); err != nil {
			return fmt.Errorf("%q: %w", args, err)
		}
		fmt.Fprintf(o.out, "| `%s` | %s | %s |\n", args[0], took.wall[0].Round(1e8), took.cpu[0].Round(1e8))
	}
	fmt.Fprintln(o.out)
	return nil
}

// redisDump makes redis-server write the keys of the file source to dir/dump.rdb.
func redisDump(source string, o *options, dir string) error {
	redis, err := start(redisServer, dir)
	if err != nil {
		return err
	}
	defer redis.stop()
	commands, err := exec.Command(o.meowdis, "dump", "-t", source, "--format", "resp", "-").Output()
	if err != nil {
		return err
	}
	fill := exec.Command("redis-cli", "-p", redis.port, "--pipe")
	fill.Stdin = bytes.NewReader(commands)
	if err := fill.Run(); err != nil {
		return err
	}
	return exec.Command("redis-cli", "-p", redis.port, "SAVE").Run()
}
