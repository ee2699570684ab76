// Command bench measures meowdis and its rivals in one run on one machine, and prints ratios
// as Markdown. See docs/benchmarks.md.
package main
