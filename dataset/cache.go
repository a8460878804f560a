package dataset

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
)

// CacheDir returns the folder of downloaded collections: $MLG_CACHE, or the folder mlg in
// the user's cache folder.
func CacheDir() (string, error) {
	if dir := os.Getenv("MLG_CACHE"); dir != "" {
		return dir, nil
	}
	dir, err := os.UserCacheDir()
	if err != nil {
		return "", fmt.Errorf("no cache folder, set MLG_CACHE: %w", err)
	}
	return filepath.Join(dir, "mlg"), nil
}

// The length is checked apart: a bound of a hundred takes longer to compile than all else at the start of
// the command.
var collectionName = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9_.+-]*$`)

// CachePath returns where a collection stands in a cache folder. It is an error if the name
// cannot be that of a collection.
func CachePath(dir, name string) (string, error) {
	if len(name) > 100 || !collectionName.MatchString(name) {
		return "", fmt.Errorf("collection %q, want a name such as MUTAG", name)
	}
	return filepath.Join(dir, "tudataset", name+".zip"), nil
}
