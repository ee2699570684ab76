package acl

// ruleError is Redis's error text for a rule; fine means no error.
type ruleError string

const (
	noError          ruleError = ""
	unknown          ruleError = "Unknown command or category name in ACL"
	syntax           ruleError = "Syntax error"
	afterAllKeys     ruleError = "Adding a pattern after the * pattern (or the 'allkeys' flag) is not valid and does not have any effect. Try 'resetkeys' to start with an empty list of patterns"
	afterAllChannels ruleError = "Adding a pattern after the * pattern (or the 'allchannels' flag) is not valid and does not have any effect. Try 'resetchannels' to start with an empty list of channels"
	noSuchPassword   ruleError = "The password you are trying to remove from the user does not exist"
	badHash          ruleError = "The password hash must be exactly 64 characters and contain only lowercase hexadecimal characters"
	firstArgOfSub    ruleError = "Allowing first-arg of a subcommand is not supported"
)
