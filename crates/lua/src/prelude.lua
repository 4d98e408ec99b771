-- The table `wrk` of a thread. The chunk gets the parts of the URL and the headers of the command line, and returns the
-- function that starts the thread.

local site, headers = ...

wrk = {
  scheme = site.scheme, host = site.host, port = site.port, path = site.path,
  method = "GET", headers = headers,
}

wrk.lookup = site.lookup
-- All addresses are tried before the load.
function wrk.connect(address) return address ~= nil end

local concat = table.concat

-- Builds the text of a request; whatever is missing comes from `wrk`.
function wrk.format(method, path, fields, body)
  fields = fields or wrk.headers
  body = body or wrk.body
  fields["Host"] = fields["Host"] or wrk.headers["Host"]
  fields["Content-Length"] = body and #body
  local text = { method or wrk.method, " ", path or wrk.path, " HTTP/1.1\r\n" }
  local n = #text
  for name, value in pairs(fields) do
    text[n + 1], text[n + 2], text[n + 3], text[n + 4] = name, ": ", value, "\r\n"
    n = n + 4
  end
  text[n + 1], text[n + 2] = "\r\n", body
  return concat(text)
end

return function(arguments)
  if not wrk.headers["Host"] then
    local host = wrk.host:find(":", 1, true) and "[" .. wrk.host .. "]" or wrk.host
    wrk.headers["Host"] = wrk.port and host .. ":" .. wrk.port or host
  end
  if type(init) == "function" then init(arguments) end
  local fixed = wrk.format()
  wrk.request = function() return fixed end
end
