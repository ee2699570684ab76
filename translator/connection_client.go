package translator

var clientTranslations = translations{
	{"CLIENT HELP", help},
}

var configTranslations = translations{
	{"CONFIG HELP", help},
}
