//go:build deps

package deps

import (
	_ "github.com/adrg/xdg"
	_ "github.com/charmbracelet/bubbletea"
	_ "github.com/charmbracelet/lipgloss"
	_ "github.com/charmbracelet/x/ansi"
	_ "github.com/chzyer/readline"
	_ "github.com/olekukonko/tablewriter"
	_ "github.com/redis/go-redis/v9"
	_ "github.com/rogpeppe/go-internal/testscript"
	_ "github.com/spf13/cobra"
	_ "github.com/spf13/cobra/doc"
	_ "golang.org/x/term"
	_ "modernc.org/sqlite"
)
