// Package spelling suggests the correct words for a misspelt one.
package spelling
