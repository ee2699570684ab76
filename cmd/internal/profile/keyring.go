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

// Keep puts the token of a profile into the operating system's keyring. It returns an error if there is no keyring,
// or if it is locked.
func Keep(name, token string) error { return plainly(keyring.Set(service, name, token)) }

// errNoKeyring is typical of a machine without a logged-in user.
var errNoKeyring = errors.New("no keyring service is running")

// plainly shortens an error of the keyring.
func plainly(err error) error {
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

// Forget deletes the token of a profile from the keyring. A missing token is not an error.
func Forget(name string) error {
	if err := keyring.Delete(service, name); err != nil && !errors.Is(err, keyring.ErrNotFound) {
		return fmt.Errorf("deleting the token of profile %s from the keyring: %w", name, plainly(err))
	}
	return nil
}

// Secret returns the token of the profile called name, "" if it has none.
func (p Profile) Secret(name string, getenv func(string) string) (string, error) {
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
			return "", fmt.Errorf("reading the token of profile %s from the keyring: %w", name, plainly(err))
		}
		return token, nil
	}
	return "", nil
}
