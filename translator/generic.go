package translator

var genericCommands = []Command{}
