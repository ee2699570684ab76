// Package spelling finds the words that a misspelt one was probably meant to be.
package spelling
