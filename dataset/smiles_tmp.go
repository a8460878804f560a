package dataset

func looksLikeSMILES(s string) bool { return false }
