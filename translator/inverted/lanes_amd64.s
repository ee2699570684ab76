#include "textflag.h"

// func addLanes(a *float32, b *byte, n int, out *[2][4]float32)
TEXT ·addLanes(SB), NOSPLIT, $0-32
	MOVQ a+0(FP), SI
	MOVQ b+8(FP), DI
	MOVQ n+16(FP), CX
	MOVQ out+24(FP), DX
	MOVUPS (DX), X0
	MOVUPS 16(DX), X1

next:
	MOVUPS (SI), X2
	MOVUPS (DI), X3
	MULPS  X3, X2
	MULPS  X3, X3
	ADDPS  X2, X0
	ADDPS  X3, X1
	ADDQ   $16, SI
	ADDQ   $16, DI
	DECQ   CX
	JNZ    next
	MOVUPS X0, (DX)
	MOVUPS X1, 16(DX)
	RET
