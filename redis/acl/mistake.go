package acl

// mistake is Redis's error text for a rule; fine means no error.
type mistake string

const (
	fine             mistake = ""
	unknown          mistake = "Unknown command or category name in ACL"
	syntax           mistake = "Syntax error"
	afterAllKeys     mistake = "Adding a pattern after the * pattern (or the 'allkeys' flag) is not valid and does not have any effect. Try 'resetkeys' to start with an empty list of patterns"
	afterAllChannels mistake = "Adding a pattern after the * pattern (or the 'allchannels' flag) is not valid and does not have any effect. Try 'resetchannels' to start with an empty list of channels"
	noSuchPassword   mistake = "The password you are trying to remove from the user does not exist"
	badHash          mistake = "The password hash must be exactly 64 characters and contain only lowercase hexadecimal characters"
	firstArgOfSub    mistake = "Allowing first-arg of a subcommand is not supported"
)
