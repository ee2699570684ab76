package server

import (
	"errors"
	"io"
	"maps"
	"os"
	"slices"
	"strings"

	"github.com/meowdis/meowdis/internal/atomicfile"
	"github.com/meowdis/meowdis/redis/acl"
	"github.com/meowdis/meowdis/redis/conf"
	"github.com/meowdis/meowdis/redis/resp"
)

// StartNames are directives that the caller of New reads to fill Config.
var StartNames = []string{
	"port", "bind", "unixsocket", "unixsocketperm", "aclfile", "cluster-enabled",
	"tls-port", "tls-cert-file", "tls-key-file", "tls-ca-cert-file", "tls-auth-clients",
}

// Configure applies the parameters and users of a configuration file, except StartNames and the parameters in except,
// which the command line has set. Call it before the server serves. One log line names the directives that have no
// effect here. Unknown directives and wrong values are errors of type *conf.ParseError.
func (s *Server) Configure(f *conf.File, except ...string) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	file := configuration{params: maps.Clone(s.params)}
	for _, d := range f.Directives() {
		_, name := parameter([]byte(d.Name))
		if slices.Contains(except, name) {
			continue
		}
		if why := file.add(name, d); why != "" {
			return &conf.ParseError{Line: d.Line, Text: lineOf(d), Why: why}
		}
	}
	s.applyParams(file.params)
	if len(file.unused) > 0 {
		s.config.Logger.Warn("parameters of the configuration file without effect here", "names", slices.Compact(file.unused))
	}
	if file.users == "" {
		return nil
	}
	if err := s.loadFileUsers(file.users); err != nil {
		return err
	}
	if slices.Contains(except, "requirepass") {
		s.users.SetPassword(s.config.RequirePass)
	}
	return nil
}

// configuration collects the directives of a configuration file.
type configuration struct {
	params map[string]string // by name; the current parameters before the first directive
	users  string            // lines of an ACL file
	unused []string          // names of the parameters without effect here
}

// add adds the directive of a parameter, or of a user. why says what is wrong with the directive; "" for nothing.
func (c *configuration) add(name string, d conf.Directive) (why string) {
	_, known := specs()[name]
	switch {
	case slices.Contains(StartNames, name):
		if strings.HasPrefix(name, "tls-") {
			c.params[name] = strings.Join(d.Args, " ")
		}
		return ""
	case unsupportedDirectives[name] != "" && !slices.Equal(d.Args, []string{"0"}):
		return unsupportedDirectives[name]
	case name == "user":
		if len(d.Args) < 2 {
			return "a user needs a name and rules"
		}
		c.users += lineOf(d) + "\n"
		return ""
	case known && len(d.Args) == 0:
		return "missing value"
	case known:
		return c.setParam(name, strings.Join(d.Args, " "))
	}
	return "Bad directive or wrong number of arguments"
}

// setParam sets a parameter that is settable or read from the file, and notes one without effect.
func (c *configuration) setParam(name, text string) (why string) {
	value, why := normalized(name, text, valueIn(c.params, name))
	if why != "" {
		return why
	}
	p := specs()[name]
	if p.use != applied && value != valueIn(c.params, name) {
		c.unused = append(c.unused, name)
	}
	if p.settable() || p.use == fromFile {
		c.params[name] = value
	}
	return ""
}

// lineOf returns a directive as a line, without quotes.
func lineOf(d conf.Directive) string {
	return strings.TrimSpace(d.Name + " " + strings.Join(d.Args, " "))
}

// loadFileUsers replaces the users by those of a configuration file. The default user stays if the file does not
// define it.
func (s *Server) loadFileUsers(users string) error {
	if s.config.ACLFile != "" {
		return errors.New("users are defined in both the configuration file and the ACL file: keep them in one")
	}
	if !strings.Contains("\n"+users, "\nuser "+acl.Default+" ") {
		for _, line := range s.users.Lines() {
			if strings.HasPrefix(line, "user "+acl.Default+" ") {
				users += line + "\n"
			}
		}
	}
	if _, wrong := s.users.Load(s.config.ConfigFile, users); wrong != "" {
		return errors.New(wrong)
	}
	s.addReader()
	return nil
}

// unsupportedDirectives lists directives that must not be ignored silently, with the advice for each.
var unsupportedDirectives = map[string]string{
	"rename-command": "not supported: use an ACL rule, user default ... -NAME",
	"include":        "not supported: copy the lines of that file here",
	"replicaof":      "replication from a Redis server is not supported", "slaveof": "replication from a Redis server is not supported",
	"loadmodule": "modules are not supported",
}

// rewriteConfig runs CONFIG REWRITE, which writes the current parameters to the file.
func (s *Server) rewriteConfig() resp.Value {
	path := s.config.ConfigFile
	if path == "" {
		return resp.MakeError("ERR The server is running without a config file")
	}
	s.userFile.Lock()
	defer s.userFile.Unlock()
	if err := s.rewrite(path); err != nil {
		s.config.Logger.Error("rewriting the parameters", "file", path, "error", err)
		return resp.MakeError("ERR Rewriting config file: " + systemMessage(err))
	}
	return resp.OK
}

// systemMessage returns a file error in the C library's words.
func systemMessage(err error) string {
	why := atomicfile.Pathless(err).Error()
	return strings.ToUpper(why[:1]) + why[1:]
}

func (s *Server) rewrite(path string) error {
	old, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	file, err := conf.Parse(string(old))
	if err != nil {
		return err
	}
	text := file.Rewrite(s.directives(), func(name string) string {
		_, name = parameter([]byte(name))
		return name
	})
	return atomicfile.Write(path, true, func(f *os.File) error {
		_, err := io.WriteString(f, text)
		return err
	})
}

// directives returns the directives that reproduce the current parameters and users.
func (s *Server) directives() []conf.Directive {
	s.mu.Lock()
	params := s.current()
	s.mu.Unlock()
	initial := parameters(Config{})
	var all []conf.Directive
	for _, name := range slices.Sorted(maps.Keys(specs())) {
		if !specs()[name].settable() || name == timeLimit {
			continue
		}
		value, before := valueIn(params, name), valueIn(initial, name)
		unset := value == before
		switch name {
		case "client-output-buffer-limit":
			words, old := strings.Fields(value), strings.Fields(before)
			for at := 0; at < len(words); at += 4 {
				all = append(all, conf.Directive{Name: name, Args: words[at : at+4], Unset: unset || slices.Equal(words[at:at+4], old[at:at+4])})
			}
		case "oom-score-adj-values":
			all = append(all, conf.Directive{Name: name, Args: strings.Fields(value), Unset: unset})
		case "save":
			all = append(all, conf.Directive{Name: name, Args: savePairs(value), Unset: unset})
		default:
			all = append(all, conf.Directive{Name: name, Args: []string{value}, Unset: unset})
		}
	}
	if s.config.ACLFile != "" {
		return all
	}
	initialUsers := acl.New().Lines()
	for _, line := range s.users.Lines() {
		words := strings.Fields(line)
		if words[1] == acl.Reader && s.config.ReadOnlyToken != "" {
			continue // created from Config.ReadOnlyToken
		}
		all = append(all, conf.Directive{Name: words[0], Args: words[1:], Unset: slices.Contains(initialUsers, line)})
	}
	return all
}

// savePairs returns the arguments of the directive save. An empty value is one empty argument.
func savePairs(value string) []string {
	if value == "" {
		return []string{""}
	}
	return strings.Fields(value)
}

// ReadConfigFile parses a configuration file in Redis's format.
func ReadConfigFile(path string) (*conf.File, error) {
	text, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	return conf.Parse(string(text))
}
