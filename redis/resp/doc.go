// Package resp is Redis's reply model: the values a command answers with, the
// RESP2 and RESP3 wire forms that carry them, and the forms that people and
// scripts read (typed, raw, CSV, JSON).
//
// Start at Value. Reader and Writer speak the wire; Printer speaks to people.
package resp
