package deps

import (
	_ "github.com/BurntSushi/toml"
	_ "github.com/charmbracelet/bubbles/textinput"
	_ "github.com/joho/godotenv"
	_ "github.com/klauspost/compress/zstd"
	_ "github.com/olekukonko/tablewriter"
	_ "github.com/rivo/uniseg"
	_ "github.com/sahilm/fuzzy"
	_ "github.com/schollz/progressbar/v3"
	_ "github.com/vmihailenco/msgpack/v5"
	_ "github.com/zalando/go-keyring"
)
