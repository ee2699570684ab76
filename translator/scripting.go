package translator

var scriptingTranslations = translations{
	{"SCRIPT HELP", help},
}
