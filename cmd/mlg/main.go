// Command mlg compares graphs at every scale at once.
package main

func main() {}
