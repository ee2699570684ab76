// Package ui holds what all panes of the inspector share: the context that each pane gets, and the
// dialogs that it can open over the screen, such as pickers, questions and pages.
package ui
