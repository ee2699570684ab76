// Package survey looks over a whole database: it walks through keys and through
// the elements of a key, adds up what it meets, and measures round trips. It never
// holds more than a page of keys, whatever the size of the database.
//
// A Walk goes by SCAN and asks about each key, on whatever runs commands. File
// reads the same facts from the tables of a file, which is many times as fast. Both
// give pages of Keys, and a Summary takes those; report.go writes it for people.
package survey
