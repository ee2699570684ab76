package translator

var zsetCommands = []Command{}
