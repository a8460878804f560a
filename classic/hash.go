package classic

import "encoding/binary"

// Features and colours are named by 64-bit hashes of their content. So they are the same in every
// collection and in every process, and nothing is kept of the training graphs.

// hashWords returns the hash of a sequence. Every step is a bijection of the state, so that equal
// ends of different sequences do not make them collide.
func hashWords(words ...uint64) uint64 {
	h := uint64(len(words))
	for _, x := range words {
		h = mixed(h*0xd6e8feb86659fd93 + x)
	}
	return h
}

// hashLabel returns the hash of the text of a label, eight bytes to a word.
func hashLabel(text string) uint64 {
	h := uint64(len(text))
	for len(text) > 0 {
		var word [8]byte
		text = text[copy(word[:], text):]
		h = mixed(h*0xd6e8feb86659fd93 + binary.LittleEndian.Uint64(word[:]))
	}
	return mixed(^h)
}
