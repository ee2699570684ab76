// Package edit is the pane of the inspector that changes data: forms, the editor and the
// command line, the confirmations, and undo.
//
// Start at Pane (pane.go). actions.go has the actions that keys trigger, editable.go the
// texts that can be edited, draft.go the external editor, console.go the command line.
// Every change goes through write (write.go); package change makes it in a job.
package edit
