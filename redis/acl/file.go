package acl

import (
	"fmt"
	"slices"
	"strings"
)

// Load replaces all users by the users in a file's text, and returns the removed ones, as
// Delete does. If any line is invalid it changes nothing and returns errors in Redis's words,
// which name the file by path.
func (u *Users) Load(path, text string) (gone []*User, errors string) {
	u.mu.Lock()
	defer u.mu.Unlock()
	loaded, errors := u.parse(path, text)
	if errors != "" {
		return nil, errors + "WARNING: ACL errors detected, no change to the previously active ACL rules was performed"
	}
	if loaded[Default] == nil {
		loaded[Default] = defaultRights()
	}
	for name, user := range u.byName {
		if loaded[name] == nil {
			delete(u.byName, name)
			user.set(newRights(false))
			gone = append(gone, user)
		}
	}
	for name, r := range loaded {
		if user := u.byName[name]; user != nil {
			user.set(r)
		} else {
			u.add(name, r)
		}
	}
	slices.SortFunc(gone, func(a, b *User) int { return strings.Compare(a.name, b.name) })
	return gone, ""
}

// parse reads the lines of a file: "user name rule …".
func (u *Users) parse(path, text string) (loaded map[string]*rights, errors string) {
	loaded = map[string]*rights{}
	for i, line := range strings.Split(text, "\n") {
		line = strings.Trim(line, " \t\r\n")
		if line == "" {
			continue
		}
		at := fmt.Sprintf("%s:%d: ", path, i+1)
		parts := strings.Split(line, " ")
		switch {
		case parts[0] != "user" || len(parts) < 2:
			errors += at + "line should start with user keyword followed by the username. "
			continue
		case hasSpace(parts[1]):
			errors += "'" + at + "username '" + parts[1] + "' contains invalid characters. "
			continue
		case loaded[parts[1]] != nil:
			errors += fmt.Sprintf("WARNING: Duplicate user '%s' found on line %d. ", parts[1], i+1)
			continue
		}
		rules, open := merge(parts[2:])
		if open >= 0 {
			errors += at + "Unmatched parenthesis in selector definition."
		}
		r := newRights(u.allChannels)
		loaded[parts[1]] = r
		if open < 0 {
			errors += u.applyLine(r, at, rules)
		}
	}
	return loaded, errors
}

// applyLine returns every error about a command, and the first error of any other kind.
func (u *Users) applyLine(r *rights, at string, rules []string) (errors string) {
	told := false
	for _, rule := range rules {
		rule = strings.Trim(rule, "\t\r\n")
		switch wrong := r.apply(rule, u.allChannels); {
		case wrong == unknown:
			errors += at + "Error in applying operation '" + rule + "': " + string(wrong) + ". "
		case wrong != noError && !told:
			errors += at + string(wrong) + ". "
			told = true
		}
	}
	return errors
}
