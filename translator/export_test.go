package translator

// HashOf lets the tests compare what the tables hold.
var HashOf = hashOf
