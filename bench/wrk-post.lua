-- The nearest that wrk comes to bench `scripted`: a body with three random values for each request, and a look at each
-- answer's status and body.
local format, random, find = string.format, math.random, string.find
local letters = {}
for i = 1, 26 do letters[i] = string.char(96 + i) end

wrk.method = "POST"
wrk.headers["Content-Type"] = "application/json"

local function hex(digits)
  return format("%0" .. digits .. "x", random(0, 16 ^ digits - 1))
end

function request()
  local note = {}
  for i = 1, 12 do note[i] = letters[random(26)] end
  local id = hex(8) .. "-" .. hex(4) .. "-4" .. hex(3) .. "-a" .. hex(3) .. "-" .. hex(6) .. hex(6)
  local body = '{"id":"' .. id .. '","count":' .. random(1, 100000) .. ',"note":"' .. table.concat(note) .. '"}'
  return wrk.format(nil, nil, nil, body)
end

local bad = 0
function response(status, headers, body)
  if status ~= 200 or not find(body, "benchmark", 1, true) then bad = bad + 1 end
end
