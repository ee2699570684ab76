package acl

import (
	"crypto/rand"
	"encoding/hex"
	"slices"
	"strings"

	"github.com/meowdis/meowdis/redis/commands"
	"github.com/meowdis/meowdis/redis/resp"
)

// Reply runs a call of ACL for the user who, at now in Unix ms. ok is false for a subcommand
// that needs a file or closes clients, which the server runs.
func (u *Users) Reply(cmd *commands.Command, args [][]byte, who *User, now int64) (v resp.Value, ok bool) {
	switch cmd.Name {
	case "ACL CAT":
		return cat(args), true
	case "ACL DRYRUN":
		return u.dryRun(args), true
	case "ACL GENPASS":
		return genPass(args), true
	case "ACL GENTOKEN":
		return genToken(args), true
	case "ACL GETUSER":
		if user := u.Find(string(args[2])); user != nil {
			return user.rights.Load().getUser(), true
		}
		return resp.Nil, true
	case "ACL LIST":
		return resp.MakeArray(bulks(u.Lines())...), true
	case "ACL LOG":
		return u.log(args, now), true
	case "ACL SETUSER":
		return u.setUser(args), true
	case "ACL USERS":
		return resp.MakeArray(bulks(u.Names())...), true
	case "ACL WHOAMI":
		return resp.MakeString(who.name), true
	}
	return resp.Value{}, false
}

// Standalone runs a call of ACL without a server. Only the default user exists, and no other user
// can be stored.
func Standalone(cmd *commands.Command, args [][]byte, now int64) (v resp.Value, ok bool) {
	switch cmd.Name {
	case "ACL DELUSER", "ACL LOAD", "ACL RESTTOKEN", "ACL SAVE", "ACL SETUSER":
		return resp.MakeError("ERR ACL users need a server: run meowdis serve"), true
	}
	u := New()
	return u.Reply(cmd, args, u.Default(), now)
}

func cat(args [][]byte) resp.Value {
	switch len(args) {
	case 2:
		return resp.MakeArray(bulks(commands.Categories())...)
	case 3:
	default:
		return commands.SubcommandSyntax(args)
	}
	if _, ok := category(string(args[2])); !ok {
		return resp.MakeError("ERR Unknown category '" + commands.Quote(args[2]) + "'")
	}
	reply := resp.EmptyArray
	for _, c := range commands.All() {
		if c.InCategory(args[2]) && !strings.HasPrefix(c.Name, "DEBUG ") {
			reply.Elems = append(reply.Elems, resp.MakeString(c.WireName()))
		}
	}
	return reply
}

func (u *Users) dryRun(args [][]byte) resp.Value {
	name, call := string(args[2]), args[3:]
	user, cmd := u.Find(name), commands.Called(call)
	switch {
	case user == nil:
		return resp.MakeError("ERR User '" + commands.Quote(args[2]) + "' not found")
	case cmd == nil:
		return resp.MakeError("ERR Command '" + commands.Quote(call[0]) + "' not found")
	case !cmd.Accepts(len(call)):
		return commands.WrongArity(cmd)
	}
	if d := user.Check(cmd, call); d.Reason != Allowed {
		return resp.MakeString(user.DenialText(d, cmd, call, true))
	}
	return resp.OK
}

const defaultBits, maxBits = 256, 4096

// genPass runs ACL GENPASS [bits]. The reply has one hex digit per 4 bits, rounded up.
func genPass(args [][]byte) resp.Value {
	bits := int64(defaultBits)
	switch len(args) {
	case 2:
	case 3:
		n, ok := commands.ParseInt(args[2])
		switch {
		case !ok:
			return notInteger
		case n <= 0 || n > maxBits:
			return resp.MakeError("ERR ACL GENPASS argument must be the number of bits for the output password, a positive number up to 4096")
		}
		bits = n
	default:
		return commands.SubcommandSyntax(args)
	}
	random := make([]byte, (bits+7)/8)
	rand.Read(random)
	return resp.MakeString(hex.EncodeToString(random)[:(bits+3)/4])
}

var notInteger = resp.MakeError("ERR value is not an integer or out of range")

// genToken runs ACL GENTOKEN user [password].
func genToken(args [][]byte) resp.Value {
	password := rand.Text()
	switch len(args) {
	case 3:
	case 4:
		password = string(args[3])
	default:
		return commands.SubcommandSyntax(args)
	}
	return resp.MakeString(Token(string(args[2]), password))
}

// log runs ACL LOG [count|RESET].
func (u *Users) log(args [][]byte, now int64) resp.Value {
	count := int64(10)
	switch len(args) {
	case 2:
	case 3:
		if commands.Is(args[2], "RESET") {
			u.Log.Reset()
			return resp.OK
		}
		var ok bool
		if count, ok = commands.ParseInt(args[2]); !ok {
			return notInteger
		}
	default:
		return commands.SubcommandSyntax(args)
	}
	return u.Log.reply(now, int(max(count, 0)))
}

func (u *Users) setUser(args [][]byte) resp.Value {
	name := string(args[2])
	if hasSpace(name) {
		return resp.MakeError("ERR Usernames can't contain spaces or null characters")
	}
	rules := make([]string, 0, len(args)-3)
	for _, arg := range args[3:] {
		rules = append(rules, string(arg))
	}
	if wrong := u.Set(name, slices.Clip(rules)); wrong != "" {
		return resp.MakeError("ERR " + commands.OneLine(wrong))
	}
	return resp.OK
}
