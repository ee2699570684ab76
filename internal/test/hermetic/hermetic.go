// Package hermetic keeps the user's own environment out of the tests: a
// profile, a colour setting or the CI variable there would change what programs
// print.
package hermetic

import (
	"os"
	"slices"
	"strings"
)

// kept holds the variables that the test tools need: paths of programs, temporary files,
// caches and registries. keptPrefixes holds prefixes of more. GOGC is for the tests only: the programs that they start
// collect garbage as a user's do.
var (
	kept         = []string{"PATH", "HOME", "TMPDIR", "HTTP_PROXY", "HTTPS_PROXY", "NO_PROXY"}
	keptPrefixes = []string{"GO", "NODE_", "NPM_", "SSL_CERT_"}
)

// Environ returns the environment reduced to the tools' variables, as NAME=value.
func Environ() []string {
	return slices.DeleteFunc(os.Environ(), func(variable string) bool {
		name, _, _ := strings.Cut(variable, "=")
		return !keeps(name)
	})
}

func keeps(name string) bool {
	name = strings.ToUpper(name)
	return name != "GOGC" && (slices.Contains(kept, name) || slices.ContainsFunc(keptPrefixes, func(prefix string) bool {
		return strings.HasPrefix(name, prefix)
	}))
}

// Clear sets the environment of this process and its children to Environ.
func Clear() error {
	clean := Environ()
	os.Clearenv()
	for _, variable := range clean {
		name, value, _ := strings.Cut(variable, "=")
		if err := os.Setenv(name, value); err != nil {
			return err
		}
	}
	return nil
}
