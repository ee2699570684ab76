package acl

import (
	"encoding/base64"
	"strings"
)

// Token wraps a user's name and password. A REST request sends it to act as that user, and it
// may itself be the user's password. It is as secret as the password.
func Token(name, password string) string {
	return base64.RawURLEncoding.EncodeToString([]byte(name + "\x00" + password))
}

// Unwrap returns the name and password in a token. ok is false if token is not valid.
func Unwrap(token string) (name, password string, ok bool) {
	text, err := base64.RawURLEncoding.DecodeString(token)
	if err != nil {
		return "", "", false
	}
	return strings.Cut(string(text), "\x00")
}

// RESTToken returns the token for a user's REST requests. password may also be a token. ok is
// false if the password is wrong.
func (u *Users) RESTToken(name, password string) (token string, ok bool) {
	if of, inside, is := Unwrap(password); is && of == name && u.loginByPassword(name, inside) != nil {
		password = inside
	}
	return Token(name, password), u.loginByPassword(name, password) != nil
}

// LoginByToken is like Login with the name and password in a token. A user without a password
// has no token: any client could construct it, often for the default user.
func (u *Users) LoginByToken(token string) *User {
	name, password, ok := Unwrap(token)
	if !ok {
		return nil
	}
	return u.loginByPassword(name, password)
}

// loginByPassword is Login for users with a password.
func (u *Users) loginByPassword(name, password string) *User {
	user := u.Login(name, password)
	if user == nil || user.rights.Load().noPass {
		return nil
	}
	return user
}
