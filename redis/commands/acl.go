package commands

import (
	"slices"
	"strings"
)

// categoryNames holds the ACL categories, in Redis's order.
var categoryNames = []string{
	"keyspace", "read", "write", "set", "sortedset", "list", "hash", "string", "bitmap", "hyperloglog", "geo", "stream",
	"pubsub", "admin", "fast", "slow", "blocking", "dangerous", "connection", "transaction", "scripting", "array",
	"bloom", "cuckoo", "cms", "topk", "tdigest", "timeseries", "search", "json",
}

// Categories returns the names of the ACL categories, in Redis's order.
func Categories() []string { return categoryNames }

// groupCategories holds the categories of the groups whose commands all share one.
var groupCategories = map[string]string{
	"generic": "keyspace", "string": "string", "hash": "hash", "list": "list", "set": "set", "sorted-set": "sortedset",
	"bitmap": "bitmap", "hyperloglog": "hyperloglog", "geo": "geo", "stream": "stream", "array": "array", "pubsub": "pubsub",
	"connection": "connection", "transactions": "transaction", "scripting": "scripting",
}

// ACLCategories returns the command's ACL categories in Redis's order: its own or its group's,
// and the ones implied by its flags. Commands of vector sets have none.
func (c *Command) ACLCategories() []string {
	if c.ofVectorSets() {
		return nil
	}
	has := map[string]bool{}
	module := c.Flags&Module != 0 && c.Categories != nil
	for _, name := range c.Categories {
		has[name] = true
	}
	if c.Categories == nil && len(c.subs) == 0 {
		has[groupCategories[c.Group]] = true
	}
	has["json"] = strings.HasPrefix(c.Name, "JSON.")
	if c.Flags&Write != 0 {
		has["write"] = true
	}
	if c.Flags&ReadOnly != 0 && !has["scripting"] {
		has["read"] = true
	}
	if c.Flags&Admin != 0 {
		has["admin"], has["dangerous"] = true, true
	}
	if c.Flags&PubSub != 0 {
		has["pubsub"] = true
	}
	if c.Flags&Blocking != 0 {
		has["blocking"] = true
	}
	if !module { // a module declares @fast itself, and no command as @slow
		has["fast"] = c.Flags&Fast != 0
		has["slow"] = !has["fast"]
	}
	var names []string
	for _, name := range categoryNames {
		if has[name] {
			names = append(names, name)
		}
	}
	return names
}

// ofVectorSets reports whether the command belongs to Redis 8.0's vector set module.
func (c *Command) ofVectorSets() bool { return c.Flags&Module != 0 && c.Name[0] == 'V' }

// InCategory reports whether the command has the named ACL category, in any case.
func (c *Command) InCategory(name []byte) bool {
	return slices.ContainsFunc(c.ACLCategories(), func(own string) bool { return Is(name, strings.ToUpper(own)) })
}
