package acl

import (
	"encoding/base64"
	"strings"
)

// Token wraps a user's name and password: what a request over REST sends to be that user,
// and what may be the user's password itself. It is as secret as the password.
func Token(name, password string) string {
	return base64.RawURLEncoding.EncodeToString([]byte(name + "\x00" + password))
}

// Unwrap returns the name and password in a token. ok is false when it is none.
func Unwrap(token string) (name, password string, ok bool) {
	text, err := base64.RawURLEncoding.DecodeString(token)
	if err != nil {
		return "", "", false
	}
	return strings.Cut(string(text), "\x00")
}

// RESTToken is the token with which requests are the user's: ok is false when the password,
// or the one in a token in its place, is not the user's.
func (u *Users) RESTToken(name, password string) (token string, ok bool) {
	if of, inside, is := Unwrap(password); is && of == name && u.loginByPassword(name, inside) != nil {
		password = inside
	}
	return Token(name, password), u.loginByPassword(name, password) != nil
}

// LoginByToken is Login by what a token wraps. A user without a password has no token:
// anybody could make it up, and the default user is mostly one.
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
