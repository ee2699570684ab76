package profile

import (
	"errors"
	"fmt"
	"net"
	"os/exec"
	"strings"

	"github.com/zalando/go-keyring"
)

// service names our entries in the keyring.
const service = "meowdis"

// SaveToken puts the token of a profile into the operating system's keyring. It returns an error if there is no
// keyring, or if it is locked.
func SaveToken(name, token string) error { return shortError(keyring.Set(service, name, token)) }

// errNoKeyring is typical of a machine without a logged-in user.
var errNoKeyring = errors.New("no keyring service is running")

// shortError shortens an error of the keyring.
func shortError(err error) error {
	var program *exec.Error
	var connection *net.OpError
	switch {
	case errors.As(err, &program), errors.As(err, &connection), err != nil && strings.Contains(err.Error(), "org.freedesktop.secrets"):
		return errNoKeyring
	case errors.Is(err, keyring.ErrNotFound):
		return errors.New("it has no such token: remove the profile and add it again")
	case err != nil && strings.Contains(err.Error(), "failed to unlock"):
		return errors.New("it is locked: unlock it, or give --token")
	}
	return err
}

// DeleteToken deletes the token of a profile from the keyring. A missing token is not an error.
func DeleteToken(name string) error {
	if err := keyring.Delete(service, name); err != nil && !errors.Is(err, keyring.ErrNotFound) {
		return fmt.Errorf("deleting the token of profile %s from the keyring: %w", name, shortError(err))
	}
	return nil
}

// ReadToken returns the token of the profile called name, "" if it has none.
func (p Profile) ReadToken(name string, getenv func(string) string) (string, error) {
	switch {
	case p.Token != "":
		return p.Token, nil
	case p.TokenEnv != "":
		if token := getenv(p.TokenEnv); token != "" {
			return token, nil
		}
		return "", fmt.Errorf("profile %s reads its token from %s, which is not set", name, p.TokenEnv)
	case p.Keyring:
		token, err := keyring.Get(service, name)
		if err != nil {
			return "", fmt.Errorf("reading the token of profile %s from the keyring: %w", name, shortError(err))
		}
		return token, nil
	}
	return "", nil
}
