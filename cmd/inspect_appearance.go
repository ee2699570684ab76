package cmd

import (
	"errors"
	"fmt"
	"strings"
	"sync"

	"github.com/meowdis/meowdis/cmd/internal/profile"
	"github.com/meowdis/meowdis/cmd/internal/targets"
	"github.com/meowdis/meowdis/inspect"
)

// configuredLook returns the look and the decoders of the configuration file. running counts the decoders at work.
func configuredLook(running *sync.WaitGroup) (look inspect.Appearance, decoders func(key string) *inspect.Decoder, err error) {
	path := targets.ConfigFile()
	config, err := profile.Load(path)
	if err != nil || config.Inspect == nil {
		return look, nil, err
	}
	look = inspect.Appearance{Theme: config.Inspect.Theme, Keys: map[string][]string{}, Colors: config.Inspect.Colors}
	for action, keys := range config.Inspect.Keys {
		look.Keys[action] = keys
	}
	var bad inspect.AppearanceError
	if errors.As(look.Check(), &bad) {
		at := append([]string{"inspect"}, bad.Path...)
		return look, nil, fmt.Errorf("reading %s: line %d: %s: %w", path, config.Line(at...), strings.Join(at, "."), bad)
	}
	return look, ownDecoders(config.Inspect, running), nil
}
