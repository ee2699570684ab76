package translator

var listCommands = []Command{}
