// Package ui is shared by all panes of the inspector. It holds the context of a pane and the dialogs that
// a pane can open over the screen, such as pickers, questions and pages.
package ui
