package translator

var setCommands = []Command{}
