package explain

// Assign is tested by itself.
var Assign = assign
