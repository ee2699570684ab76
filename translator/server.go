package translator

var serverCommands = []Command{}
