-- flashlab in Neovim 0.10 or newer. Put this file into ~/.config/nvim/plugin/.
-- `flashlab editor --neovim` wrote it.
local flashlab = @FLASHLAB@

vim.filetype.add({ extension = { toy = "flashlab" } })

local group = vim.api.nvim_create_augroup("flashlab", {})

vim.api.nvim_create_autocmd("FileType", {
  group = group,
  pattern = "flashlab",
  callback = function(event)
    vim.bo[event.buf].commentstring = "; %s"
    vim.bo[event.buf].shiftwidth = 2
    vim.bo[event.buf].expandtab = true
    vim.lsp.start({
      name = "flashlab",
      cmd = { flashlab, "lsp" },
      root_dir = vim.fs.dirname(vim.api.nvim_buf_get_name(event.buf)),
    }, { bufnr = event.buf })
  end,
})

vim.api.nvim_create_autocmd("LspAttach", {
  group = group,
  callback = function(event)
    local client = vim.lsp.get_client_by_id(event.data.client_id)
    if not client or client.name ~= "flashlab" then return end
    -- What every line costs: `:lua vim.lsp.inlay_hint.enable(false)` switches it off.
    vim.lsp.inlay_hint.enable(true, { bufnr = event.buf })
    vim.api.nvim_create_autocmd({ "BufEnter", "InsertLeave", "TextChanged" }, {
      group = group,
      buffer = event.buf,
      callback = function() vim.lsp.codelens.refresh({ bufnr = event.buf }) end,
    })
    vim.lsp.codelens.refresh({ bufnr = event.buf })
  end,
})

-- What the lenses above a program do: `:lua vim.lsp.codelens.run()` on the first line.
local function in_terminal(...)
  vim.cmd("botright 15new")
  if vim.fn.has("nvim-0.11") == 1 then
    vim.fn.jobstart({ flashlab, ... }, { term = true })
  else
    vim.fn.termopen({ flashlab, ... })
  end
  vim.cmd("startinsert")
end

-- The command reads the file: what was typed since it was saved goes there first. If it cannot, the
-- error is shown, and nothing runs.
local function save(buffer)
  vim.api.nvim_buf_call(buffer, function() vim.cmd("silent update") end)
end

local function file_of(command)
  local uri = command.arguments[1]
  save(vim.uri_to_bufnr(uri))
  return vim.uri_to_fname(uri)
end

vim.lsp.commands["flashlab.run"] = function(command) in_terminal("run", file_of(command)) end
vim.lsp.commands["flashlab.trace"] = function(command)
  in_terminal("trace", file_of(command), "--symbols")
end
vim.lsp.commands["flashlab.debug"] = function(command) in_terminal("debug", file_of(command)) end
vim.lsp.commands["flashlab.check"] = function(command)
  in_terminal("exercises", "check", file_of(command))
end

-- The debugger inside Neovim, if the plugin nvim-dap is there.
local has_dap, dap = pcall(require, "dap")
if has_dap then
  dap.adapters.flashlab = { type = "executable", command = flashlab, args = { "dap" } }
  dap.configurations.flashlab = {
    {
      type = "flashlab",
      request = "launch",
      name = "Debug this program",
      program = function()
        save(0)
        return vim.api.nvim_buf_get_name(0)
      end,
    },
  }
end
