// Package screen draws text in cells: colours, lines of text, bytes and bits, a line to
// type in, and commands as a person would type them. It knows no state and no target.
package screen
