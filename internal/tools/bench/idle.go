package main

import (
	"crypto/tls"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"time"
)

// idling measures the memory of a server without clients, and with idle clients.
func idling(o *options, parent string) error {
	fmt.Fprint(o.out, "| Idle clients | without | with them | for 10,000 |\n|---|---|---|---|\n")
	for _, c := range []struct {
		what    string
		clients int64
		goal    int64 // MB for 10,000
		flags   []string
		dial    func(port string) (net.Conn, error)
	}{
		{"over RESP", 9_900, 200, []string{"--resp"}, dial},
		{"over TLS", 2_000, 1000, []string{"--tls-self-signed", "--resp-tls"}, dialTLS},
	} {
		alone, with, err := measureIdle(o, parent, c.clients, c.flags, c.dial)
		if err != nil {
			return err
		}
		all := (with - alone) * 10_000 / c.clients
		fmt.Fprintf(o.out, "| %d %s | %d MB | %d MB | %d MB |\n", c.clients, c.what, alone>>10, with>>10, all>>10)
		o.goals.below("memory of an idle `serve` that listens "+c.what, alone, 30)
		o.goals.below("memory for 10,000 idle clients "+c.what, all, c.goal)
	}
	fmt.Fprintln(o.out)
	return nil
}

// measureIdle returns the memory of a server in KB, before and after clients connect and send one
// PING each. The server is started with the flags and a port.
func measureIdle(o *options, parent string, clients int64, flags []string, dial func(port string) (net.Conn, error)) (alone, with int64, err error) {
	dir, err := os.MkdirTemp(parent, "idle")
	if err != nil {
		return 0, 0, err
	}
	defer os.RemoveAll(dir)
	server, err := start(rival{"meowdis", func(port, dir string) *exec.Cmd {
		args := append([]string{"serve", filepath.Join(dir, "meowdis.sqlite")}, flags...)
		run := exec.Command(o.meowdis, append(args, "127.0.0.1:"+port)...)
		run.Env = append(os.Environ(), "XDG_STATE_HOME="+dir)
		return run
	}}, dir)
	if err != nil {
		return 0, 0, err
	}
	defer server.stop()
	<-time.After(time.Second)
	if alone, err = memoryOf(server.cmd.Process.Pid, "VmRSS:"); err != nil {
		return 0, 0, err
	}
	for range clients {
		conn, err := dial(server.port)
		if err != nil {
			return 0, 0, err
		}
		defer conn.Close()
		if _, err := conn.Write([]byte("PING\r\n")); err != nil {
			return 0, 0, err
		}
		if _, err := conn.Read(make([]byte, len("+PONG\r\n"))); err != nil {
			return 0, 0, err
		}
	}
	with, err = memoryOf(server.cmd.Process.Pid, "VmRSS:")
	return alone, with, err
}

func dial(port string) (net.Conn, error) { return net.Dial("tcp", "127.0.0.1:"+port) }

func dialTLS(port string) (net.Conn, error) {
	return tls.Dial("tcp", "127.0.0.1:"+port, &tls.Config{InsecureSkipVerify: true})
}
