package translator

var hashCommands = []Command{}
