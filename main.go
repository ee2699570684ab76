// Command meowdis runs Redis commands on a SQLite file, or on a server.
package main

import (
	"os"

	"github.com/meowdis/meowdis/cmd"
)

func main() { os.Exit(cmd.Main()) }
