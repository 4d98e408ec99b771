module plimsoll/delay

go 1.19
