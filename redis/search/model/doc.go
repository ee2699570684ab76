// Package model evaluates a query of Redis's search over one document in memory: the definition that an index must agree
// with.
package model
