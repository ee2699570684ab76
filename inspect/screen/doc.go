// Package screen draws text in cells: colours, lines of text, bytes and bits, an input line, and
// commands as a user would type them. It knows no pane and no target.
package screen
