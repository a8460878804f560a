#include "textflag.h"

// program_linux_amd64.s says what this is.
TEXT ·program(SB), NOSPLIT|NOFRAME, $0-0
begin:
	ADR  begin, R1
	ADD  $0x11000, R1 // tableAddress − programAddress
	MOVD $256, R2    // tableBytes
	MOVD $3, R0
	MOVD $64, R8     // write
	SVC
	MOVD $3, R0
	PCALIGN $64      // threadOffset: a thread begins here, with its file as argument
	MOVD R0, R19
	SUB  $256, RSP
	ADD  $64, RSP, R20

next:
	MOVD R19, R0
	MOVD R20, R1
	MOVD $104, R2
	MOVD $63, R8 // read
	SVC
	CMP  $104, R0
	BNE  done
	MOVD 72(R20), R0
	MOVD R0, 0(RSP)
	MOVD 80(R20), R0
	MOVD R0, 8(RSP)
	MOVD 88(R20), R0
	MOVD R0, 16(RSP)
	MOVD 8(R20), R0
	MOVD 16(R20), R1
	MOVD 24(R20), R2
	MOVD 32(R20), R3
	MOVD 40(R20), R4
	MOVD 48(R20), R5
	MOVD 56(R20), R6
	MOVD 64(R20), R7
	MOVD 0(R20), R16
	CALL (R16)
	MOVD R0, 96(R20)
	MOVD R19, R0
	MOVD R20, R1
	MOVD $104, R2
	MOVD $64, R8 // write
	SVC
	CMP  $104, R0
	BEQ  next

done:
	MOVD $0, R0
	MOVD $94, R8 // exit_group
	SVC
	RET

// func code() *byte
TEXT ·code(SB), NOSPLIT, $0-8
	MOVD $·program(SB), R0
	MOVD R0, ret+0(FP)
	RET
