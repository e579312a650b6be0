-- A session in Neovim with the real server: errors, hints, completion, lenses, formatting, a server that
-- is killed. neovim.sh runs it.
local failed = 0

local function say(ok, what)
  io.stdout:write((ok and "ok      " or "FAILED  ") .. what .. "\n")
  if not ok then failed = failed + 1 end
end

local function wait_for(what, condition)
  local ok = vim.wait(10000, condition, 20)
  say(ok, what)
  return ok
end

local function errors() return vim.diagnostic.get(0) end

vim.cmd.edit(vim.env.PROGRAM)
wait_for("the server attaches to a .toy file", function()
  return #vim.lsp.get_clients({ bufnr = 0, name = "flashlab" }) == 1
end)
local client = vim.lsp.get_clients({ name = "flashlab" })[1]

local function request(method, params)
  params.textDocument = vim.lsp.util.make_text_document_params()
  local answer = client.request_sync(method, params, 5000, 0)
  return answer and answer.result
end

local last = vim.api.nvim_buf_line_count(0)
vim.api.nvim_buf_set_lines(0, last, last, false, { "LAOD x[0], R0" })
wait_for("an error appears while typing", function()
  return #errors() == 1 and errors()[1].lnum == last and errors()[1].message:find("LOAD") ~= nil
end)
vim.api.nvim_buf_set_lines(0, last, last + 1, false, {})
wait_for("and goes away", function() return #errors() == 0 end)

local function has_hint(part)
  return vim.iter(vim.lsp.inlay_hint.get({ bufnr = 0 })):any(function(one)
    return one.inlay_hint.label:find(part, 1, true) ~= nil
  end)
end

wait_for("hints show how often lines run, as formulas", function() return has_hint("n - 1 times") end)
wait_for("the first line's hint says what the program costs", function() return has_hint("14n - 4 cycles") end)
vim.api.nvim_buf_set_lines(0, last, last, false, { "LAOD x[0], R0" })
wait_for("an error is there again", function() return #errors() == 1 end)
wait_for("hints stay while there is an error", function()
  return has_hint("n - 1 times") and has_hint("14n - 4 cycles")
end)
vim.api.nvim_buf_set_lines(0, last, last + 1, false, {})
wait_for("the error goes away again", function() return #errors() == 0 end)

-- Completion as a person would: CTRL-X CTRL-O after the first letters.
vim.api.nvim_buf_set_lines(0, last, last, false, { "ST" })
vim.api.nvim_win_set_cursor(0, { last + 1, 2 })
local items = request("textDocument/completion", { position = { line = last, character = 2 } })
say(items ~= nil and vim.iter(items):any(function(one) return one.label == "STORE" end),
    "completion offers instructions")
say(vim.bo.omnifunc == "v:lua.vim.lsp.omnifunc", "CTRL-X CTRL-O completes")
vim.api.nvim_buf_set_lines(0, last, last + 1, false, {})

wait_for("lenses offer to run, trace and debug", function()
  return #vim.lsp.codelens.get(0) >= 3
end)
for _, one in ipairs(vim.lsp.codelens.get(0)) do
  say(vim.lsp.commands[one.command.command] ~= nil, "the lens " .. one.command.title .. " has a command")
end

vim.api.nvim_buf_set_lines(0, last, last, false, { "   MOV  R0,R0" })
vim.lsp.buf.format({ name = "flashlab", timeout_ms = 5000 })
say(vim.api.nvim_buf_get_lines(0, last, last + 1, false)[1] == "MOV R0, R0", "formatting")
vim.api.nvim_buf_set_lines(0, last, last + 1, false, {})

-- A lens runs what is on the screen, not what was saved before.
local program = vim.api.nvim_get_current_buf()
vim.api.nvim_buf_set_lines(0, last, last, false, { "; typed last" })
vim.lsp.commands["flashlab.run"]({ arguments = { vim.uri_from_bufnr(program) } })
say(vim.fn.readfile(vim.env.PROGRAM)[last + 1] == "; typed last", "a lens saves the text before it runs")
say(not vim.bo[program].modified, "and the buffer is saved")
vim.cmd("stopinsert | bdelete!")
vim.api.nvim_buf_set_lines(program, last, last + 1, false, {})

-- A server that is killed in the middle of an edit.
vim.uv.kill(vim.api.nvim_get_proc_children(vim.fn.getpid())[1], "sigkill")
wait_for("the editor notices that the server was killed", function()
  return #vim.lsp.get_clients({ bufnr = 0, name = "flashlab" }) == 0
end)
vim.api.nvim_buf_set_lines(0, last, last, false, { "LAOD x[0], R0" })
vim.cmd("silent write | edit")
wait_for("a new server sees the newest text", function() return #errors() == 1 end)

io.stdout:write(failed == 0 and "Neovim: all passed\n" or ("Neovim: " .. failed .. " failed\n"))
vim.cmd(failed == 0 and "qall!" or "cquit")
