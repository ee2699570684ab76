package translator

var slowTranslations = translations{
	{"LATENCY HELP", help},
	{"SLOWLOG HELP", help},
}
