package translator

var bitmapCommands = []Command{}
