module plimsoll/peer

go 1.19
