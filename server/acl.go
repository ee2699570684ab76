package server

import (
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
	"sync/atomic"
	"time"

	"github.com/meowdis/meowdis/engine"
	"github.com/meowdis/meowdis/internal/atomicfile"
	"github.com/meowdis/meowdis/redis/acl"
	"github.com/meowdis/meowdis/redis/commands"
	"github.com/meowdis/meowdis/redis/resp"
)

// principal runs commands: a RESP client, or a REST request from addr.
type principal struct {
	server *Server
	client *client // nil over REST
	addr   string
	user   atomic.Pointer[acl.User] // other goroutines read it, too
}

// describe returns the person's line of CLIENT LIST.
func (p *principal) describe() string {
	if p.client != nil {
		return p.client.describe()
	}
	return fmt.Sprintf("id=0 addr=%s name= age=0 idle=0 flags=N db=0 user=%s resp=2 lib-name= lib-ver=", p.addr, p.user.Load().Name())
}

// guard checks a call against the user's permissions. It is the session's engine.Guard.
func (p *principal) guard(cmd *commands.Command, args [][]byte, at engine.Moment, step func(int)) (v resp.Value, refused bool) {
	user := p.user.Load()
	if user.Unlimited() {
		return resp.Value{}, false
	}
	d := user.CheckCounted(cmd, args, step)
	if d.Reason == acl.Allowed {
		if engine.RunsScripts(cmd) {
			p.recordCommand(cmd, at) // before the check of the script's own commands
		}
		return refusedSort(user, cmd, args, at)
	}
	if at != engine.Asking {
		p.recordCommand(cmd, at)
		p.log(d.Reason, contexts[at], user.DeniedObject(d, cmd, args), user.Name())
	}
	why := user.DenialText(d, cmd, args, false)
	switch at {
	case engine.Exec:
		why = "ACLs rules changed between the moment the transaction was accumulated and the EXEC call. " +
			"This command is no longer allowed for the following reason: " + execReasons[d.Reason]
	case engine.InScript:
		return resp.MakeError("ERR ACL failure in script: " + why), true
	}
	return resp.MakeError("NOPERM " + commands.OneLine(why)), true
}

// recordCommand records the client's last command for CLIENT LIST: the EXEC or the script, not the commands inside.
func (p *principal) recordCommand(cmd *commands.Command, at engine.Moment) {
	if p.client == nil {
		return
	}
	switch at {
	case engine.Calling, engine.Queueing:
		p.client.recordCommand(cmd.Name)
	case engine.Exec:
		p.client.recordCommand("EXEC")
	}
}

// contexts maps moments to the context names of ACL LOG.
var contexts = map[engine.Moment]string{
	engine.Calling: "toplevel", engine.Queueing: "multi", engine.Exec: "multi", engine.InScript: "lua",
}

// execReasons has the texts of EXEC's error.
var execReasons = map[acl.Reason]string{
	acl.ByCommand: "no permission to execute the command or subcommand",
	acl.ByKey:     "no permission to touch the specified keys",
	acl.ByChannel: "no permission to access one of the channels used as arguments to the command",
}

// refusedSort refuses BY and GET patterns of SORT unless the user may read all keys: patterns read keys that the call
// does not name. Redis makes this check when the command runs.
func refusedSort(user *acl.User, cmd *commands.Command, args [][]byte, at engine.Moment) (v resp.Value, refused bool) {
	if cmd.Name != "SORT" && cmd.Name != "SORT_RO" || at == engine.Queueing || user.AllKeys(cmd, args) {
		return v, false
	}
	for i := 2; i < len(args); i++ {
		switch word := option(args, i); word {
		case "ASC", "DESC", "ALPHA":
		case "LIMIT":
			i += 2
		case "STORE":
			i++
		case "BY", "GET":
			if i++; i < len(args) && (word == "GET" || slices.Contains(args[i], '*')) {
				return resp.MakeError("ERR " + word + " option of SORT denied due to insufficient ACL permissions."), true
			}
		default: // a syntax error
			return v, false
		}
	}
	return v, false
}

func (p *principal) log(reason acl.Reason, context, object, user string) {
	p.server.users.Log.Add(time.Now().UnixMilli(), acl.Event{
		Reason: reason, Context: context, Object: object, User: user, Client: p.describe(),
	})
}

// userByToken returns the user with that REST token, or nil. The server's own token belongs to the default user, unless
// that user is off.
func (s *Server) userByToken(token string) *acl.User {
	if s.config.Token != "" && sameSecret(token, s.config.Token) {
		if u := s.users.Default(); u.On() {
			return u
		}
		return nil
	}
	if s.config.ReadOnlyToken != "" && sameSecret(token, s.config.ReadOnlyToken) {
		if u := s.users.Find(acl.Reader); u != nil && u.On() {
			return u
		}
		return nil
	}
	return s.users.LoginByToken(token)
}

// addReader creates the user of the read-only token, if there is a token and the user does not exist.
func (s *Server) addReader() {
	if s.config.ReadOnlyToken == "" || s.users.Find(acl.Reader) != nil {
		return
	}
	s.users.Set(acl.Reader, append([]string{">" + s.config.ReadOnlyToken}, acl.ReaderRules...))
}

// acl runs the commands about users.
func (s *Server) acl(p *principal, cmd *commands.Command, args [][]byte) (v resp.Value, ok bool) {
	switch cmd.Name {
	case "ACL DELUSER":
		return s.deleteUsers(p, args[2:]), true
	case "ACL RESTTOKEN":
		return s.restToken(p, args), true
	case "ACL SAVE":
		return s.saveUsers(), true
	case "ACL LOAD":
		return s.reloadUsers(p), true
	case "ACL SETUSER":
		v, ok = s.users.Reply(cmd, args, p.user.Load(), time.Now().UnixMilli())
		s.closeForbidden(p)
		return v, ok
	}
	return s.users.Reply(cmd, args, p.user.Load(), time.Now().UnixMilli())
}

func (s *Server) deleteUsers(p *principal, args [][]byte) resp.Value {
	var names []string
	for _, arg := range args {
		names = append(names, string(arg))
	}
	if slices.Contains(names, acl.Default) {
		return resp.MakeError("ERR The 'default' user cannot be removed")
	}
	gone := s.users.Delete(names)
	s.disconnectUsers(p, gone)
	return resp.MakeInt(int64(len(gone)))
}

// disconnectUsers closes the connections of deleted users.
func (s *Server) disconnectUsers(p *principal, gone []*acl.User) {
	if len(gone) > 0 {
		s.killAll(p.client, func(o *client) bool { return slices.Contains(gone, o.user.Load()) })
		s.endUserStreams(gone)
	}
}

func (s *Server) restToken(p *principal, args [][]byte) resp.Value {
	name := string(args[2])
	token, ok := s.users.RESTToken(name, string(args[3]))
	if !ok {
		p.log(acl.ByPassword, "toplevel", "acl|resttoken", name)
		s.delayRefusal(nil)
		return resp.MakeError(`ERR Wrong password or user "` + commands.Quote(args[2]) + `" does not exist`)
	}
	return resp.MakeString(token)
}

var noUserFile = resp.MakeError("ERR This Redis instance is not configured to use an ACL file. " +
	"You may want to specify users via the ACL SETUSER command and then issue a CONFIG REWRITE " +
	"(assuming you have a Redis configuration file set) in order to store users in the Redis configuration.")

func (s *Server) saveUsers() resp.Value {
	if s.config.ACLFile == "" {
		return noUserFile
	}
	s.userFile.Lock()
	defer s.userFile.Unlock()
	text := strings.Join(s.users.Lines(), "\n") + "\n"
	err := atomicfile.Write(s.config.ACLFile, true, func(f *os.File) error {
		_, err := io.WriteString(f, text)
		return err
	})
	if err != nil {
		s.config.Logger.Error("saving the users", "file", s.config.ACLFile, "error", err)
		return resp.MakeError("ERR There was an error trying to save the ACLs. Please check the server logs for more information")
	}
	return resp.OK
}

func (s *Server) reloadUsers(p *principal) resp.Value {
	if s.config.ACLFile == "" {
		return noUserFile
	}
	gone, wrong := s.readUsers()
	if wrong != "" {
		return resp.MakeError("ERR " + commands.OneLine(wrong))
	}
	s.disconnectUsers(p, gone)
	s.closeForbidden(p)
	return resp.OK
}

// LoadUsers replaces the users with the users in Config.ACLFile. Without a file it does nothing.
func (s *Server) LoadUsers() error {
	if s.config.ACLFile == "" {
		return nil
	}
	if _, wrong := s.readUsers(); wrong != "" {
		return errors.New(wrong)
	}
	return nil
}

// readUsers loads the file. It returns the deleted users, or the file's error in Redis's words.
func (s *Server) readUsers() (gone []*acl.User, wrong string) {
	s.userFile.Lock()
	defer s.userFile.Unlock()
	text, err := os.ReadFile(s.config.ACLFile)
	if err != nil {
		return nil, "Error loading ACLs, opening file '" + s.config.ACLFile + "': " + systemMessage(err)
	}
	gone, wrong = s.users.Load(s.config.ACLFile, string(text))
	s.addReader()
	return gone, wrong
}
