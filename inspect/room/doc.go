// Package room is what every room of the inspector is handed, the Base, and the dialogs
// that any of them can open above the screen: lists to pick from, questions, and pages.
package room
