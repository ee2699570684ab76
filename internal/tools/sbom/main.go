// Command sbom writes the bill of materials of a Go program as SPDX 2.3 JSON, from the
// compiler's records in the binary.
package main

import (
	"debug/buildinfo"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/meowdis/meowdis/internal/tools/repo"
)

type document struct {
	Version   string         `json:"spdxVersion"`
	License   string         `json:"dataLicense"`
	ID        string         `json:"SPDXID"`
	Name      string         `json:"name"`
	Namespace string         `json:"documentNamespace"`
	Created   creation       `json:"creationInfo"`
	Packages  []module       `json:"packages"`
	Relations []relationship `json:"relationships"`
}

type creation struct {
	Created  string   `json:"created"`
	Creators []string `json:"creators"`
}

type module struct {
	ID       string `json:"SPDXID"`
	Name     string `json:"name"`
	Version  string `json:"versionInfo"`
	Location string `json:"downloadLocation"`
	Refs     []ref  `json:"externalRefs"`
}

type ref struct {
	Category string `json:"referenceCategory"`
	Type     string `json:"referenceType"`
	Locator  string `json:"referenceLocator"`
}

type relationship struct {
	From string `json:"spdxElementId"`
	Type string `json:"relationshipType"`
	To   string `json:"relatedSpdxElement"`
}

func main() {
	repo.Enter()
	if len(os.Args) != 3 {
		fmt.Fprintln(os.Stderr, "usage: sbom BINARY DOCUMENT")
		os.Exit(2)
	}
	if err := write(os.Args[1], os.Args[2]); err != nil {
		fmt.Fprintln(os.Stderr, "sbom:", err)
		os.Exit(1)
	}
}

func write(binary, out string) error {
	info, err := buildinfo.ReadFile(binary)
	if err != nil {
		return err
	}
	created := time.Now().UTC()
	for _, s := range info.Settings {
		if s.Key == "vcs.time" { // equal sources give equal documents
			if t, err := time.Parse(time.RFC3339, s.Value); err == nil {
				created = t
			}
		}
	}
	name := filepath.Base(out)
	doc := document{
		Version: "SPDX-2.3", License: "CC0-1.0", ID: "SPDXRef-DOCUMENT", Name: name,
		Namespace: "https://github.com/meowdis/meowdis/sbom/" + name,
		Created:   creation{created.Format(time.RFC3339), []string{"Tool: meowdis-sbom"}},
		Packages:  []module{describe(0, info.Main.Path, info.Main.Version)},
		Relations: []relationship{{"SPDXRef-DOCUMENT", "DESCRIBES", "SPDXRef-0"}},
	}
	doc.add("stdlib", strings.TrimPrefix(info.GoVersion, "go"))
	for _, dep := range info.Deps {
		if dep.Replace != nil {
			dep = dep.Replace
		}
		doc.add(dep.Path, dep.Version)
	}
	text, err := json.MarshalIndent(doc, "", "  ")
	if err != nil {
		return err
	}
	return os.WriteFile(out, append(text, '\n'), 0o644)
}

func (d *document) add(path, version string) {
	m := describe(len(d.Packages), path, version)
	d.Packages = append(d.Packages, m)
	d.Relations = append(d.Relations, relationship{"SPDXRef-0", "DEPENDS_ON", m.ID})
}

func describe(i int, path, version string) module {
	return module{
		ID: fmt.Sprintf("SPDXRef-%d", i), Name: path, Version: version, Location: "NOASSERTION",
		Refs: []ref{{"PACKAGE-MANAGER", "purl", "pkg:golang/" + path + "@" + version}},
	}
}
