// Package edit is the room of the inspector that changes data: what asks for a change
// (forms, the editor, the console), what asks the person first, and the undo of it all.
//
// Start at Room (room.go). actions.go has what the keys of the keyboard mean, editable.go
// which text is edited, draft.go the editor outside, console.go the command line. Every
// change goes through write (write.go), and package change makes it in a job.
package edit
