package main

import (
	"fmt"
	"net"
	"time"
)

// idling says how much memory a server takes without clients, and with a thousand that send
// nothing.
func idling(o *options, parent string) error {
	const clients = 1000
	return onServer(o, parent, func(server *running) error {
		<-time.After(time.Second)
		alone, err := memoryOf(server.cmd.Process.Pid, "VmRSS:")
		if err != nil {
			return err
		}
		for range clients {
			conn, err := dial(server.port)
			if err != nil {
				return err
			}
			defer conn.Close()
			if _, err := conn.Write([]byte("PING\r\n")); err != nil {
				return err
			}
			if _, err := conn.Read(make([]byte, len("+PONG\r\n"))); err != nil {
				return err
			}
		}
		with, err := memoryOf(server.cmd.Process.Pid, "VmRSS:")
		if err != nil {
			return err
		}
		fmt.Printf("`serve` takes %d MB when it is idle, and %d MB with %d idle clients.\n\n", alone>>10, with>>10, clients)
		o.goals.below("memory of an idle `serve`", alone, 30)
		o.goals.below("memory for 10,000 idle clients, by what 1,000 take", (with-alone)*10_000/clients, 200)
		return nil
	})
}

func dial(port string) (net.Conn, error) { return net.Dial("tcp", "127.0.0.1:"+port) }
