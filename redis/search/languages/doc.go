// Package languages registers the stemmers of Snowball and the double metaphone with package redis/search/text. A program
// that imports it stems every language that Redis's search stems and Snowball's Go code has; the Worker's program has only
// English, since its size is limited.
package languages
